"""The commands that go to a pane, show one or hide it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from gpuviz.qt.window.left_tabs import LECTURE, LESSONS

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.commands.choices import Choices
    from gpuviz.qt.window.layout import Layout
    from gpuviz.qt.window.panes import Panes

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
