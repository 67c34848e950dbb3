"""Compiling in a process of its own: what a source does to the compiler is told, not suffered.

The process is kept for the next compilation, and is started again after a crash or a time-out.
Calls may come from any thread; those at the same time work in processes of their own.
"""

from __future__ import annotations

import atexit
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from gpuviz import processes, records
from gpuviz.compile.binding import Output
from gpuviz.compile.program import CompileError
from gpuviz.compile.worker import Facts, Reply, Request, Task
from gpuviz.errors import FormatError, UnavailableError

SECONDS = 60.0
_KEPT = 2  # processes that wait for work
_SMALLER = (
    "Look for names, literals and comments of many thousand letters, and for macros, includes and "
    "templates that expand without end."
)
_NO_MEMORY = ("bad_alloc", "out of memory", "Out of memory", "cannot allocate")

command = processes.python("gpuviz.compile.worker")


class _Lost(Exception):
    """The process ended before it had answered; the words say how."""


class Process:
    """One compiler at work. Not thread-safe: one request at a time."""

    def __init__(self) -> None:
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  as long as the process
        self._process = processes.start(
            command, environment=processes.environment(), words=self._words
        )

    def ask(self, request: Request, seconds: float) -> Reply:
        """Send a request and wait for its reply; _Lost when none comes."""
        assert self._process.stdin is not None and self._process.stdout is not None
        late = threading.Event()
        timer = threading.Timer(seconds, self._end, (late,))
        timer.daemon = True
        timer.start()
        try:
            self._process.stdin.write(records.text(request).encode() + b"\n")
            self._process.stdin.flush()
            return records.read(self._process.stdout.readline(), Reply, "reply")
        except (OSError, FormatError):
            processes.kill(self._process)
            self._process.wait()
            raise _Lost(self._how(late.is_set(), seconds)) from None
        finally:
            timer.cancel()

    def _end(self, late: threading.Event) -> None:
        late.set()
        processes.kill(self._process)

    def _how(self, late: bool, seconds: float) -> str:
        if late:
            return f"took more than {seconds:g} s on it and was stopped"
        self._words.seek(0)
        last = self._words.read()[-4000:].decode(errors="replace")
        if any(sign in last for sign in _NO_MEMORY):
            return "took more memory on it than it may (4 GiB)"
        return f"crashed on it (ended {processes.ended(self._process.returncode)})"

    def close(self) -> None:
        """End it."""
        processes.kill(self._process)
        with suppress(OSError):
            self._process.communicate()
        self._words.close()


_waiting: list[Process] = []
_lock = threading.Lock()


def _ask(request: Request) -> Reply:
    with _lock:
        process = _waiting.pop() if _waiting else None
    process = process or Process()
    try:
        reply = process.ask(request, SECONDS)
    except BaseException:
        process.close()
        raise
    with _lock:
        if len(_waiting) < _KEPT:
            _waiting.append(process)
            return reply
    process.close()
    return reply


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
    except _Lost as lost:
        raise UnavailableError(f"NVRTC cannot be used: the process that loads it {lost}.") from None
    if reply.facts is None:
        raise UnavailableError(reply.unavailable)
    return reply.facts


def compile(library: Path, task: Task) -> Output:
    """Compile with the NVRTC of a path.

    Raises
    ------
    CompileError : the compiler crashed, or took too much time or memory
    UnavailableError : it cannot be used
    """
    try:
        reply = _ask(Request(str(library), task))
    except _Lost as lost:
        name = task.name.rpartition("/")[2]
        raise CompileError(f"{name} does not compile: the compiler {lost}. {_SMALLER}") from None
    if reply.output is None:
        raise UnavailableError(reply.unavailable)
    return reply.output
