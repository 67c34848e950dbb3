"""A lecture's text in parts, its head and its slides, so that one broken part breaks no other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

# Comments right above a slide are about it.
SLIDE = re.compile(r"^(?:[ \t]*#.*\n)*[ \t]*\[\[[ \t]*slide[ \t]*\]\]", re.MULTILINE)
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_QUOTES = ('"""', "'''")


@dataclass(frozen=True)
class Chunk:
    """A part of a text, and the number of its first line, from 1."""

    line: int
    text: str


def chunks(text: str) -> tuple[Chunk, ...]:
    """The head and each slide; joined they are the text.

    Where a slide begins inside a long string, as in notes that tell of the format, it is no slide,
    unless the string never ends.
    """
    starts = [found.start() for found in SLIDE.finditer(text)]
    inside = [at for at in starts if _in_string(text, at)]
    if len(inside) < len(starts) and _balanced(text):
        starts = [at for at in starts if at not in inside]
    edges = [0, *starts, len(text)]
    parts = zip(edges, edges[1:], strict=False)
    return tuple(Chunk(text.count("\n", 0, a) + 1, text[a:b]) for a, b in parts)


def _in_string(text: str, at: int) -> bool:
    """Whether a long string is open at a place."""
    return _open(text[:at]) != ""


def _balanced(text: str) -> bool:
    return _open(text) == ""


def _open(text: str) -> str:
    """The quotes of the long string that is open at the end of a text, "" when none is."""
    current = ""
    for quotes in _marks(text):
        if not current:
            current = quotes
        elif quotes == current:
            current = ""
    return current


def _marks(text: str) -> Iterator[str]:
    return (found[0] for found in re.finditer("|".join(_QUOTES), text))


def loads(chunk: Chunk) -> dict[str, object]:
    """The chunk as TOML; `Broken` where it is none."""
    try:
        return tomllib.loads(chunk.text)
    except tomllib.TOMLDecodeError as error:
        raise Broken(*_told(str(error), chunk)) from None


class Broken(Exception):
    """A chunk that is no TOML: the line in the file, and what is wrong there."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


def _told(message: str, chunk: Chunk) -> tuple[int, str]:
    """The line, and the message without its place in the chunk."""
    found = _PLACE.search(message)
    within = int(found[1]) if found and found[1] else max(chunk.text.rstrip().count("\n") + 1, 1)
    said = _PLACE.sub("", message).strip()
    return chunk.line + within - 1, said[:1].lower() + said[1:]


def line_of(chunk: Chunk, key: str) -> int:
    """The line where a key is set, or the first of the chunk."""
    found = re.search(rf"^[ \t]*(?:\[slide\.)?[\"']?{re.escape(key)}[\"']?[ \t]*[=\].]", chunk.text,
                      re.MULTILINE)
    return chunk.line + (chunk.text.count("\n", 0, found.start()) if found else 0)
