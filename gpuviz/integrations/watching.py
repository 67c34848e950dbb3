"""What watches the launches of a library while a program runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from gpuviz.integrations.calls import LaunchRequest

Result = TypeVar("Result")


class Watcher(Protocol):
    """Is told of launches. A library's `watching(watcher)` is a context manager: it replaces what
    makes launches there, and puts it back.
    """

    def wants(self, kernel: str, gpu: bool) -> bool:
        """Whether `launched` is to be told of a launch of this kernel; asked before anything is
        made of it. Without a GPU it always is: nobody else runs it.
        """

    def launched(
        self, kernel: str, asked: Callable[[], LaunchRequest], launch: Callable[[], Result] | None
    ) -> Result | None:
        """A launch: `asked` copies its arguments, `launch` makes it on the GPU; without a GPU there
        is no `launch`, and the emulator leaves the results where the kernel would.
        """


def replaced(owner: Any, name: str, value: Any) -> Callable[[], None]:
    """Set an attribute of a class or module; what puts it back as it was."""
    before = vars(owner)[name]
    setattr(owner, name, value)
    return lambda: setattr(owner, name, before)
