"""Sources that were edited here and are not saved; a crash does not take them along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import InputError
from gpuviz.files import text_file
from gpuviz.files.text_file import TextFile
from gpuviz.qt.history.crash_file import CrashFile, UnsavedText
from gpuviz.words.language import tr

_LARGEST = 1 << 20  # signs of a text that is kept about once a second


class Drafts(QObject):
    """By file: the text as it is edited, and what was in the file when that began.

    Signals
    -------
    changed : a file whose text is another, or is saved
    """

    changed = Signal(Path)

    def __init__(self, crash_file: CrashFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crash_file = crash_file
        self._known: dict[Path, TextFile] = {}  # what is in the files, as far as is known here
        self._texts: dict[Path, str] = {}
        for left in crash_file.unsaved:
            self._known[Path(left.file)] = TextFile(left.base)
            self._texts[Path(left.file)] = left.text

    @property
    def modified(self) -> tuple[Path, ...]:
        """Files with a text that is not saved."""
        return tuple(self._texts)

    def open(self, path: Path) -> str:
        """The text to edit: that of the file, unless one of it is not saved yet.

        Raises
        ------
        InputError : it cannot be read
        """
        if path not in self._texts:
            self._known[path] = text_file.read(path)
        return self.text(path)

    def text(self, path: Path) -> str:
        """The text of a file that was opened, as it is edited."""
        return self._texts.get(path, self._known[path].text)

    def base(self, path: Path) -> str:
        """What was in the file when it was read, or saved, last."""
        return self._known[path].text

    def write(self, path: Path, text: str) -> None:
        """The text was edited."""
        if text == self._known[path].text:
            self._texts.pop(path, None)
        else:
            self._texts[path] = text
        self._tell(path)

    def drop(self, path: Path) -> None:
        """What was edited is given up."""
        if self._texts.pop(path, None) is not None:
            self._tell(path)

    def theirs(self, path: Path) -> str | None:
        """What another program has made of the file, None while it is as it was read."""
        try:
            found = text_file.read(path)
        except InputError:
            return None
        return found.text if found.text != self._known[path].text else None

    def take(self, path: Path) -> None:
        """What is in the file now is what is known of it; what was edited stays."""
        self._known[path] = text_file.read(path)
        self.write(path, self.text(path))

    def save(self, path: Path) -> None:
        """Write the text to its file; InputError where that cannot be done."""
        text, like = self.text(path), self._known[path]
        if path.exists():
            like = replace(text_file.read(path), text=like.text)
        text_file.write(path, text, like)
        self._known[path] = replace(like, text=text)
        self._texts.pop(path, None)
        self._tell(path)

    def keep_aside(self, path: Path, text: str, whose: str) -> Path:
        """Write a text to a new file beside: `saxpy.mine.cu`; where that lies."""
        number, name = 1, f"{path.stem}.{whose}{path.suffix}"
        while path.with_name(name).exists():
            number += 1
            name = f"{path.stem}.{whose}-{number}{path.suffix}"
        text_file.write(path.with_name(name), text, self._known[path])
        return path.with_name(name)

    def settle(self, ask: Callable[[Path], str], then: Callable[[], bool]) -> bool:
        """Save or give up each, as `ask` says: "save", "discard" or "cancel"; False when nothing is
        to happen. Nothing is given up unless `then` agrees.

        Raises
        ------
        InputError : one cannot be saved
        """
        for path in self.modified:
            said = ask(path)
            if said == "save":
                self._check(path)
                self.save(path)
            elif said != "discard":
                return False
        if not then():
            return False
        for path in self.modified:
            self.drop(path)
        return True

    def _check(self, path: Path) -> None:
        if self.theirs(path) is not None:
            raise InputError(
                tr("{file} has been changed by another program meanwhile.", file=path.name)
            )

    def _tell(self, path: Path) -> None:
        self._crash_file.unsaved = tuple(
            UnsavedText(str(file), text, self._known[file].text)
            for file, text in self._texts.items()
            if len(text) <= _LARGEST
        )
        self.changed.emit(path)
