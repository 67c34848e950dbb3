"""The shipped fonts, so that a picture looks the same on every machine; what is made of them may be
shared by painters, not by threads.
"""

from __future__ import annotations

import threading
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from PySide6.QtGui import QFont, QFontDatabase

from gpuviz.base import resources
from gpuviz.base.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT, CODE = "Inter", "JetBrains Mono"
_FILES = ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf")

P = ParamSpec("P")
Made = TypeVar("Made")


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


def per_thread(most: int) -> Callable[[Callable[P, Made]], Callable[P, Made]]:
    """Keep up to `most` results of a function, for each thread its own.

    A QFont changes inside when it is first drawn with, and a QStaticText whenever the painter is
    scaled otherwise: an export paints while the window does.
    """

    def decorate(make: Callable[P, Made]) -> Callable[P, Made]:
        local = threading.local()

        @wraps(make)
        def kept(*args: P.args, **kwargs: P.kwargs) -> Made:
            if not hasattr(local, "cache"):
                local.cache = lru_cache(maxsize=most)(make)
            return cast(Made, local.cache(*args, **kwargs))

        return kept

    return decorate


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
    chosen.setFeature(QFont.Tag("calt"), 0)  # 0x80 is no product of 0 and 80
    return chosen
