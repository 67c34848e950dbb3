"""Which panes of the window are shown, and how it is divided: by the user's choice, and by whether
there is room.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from gpuviz.qt.window.panes import LECTURE, LESSONS

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMainWindow, QWidget

    from gpuviz.qt.commands.actions import Actions, Choices
    from gpuviz.qt.preferences.settings import Settings
    from gpuviz.qt.window.panes import Panes


SIZE = (1440, 860)
_YIELDING = "lessons"  # the pane that makes room when room is needed


class Layout:
    """Panes by name that can be hidden: lessons, source and side."""

    def __init__(self, window: QMainWindow, panes: Panes, settings: Settings) -> None:
        self._window, self._all, self._settings = window, panes, settings
        self._panes = {"lessons": panes.list, "source": panes.code, "side": panes.side}
        self._folded = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return tuple(self._panes)

    @property
    def shown(self) -> set[str]:
        """The names of those that are shown."""
        return {name for name, pane in self._panes.items() if not pane.isHidden()}

    def toggle(self, name: str) -> None:
        """Show it, or hide it."""
        pane = self._panes[name]
        pane.setVisible(pane.isHidden())

    def reveal(self, pane: QWidget) -> None:
        """Show a pane that is about to have the focus."""
        if pane in self._panes.values():
            pane.show()

    def make_room(self, tight: bool) -> None:
        """Fold the yielding pane while room is tight; it comes back by itself."""
        pane = self._panes[_YIELDING]
        if tight and not self._folded and not pane.isHidden():
            self._folded = True
            pane.hide()
        elif self._folded and not tight:
            self._folded = False
            pane.show()

    def restore(self) -> None:
        """As it was left."""
        self._all.divide(*SIZE)
        self._settings.restore_layout(self._window, self._all.splitters)
        for name, pane in self._panes.items():
            pane.setVisible(self._settings.flag(f"show/{name}", True))
        tabs = self._all.source.tabs
        last = range(max(tabs.count(), 1))
        tabs.setCurrentIndex(int(self._settings.number("code", 0, last)))
        self._all.stage.setFocus()

    def keep(self) -> None:
        """Keep it for the next start; a folded pane is shown."""
        for name in self._panes:
            shown = name in self.shown or (self._folded and name == _YIELDING)
            self._settings.keep(f"show/{name}", str(shown).lower())
        self._settings.keep("code", self._all.source.tabs.currentIndex())
        self._settings.keep_layout(self._window, self._all.splitters)

    def start_over(self) -> None:
        """As at the very first start, when the settings have been forgotten."""
        if self._window.windowState() != Qt.WindowState.WindowNoState:
            self._window.showNormal()
        self._window.resize(*SIZE)
        self.restore()


Target = tuple["QWidget", Callable[[], "QWidget"]]  # the pane to show, and what to focus in it


class PaneCommands:
    """Acts on panes and layout; more targets are added with the panels they are in."""

    def __init__(self, panes: Panes, layout: Layout, actions: Actions, choices: Choices) -> None:
        self._panes, self._layout = panes, layout
        self._actions, self._choices = actions, choices
        self._targets: dict[str, Target] = {}
        self.add("lessons", panes.list, lambda: panes.lessons)
        self.add("stage", panes.stage, lambda: panes.stage)
        self.add("timeline", panes.timeline, lambda: panes.timeline)
        self.add("source", panes.code, panes.source.view)
        self.add("parameters", panes.side, panes.parameters.first)
        for name in layout.names:
            actions.bind(f"show.{name}", partial(self._toggle, name))

    def add(self, name: str, pane: QWidget, target: Callable[[], QWidget]) -> None:
        """A command that goes to a target, for which its pane is shown."""
        self.add_target(name, pane, target)
        self._actions.bind(f"pane.{name}", partial(self.go_to, name))

    def add_target(self, name: str, pane: QWidget, target: Callable[[], QWidget]) -> None:
        """A target that there is another command for."""
        self._targets[name] = pane, target

    def go_to(self, name: str) -> None:
        """Show a pane, and give it the focus."""
        pane, target = self._targets[name]
        if pane is self._panes.list:
            self._panes.left.show_tab(LECTURE if name == "lecture" else LESSONS)
        self._layout.reveal(pane)
        self._choices.mark()
        target().setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._panes.reveal(target())

    def _toggle(self, name: str) -> None:
        self._layout.toggle(name)
        self._choices.mark()
