"""The bar at the top: menu, lesson, architecture, level, device, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QWidget

from gpuviz.arch import ARCHITECTURES
from gpuviz.gpu.gpu_state import USES, State, why_of
from gpuviz.qt.controls.controls import (
    IconButton,
    MenuButton,
    button,
    keep_space,
    label,
    plain_tip,
    set_look,
)
from gpuviz.qt.controls.layouts import row_of
from gpuviz.views.state import LEVELS
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QAction

    from gpuviz.course import LessonEntry
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.running.meter import Meter
    from gpuviz.story.lesson import Lesson


class DeviceButton(MenuButton):
    """Shows the meter's state in a few words; the tip has them all."""

    def __init__(self, theme: Theme, actions: Actions) -> None:
        super().__init__(tr("Device"), theme)
        self._actions = actions
        self._meter: Meter | None = None
        self.menu_ = QMenu(self)
        self.setMenu(self.menu_)
        keep_space(self)
        self.show_state(State())

    def follow(self, meter: Meter) -> None:
        """Show what this meter is doing."""
        self._meter = meter
        meter.changed.connect(self.show_state)
        self.show_state(meter.state)

    def show_state(self, state: State) -> None:
        """Text, tip and menu."""
        self.setText(words(state))
        self.setToolTip(plain_tip(tip(state)))
        set_look(self, "live", state.activity in ("once", "continuous"))
        self._fill(state)

    def _fill(self, state: State) -> None:
        menu = self.menu_
        menu.clear()
        if state.device is None:
            menu.addAction(tr("No GPU: {why}", why=why_of(state))).setEnabled(False)
            menu.addAction(self._actions["gpu.look"])
            return
        for id in ("gpu.once", "gpu.continuous", "gpu.stop"):
            menu.addAction(self._actions[id])
        if len(state.devices) > 1:
            menu.addSeparator()
            for device in state.devices:
                chosen = device.index == state.device.index
                self._choice(menu, f"{device.index}: {device.name}", chosen, device.index)
        menu.addSeparator()
        for use in USES:
            menu.addAction(self._actions[use_id(use)])

    def _choice(self, menu: QMenu, text: str, chosen: bool, index: int) -> QAction:
        made = menu.addAction(text)
        made.setCheckable(True)
        made.setChecked(chosen)
        meter = self._meter
        if meter is not None:
            made.triggered.connect(lambda checked=False: meter.look(index))
        return made


def use_id(use: float) -> str:
    """The command that caps the use of the GPU."""
    return f"gpu.use.{round(100 * use)}"


def words(state: State) -> str:
    """The state in a few words."""
    if state.activity == "looking":
        return tr("looking for a GPU …")
    if state.device is None:
        return tr("no GPU · recorded") if state.recorded else tr("no GPU · predicted")
    running = {"once": tr("running"), "continuous": tr("live")}.get(state.activity, "")
    return f"● {state.device.name} · {running}" if running else state.device.name


def tip(state: State) -> str:
    """The state in full."""
    if state.device is None:
        said = [tr("No GPU: {why}.", why=why_of(state)), tr("Counts are predicted by the model.")]
        if state.recorded:
            said.append(tr("Times and counters: {caption}.", caption=state.recorded))
        return "\n".join(said)
    device = state.device
    return "\n".join(
        (
            tr(
                "{name}, CC {capability}, {count} multiprocessors",
                name=device.name,
                capability=device.capability,
                count=device.multiprocessors,
            ),
            tr("driver {driver}, CUDA {cuda}", driver=device.driver, cuda=device.cuda),
            tr("hardware counters: {said}", said=device.counters or tr("available")),
        )
    )


class Toolbar(QFrame):
    """Menus trigger commands of the table; the texts follow what is shown."""

    def __init__(self, lessons: Sequence[LessonEntry], theme: Theme, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("toolbar")
        self._theme, self._actions = theme, actions
        self.menu = QMenu(self)
        actions.fill(self.menu)
        self.main = IconButton("menu", tr("Menu"), tr("All commands"), theme, 30)
        self.main.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        self.main.setMenu(self.menu)
        archs = [f"arch.{arch.sm}" for arch in reversed(ARCHITECTURES)]  # newest first
        levels = [f"level.{level}" for level in LEVELS]
        level_tip = tr(
            "Whose memory instructions are counted: those of the assembled code (SASS),\n"
            "where the assembler may have merged some, or those of the PTX as written."
        )
        self.lesson = self._menu_button(tr("Lesson"), tr("Choose a lesson"))
        _fill_lessons(self.lesson.menu(), lessons, actions)
        arch_tip = tr("Architecture to compile and count for")
        self.arch = self._menu_button(tr("Architecture"), arch_tip, archs)
        self.level = self._menu_button(tr("Level"), level_tip, levels)
        two = tr("Two variants side by side  (Ctrl+B)")
        self.compare = self._button("compare.toggle", "A | B", tr("Compare A and B"), two)
        self.compare.setCheckable(True)
        self.device = DeviceButton(theme, actions)
        show = tr("Show the lecture, or this view, to a class  (F5)")
        self.present = self._button("present.start", tr("Present"), tr("Present"), show)
        self.export = self._menu_button(tr("Export"), tr("Save or copy what is shown"))
        self.export.setText(tr("Export"))
        actions.fill_group(self.export.menu(), "Export")
        find = tr("Find a command")
        self.commands = self._button("help.commands", "Ctrl+K", find, find)
        self._lay_out()

    def _menu_button(self, name: str, tip: str, ids: Sequence[str] = ()) -> MenuButton:
        """A button with a menu of these commands."""
        made, menu = MenuButton(name, self._theme, tip), QMenu(self)
        for id in ids:
            menu.addAction(self._actions[id])
        made.setMenu(menu)
        return made

    def _button(self, id: str, text: str, name: str, tip: str) -> QPushButton:
        """A button that triggers a command."""
        made = button(text, name, "", tip)
        made.clicked.connect(lambda: self._actions[id].trigger())
        return made

    def _lay_out(self) -> None:
        left: tuple[QWidget, ...] = (self.lesson, self.compare, self.arch, self.level)
        right: tuple[QWidget, ...] = (self.present, self.export, self.commands)
        first, last = (self.main, label("gpuviz", "brand"), *left), (self.device, *right)
        row_of(*first, 1, *last, on=self, gap=10, margins=(12, 7, 14, 7)).insertSpacing(2, 4)
        for widget in (self.main, *left, *right):
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


def _fill_lessons(menu: QMenu, lessons: Sequence[LessonEntry], actions: Actions) -> None:
    """Chapter by chapter."""
    chapter = ""
    for lesson in lessons:
        if lesson.chapter != chapter:
            chapter = lesson.chapter
            if not menu.isEmpty():
                menu.addSeparator()
            menu.addAction(tr(lesson.chapter)).setEnabled(False)
        menu.addAction(actions[f"open.{lesson.id}"])
