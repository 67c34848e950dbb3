"""Where the settings of this user are stored, and what becomes of those that do not do."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QSettings, QStandardPaths

from gpuviz.qt.history.settings import APPLICATION, ORGANISATION
from gpuviz.terminal import err

_LARGEST = 4 << 20  # bytes; they take some ten thousand


def settings() -> QSettings:
    """The settings; a file that is too large to be any is put aside unread."""
    file = _file()
    with suppress(OSError):
        if file is not None and file.stat().st_size > _LARGEST:
            put_aside()
    return QSettings(ORGANISATION, APPLICATION)


def put_aside(settings: QSettings | None = None) -> None:
    """Begin with none: those there are stay in a file beside, and that is said in one line.

    `settings` are those that have been read already.
    """
    file, aside = _file(), None
    if file is not None:
        with suppress(OSError):
            os.replace(file, file.with_suffix(".aside"))
            aside = file.with_suffix(".aside")
    if settings is not None or file is None:
        (settings or QSettings(ORGANISATION, APPLICATION)).clear()
    kept = f"; they are put aside as {aside}" if aside is not None else ""
    err(f"gpuviz: it did not start with the settings there were, and begins without them{kept}")


def _file() -> Path | None:
    """The file that Qt keeps settings in, None where they are no file of ours (the registry)."""
    if sys.platform in ("win32", "darwin"):
        return None
    config = QStandardPaths.StandardLocation.GenericConfigLocation
    return Path(QStandardPaths.writableLocation(config), ORGANISATION, f"{APPLICATION}.conf")
