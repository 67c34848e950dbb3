"""Compiling in a process of its own: what a source does to the compiler is told, not suffered.

The process is kept for the next compilation, and is started again after a crash or a time-out.
Calls may come from any thread; those at the same time work in processes of their own.
"""

import atexit
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from gpuviz.base.errors import UnavailableError
from gpuviz.compile.program import CompilerLost
from gpuviz.compile.worker import Facts, Output, Reply, Request, Task
from gpuviz.processes import programs as processes
from gpuviz.processes.worker import GarbledAnswer, Late, Lost, WorkerProcess, lines_of, send_line

SECONDS = 60.0
OWN, STRANGER = 4 * processes.GIB, 3 * processes.GIB // 2  # bytes of memory, by whose text it is
_KEPT = 2  # processes that wait for work
_LONGEST = 2**29  # bytes of a reply
_FROM_OUTSIDE = ("it ended by SIGKILL", "it ended by SIGTERM")
_SMALLER = (
    "Look for names, literals and comments of many thousand letters, and for macros, includes and "
    "templates that expand without end."
)
_NO_MEMORY = ("bad_alloc", "out of memory", "Out of memory", "cannot allocate")

command = processes.python("gpuviz.compile.worker")


class ExternalKill(Lost):
    """By a signal that no source causes."""


class _Limits(threading.local):
    """What may be taken for what this thread compiles now: until when, and how much memory."""

    end: float | None = None
    memory = OWN


_limits = _Limits()


@contextmanager
def limited(memory: int = OWN) -> Iterator[None]:
    """What is compiled within takes `SECONDS` in all, however often the compiler is asked anew,
    and so much memory; of limits within limits the first time and the least memory count.
    """
    end, most = _limits.end, _limits.memory
    _limits.end = time.monotonic() + SECONDS if end is None else end
    _limits.memory = min(most, memory)
    try:
        yield
    finally:
        _limits.end, _limits.memory = end, most


class Process:
    """One compiler at work. Not thread-safe: one request at a time."""

    def __init__(self, memory: int) -> None:
        """`memory` is what it takes at most, in bytes."""
        self.memory = memory
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  as long as the process
        replies = lines_of(Reply, _LONGEST, "what the compiler's process sent")
        self._worker = WorkerProcess([*command, str(memory)], send_line, replies, self._words)

    @property
    def alive(self) -> bool:
        """Whether it can be asked something."""
        return self._worker.alive

    def ask(self, request: Request) -> Reply:
        """Send a request and wait for its reply; Cancelled, or `Lost` in words when none comes."""
        left = SECONDS if _limits.end is None else _limits.end - time.monotonic()
        try:
            return self._worker.ask(request, max(left, 0.0))
        except Late:
            raise Lost(f"took more than {SECONDS:g} s on it and was stopped. {_SMALLER}") from None
        except GarbledAnswer as garbled:
            raise Lost(f"sent what nobody understands: {garbled}") from None
        except Lost as lost:
            raise self._lost(str(lost)) from None

    def _lost(self, ended: str) -> Lost:
        self._words.seek(0)
        last = self._words.read()[-4000:].decode(errors="replace")
        if any(sign in last for sign in _NO_MEMORY):
            most = f"{self.memory / processes.GIB:g} GiB"
            return Lost(f"took more memory on it than it may ({most}). {_SMALLER}")
        if ended in _FROM_OUTSIDE:
            return ExternalKill(
                f"did not finish: {ended}, from somebody or a system short of memory. Try again."
            )
        return Lost(f"crashed on it ({ended}). {_SMALLER}")

    def close(self) -> None:
        """End it."""
        self._worker.kill()
        self._words.close()


_waiting: list[Process] = []
_lock = threading.Lock()


def _ask(request: Request) -> Reply:
    if (process := _kept()) is not None:
        with suppress(ExternalKill):  # it was killed while it waited, maybe
            return _asked(process, request)
    return _asked(Process(_limits.memory), request)


def _asked(process: Process, request: Request) -> Reply:
    try:
        reply = process.ask(request)
    except BaseException:
        process.close()
        raise
    with _lock:
        if len(_waiting) < _KEPT:
            _waiting.append(process)
            return reply
    process.close()
    return reply


def _kept() -> Process | None:
    """A process of the memory that may be taken now, which waits for work and was not killed."""
    with _lock:
        for process in _waiting[::-1]:
            if not process.alive:
                _waiting.remove(process)
                process.close()
            elif process.memory == _limits.memory:
                _waiting.remove(process)
                return process
    return None


@atexit.register
def close() -> None:
    """End the processes that wait for work; a later call would start another."""
    with _lock:
        while _waiting:
            _waiting.pop().close()


def facts(library: Path) -> Facts:
    """What the NVRTC of a path says of itself; UnavailableError when it cannot be loaded."""
    try:
        reply = _ask(Request(str(library)))
    except Lost as lost:
        raise UnavailableError(f"NVRTC cannot be used: the process that loads it {lost}") from None
    if reply.facts is None:
        raise UnavailableError(reply.unavailable)
    return reply.facts


def compile(library: Path, task: Task) -> Output:
    """Compile with the NVRTC of a path.

    Raises
    ------
    CompilerLost : the compiler crashed, or took too much time or memory
    UnavailableError : it cannot be used
    """
    try:
        reply = _ask(Request(str(library), task))
    except Lost as lost:
        name = task.name.rpartition("/")[2]
        raise CompilerLost(f"{name} does not compile: the compiler {lost}") from None
    if reply.output is None:
        raise UnavailableError(reply.unavailable)
    return reply.output
