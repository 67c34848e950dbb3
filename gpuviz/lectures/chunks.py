"""A lecture's text in parts, its head and its slides, so that one broken part breaks no other."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from gpuviz.files.bounded import toml_values as loads_text

# Comments right above a slide are about it; those above nothing are passed over in one go.
_SLIDE = re.compile(r"^(?:[ \t]*#.*\n)*+(?P<slide>[ \t]*\[\[[ \t]*slide[ \t]*\]\])?", re.MULTILINE)
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_SETTING = re.compile(
    r"""^[ \t]*(?:\[+(?:slide\.)?)?["']?(?P<key>[^"'\n=\].]*?)["']?[ \t]*[=\].]""", re.MULTILINE
)
_QUOTES = ('"""', "'''")
_UNFINISHED = "(at end of document)"
_DEEPEST = 40  # tables and lists within each other
_TOO_DEEP = "brackets within brackets, more than can be read: take some out"
_TOO_LARGE = "{}: numbers go up to 9223372036854775807"
_REACH = 50  # how many beginnings of slides are looked for inside one long string


@dataclass(frozen=True)
class Chunk:
    """A part of a text, and the number of its first line, from 1."""

    line: int
    text: str


def beginnings(text: str) -> Iterator[int]:
    """Where slides seem to begin in a text: the first of the comments above each."""
    return (found.start() for found in _SLIDE.finditer(text) if found["slide"])


def chunks(text: str) -> tuple[Chunk, ...]:
    """The head and each slide; joined they are the text.

    What looks like the beginning of a slide inside a long string, as in notes that tell of the
    format, is none, unless the string never ends.
    """
    edges = [0, *beginnings(text), len(text)]
    made, at, line = [], 0, 1
    while at < len(edges) - 1:
        end = _end(text, edges, at)
        made.append(Chunk(line, text[edges[at] : edges[end]]))
        line += made[-1].text.count("\n")
        at = end
    return tuple(made)


def _end(text: str, edges: list[int], at: int) -> int:
    """The edge where a chunk ends: the next one, or a later one if only that ends its string."""
    for end in range(at + 1, min(at + 1 + _REACH, len(edges))):
        try:
            found = loads_text(text[edges[at] : edges[end]])
        except tomllib.TOMLDecodeError as error:
            if _UNFINISHED not in str(error):
                break
        except (ValueError, RecursionError):  # thousands of digits, or of brackets
            break
        else:
            one = at == 0 or len(found["slide"]) == 1
            return end if one else at + 1
    return at + 1


def toml_values(chunk: Chunk) -> dict[str, object]:
    """The chunk as TOML; `ChunkError` where it is none, or beyond what TOML says of numbers."""
    try:
        found = loads_text(chunk.text)
    except tomllib.TOMLDecodeError as error:
        raise ChunkError(*_told(str(error), chunk)) from None
    except ValueError:  # Python reads no number of thousands of digits
        raise ChunkError(chunk.line, _TOO_LARGE.format("a number")) from None
    except RecursionError:
        raise ChunkError(chunk.line, _TOO_DEEP) from None
    _check(found, chunk)
    return found


def _check(found: dict[str, object], chunk: Chunk) -> None:
    """`ChunkError` where a number or a nesting would make whoever tells of it stumble."""
    waiting: list[tuple[str, object, int]] = [("", found, 0)]
    while waiting:
        key, value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ChunkError(line_of(chunk, key), f"{key}: {_TOO_DEEP}")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ChunkError(line_of(chunk, key), _TOO_LARGE.format(key))
        if isinstance(value, dict):
            waiting += ((name, inner, depth + 1) for name, inner in value.items())
        elif isinstance(value, list):
            waiting += ((key, inner, depth + 1) for inner in value)


class ChunkError(Exception):
    """A chunk that is no TOML: the line in the file, and what is wrong there."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


def _told(message: str, chunk: Chunk) -> tuple[int, str]:
    """The line, and the message without its place in the chunk.

    Of what never ends the line is told where a long string begins, if there is one.
    """
    found = _PLACE.search(message)
    opened = max(chunk.text.rfind(quotes) for quotes in _QUOTES)
    end = opened if opened >= 0 else len(chunk.text.rstrip())
    within = int(found[1]) if found and found[1] else chunk.text.count("\n", 0, end) + 1
    said = _PLACE.sub("", message).strip()
    return chunk.line + within - 1, said[:1].lower() + said[1:]


def line_of(chunk: Chunk, key: str) -> int:
    """The line where a key is set, or the first of the chunk."""
    return chunk.line + _lines(chunk.text).get(key, 0)


@lru_cache(maxsize=1)
def _lines(text: str) -> Mapping[str, int]:
    """How many lines are before the first place where each key is set."""
    lines: dict[str, int] = {}
    number = at = 0
    for found in _SETTING.finditer(text):
        number += text.count("\n", at, found.start())
        at = found.start()
        lines.setdefault(found["key"], number)
    return lines
