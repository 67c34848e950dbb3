"""Undo and redo of what the window shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import InputError
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.views import history
from gpuviz.views.history import History
from gpuviz.views.naming import difference
from gpuviz.views.provenance import Provenance


class Undo(QObject):
    """Follows the view: what changes in one turn of the event loop is one change.

    Signals
    -------
    changed : there is something else to undo or to redo
    refused : the exception when a view cannot be shown again
    """

    changed = Signal()
    refused = Signal(Exception)

    def __init__(
        self, core: Core, recorder: ViewRecorder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(recorder)
        self._recorder, self._player, self._clock = recorder, core.player, clock
        self._history = History(recorder.record())
        self._left: float | None = None
        self._turn = timer(self, 0, self.gather)
        core.view.changed.connect(self._note)

    @property
    def history(self) -> History:
        """What can be undone and redone."""
        return self._history

    def begin(self) -> None:
        """Nothing has been done yet: the view now is the first one."""
        self._turn.stop()
        self._left = None
        self._become(History(self._recorder.record()))

    def undo(self) -> None:
        """One change back."""
        self.gather()
        self._go(history.undone(self._history))

    def redo(self) -> None:
        """One change forward again."""
        self.gather()
        self._go(history.redone(self._history))

    def undoes(self) -> str:
        """What the next undo takes back, in words; empty when there is nothing."""
        made = self._history
        return self._words(made.past[-1], made.now) if made.past else ""

    def redoes(self) -> str:
        """What the next redo does again, in words; empty when there is nothing."""
        made = self._history
        return self._words(made.now, made.future[-1]) if made.future else ""

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Changes that the user did not ask for are not to be undone."""
        self.gather()
        yield
        self._amend()

    def gather(self) -> None:
        """Take what has changed since the last turn as one change."""
        if self._left is None:
            return
        left, self._left = self._left, None
        self._turn.stop()
        before = history.left_at(self._history, left)
        self._become(history.changed(before, self._recorder.record(), self._clock()))

    def _note(self, *_: object) -> None:
        if self._left is None:
            self._left = self._player.t
            self._turn.start()

    def _go(self, target: History) -> None:
        if target is self._history:
            return
        here = history.left_at(self._history, self._player.t).now
        try:
            self._recorder.go_back(target.now)
        except InputError as error:  # as when a kernel's file is gone
            self.refused.emit(error)
            return
        self._become(_with(target, self._history.now, here))
        self._amend()

    def _amend(self) -> None:
        """What has just changed is no change of the user's."""
        self._turn.stop()
        self._left = None
        shown = history.left_at(History(self._recorder.record()), self._history.now.time).now
        self._become(history.amended(self._history, shown))

    def _become(self, made: History) -> None:
        self._history = made
        self.changed.emit()

    def _words(self, before: Provenance, after: Provenance) -> str:
        lessons = (self._recorder.lesson_of(before), self._recorder.lesson_of(after))
        return difference(before, after, *lessons)


def _with(made: History, old: Provenance, new: Provenance) -> History:
    """The history with one view replaced by the same one at another moment."""

    def swapped(views: tuple[Provenance, ...]) -> tuple[Provenance, ...]:
        return tuple(new if view is old else view for view in views)

    return History(made.now, swapped(made.past), swapped(made.future))
