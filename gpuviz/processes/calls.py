"""Functions of gpuviz called in a process of their own: neither their work nor the memory that they
take is the window's.

    python -m gpuviz.processes.calls

Calls and answers are pickled. Both sides are this gpuviz, through pipes that nobody else has: no
file is ever unpickled. Arrays travel beside the pickle, so that nothing of them is copied there.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import queue
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from mmap import mmap
from typing import IO, Any, TypeVar, cast

from gpuviz.base.errors import Error, InputError, UnavailableError
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.processes import memory as memories
from gpuviz.processes import programs
from gpuviz.processes.worker import Late, Lost, WorkerProcess

Result = TypeVar("Result")
ROOM = 4 * programs.GIB  # bytes that a call may take which tries a user's own kernels
_KEPT = 2  # processes that wait for work
_GRACE = 2.0  # seconds that a call which is not wanted any more has to notice
_MANY = 1 << 20  # bytes
_REST = 1.0  # seconds without a call, after which there is time to tidy up
_FOREVER = 86_400.0  # seconds; what is called has limits of its own

command = programs.python("gpuviz.processes.calls")


def here(
    function: Callable[..., Result],
    *args: object,
    memory: int = 0,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> Result:
    """Call a function in this process, in the place of `call`."""
    return function(*args, progress=progress, cancel=cancel)


def call(
    function: Callable[..., Result],
    *args: object,
    memory: int = 0,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
) -> Result:
    """Call a function of a module with arguments that can be pickled, elsewhere; it is given ways
    to tell of its progress and to hear that it is not wanted any more. `memory` is what it may take
    besides what the process has anyway, in bytes; 0 for no bound.

    Raises
    ------
    UnavailableError : the process was lost
    InputError : it wanted more memory
    Cancelled : `cancel` said so
    and whatever the function raises
    """
    for thread in _warming:
        thread.join()
    return _called(_taken(), function, args, memory, progress, cancel)


def _called(
    process: _Process,
    function: Callable[..., Result],
    args: tuple[object, ...],
    memory: int,
    progress: Progress,
    cancel: Cancel,
) -> Result:
    process.number += 1
    question = _Call(process.number, function, args, memory)

    def final(answer: _Answer) -> bool:
        if isinstance(answer, _Moved):
            progress(answer.fraction)
        return not isinstance(answer, _Moved)

    try:
        answer = process.ask(question, _FOREVER, cancel, _GRACE, final, _Stop(process.number))
    except (Late, Lost) as lost:
        raise UnavailableError(f"the process that emulates was lost: {lost}. Try again.") from None
    except BaseException:
        process.kill()
        raise
    _give_back(process)
    if isinstance(answer, _Raised):
        raise answer.error
    assert isinstance(answer, _Done)
    return cast("Result", answer.value)


def warm(*modules: str) -> None:
    """Have the first process ready, which has imported these; who calls meanwhile waits for it."""
    if not _warming:
        _warming.append(threading.Thread(target=_warm, args=(modules,), daemon=True))
        _warming[0].start()


_warming: list[threading.Thread] = []


def begun() -> bool:
    """Whether the first process has been asked for."""
    return bool(_warming)


def _warm(modules: tuple[str, ...]) -> None:
    with suppress(Exception):  # the first who needs a process hears of it
        _called(_Process(), _load, (modules,), 0, quiet, go_on)


def _load(modules: tuple[str, ...], *, progress: Progress, cancel: Cancel) -> None:
    for name in modules:
        import_module(name)


@dataclass(frozen=True, eq=False)
class _Call:
    number: int
    function: Callable[..., Any]
    args: tuple[object, ...]
    memory: int


@dataclass(frozen=True)
class _Stop:
    """The call of this number is not wanted any more."""

    number: int


@dataclass(frozen=True)
class _Moved:
    fraction: float


@dataclass(frozen=True, eq=False)
class _Done:
    value: object


@dataclass(frozen=True, eq=False)
class _Raised:
    error: Exception


_Question = _Call | _Stop
_Answer = _Moved | _Done | _Raised


class _Process(WorkerProcess[_Question, _Answer]):
    """A process that answers calls, one after the other, by their numbers."""

    def __init__(self) -> None:
        super().__init__(command, _send, _receive)
        self.number = 0


_idle: list[_Process] = []
_lock = threading.Lock()


def _taken() -> _Process:
    with _lock:
        while _idle:
            process = _idle.pop()
            if process.alive:
                return process
    return _Process()


def _give_back(process: _Process) -> None:
    with _lock:
        if len(_idle) < _KEPT:
            _idle.append(process)
            return
    process.close()


@atexit.register
def close() -> None:
    """End the processes that wait for work; a later call would start another."""
    with _lock:
        while _idle:
            _idle.pop().kill()


def _send(pipe: IO[bytes], record: object) -> None:
    """A frame: how many parts, their lengths, the pickle, and the arrays beside it."""
    beside: list[pickle.PickleBuffer] = []
    parts: list[Any] = [pickle.dumps(record, 5, buffer_callback=beside.append)]
    parts += (one.raw() for one in beside)
    lengths = [len(part) for part in parts]
    pipe.write(struct.pack(f"<I{len(parts)}Q", len(parts), *lengths))
    for part in parts:
        pipe.write(part)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    (count,) = struct.unpack("<I", _exactly(pipe, 4))
    lengths = struct.unpack(f"<{count}Q", _exactly(pipe, 8 * count))
    first, *beside = (_exactly(pipe, length) for length in lengths)
    return pickle.loads(first, buffers=beside)


def _exactly(pipe: IO[bytes], length: int) -> bytearray | mmap:
    """So many bytes; EOFError when there are no more. Many are not set to zero before."""
    found = mmap(-1, length) if length > _MANY else bytearray(length)
    at = memoryview(found)
    while at:
        if not (read := pipe.readinto(at)):  # type: ignore[attr-defined]
            raise EOFError
        at = at[read:]
    return found


# --- in the other process -------------------------------------------------------------------------


class _Server:
    """Answers calls until the other side is gone."""

    def __init__(self, source: IO[bytes], sink: IO[bytes]) -> None:
        self._source, self._sink, self._writing = source, sink, threading.Lock()
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        self._stopped = self._percent = 0

    def serve(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            try:
                asked = self._calls.get(timeout=_REST)
            except queue.Empty:
                gc.collect()  # what was large may be in circles
                asked = self._calls.get()
            self._answer(asked)
            del asked

    def _answer(self, asked: _Call) -> None:
        """Nothing of a call is kept while the next is waited for."""
        self._percent = 0
        answer = self._answered(asked)
        try:
            self._say(answer)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            self._say(_Raised(UnavailableError(f"what came of it cannot be sent: {error}")))

    def _listen(self) -> None:
        """Runs in a thread: the end of gpuviz ends work that would take long, or never end."""
        try:
            while True:
                told = _receive(self._source)
                if isinstance(told, _Stop):
                    self._stopped = told.number
                else:
                    self._calls.put(told)
        finally:
            os._exit(0)

    def _answered(self, asked: _Call) -> _Answer:
        _bound(asked.memory)
        cancel: Cancel = partial(self._unwanted, asked.number)
        try:
            return _Done(asked.function(*asked.args, progress=self._moved, cancel=cancel))
        except MemoryError:
            return _Raised(_too_much(asked.memory))
        except Exception as error:
            if not isinstance(error, Error):
                error.add_note(traceback.format_exc())
            traceback.clear_frames(error.__traceback__)
            return _Raised(error)
        finally:
            _bound(0)

    def _unwanted(self, number: int) -> bool:
        return self._stopped >= number

    def _moved(self, fraction: float) -> None:
        if int(fraction * 100) != self._percent:
            self._percent = int(fraction * 100)
            self._say(_Moved(fraction))

    def _say(self, answer: _Answer) -> None:
        with self._writing:
            _send(self._sink, answer)


def _too_much(memory: int) -> Error:
    if not memory:
        return UnavailableError("this machine has too little free memory for that")
    return InputError(
        f"emulating this launch takes more than {memory >> 20:,} MiB of memory, which is all that "
        "it may: have smaller buffers, fewer blocks recorded, or fewer checks"
    )


def _bound(memory: int) -> None:
    """Bound the address space to what it is now and so many bytes more, where the system can."""
    if sys.platform != "linux":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = memories.address_space() + memory if memory else hard
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))


def main() -> None:
    """Be the process at the other end."""
    memories.keep_together()
    sys.stdout.flush()
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _Server(sys.stdin.buffer, sink).serve()


if __name__ == "__main__":
    # As the functions that are called import this module: both are to be one.
    from gpuviz.processes import calls

    calls.main()
