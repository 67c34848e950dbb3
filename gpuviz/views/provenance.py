"""Where a picture comes from: the record of its view, from which that can be shown again.

Written, it is one line of plain ASCII JSON without `<`, `>` and `&`: it can stand as it is in a PNG
text, an SVG or HTML element, a PDF's metadata, and the comment of a GIF or a film.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from gpuviz import __version__
from gpuviz.errors import FormatError

KEYWORD = "gpuviz"  # names the record where a format wants a name
_VERSION = 1
MARK = b'{"gpuviz view": '  # how a record begins
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


def parse(found: bytes, path: str) -> Provenance:
    """The record that begins a text; unknown fields of the same version are left out.

    Raises
    ------
    FormatError : it is damaged, or of a newer gpuviz; names `path`
    """
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
