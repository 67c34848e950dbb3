"""The thread that measures on a GPU, seen from the GUI thread: the newest wish counts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.qt.running.activity import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from gpuviz.gpu.client import Gpu
    from gpuviz.gpu.live_thread import Engine, Report, Wish


class LiveGpu(QObject):
    """Begins with the first wish; nothing of GPUs is loaded before. Code of strangers runs when it
    is among what was `agreed`. `take` is given what was found of the wish that is held.
    """

    _landed = Signal(Outcome)

    def __init__(
        self,
        take: Callable[[Report], None],
        make_gpu: Callable[[int], Gpu] | None,
        agreed: Container[str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._hand_on, self._make_gpu, self._agreed = take, make_gpu, agreed
        self._engine: Engine | None = None
        self._held: Wish | None = None
        self._landed.connect(self._take)

    @property
    def can_look(self) -> bool:
        """Whether there is anywhere to look for a GPU."""
        return self._make_gpu is not None

    def ask(self, wish: Wish) -> None:
        """Do this; what is under way is stopped, and reported no more."""
        if self._engine is None:
            from gpuviz.gpu.live_thread import Engine

            assert self._make_gpu is not None
            self._engine = Engine(self._make_gpu, self._land, self._agreed)
        self._held = wish
        self._engine.ask(wish)

    def rest(self) -> None:
        """Stop what is under way."""
        self._held = None
        if self._engine is not None:
            self._engine.rest()

    def close(self) -> None:
        """End the thread and the worker."""
        if self._engine is not None:
            self._engine.close()

    def _land(self, wish: Wish, report: Report) -> None:
        """Called in the thread."""
        with suppress(RuntimeError):  # the window may be gone by now
            self._landed.emit(Outcome(wish, report))

    def _take(self, outcome: Outcome) -> None:
        """What belongs to a wish no longer held comes too late."""
        if outcome.about is self._held:
            self._hand_on(outcome.value)
