"""The shipped fonts, so that a picture looks the same on every machine."""

from __future__ import annotations

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

from gpuviz import resources
from gpuviz.errors import UnavailableError
from gpuviz.qt.look.per_thread import per_thread

TEXT, CODE = "Inter", "JetBrains Mono"
_FILES = ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf")


@cache
def load_fonts() -> tuple[str, str]:
    """Register the shipped fonts, once; families for text and for code. Needs a QGuiApplication."""
    folder = resources.path("fonts")
    for name in _FILES:
        if QFontDatabase.addApplicationFont(str(folder / name)) < 0:
            raise UnavailableError(
                f"the font {name} is missing or unreadable in {folder}; install gpuviz again"
            )
    return TEXT, CODE


@per_thread(256)
def font(size: float, bold: bool = False, mono: bool = False, tabular: bool = True) -> QFont:
    """A shipped font, `size` logical pixels high, with figures of equal width unless told.

    Such figures are other glyphs, which programs that read a PDF do not know to be figures.
    """
    family = load_fonts()[mono]
    chosen = QFont(family)
    chosen.setPixelSize(max(round(size), 1))
    chosen.setWeight(QFont.Weight.DemiBold if bold and not mono else QFont.Weight.Normal)
    chosen.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    chosen.setStyleStrategy(QFont.StyleStrategy.PreferAntialias)
    chosen.setFeature(QFont.Tag("tnum"), int(tabular))
    return chosen
