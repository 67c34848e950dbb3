"""Below the stage: which picture of a run is shown, and what is looked for in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from gpuviz.qt.commands.actions import Command
from gpuviz.qt.controls.controls import button, keep_space
from gpuviz.qt.playing.finder import Finder
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.running.view_store import ViewStore
    from gpuviz.story.lesson import Parameter, Value
    from gpuviz.views.state import ViewState


FINDINGS = "findings"  # the picture of what checks found


class StoryBar(QFrame):
    """A button and a key for each picture, and the finder; not there where a lesson has neither."""

    def __init__(self, player: Player, view: ViewStore, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._player, self._view, self._actions = player, view, actions
        self._parameter: Parameter | None = None
        self.setObjectName("timepane")
        self.buttons: dict[Value, QPushButton] = {}
        self.finder = Finder(player, theme)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 4, 12, 0)
        self._row.setSpacing(4)
        self._row.addWidget(self.finder, 1)
        player.story_changed.connect(self._show)
        view.follow("lesson", self._offer)
        view.follow("values", self._mark)

    def _offer(self, view: ViewState) -> None:
        """Buttons for the pictures of a lesson."""
        self._actions.remove("picture.")
        for made in self.buttons.values():
            made.hide()
            made.deleteLater()
        self.buttons = {}
        self._parameter = next((p for p in view.lesson.parameters if p.pictures), None)
        choices = self._parameter.choices if self._parameter is not None else ()
        for number, choice in enumerate(choices, 1):
            show = partial(self._choose, choice.value)
            text = tr("Picture: {name}", name=choice.label)
            self._actions.add(Command(f"picture.{number}", text, "View", (str(number),)), show)
            made = button(choice.label, text, "chip", f"{text}  ({number})")
            made.setCheckable(True)
            made.clicked.connect(lambda checked=False, show=show: show())
            keep_space(made)
            self._row.insertWidget(number - 1, made)
            self.buttons[choice.value] = made
        self._mark(view)
        self._show()

    def show_picture(self, value: Value) -> bool:
        """Show one of the pictures, if the lesson has it."""
        if value not in self.buttons:
            return False
        self._choose(value)
        return True

    def _choose(self, value: Value) -> None:
        """Both sides show the same picture."""
        if self._parameter is None:
            return
        now, values = self._view.now, {self._parameter.id: value}
        both = now.given(values, right=True) if now.compared else now
        self._view.become(both.given(values))
        self._mark(self._view.now)

    def _mark(self, view: ViewState) -> None:
        shown = view.values.get(self._parameter.id) if self._parameter else None
        for value, made in self.buttons.items():
            made.setChecked(value == shown)

    def _show(self) -> None:
        story = self._player.story
        self.setVisible(bool(self.buttons) or (story is not None and story.search is not None))
