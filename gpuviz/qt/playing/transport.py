"""Buttons of the time line: first, back, play, forward, last, speed, loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from gpuviz.qt.controls.controls import Combo, IconButton, keep_arrows, keep_space
from gpuviz.qt.controls.layouts import row_of
from gpuviz.views.playback import SPEEDS
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player

_BUTTONS = (
    ("play.first", "first"),
    ("play.back", "back"),
    ("play.toggle", "play"),
    ("play.forward", "forward"),
    ("play.last", "last"),
    ("play.loop", "loop"),
)


class Transport(QWidget):
    """A row of buttons that trigger the commands of the table."""

    def __init__(self, player: Player, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._player = player
        self.buttons = {id: self._button(id, icon, theme, actions) for id, icon in _BUTTONS}
        self.buttons["play.loop"].setCheckable(True)
        self.speed = Combo(tr("Speed"), theme)
        self.speed.setToolTip(tr("How fast the story runs  ( [ slower, ] faster )"))
        self._theme = theme
        theme.changed.connect(self._fit)
        self._fit()
        self.speed.addItems([f"{s:g}×" for s in SPEEDS])
        self.speed.activated.connect(lambda i: player.set_speed(SPEEDS[i]))
        keep_arrows(self.speed)
        keep_space(self.speed)
        buttons = (self.buttons[id] for id, _ in _BUTTONS)
        row_of(*buttons, (self.speed, Qt.AlignmentFlag.AlignVCenter), on=self, gap=2)
        player.playing_changed.connect(self._show_playing)
        player.speed_changed.connect(self._show_speed)
        player.loop_changed.connect(self.buttons["play.loop"].setChecked)
        self._show_speed(player.state.speed)

    def _button(self, id: str, icon: str, theme: Theme, actions: Actions) -> IconButton:
        action = actions[id]
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        made = IconButton(icon, action.text(), f"{action.text()}  ({keys})", theme)
        made.clicked.connect(lambda checked=False: action.trigger())
        keep_space(made)
        return made

    def _fit(self) -> None:
        self.speed.setFixedWidth(self._theme.look.px(72))

    def _show_playing(self, playing: bool) -> None:
        button = self.buttons["play.toggle"]
        button.show_icon("pause" if playing else "play")
        button.setAccessibleName(tr("Pause") if playing else tr("Play"))

    def _show_speed(self, speed: float) -> None:
        self.speed.setCurrentIndex(min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - speed)))
