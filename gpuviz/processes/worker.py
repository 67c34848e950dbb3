"""A process that answers requests, seen from outside: nothing of it is waited for without bound.

Not its start, nor that it takes a request, nor its answer: it may be stopped, swamped, or stuck in
a driver where not even a kill reaches it.
"""

import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Generic, NoReturn, TypeVar

from gpuviz.base import records
from gpuviz.base.errors import Cancelled
from gpuviz.base.waiting import Cancel, go_on, unwanted
from gpuviz.processes import programs as processes

POLL_SECONDS = 0.02
GRACE_SECONDS = 0.5  # a question that is given up may still be answered
_REAP_SECONDS = 10.0
_LINES, _LINE = 40, 2000  # of its standard error that are kept, and letters of each

Record = TypeVar("Record")
Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Lost(Exception):
    """It ended before it had answered; the words say how."""


class GarbledAnswer(Lost):
    """What it sent cannot be understood; the words say why."""


class Late(Exception):
    """It did not answer in time, and was killed."""


class WorkerProcess(Generic[Question, Answer]):
    """One process. Not thread-safe: one question at a time.

    `send` writes a question into a pipe, `receive` reads an answer (EOFError when there are no
    more). Its standard error goes into the file `words` if there is one; else the last lines are
    kept.
    """

    def __init__(
        self,
        command: Sequence[str],
        send: Callable[[IO[bytes], Question], None],
        receive: Callable[[IO[bytes]], Answer],
        words: IO[bytes] | None = None,
    ) -> None:
        self._send, self._receive = send, receive
        environment = processes.environment()
        self.process = processes.start(command, environment=environment, words=words)
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer | Lost] = queue.SimpleQueue()
        self._words: deque[str] = deque(maxlen=_LINES)
        self._given_up = False
        self._noted = threading.Event()  # all it said on standard error
        if self.process.stderr is None:
            self._noted.set()
        for listen, pipe in (
            (self._speak, self.process.stdin),
            (self._hear, self.process.stdout),
            (self._note, self.process.stderr),
        ):
            if pipe is not None:
                threading.Thread(target=listen, args=(pipe,), daemon=True).start()

    # Pipes cannot be waited for with a time limit on every system: each has a thread, which ends
    # with the process.

    def _speak(self, pipe: IO[bytes]) -> None:
        with suppress(OSError), pipe:
            while (question := self._questions.get()) is not None:
                self._send(pipe, question)

    def _hear(self, pipe: IO[bytes]) -> None:
        with pipe:
            try:
                while True:
                    self._answers.put(self._receive(pipe))
            except (EOFError, OSError, ValueError):
                garbled = None
            except Exception as error:  # whatever it sent, it is no answer
                garbled = GarbledAnswer(str(error) or type(error).__name__)
        self.retire()
        by_itself = self._reap(GRACE_SECONDS)
        self.kill()
        self._noted.wait(GRACE_SECONDS)  # its last words come by another pipe
        how = processes.ended(self.process.returncode if by_itself else None)
        self._answers.put(garbled or Lost(f"it ended {how}"))

    def _note(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(_LINE):
                self._words.append(line.decode(errors="replace").rstrip())
        self._noted.set()

    @property
    def alive(self) -> bool:
        """Whether it can be asked something."""
        return not self._given_up and self.process.poll() is None

    @property
    def last_words(self) -> Sequence[str]:
        """The last lines it wrote to its standard error."""
        return self._words

    def ask(
        self,
        question: Question,
        limit: float,
        cancel: Cancel = go_on,
        grace: float = GRACE_SECONDS,
        final: Callable[[Answer], bool] = lambda answer: True,
        stop: Question | None = None,
    ) -> Answer:
        """Send a question and wait so many seconds for the answer, the first that is `final`;
        `grace` more at most when nobody wants it any more, which `stop` tells the process.

        Raises
        ------
        Late, Lost : there is no answer, and no process any more
        Cancelled : nobody wants to know, and it was killed, as it did not answer soon
        """
        self._questions.put(question)
        end, stopping = time.monotonic() + limit, False
        while True:
            try:
                answer = self._answers.get(timeout=POLL_SECONDS)
            except queue.Empty:
                pass
            else:
                if isinstance(answer, Lost):
                    raise answer
                if final(answer):
                    return answer
            if not stopping and (cancel() or unwanted()):
                end, stopping = min(end, time.monotonic() + grace), True
                if stop is not None:
                    self._questions.put(stop)
            if time.monotonic() > end:
                self.kill()
                raise Cancelled("stopped") if stopping else Late

    def retire(self) -> None:
        """Ask it nothing more: it ends when it has nothing left to do."""
        self._given_up = True
        self._questions.put(None)

    def kill(self) -> None:
        """End it at once, with what it started."""
        self.retire()
        processes.kill(self.process)
        self._reap(_REAP_SECONDS)

    def close(self, seconds: float = 2.0) -> None:
        """Let it end by itself, shortly."""
        self.retire()
        if not self._reap(seconds):
            self.kill()

    def _reap(self, seconds: float) -> bool:
        """Wait until it is gone; one that is stuck in the driver stays, and is reaped later."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            return True
        return False


def send_line(pipe: IO[bytes], record: object) -> None:
    """A record as a line of JSON; names of files need not be texts."""
    pipe.write(records.text(record).encode(errors="surrogatepass") + b"\n")
    pipe.flush()


def lines_of(kind: type[Record], most: int, name: str) -> Callable[[IO[bytes]], Record]:
    """Reads records of a kind, lines of at most so many bytes; errors call them by this name."""

    def receive(pipe: IO[bytes]) -> Record:
        if not (line := pipe.readline(most)):
            raise EOFError
        return records.read(line, kind, name)

    return receive


def serve(kind: type[Record], answer: Callable[[Record], object]) -> NoReturn:
    """Be the process at the other end: answer lines of standard input with lines on standard
    output, which else becomes what standard error is, until the other side is gone.
    """
    sys.stdout.flush()
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        send_line(sink, answer(records.read(lines.get(), kind, "request")))


def _listen(lines: queue.SimpleQueue[bytes]) -> None:
    """Runs in a thread, so that the end of gpuviz ends work that would take long, or never end."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)
