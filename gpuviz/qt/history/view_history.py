"""The views before: undo and redo, the recent ones, links to them. Binds these commands."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QMenu, QWidget
from shiboken6 import isValid

from gpuviz.base import records
from gpuviz.base.errors import FormatError, InputError
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.history.link_commands import LinkCommands
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.story import traced
from gpuviz.views import history
from gpuviz.views.history import History, changes
from gpuviz.views.link import link, parse
from gpuviz.views.naming import described, difference
from gpuviz.views.provenance import Provenance, Value
from gpuviz.words.language import tr


class Undo(QObject):
    """Follows the view: what changes in one turn of the event loop is one change."""

    changed = Signal()  # there is something else to undo or to redo
    refused = Signal(Exception)  # the exception when a view cannot be shown again

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


RECENTS = "recents"
MOST = 12
LOOKED_MS = 4000  # a view shown for so long was looked at
LEFT_MS = 1000  # one left for another lesson, if it was shown for so long


def with_view(views: Iterable[Provenance], view: Provenance) -> tuple[Provenance, ...]:
    """The views with this one first; the same one at another moment is replaced."""
    return (view, *(other for other in views if changes(other, view)))[:MOST]


def _number(value: Value) -> Value:
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10
    return int(value) if digits else value


class Recents(QObject):
    """Follows the view."""

    changed = Signal()  # there are other views

    def __init__(self, core: Core, recorder: ViewRecorder) -> None:
        super().__init__(recorder)
        self._recorder, self._settings = recorder, core.settings
        self._views = tuple(self._restored())
        self._now = recorder.record()
        self._since = QElapsedTimer()
        self._since.start()
        self._timer = timer(self, LOOKED_MS, self._look)
        core.view.changed.connect(self._follow)
        self._timer.start()

    @property
    def views(self) -> tuple[Provenance, ...]:
        """Newest first."""
        return self._views

    def keep(self, view: Provenance | None = None) -> None:
        """Remember a view, or the one now: it was exported, or its link was copied.

        One that does not fit its lesson is not remembered.
        """
        with suppress(InputError):
            self._take(self._fitted(view) if view is not None else self._recorder.record())

    def leave(self) -> None:
        """The view now is left for good: the window closes."""
        self._timer.stop()
        if self._since.elapsed() >= LEFT_MS:
            self._look()

    def clear(self) -> None:
        """Forget all."""
        self._become(())

    def _follow(self, *_: object) -> None:
        before, self._now = self._now, self._recorder.record()
        what = changes(before, self._now)
        if not what:
            return
        seen = self._recorder.view() is not None and self._since.elapsed() >= LEFT_MS
        if "lesson" in what and seen:
            self._take(replace(before, time=self._now.time))
        self._since.start()
        self._timer.start()

    def _look(self) -> None:
        """Nothing was seen of a view that has not been performed."""
        if self._recorder.view() is not None:
            self._take(self._recorder.record())

    def _take(self, view: Provenance) -> None:
        self._become(with_view(self._views, view))

    def _become(self, views: tuple[Provenance, ...]) -> None:
        self._views = views
        self._settings.keep(RECENTS, records.text([link(view) for view in views]))
        self.changed.emit()

    def _restored(self) -> Iterable[Provenance]:
        """What was remembered, as far as it still fits."""
        try:
            lines = records.read(self._settings.text(RECENTS, "[]"), list[Any], RECENTS)
        except FormatError:
            return
        for line in lines[:MOST]:
            try:
                yield self._fitted(parse(str(line)))
            except InputError:
                continue

    def _fitted(self, view: Provenance) -> Provenance:
        """Its values as their parameters' own kind. A trace is not read for that: its parameters
        are numbers.
        """
        if traced.FILE not in view.launch:
            return self._recorder.fit(view)
        values = {key: _number(value) for key, value in view.values.items()}
        return replace(view, values=values)


_PREFIX = "recent."


class RecentMenu(QMenu):
    """Follows the recent views; `show_view` opens one."""

    def __init__(
        self,
        recents: Recents,
        recorder: ViewRecorder,
        actions: Actions,
        show_view: Callable[[Provenance], object],
        parent: QMenu,
    ) -> None:
        super().__init__(tr("Recent views"), parent)
        self._recents, self._recorder, self._actions = recents, recorder, actions
        self._show = show_view
        recents.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        self.clear()
        self._actions.remove(_PREFIX)
        for number, view in enumerate(self._recents.views):
            try:
                said = self._described(view)
            except InputError:
                continue
            command = Command(f"{_PREFIX}{number}", said, "Recent views")
            self.addAction(self._actions.add(command, partial(self._show, view)))
        self.menuAction().setEnabled(bool(self._recents.views))

    def _described(self, view: Provenance) -> str:
        """The view in words. A trace is not read for that; InputError when there is no lesson."""
        if traced.FILE in view.launch and not self._recorder.knows(view):
            return tr("Trace: {file}", file=traced.path_of(view.launch).name)
        return described(view, self._recorder.lesson_of(view))


_UNDO = (QKeySequence("Ctrl+Z"),)
_REDO = (QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y"))


class TextUndo(QObject):
    """Watches the text field that has the focus, and no other widget."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._watched: QWidget | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)

    def _follow(self, old: QWidget | None, new: QWidget | None) -> None:
        if self._watched is not None and isValid(self._watched):
            self._watched.removeEventFilter(self)
        self._watched = new if isinstance(new, QLineEdit | QAbstractSpinBox) else None
        if self._watched is not None:
            self._watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim the keys for the field, or leave them to the window."""
        kinds = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
        if not isinstance(event, QKeyEvent) or event.type() not in kinds:
            return False
        line = watched.lineEdit() if isinstance(watched, QAbstractSpinBox) else watched
        if not isinstance(line, QLineEdit):
            return False
        keys = QKeySequence(event.keyCombination())
        if keys in _UNDO:
            return self._offer(event, line.isUndoAvailable(), line.undo)
        if keys in _REDO:
            return self._offer(event, line.isRedoAvailable(), line.redo)
        return False

    def _offer(self, event: QKeyEvent, own: bool, do: Callable[[], None]) -> bool:
        event.setAccepted(own)
        if own and event.type() == QEvent.Type.KeyPress:
            do()
        return True


class ViewHistory(QObject):
    """Follows the view."""

    said = Signal(str)  # what was done, in words
    refused = Signal(Exception)  # the exception when a view cannot be shown again

    def __init__(
        self, core: Core, recorder: ViewRecorder, actions: Actions, file: QMenu, window: QWidget
    ) -> None:
        super().__init__(window)
        self._actions = actions
        self.recents = Recents(core, recorder)
        self.undo = Undo(core, recorder)
        self.links = LinkCommands(recorder, core.theme, window)
        self.recent_menu = RecentMenu(self.recents, recorder, actions, self.links.show_view, file)
        file.insertMenu(actions["file.quit"], self.recent_menu)
        file.insertSeparator(actions["file.quit"])
        TextUndo(window)
        doing: dict[str, Callable[[], object]] = {
            "file.link": self.links.ask,
            "edit.undo": self.undo.undo,
            "edit.redo": self.undo.redo,
            "edit.link": self.links.copy,
        }
        for id, do in doing.items():
            actions.bind(id, do)
        self.undo.changed.connect(self._name_undo)
        for part in (self.undo, self.links):
            part.refused.connect(self.refused)
        self.links.said.connect(self.said)
        self.links.copied.connect(self.recents.keep)

    def _name_undo(self) -> None:
        """The commands say what they would do, and whether there is anything."""
        undoes, redoes = self.undo.undoes(), self.undo.redoes()
        undo, redo = (self._actions[id] for id in ("edit.undo", "edit.redo"))
        undo.setText(tr("Undo: {what}", what=undoes) if undoes else tr("Undo"))
        redo.setText(tr("Redo: {what}", what=redoes) if redoes else tr("Redo"))
        undo.setEnabled(bool(undoes))
        redo.setEnabled(bool(redoes))
