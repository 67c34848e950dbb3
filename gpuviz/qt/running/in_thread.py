"""Work off the GUI thread of which only the newest is of interest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from gpuviz.base.waiting import stopped_by


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a piece of work was about, and what it returned or raised."""

    about: Any
    value: Any


class InThread(QObject):
    """Each piece of work has a thread; what is asked for takes the place of what is under way,
    which is asked to stop and of which nothing is told. `take` is given what the newest is about
    and what it returned or raised, in the GUI thread.
    """

    _landed = Signal(int, Outcome)

    def __init__(self, take: Callable[..., None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self._number = 0
        self._landed.connect(self._land)

    def ask(self, work: Callable[[], object], about: object = None) -> None:
        """Do this, and nothing else any more."""
        self._number += 1
        wanted = work, about, self._number
        threading.Thread(target=self._work, args=wanted, daemon=True).start()

    def forget(self) -> None:
        """Nothing is wanted any more."""
        self._number += 1

    def _work(self, work: Callable[[], object], about: object, number: int) -> None:
        """Runs in a thread: every way to end is reported, none escapes."""
        try:
            with stopped_by(lambda: number != self._number):
                outcome: object = work()
        except Exception as error:
            outcome = error
        with suppress(RuntimeError):  # the window may be gone by now
            self._landed.emit(number, Outcome(about, outcome))

    def _land(self, number: int, outcome: Outcome) -> None:
        if number == self._number:
            self._take(outcome.about, outcome.value)
