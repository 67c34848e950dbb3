"""One input through one door, in this process or in one of its own, bounded in time and memory."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from tests.hostile.kind import Call, Command
from tests.hostile.outcome import LONGEST, MEBIBYTES, SECONDS, told

_PAGE = os.sysconf("SC_PAGE_SIZE")
_START = 5.0  # seconds that a process may take to start
_SPACE = 2 << 30  # address space that a process takes which does nothing, and more than it


class Hang(BaseException):
    """It takes longer than anything may."""


def in_process(command: Command, file: Path) -> tuple[str, str]:
    """The end, and what was said, of a command that runs in this process."""
    return _entered(lambda: _status(command(file)))


def called(call: Call, file: Path) -> tuple[str, str]:
    """The end of what the window does, and what was said, or would be shown as a message."""
    return _entered(lambda: call(file) or 0)


def _status(command: Sequence[str]) -> int:
    from gpuviz.cli import main

    try:
        return main(command)
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)


def _entered(enter: Callable[[], int]) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _timed(), _bounded():
        try:
            with warnings.catch_warnings(), _faults() as faults:
                warnings.simplefilter("always")
                status = enter()
        except Hang as error:
            return "hang", _trace(error)
        except MemoryError as error:
            return "memory", _trace(error)
        except BaseException as error:
            return _raised(error)
    end, said = told(status, out.getvalue(), err.getvalue())
    if end == "traceback" and "MemoryError" in said:
        return "memory", said
    return ("fault" if end == "message" and faults else end), said


@contextlib.contextmanager
def _faults() -> Iterator[list[str]]:
    """The faults of kernels there are meanwhile: a command tells them as it tells other errors."""
    from gpuviz.base.errors import KernelFault

    found: list[str] = []
    before = KernelFault.__init__

    def made(self: KernelFault, *said: Any, **more: Any) -> None:
        found.append(type(self).__name__)
        before(self, *said, **more)

    with mock.patch.object(KernelFault, "__init__", made):
        yield found


def _raised(error: BaseException) -> tuple[str, str]:
    """A door that is no command tells by an exception."""
    from gpuviz.base.errors import Error, KernelFault

    if not isinstance(error, Error):
        return "traceback", _trace(error)
    if len(str(error)) > LONGEST:
        return "chatter", f"{len(str(error))} letters: {error!s:.300}"
    return ("fault" if isinstance(error, KernelFault) else "message"), str(error)


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-12))[-4000:]


def as_process(command: Command, file: Path) -> tuple[str, str]:
    """The end of a command as its user starts it."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_SPACE, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS + _START), int(SECONDS + _START) + 1))

    full = [sys.executable, "-m", "gpuviz", *command(file)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            done = subprocess.run(
                full,
                cwd=file.parent,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=4 * SECONDS,
                preexec_fn=bound,
            )
        except subprocess.TimeoutExpired:
            return "hang", f"over {4 * SECONDS} s"
        texts = [_read(file) for file in (out, err)]
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang", f"over {SECONDS} s of processor time"
    return told(done.returncode, *texts)


def _read(file: io.BufferedRandom | tempfile._TemporaryFileWrapper[bytes]) -> str:
    file.seek(0)
    return file.read(1 << 24).decode(errors="replace")


@contextlib.contextmanager
def _timed() -> Iterator[None]:
    """Raise `Hang` after SECONDS of processor time; waiting is for who started this process."""

    def late(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """No more address space than there is, and MEBIBYTES."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
    resource.setrlimit(resource.RLIMIT_AS, (taken + (MEBIBYTES << 20), resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)


def measured(work: Callable[[], tuple[str, str]]) -> tuple[tuple[str, str], float, float]:
    """What a work gives, how much processor time and how many MiB it took at most."""
    before, start = _resident(), _processor_time()
    _forget_peak()
    found = work()
    return found, _processor_time() - start, max(_peak() - before, 0.0)


def _processor_time() -> float:
    """Of this process, and of those it started that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / (1 << 20)


def _peak() -> float:
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x)
    return int(line.split()[1]) / 1024
