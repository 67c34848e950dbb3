"""What every day asks for: undo, recent views, links, preferences, a session that outlives a crash,
diagnostics. Binds these commands of the window.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QHBoxLayout, QMenu

from gpuviz.errors import InputError, failure_of
from gpuviz.language import tr
from gpuviz.qt.diagnostics import crash_notice
from gpuviz.qt.diagnostics.activity_log import ActivityLog
from gpuviz.qt.diagnostics.report import report
from gpuviz.qt.history.autosave import Autosave
from gpuviz.qt.history.crash_file import CrashFile, LastView
from gpuviz.qt.history.linking import Linking
from gpuviz.qt.history.recent_menu import RecentMenu
from gpuviz.qt.history.recents import Recents
from gpuviz.qt.history.settings import Settings
from gpuviz.qt.history.text_undo import TextUndo
from gpuviz.qt.history.undo import Undo
from gpuviz.qt.preferences.dialog import PreferencesDialog
from gpuviz.qt.preferences.preferences import Preferring
from gpuviz.qt.window.host import Host
from gpuviz.qt.window.lasting import remember, start_over
from gpuviz.views.link import parse
from gpuviz.views.provenance import Provenance


class Everyday(QObject):
    """Made when the window is; `begin` when its first lesson is about to be shown."""

    def __init__(self, window: Host, settings: Settings, state: Path | None) -> None:
        super().__init__(window)
        self._window, self._state = window, state
        self.crash_file = CrashFile(state)
        self.recents = Recents(window.viewing, settings)
        self.undo = Undo(window.viewing, window.player)
        self.linking = Linking(window.viewing, window.theme, window)
        self.preferring = Preferring(window.theme, window.player, window.meter, settings)
        self.autosave: Autosave | None = None
        self.lost: crash_notice.CrashNotice | None = None
        self.preferences: PreferencesDialog | None = None
        TextUndo(window)
        ActivityLog(window.director, window.meter, window)
        self._add_menu()
        self._bind()
        self.undo.changed.connect(self._name_undo)
        for part in (self.undo, self.linking):
            part.refused.connect(self._refuse)
        self.linking.said.connect(window.status.say)
        self.linking.copied.connect(self.recents.keep)

    def begin(self, first: Provenance | None) -> None:
        """Show the view asked for, or else the one that a crash left behind."""
        left = self.crash_file.left
        lost = self._view_of(left)
        restored = first is None and left is not None and left.hopeful and self._show(lost)
        if first is not None:
            self._show(first)
        elif left is not None and not left.hopeful:
            self._window.course.open_first()
        if lost is not None and not restored:
            self.recents.keep(lost)
        if left is not None:
            self._tell_of_loss(restored)
        self.undo.begin()
        self._follow()

    def close(self) -> None:
        """The window ends properly."""
        self.recents.leave()
        if self.autosave is not None:
            self.autosave.stop()

    def _view_of(self, left: LastView | None) -> Provenance | None:
        """What was left behind, if it can still be shown."""
        if left is None:
            return None
        try:
            return self._window.viewing.fit(parse(left.view))
        except InputError:
            return None

    def _show(self, view: Provenance | None) -> bool:
        """Show a view if there is one; whether it is shown."""
        if view is None:
            return False
        try:
            self._window.viewing.show(view)
        except InputError as error:
            self._refuse(error)
            return False
        return True

    def _tell_of_loss(self, restored: bool) -> None:
        window = self._window
        self.lost = crash_notice.CrashNotice(restored, self._state, window.message, window.status)
        row = window.status.layout()
        assert isinstance(row, QHBoxLayout)
        row.insertWidget(0, self.lost.button)

    def _follow(self) -> None:
        """Keep the session from now on."""
        if self._state is None:
            return
        window = self._window
        autosave = self.autosave = Autosave(
            self.crash_file, window.viewing, window.player, partial(remember, window), window
        )
        for splitter in window.panes.splitters.values():
            autosave.follow(splitter)
        window.theme.changed.connect(autosave.touch)
        window.source.tabs.currentChanged.connect(lambda index: autosave.touch())
        window.meter.changed.connect(lambda state: autosave.touch())

    def _add_menu(self) -> None:
        """The recent views, above what quits."""
        window = self._window
        file = window.toolbar.menu.findChild(QMenu, "File")
        assert isinstance(file, QMenu)
        menu = self.recent_menu = RecentMenu(
            self.recents, window.viewing, window.actions_, self.linking.show_view, file
        )
        file.insertMenu(window.actions_["file.quit"], menu)
        file.insertSeparator(window.actions_["file.quit"])

    def _bind(self) -> None:
        doing: dict[str, Callable[[], object]] = {
            "file.link": self.linking.ask,
            "edit.undo": self.undo.undo,
            "edit.redo": self.undo.redo,
            "edit.link": self.linking.copy,
            "edit.preferences": self._prefer,
            "help.diagnostics": self._copy_diagnostics,
            "help.log": lambda: crash_notice.open_folder(self._state, self._window.message),
        }
        for id, do in doing.items():
            self._window.actions_.bind(id, do)

    def _name_undo(self) -> None:
        """The commands say what they would do, and whether there is anything."""
        undoes, redoes = self.undo.undoes(), self.undo.redoes()
        undo, redo = (self._window.actions_[id] for id in ("edit.undo", "edit.redo"))
        undo.setText(tr("Undo: {what}", what=undoes) if undoes else tr("Undo"))
        redo.setText(tr("Redo: {what}", what=redoes) if redoes else tr("Redo"))
        undo.setEnabled(bool(undoes))
        redo.setEnabled(bool(redoes))

    def _refuse(self, error: Exception) -> None:
        self._window.message.show_failure(failure_of(error))

    def _prefer(self) -> None:
        window = self._window
        self.preferences = PreferencesDialog(
            self.preferring, self._start_over, window.theme, window
        )
        self.preferences.open()

    def _copy_diagnostics(self) -> None:
        window = self._window
        crash_notice.copy(
            report(window.viewing.record(), window.meter.state, window.theme, window, self._state)
        )
        window.status.say(tr("The diagnostics are on the clipboard."))

    def _start_over(self) -> None:
        self.preferring.motion.reduce(False)
        start_over(self._window)
