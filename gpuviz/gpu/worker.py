"""The process that owns the GPU: `python -m gpuviz.gpu.worker DEVICE`.

It answers one request after the other on standard output, and ends when standard input does, even
in the middle of a kernel that never would, or after an error that leaves the GPU's context
unusable. What kernels print goes to standard error.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, BinaryIO, Protocol

from gpuviz.gpu import protocol
from gpuviz.gpu.faults import to_wire
from gpuviz.gpu.protocol import Failure, Message, Reply, Request

ORPHAN_SECONDS = 1.0  # in which a request may still end when gpuviz is gone


class Backend(Protocol):
    """What the process does with requests: one method a kind, called `<kind>` in small letters."""

    def fatal(self, error: Exception) -> bool:
        """Whether nothing can be launched after this error."""


def serve(backend: Backend, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer requests until the other side is gone, or an error is fatal.

    This ends the process when the other side is gone and a request does not end.
    """
    requests: SimpleQueue[Message | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(source, requests), daemon=True).start()
    while (request := requests.get()) is not None:
        answer = _answer(backend, request)
        protocol.send(sink, answer)
        if isinstance(answer, Failure) and answer.fatal:
            return


def _listen(source: BinaryIO, requests: SimpleQueue[Message | None]) -> None:
    """Runs in a thread."""
    try:
        while True:
            requests.put(protocol.receive(source))
    except EOFError:
        requests.put(None)
        time.sleep(ORPHAN_SECONDS)
        os._exit(0)


def _answer(backend: Backend, request: Message) -> Reply | Failure:
    try:
        method: Callable[[Message], Reply] = getattr(backend, type(request).__name__.lower())
        return method(request)
    except Exception as error:  # whatever it is, the other side must hear of it
        return Failure(to_wire(error), backend.fatal(error))


class Unusable:
    """Stands in for a GPU that cannot be used: every request is answered with the reason."""

    def __init__(self, reason: Exception) -> None:
        self._reason = reason

    def fatal(self, error: Exception) -> bool:
        """Nothing helps but starting anew."""
        return True

    def __getattr__(self, name: str) -> Callable[[Request], Reply]:
        def refuse(request: Request) -> Reply:
            raise self._reason

        return refuse


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to gpuviz; standard output proper, which kernels print to, becomes the error's."""
    sys.stdout.flush()
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, sink


def main(arguments: Sequence[str]) -> None:
    """Serve the GPU whose number is the first argument."""
    source, sink = _pipes()
    backend: Any
    try:
        from gpuviz.gpu.device import Device

        backend = Device(int(arguments[1]) if len(arguments) > 1 else 0)
    except Exception as error:
        backend = Unusable(error)
    serve(backend, source, sink)


if __name__ == "__main__":
    main(sys.argv)
    os._exit(0)  # tearing down a context that a kernel broke can hang
