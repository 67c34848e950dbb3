"""What the window remembers from one start to the next, in QSettings."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths, Qt

from gpuviz.base import records
from gpuviz.base.errors import FormatError
from gpuviz.words.terminal import err

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from PySide6.QtWidgets import QMainWindow, QSplitter

    from gpuviz.story.lesson import Lesson, Parameter, Value

ORGANISATION = APPLICATION = "gpuviz"


def fits(parameter: Parameter, value: object) -> bool:
    """Whether a value that was stored may still be given to a parameter."""
    if parameter.choices:
        return any(type(c.value) is type(value) and c.value == value for c in parameter.choices)
    if isinstance(parameter.default, bool) or isinstance(value, bool):
        return isinstance(parameter.default, bool) and isinstance(value, bool)
    if parameter.typed:
        return isinstance(value, str)
    return isinstance(value, int) and parameter.minimum <= value <= parameter.maximum


class Settings:
    """Reads and writes the settings; what is damaged or no longer fits is ignored."""

    def __init__(self, open_settings: QSettings) -> None:
        self._settings = open_settings

    def _value(self, key: str, default: object = None) -> object:
        """What is stored; the default where that is of a kind that Python does not know."""
        try:
            return self._settings.value(key, default)
        except RuntimeError:
            return default

    def text(self, key: str, default: str, allowed: Sequence[str] = ()) -> str:
        """A word, one of `allowed` if there are any."""
        value = str(self._value(key, default))
        return value if not allowed or value in allowed else default

    def number(self, key: str, default: float, allowed: Sequence[float]) -> float:
        """A number from the first to the last of `allowed`."""
        try:
            value = float(str(self._value(key, default)))
        except ValueError:
            return default
        return value if allowed[0] <= value <= allowed[-1] else default

    def flag(self, key: str, default: bool) -> bool:
        """Yes or no."""
        return str(self._value(key, default)).lower() == "true"

    def values(self, lesson: Lesson, side: str = "values") -> dict[str, Value]:
        """The values a lesson was left with, those that still fit; none if they make no sense.

        `side` is "values" for the lesson itself, "compared" for side B.
        """
        try:
            text = str(self._value(f"{side}/{lesson.id}", "{}"))
            stored = records.read(text, dict[str, Any], side)
        except FormatError:
            return {}
        known = {p.id: p for p in lesson.parameters}
        kept = {k: v for k, v in stored.items() if k in known and fits(known[k], v)}
        return {} if lesson.problem({**lesson.defaults(), **kept}) else kept

    def keep(self, key: str, value: object) -> None:
        """Store a word, a number or a flag."""
        self._settings.setValue(key, value)

    def keep_values(
        self, lesson: Lesson, values: Mapping[str, Value], side: str = "values"
    ) -> None:
        """Store the values of a lesson."""
        self._settings.setValue(f"{side}/{lesson.id}", records.text(values))

    def forget(self, but: Collection[str] = ()) -> None:
        """Remember nothing but these."""
        for key in self._settings.allKeys():
            if key not in but:
                self._settings.remove(key)

    def keep_layout(self, window: QMainWindow, splitters: Mapping[str, QSplitter]) -> None:
        """Store size, place and divisions of the window."""
        self._settings.setValue("geometry", window.saveGeometry())
        self._settings.setValue("maximised", str(window.isMaximized()).lower())
        for name, splitter in splitters.items():
            self._settings.setValue(f"splitter/{name}", splitter.saveState())
        self._settings.sync()

    def restore_layout(self, window: QMainWindow, splitters: Mapping[str, QSplitter]) -> None:
        """Restore what `keep_layout` stored."""
        geometry = self._value("geometry")
        if isinstance(geometry, QByteArray):
            window.restoreGeometry(geometry)
            fit_to_screen(window)
        if self.flag("maximised", False):
            window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)
        for name, splitter in splitters.items():
            state = self._value(f"splitter/{name}")
            if isinstance(state, QByteArray):
                splitter.restoreState(state)


def fit_to_screen(window: QMainWindow) -> None:
    """No larger than the screen it is on, which may be another one than when it was left."""
    room = window.screen().availableGeometry()
    window.resize(window.size().boundedTo(room.size()))
    corner = window.pos()
    x = min(max(corner.x(), room.left()), room.right() + 1 - window.width())
    y = min(max(corner.y(), room.top()), room.bottom() + 1 - window.height())
    if (x, y) != (corner.x(), corner.y()):
        window.move(x, y)


_LARGEST = 4 << 20  # bytes; they take some ten thousand


def open_settings() -> QSettings:
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


def put_aside(open_settings: QSettings | None = None) -> None:
    """Begin with none: those there are stay in a file beside, and that is said in one line.

    `open_settings` are those that have been read already.
    """
    file, aside = _file(), None
    if file is not None:
        with suppress(OSError):
            os.replace(file, file.with_suffix(".aside"))
            aside = file.with_suffix(".aside")
    if open_settings is not None or file is None:
        (open_settings or QSettings(ORGANISATION, APPLICATION)).clear()
    kept = f"; they are put aside as {aside}" if aside is not None else ""
    err(f"gpuviz: it did not start with the settings there were, and begins without them{kept}")


def _file() -> Path | None:
    """The file that Qt keeps settings in, None where they are no file of ours (the registry)."""
    if sys.platform in ("win32", "darwin"):
        return None
    config = QStandardPaths.StandardLocation.GenericConfigLocation
    return Path(QStandardPaths.writableLocation(config), ORGANISATION, f"{APPLICATION}.conf")
