"""Where a picture comes from, written into the file itself, so that its view can be opened again.

The record is one line of plain ASCII JSON without `<`, `>` and `&`: it can stand as it is in a PNG
text, an SVG or HTML element, a PDF's metadata, and the comment of a GIF or a film. All of these
keep it uncompressed and in one piece, except GIF, whose blocks end after 255 bytes. So reading is
the same for every format: look for the line.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from gpuviz import __version__
from gpuviz.errors import FormatError, InputError

KEYWORD = "gpuviz"  # names the record where a format wants a name
_VERSION = 1
_MARK = b'{"gpuviz view": '
_STEP = 1 << 20  # bytes searched at once
_LONGEST = 1 << 16  # bytes of a record that is believed
_LARGEST = 1e6  # beyond any time, size or letter

Value = int | str | bool
Values = Mapping[str, Value]


@dataclass(frozen=True)
class Provenance:
    """What it takes to make a picture again, and what its numbers are worth.

    Attributes
    ----------
    lesson, values, arch, level : what was run; `values` holds every parameter
    launch : how a kernel of the user's own is launched (`scenes.kernel.record_of`); else empty
    compare_values, compare_arch : of the variant beside it; empty when there is none, or when the
        architecture is the same
    time : seconds into the story; where a film begins
    end : where a film ends; equal to `time` for a picture
    theme, width, height, letters : the stage, in logical pixels, and how far letters are enlarged
    badges : what kind of number is shown, by quantity ("counts": "modelled")
    language : of the texts
    version : the gpuviz that made it
    """

    lesson: str
    values: Values
    arch: str
    level: str = "sass"
    compare_values: Values = field(default_factory=dict)
    compare_arch: str = ""
    time: float = 0.0
    end: float = 0.0
    theme: str = "dark"
    width: int = 1920
    height: int = 1080
    letters: float = 1.0
    badges: Mapping[str, str] = field(default_factory=dict)
    language: str = "en"
    version: str = __version__
    launch: Values = field(default_factory=dict)

    @property
    def compared(self) -> bool:
        """Whether a second variant is shown beside the first."""
        return bool(self.compare_values or self.compare_arch)

    def text(self) -> str:
        """The record as one line that fits into every format."""
        plain = json.dumps({"gpuviz view": _VERSION, **asdict(self)}, sort_keys=False)
        for sign in "<>&":
            plain = plain.replace(sign, f"\\u{ord(sign):04x}")
        return plain

    def words(self) -> str:
        """The record for people: `coalescing · stride=2 · sm_90, sass · 4.0 s`."""
        moment = (
            f"{self.time:.1f} s"
            if self.end <= self.time
            else (f"{self.time:.1f} to {self.end:.1f} s")
        )
        beside = [f"compared with {_pairs(self.compare_values)} {self.compare_arch}".rstrip()]
        return " · ".join(
            [
                self.lesson,
                _pairs(self.values),
                *(beside if self.compared else []),
                f"{self.arch}, {self.level}",
                moment,
                f"gpuviz {self.version}",
            ]
        )


def file_name(provenance: Provenance, suffix: str) -> str:
    """A name that says what the file shows: `coalescing-stride=2-sm_90-4.0s.png`."""
    parts = [provenance.lesson, *(f"{k}={v}" for k, v in provenance.values.items())]
    if provenance.compared:
        changed = (
            f"{k}={v}"
            for k, v in provenance.compare_values.items()
            if provenance.values.get(k) != v
        )
        parts += ["vs", *changed, *([provenance.compare_arch] if provenance.compare_arch else [])]
    parts += [provenance.arch, f"{provenance.time:.1f}s"]
    name = re.sub(r"[^\w.=+-]+", "_", "-".join(parts))
    return name[:150] + suffix


def read(path: Path) -> Provenance:
    """The record in an exported file, whatever its format.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : there is no record in it, it is damaged, or of a newer gpuviz
    """
    try:
        found = _search(path)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped: ValueError
        reason = getattr(error, "strerror", None) or "it is empty"
        raise InputError(f"cannot read {path}: {reason}") from None
    return _told(found, str(path))


def read_content(content: bytes, name: str) -> Provenance:
    """The record in the content of an exported file; `name` is what errors call it."""
    return _told(_find(content), name)


def _told(found: bytes | None, name: str) -> Provenance:
    if found is None:
        raise FormatError(
            f"{name} does not say which view it shows: it was not exported by "
            "gpuviz, or another program removed its metadata"
        )
    return _record(found, name)


def _search(path: Path) -> bytes | None:
    """What follows the mark in a file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _find(content)


def _find(content: mmap.mmap | bytes) -> bytes | None:
    at = _place(content)
    if content[:4] == b"GIF8":
        return _in_gif(content, at)
    return content[at : at + _LONGEST] if at >= 0 else None


def _place(content: mmap.mmap | bytes) -> int:
    """Where the mark is, -1 when it is nowhere; in steps, so that other threads can run between."""
    for start in range(0, len(content), _STEP):
        at = content.find(_MARK, start, start + _STEP + len(_MARK))
        if at >= 0:
            return at
    return -1


def _in_gif(content: mmap.mmap | bytes, at: int) -> bytes | None:
    """The comment of a GIF that begins with the mark, its blocks joined."""
    if at < 1 or content[at - 3 : at - 1] != b"\x21\xfe":
        return None
    at, joined = at - 1, b""
    while at < len(content) and content[at] and len(joined) < _LONGEST:
        joined += content[at + 1 : at + 1 + content[at]]
        at += 1 + content[at]
    return joined


def _record(found: bytes, path: str) -> Provenance:
    """A record from its text; unknown fields of the same version are left out."""
    try:
        plain, _ = json.JSONDecoder().raw_decode(found.decode("latin-1"))
    except (ValueError, RecursionError):
        raise FormatError(f"the record of the view in {path} is damaged") from None
    if plain["gpuviz view"] != _VERSION:
        raise FormatError(
            f"{path} holds a view of version {plain['gpuviz view']}; this gpuviz "
            f"reads version {_VERSION}: update gpuviz"
        )
    known = {f.name for f in fields(Provenance)}
    kept = {key: value for key, value in plain.items() if key in known}
    for name, kinds in _KINDS.items():
        if name in kept and not _fits(kept[name], kinds) or name in _NEEDED - kept.keys():
            raise FormatError(f"the record of the view in {path} has no usable {name!r}")
    return Provenance(**kept)


_NEEDED = {"lesson", "values", "arch"}
_NUMBER, _PAIRS = (int, float), (dict,)
_KINDS: dict[str, tuple[type, ...]] = {
    "lesson": (str,),
    "values": _PAIRS,
    "arch": (str,),
    "level": (str,),
    "compare_values": _PAIRS,
    "compare_arch": (str,),
    "time": _NUMBER,
    "end": _NUMBER,
    "theme": (str,),
    "width": (int,),
    "height": (int,),
    "letters": _NUMBER,
    "badges": _PAIRS,
    "language": (str,),
    "version": (str,),
    "launch": _PAIRS,
}


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of one of these kinds; pairs hold plain values only."""
    if isinstance(value, dict):
        return dict in kinds and all(isinstance(v, int | str | bool) for v in value.values())
    if isinstance(value, int | float) and not -_LARGEST < value < _LARGEST:  # nor is NaN
        return False
    return isinstance(value, kinds) and not isinstance(value, bool)


def _pairs(values: Values) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())
