"""Reduced motion: pictures stand still, menus are just there, the text cursor does not blink.

Qt up to 6.11 cannot tell whether the desktop asks for it (`QStyleHints.accessibility` knows the
contrast only), so it is off until the user chooses it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from gpuviz.qt.playing.player import Player

KEY = "reduced_motion"
_EFFECTS = (
    Qt.UIEffect.UI_AnimateMenu,
    Qt.UIEffect.UI_FadeMenu,
    Qt.UIEffect.UI_AnimateCombo,
    Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip,
)


class Motion:
    """What moves by itself: the picture while it plays, and what the desktop animates."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._blink = QGuiApplication.styleHints().cursorFlashTime()
        self._effects = [effect for effect in _EFFECTS if QApplication.isEffectEnabled(effect)]

    @property
    def reduced(self) -> bool:
        """Whether nothing moves by itself."""
        return self._player.state.calm

    def reduce(self, reduced: bool) -> None:
        """Let nothing move by itself, or all as the desktop has it."""
        if reduced == self.reduced:
            return
        self._player.set_calm(reduced)
        QGuiApplication.styleHints().setCursorFlashTime(0 if reduced else self._blink)
        for effect in self._effects:
            QApplication.setEffectEnabled(effect, not reduced)
