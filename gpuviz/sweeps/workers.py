"""Who works on the cells of a sweep: processes of this machine, or a cluster's.

Both are a `concurrent.futures.Executor` that is given `cell.outcome` and a task. A process that is
lost is replaced, and its task tried again; one that takes several processes with it is given up.
"""

import itertools
import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from gpuviz.base.errors import Cancelled, InputError, UnavailableError
from gpuviz.processes import programs as processes
from gpuviz.processes.worker import Lost, WorkerProcess, lines_of, send_line
from gpuviz.sweeps.cell import Outcome, Task

TRIES = 3
CHILD = "gpuviz.sweeps.child"
_LONGEST = 1 << 20  # bytes of an answer


_Child = WorkerProcess[Task, Outcome]


def _child(device: int) -> _Child:
    """A process that uses the GPU of this number."""
    return _Child(
        processes.python(CHILD, str(device)), send_line, lines_of(Outcome, _LONGEST, "outcome")
    )


class LocalWorkers(Executor):
    """Processes of this machine, started when there is work; each thread here speaks to its own.

    With several GPUs the processes take turns in which one they use.
    """

    def __init__(self, count: int | None = None, devices: int = 1) -> None:
        self.count = count or os.cpu_count() or 1
        self._devices = itertools.cycle(range(devices))
        self._threads = ThreadPoolExecutor(self.count, thread_name_prefix="sweep")
        self._own = threading.local()
        self._children: set[_Child] = set()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of those that live."""
        with self._lock:
            return tuple(child.process.pid for child in self._children)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have `cell.outcome` done of one task; the processes know no other work."""
        (task,) = args
        return self._threads.submit(self._work, task)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes at once, in the middle of their work."""
        with self._lock:
            self._closed = True
            children = tuple(self._children)
        for child in children:
            processes.kill(child.process)
        self._threads.shutdown(wait, cancel_futures=True)
        for child in children:
            child.close()

    def _work(self, task: Task) -> Outcome:
        """Runs in a thread."""
        how = ""
        for _ in range(TRIES):
            try:
                return self._mine().ask(task, math.inf, lambda: self._closed)
            except Lost as lost:
                how = str(lost)
                self._forget()
                if self._closed:
                    raise Cancelled("stopped") from None
        return Outcome(error=f"{TRIES} processes were lost that worked on it; of the last: {how}")

    def _mine(self) -> _Child:
        """The process that this thread speaks to."""
        child: _Child | None = getattr(self._own, "child", None)
        if child is None:
            with self._lock:
                if self._closed:
                    raise Cancelled("stopped")
                if not hasattr(self._own, "device"):
                    self._own.device = next(self._devices)
                child = self._own.child = _child(self._own.device)
                self._children.add(child)
        return child

    def _forget(self) -> None:
        with self._lock:
            self._children.discard(self._own.child)
        self._own.child = None


def cluster(address: str) -> tuple[Executor, int]:
    """The executor of a Dask cluster, and how many tasks it can work on at a time.

    Raises
    ------
    UnavailableError : Dask is not installed
    InputError : there is no scheduler at the address
    """
    try:
        from distributed import Client
    except ImportError:
        raise UnavailableError(
            "a cluster needs Dask distributed: pip install 'gpuviz[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=10, set_as_default=False)
        slots = sum(client.nthreads().values())
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from None
    return _Cluster(client), max(slots, 1)


class _Cluster(Executor):
    """Dask's own executor, ended as those of Python are."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False, retries=TRIES)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have it done by any worker."""
        return self._executor.submit(fn, *args, **kwargs)  # type: ignore[no-any-return]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give back what is under way; the cluster stays."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()
