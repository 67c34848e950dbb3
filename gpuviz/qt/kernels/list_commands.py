"""A kernel of one's own in the list: renamed, removed, and what can be done with its view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from gpuviz.qt.controls.controls import ask
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.running.core import Core
    from gpuviz.qt.window.lesson_list import LessonList
    from gpuviz.views.state import ViewState

OWN = ("kernel.rename", "kernel.remove", "kernel.rewrites")
ELSE = ("lecture.add", "run.sweep", "export.still", "edit.link")


class KernelListCommands(QObject):
    """A menu on the list, F2 and Delete in it, and the commands."""

    def __init__(self, core: Core, lessons: LessonList, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self._course, self._view = core.course, core.view
        self._lessons, self._actions, self._window = lessons, actions, window
        self.dialog: QInputDialog | None = None
        actions.bind("kernel.rename", self.rename)
        actions.bind("kernel.remove", self.remove)
        for key, do in (("F2", self.rename), ("Delete", self.remove)):
            made = QShortcut(QKeySequence(key), lessons, do)
            made.setContext(Qt.ShortcutContext.WidgetShortcut)
        lessons.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        lessons.customContextMenuRequested.connect(self._open_menu)
        core.view.follow("lesson", self._offer)

    def menu(self) -> QMenu:
        """What can be done with the kernel that is shown."""
        made = QMenu(self._lessons)
        for id in OWN:
            made.addAction(self._actions[id])
        made.addSeparator()
        for id in ELSE:
            made.addAction(self._actions[id])
        return made

    def rename(self) -> None:
        """Ask for a name."""
        lesson = self._view.now.lesson
        if not lesson.launch:
            return
        dialog = self.dialog = QInputDialog(self._window)
        dialog.setWindowTitle(tr("Rename"))
        dialog.setLabelText(tr("Name in the list; none is that of the kernel and its file"))
        dialog.setTextValue(lesson.title)
        dialog.setOkButtonText(tr("Rename"))
        dialog.setCancelButtonText(tr("Cancel"))
        dialog.textValueSelected.connect(lambda name: self._course.rename(lesson.id, name))
        ask(dialog)

    def remove(self) -> None:
        """Take the kernel shown off the list; its file stays."""
        if self._view.now.lesson.launch:
            self._course.remove(self._view.now.lesson.id)

    def _offer(self, view: ViewState) -> None:
        for id in OWN:
            self._actions[id].setEnabled(bool(view.lesson.launch))

    def _open_menu(self, at: QPoint) -> None:
        """The kernel that was clicked is shown already: the press chose it."""
        if (
            self._view.now.lesson.launch
            and self._lessons.indexAt(at) == self._lessons.currentIndex()
        ):
            self.menu().popup(self._lessons.viewport().mapToGlobal(at))
