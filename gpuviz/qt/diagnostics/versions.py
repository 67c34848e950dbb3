"""What this is, in one line."""

from __future__ import annotations

import platform

from PySide6 import __version__ as pyside
from PySide6.QtCore import QSysInfo, qVersion

from gpuviz import __version__


def versions() -> str:
    """One line: gpuviz, Python, Qt, the system."""
    return (
        f"gpuviz {__version__}, Python {platform.python_version()}, Qt {qVersion()} "
        f"(PySide {pyside}), {QSysInfo.prettyProductName()}, {platform.machine()}"
    )
