"""The worker process as seen from outside: started, asked, and killed when it does not answer."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import BinaryIO, cast

from gpuviz import processes
from gpuviz.errors import Cancelled, Error
from gpuviz.runners.base import Cancel
from gpuviz.runners.faults import TimeLimit, WorkerLost, from_wire
from gpuviz.runners.gpu import protocol
from gpuviz.runners.gpu.protocol import Failure, Reply, Request

POLL_SECONDS = 0.02
GRACE_SECONDS = 0.5  # a cancelled request may still end by itself
_WORDS = 40  # lines of its standard error that are kept


def never() -> bool:
    """A `Cancel` that does not."""
    return False


def command(device: int) -> list[str]:
    """How the worker is started."""
    return processes.python("gpuviz.runners.gpu.worker", str(device))


class Process:
    """One worker. Not thread-safe: one request at a time."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._process = processes.start(arguments, environment=processes.environment())
        self._stdin, stdout, stderr = _open_pipes(self._process)
        self._replies: queue.SimpleQueue[Reply | Failure | Error] = queue.SimpleQueue()
        self._words: deque[str] = deque(maxlen=_WORDS)
        for listen, pipe in ((self._hear, stdout), (self._note, stderr)):
            threading.Thread(target=listen, args=(pipe,), daemon=True).start()
        self.alive = True

    def _hear(self, pipe: BinaryIO) -> None:
        """Runs in a thread, as pipes cannot be waited for with a time limit on every system."""
        with pipe:
            try:
                while True:
                    message = protocol.receive(pipe)
                    if isinstance(message, Reply | Failure):
                        self._replies.put(message)
            except (EOFError, OSError, ValueError):
                self._replies.put(WorkerLost(""))
            except Error as error:
                self._replies.put(error)

    def _note(self, pipe: BinaryIO) -> None:
        with pipe:
            for line in pipe:
                self._words.append(line.decode(errors="replace").rstrip())

    @property
    def printed(self) -> str:
        """The last lines it wrote, which kernels' printf is among."""
        return "\n".join(self._words)

    def ask(self, request: Request, limit: float, cancel: Cancel = never) -> Reply:
        """Send a request and wait for its reply.

        Raises
        ------
        TimeLimit, Cancelled : the process was killed, if it did not end the request in time
        WorkerLost : it ended by itself
        errors.Error : what the request ended with
        """
        self._send(request)
        answer = self._wait(limit, cancel, lambda: type(request).__name__.lower())
        if isinstance(answer, Failure):
            self.alive = not answer.fatal
            raise from_wire(answer.error)
        if isinstance(answer, Error):
            raise self._lost()
        return answer

    def _send(self, request: Request) -> None:
        try:
            protocol.send(self._stdin, request)
        except OSError:
            raise self._lost() from None

    def _wait(
        self, limit: float, cancel: Cancel, what: Callable[[], str]
    ) -> Reply | Failure | Error:
        end, stopping = time.monotonic() + limit, False
        while True:
            try:
                answer = self._replies.get(timeout=POLL_SECONDS)
            except queue.Empty:
                pass
            else:
                if stopping and isinstance(answer, Reply):
                    raise Cancelled("stopped")
                return answer
            if not stopping and cancel():
                end, stopping = min(end, time.monotonic() + GRACE_SECONDS), True
            if time.monotonic() > end:
                self.kill()
                if stopping:
                    raise Cancelled("stopped")
                raise TimeLimit(
                    f"the GPU did not answer within {limit:g} s ({what()}): the kernel may never "
                    "end; its process was stopped, and starts again with the next launch"
                )

    def _lost(self) -> WorkerLost:
        self.kill()
        status = self._process.returncode
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        last = f": {self._words[-1]}" if self._words else ""
        return WorkerLost(
            f"the process that runs kernels on the GPU was lost ({how}{last}); it "
            "starts again with the next launch"
        )

    def kill(self) -> None:
        """End it at once."""
        self.alive = False
        self._process.kill()
        with suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # stuck in the driver: nothing more can be done
            self._process.returncode = -9

    def close(self) -> None:
        """Let it end by itself, shortly."""
        self.alive = False
        try:
            self._stdin.close()
            self._process.wait(timeout=2)
        except (OSError, subprocess.TimeoutExpired):
            self.kill()


def _open_pipes(process: subprocess.Popen[bytes]) -> tuple[BinaryIO, BinaryIO, BinaryIO]:
    pipes = process.stdin, process.stdout, process.stderr
    return cast("tuple[BinaryIO, BinaryIO, BinaryIO]", pipes)
