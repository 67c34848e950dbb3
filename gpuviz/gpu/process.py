"""The process that owns a GPU, seen from outside: started, asked, and told of when it is lost."""

from collections.abc import Sequence
from typing import IO

from gpuviz.base.errors import Cancelled, FormatError
from gpuviz.base.waiting import Cancel, go_on, unwanted
from gpuviz.gpu import protocol
from gpuviz.gpu.faults import TimeLimit, WorkerLost, from_wire
from gpuviz.gpu.protocol import Failure, Reply, Request
from gpuviz.processes import programs as processes
from gpuviz.processes.worker import GRACE_SECONDS, Late, Lost, WorkerProcess
from gpuviz.words.language import tr

RUNS = (protocol.Run, protocol.Time, protocol.Count, protocol.Place)
PATIENCE_SECONDS = 3.0  # for what ends surely, when nobody wants it any more
_LETTERS = 200  # of its last words, in a message


def command(device: int) -> list[str]:
    """How the worker is started."""
    return processes.python("gpuviz.gpu.worker", str(device))


class Process:
    """One worker. Not thread-safe: one request at a time."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._worker: WorkerProcess[Request, Reply | Failure]
        self._worker = WorkerProcess(arguments, protocol.send, _receive)
        self.kill, self.close = self._worker.kill, self._worker.close

    @property
    def alive(self) -> bool:
        """Whether it can be asked something."""
        return self._worker.alive

    @property
    def pid(self) -> int:
        """Its number."""
        return self._worker.process.pid

    @property
    def printed(self) -> str:
        """The last lines it wrote, which kernels' printf is among."""
        return "\n".join(self._worker.last_words)

    def ask(
        self, request: Request, limit: float, cancel: Cancel = go_on, ends: bool = False
    ) -> Reply:
        """Send a request, where somebody wants it, and wait for its reply.

        Nothing is begun that nobody wants, but what was answered is never thrown away. A request
        that `ends` surely is waited for: to start a worker anew takes longer.

        Raises
        ------
        TimeLimit, Cancelled : the process was killed, if it did not end the request in time
        WorkerLost : it ended by itself
        errors.Error : what the request ended with
        """
        if cancel() or unwanted():
            raise Cancelled("stopped")
        grace = PATIENCE_SECONDS if ends else GRACE_SECONDS
        try:
            answer = self._worker.ask(request, limit, cancel, grace)
        except Late:
            endless = tr(": the kernel may never end") if isinstance(request, RUNS) else ""
            raise TimeLimit(
                tr(
                    "the GPU did not answer within {n} s ({request}){endless}; its process was "
                    "stopped, and starts again with the next launch",
                    n=f"{limit:g}",
                    request=type(request).__name__.lower(),
                    endless=endless,
                )
            ) from None
        except Lost as lost:
            last = f": {words[-1][:_LETTERS]}" if (words := self._worker.last_words) else ""
            raise WorkerLost(
                tr(
                    "the process that runs kernels on the GPU was lost ({why}); it starts again "
                    "with the next launch",
                    why=f"{lost}{last}",
                )
            ) from None
        if isinstance(answer, Failure):
            if answer.fatal:
                self.close(GRACE_SECONDS)
            raise from_wire(answer.error)
        return answer


def _receive(pipe: IO[bytes]) -> Reply | Failure:
    message = protocol.receive(pipe)
    if not isinstance(message, Reply | Failure):
        raise FormatError(f"a {type(message).__name__} is no reply")
    return message
