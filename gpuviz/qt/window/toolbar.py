"""The bar at the top: menu, lesson, architecture, level, device, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu

from gpuviz.arch import ARCHITECTURES
from gpuviz.qt.controls.controls import IconButton, MenuButton, button, keep_space, label
from gpuviz.qt.running.device_button import DeviceButton
from gpuviz.views.state import LEVELS
from gpuviz.words.language import later, tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuviz.course import LessonEntry
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.look.theme import Theme
    from gpuviz.story.lesson import Lesson

_TIPS = {
    "level": later(
        "Whose memory instructions are counted: those of the assembled code (SASS),\n"
        "where the assembler may have merged some, or those of the PTX as written."
    )
}


class Toolbar(QFrame):
    """Menus trigger commands of the table; the texts follow what is shown."""

    def __init__(self, lessons: Sequence[LessonEntry], theme: Theme, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("toolbar")
        self.menu = QMenu(self)
        actions.fill(self.menu)
        self.main = IconButton("menu", tr("Menu"), tr("All commands"), theme, 30)
        self.main.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        self.main.setMenu(self.menu)
        self.lesson = MenuButton(tr("Lesson"), theme, tr("Choose a lesson"))
        self.lesson.setMenu(_lesson_menu(lessons, actions, self))
        self.arch = MenuButton(
            tr("Architecture"), theme, tr("Architecture to compile and count for")
        )
        self.arch.setMenu(_arch_menu(actions, self))
        self.level = MenuButton(tr("Level"), theme, tr(_TIPS["level"]))
        self.level.setMenu(_level_menu(actions, self))
        self.compare = button(
            "A | B", tr("Compare A and B"), "", tr("Two variants side by side  (Ctrl+B)")
        )
        self.compare.setCheckable(True)
        self.compare.clicked.connect(lambda: actions["compare.toggle"].trigger())
        self.device = DeviceButton(theme, actions)
        self.present = button(
            tr("Present"), tr("Present"), "", tr("Show the lecture, or this view, to a class  (F5)")
        )
        self.present.clicked.connect(lambda: actions["present.start"].trigger())
        self.export = MenuButton(tr("Export"), theme, tr("Save or copy what is shown"))
        self.export.setText(tr("Export"))
        self.export.setMenu(_export_menu(actions, self))
        keep_space(self.export)
        self.commands = button("Ctrl+K", tr("Find a command"), "", tr("Find a command"))
        self.commands.clicked.connect(lambda: actions["help.commands"].trigger())
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 7, 14, 7)
        row.setSpacing(10)
        row.addWidget(self.main)
        row.addWidget(label("gpuviz", "brand"))
        row.addSpacing(4)
        for made in (self.lesson, self.compare, self.arch, self.level):
            row.addWidget(made)
        row.addStretch(1)
        row.addWidget(self.device)
        row.addWidget(self.present)
        row.addWidget(self.export)
        row.addWidget(self.commands)
        for widget in (
            self.main,
            self.lesson,
            self.compare,
            self.arch,
            self.level,
            self.present,
            self.commands,
        ):
            keep_space(widget)

    def group_menu(self, group: str) -> QMenu:
        """The submenu of a group of commands."""
        found = self.menu.findChild(QMenu, group)
        assert isinstance(found, QMenu)
        return found

    def show_lesson(self, lesson: Lesson) -> None:
        """Name the lesson."""
        self.lesson.setText(tr(lesson.title))

    def show_arch(self, sm: str) -> None:
        """Name the architecture."""
        found = next((a for a in ARCHITECTURES if a.sm == sm), None)
        self.arch.setText(f"CC {found.version} {found.name}" if found else sm)

    def show_level(self, level: str) -> None:
        """Name the level."""
        self.level.setText(tr(LEVELS[level]))


def _lesson_menu(lessons: Sequence[LessonEntry], actions: Actions, parent: QFrame) -> QMenu:
    menu = QMenu(parent)
    chapter = ""
    for lesson in lessons:
        if lesson.chapter != chapter:
            chapter = lesson.chapter
            if not menu.isEmpty():
                menu.addSeparator()
            menu.addAction(tr(lesson.chapter)).setEnabled(False)
        menu.addAction(actions[f"open.{lesson.id}"])
    return menu


def _arch_menu(actions: Actions, parent: QFrame) -> QMenu:
    """Newest first."""
    menu = QMenu(parent)
    for arch in reversed(ARCHITECTURES):
        menu.addAction(actions[f"arch.{arch.sm}"])
    return menu


def _level_menu(actions: Actions, parent: QFrame) -> QMenu:
    menu = QMenu(parent)
    for level in LEVELS:
        menu.addAction(actions[f"level.{level}"])
    return menu


def _export_menu(actions: Actions, parent: QFrame) -> QMenu:
    menu = QMenu(parent)
    actions.fill_group(menu, "Export")
    return menu
