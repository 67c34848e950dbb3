"""The views before: undo and redo, the recent ones, links to them. Binds these commands."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.history.link_commands import LinkCommands
from gpuviz.qt.history.recent_menu import RecentMenu
from gpuviz.qt.history.recents import Recents
from gpuviz.qt.history.text_undo import TextUndo
from gpuviz.qt.history.undo import Undo
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.words.language import tr


class ViewHistory(QObject):
    """Follows the view.

    Signals
    -------
    said : what was done, in words
    refused : the exception when a view cannot be shown again
    """

    said = Signal(str)
    refused = Signal(object)

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
