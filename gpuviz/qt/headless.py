"""Pictures without a display."""

from __future__ import annotations

import os
from pathlib import Path

from gpuviz import doctor
from gpuviz.draw.marks import Frame
from gpuviz.errors import UnavailableError


def save(frame: Frame, path: Path) -> None:
    """Write a picture as PNG, with Qt's offscreen platform.

    Raises
    ------
    UnavailableError : a system library that Qt needs is missing
    InputError : the file cannot be written
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if missing := doctor.missing_libraries():
        raise UnavailableError(doctor.advice(missing))
    from PySide6.QtGui import QGuiApplication

    from gpuviz.qt.fonts import load_fonts
    from gpuviz.qt.raster import save_png

    application = QGuiApplication.instance() or QGuiApplication(["gpuviz"])
    load_fonts()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_png(frame, path)
    del application
