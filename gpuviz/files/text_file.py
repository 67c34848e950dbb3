"""A text file as it is edited: with its signs and its ends of lines it goes back as it came."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpuviz.files import bounded
from gpuviz.files import writing as files

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class TextFile:
    """What is in a file: lines end with `\\n` in `text`, with `newline` in the file."""

    text: str
    encoding: str = "utf-8"
    newline: str = "\n"


def read(path: Path) -> TextFile:
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


def write(path: Path, text: str, like: TextFile) -> None:
    """Write a text whole, in the way of what was in the file; InputError as `files.write`."""
    made = text.replace("\n", like.newline)
    try:
        content = made.encode(like.encoding)
    except UnicodeEncodeError:
        content = made.encode("utf-8")
    files.write(path, content)
