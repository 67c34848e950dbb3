"""Where the settings of this user are stored, and what becomes of those that do not do."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QSettings, QStandardPaths

from gpuviz.qt.history.settings import APPLICATION, ORGANISATION
from gpuviz.words.terminal import err

_LARGEST = 4 << 20  # bytes; they take some ten thousand


def settings() -> QSettings:
    """The settings; what is no file, or too large to be one of them, is put aside unread.

    Qt waits for ever for what a pipe has to say: one that cannot be moved is left alone, and what
    is set now is forgotten in the end.
    """
    file = _file()
    if file is not None and not _sound(file):
        put_aside()
        if not _sound(file):
            own = Path(tempfile.mkdtemp(prefix="gpuviz-"), file.name)
            return QSettings(str(own), QSettings.Format.IniFormat)
    return QSettings(ORGANISATION, APPLICATION)


def _sound(file: Path) -> bool:
    """Whether it can be read as settings, or is not there yet."""
    try:
        found = file.stat()
    except OSError:
        return True
    return stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST


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
