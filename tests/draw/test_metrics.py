"""Widths without Qt are those that Qt measures in the shipped fonts."""

import pytest
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication

from gpuviz.draw.metrics import text_width
from gpuviz.qt.look.fonts import font, load_fonts


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    "text", ["32 × 5 · CC 9.0", "¿Qué línea? ¡Ningún año, señal única!", "ÁÉÍÓÚÑ"]
)
def test_a_line_is_as_wide_as_qt_says(qapp: QApplication, text: str, bold: bool) -> None:
    load_fonts()
    measured = QFontMetricsF(font(100, bold)).horizontalAdvance(text)
    assert measured * 0.995 <= text_width(text, 100, bold) <= measured * 1.03
