"""Sources that were edited here and are not saved; a crash does not take them along. With its signs
and its ends of lines a file goes back as it came.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import InputError
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.qt.history.crash_file import CrashFile, UnsavedText
from gpuviz.words.language import tr

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class TextFile:
    """What is in a file: lines end with `\\n` in `text`, with `newline` in the file."""

    text: str
    encoding: str = "utf-8"
    newline: str = "\n"


def read_text_file(path: Path) -> TextFile:
    """A text in UTF-8, or else in Latin-1, where every byte is a sign; InputError as
    `bounded.read`.
    """
    content = bounded.read(path)
    encoding = "utf-8-sig" if content.startswith(_BOM) else "utf-8"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        encoding = "latin-1"
        text = content.decode(encoding)
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    return TextFile(text.replace("\r\n", "\n").replace("\r", "\n"), encoding, newline)


def write_text_file(path: Path, text: str, like: TextFile) -> None:
    """Write a text whole, in the way of what was in the file; InputError as `files.write`."""
    made = text.replace("\n", like.newline)
    try:
        content = made.encode(like.encoding)
    except UnicodeEncodeError:
        content = made.encode("utf-8")
    files.write(path, content)


_LARGEST = 1 << 20  # signs of a text that is kept about once a second


class Drafts(QObject):
    """By file: the text as it is edited, and what was in the file when that began."""

    changed = Signal(Path)  # a file whose text is another, or is saved

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
            self._known[path] = read_text_file(path)
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
            found = read_text_file(path)
        except InputError:
            return None
        return found.text if found.text != self._known[path].text else None

    def take(self, path: Path) -> None:
        """What is in the file now is what is known of it; what was edited stays."""
        self._known[path] = read_text_file(path)
        self.write(path, self.text(path))

    def save(self, path: Path) -> None:
        """Write the text to its file; InputError where that cannot be done."""
        text, like = self.text(path), self._known[path]
        if path.exists():
            like = replace(read_text_file(path), text=like.text)
        write_text_file(path, text, like)
        self._known[path] = replace(like, text=text)
        self._texts.pop(path, None)
        self._tell(path)

    def keep_aside(self, path: Path, text: str, whose: str) -> Path:
        """Write a text to a new file beside: `saxpy.mine.cu`; where that lies."""
        number, name = 1, f"{path.stem}.{whose}{path.suffix}"
        while path.with_name(name).exists():
            number += 1
            name = f"{path.stem}.{whose}-{number}{path.suffix}"
        write_text_file(path.with_name(name), text, self._known[path])
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
