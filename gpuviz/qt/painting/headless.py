"""Pictures without a display."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gpuviz import doctor
from gpuviz.base.errors import UnavailableError
from gpuviz.export.export import Painter
from gpuviz.qt import bindings


@contextmanager
def painter() -> Iterator[Painter]:
    """A painter for as long as it lasts, with Qt's offscreen platform.

    Raises
    ------
    UnavailableError : Qt, or a system library that it needs, is missing
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if missing := doctor.missing_libraries():
        raise UnavailableError(doctor.advice(missing))
    try:
        bindings.load()
    except ImportError as error:
        raise UnavailableError(
            f"pictures made of pixels need PySide6, which is not to be had ({error}): install "
            "gpuviz again, or choose a format without pixels, as .svg or .html"
        ) from None
    from PySide6.QtGui import QGuiApplication

    from gpuviz.qt.look.fonts import load_fonts
    from gpuviz.qt.painting.qt_painter import QtPainter

    application = QGuiApplication.instance() or QGuiApplication(["gpuviz"])
    load_fonts()
    yield QtPainter()
    del application
