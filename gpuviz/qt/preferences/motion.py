"""Reduced motion: pictures that stand still, and a text cursor that does not blink.

Qt up to 6.11 cannot tell whether the desktop asks for it (`QStyleHints.accessibility` knows the
contrast only), so it is off until the user chooses it.
"""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from gpuviz.qt.playing.player import Player

KEY = "reduced_motion"
_BLINK_MS = 1000  # Qt's own, where the desktop does not say


def reduce_motion(player: Player, reduced: bool) -> None:
    """Let nothing move by itself, or as usual."""
    player.set_calm(reduced)
    hints = QGuiApplication.styleHints()
    if reduced:
        hints.setCursorFlashTime(0)
    elif hints.cursorFlashTime() == 0:
        hints.setCursorFlashTime(_BLINK_MS)
