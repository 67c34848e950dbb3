"""Where a picture comes from: the record of its view, from which that can be shown again.

Written, it is one line of plain ASCII JSON without `<`, `>` and `&`: it can stand as it is in a PNG
text, an SVG or HTML element, a PDF's metadata, and the comment of a GIF or a film.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated

from msgspec import Meta

from gpuviz import __version__
from gpuviz.base import records
from gpuviz.base.errors import FormatError

KEYWORD = "gpuviz"  # names the record where a format wants a name
_VERSION = 1
_LONGEST = 60  # letters of a file name
MARK = b'{"gpuviz view": '  # how a record begins
_LARGEST = 10**6  # beyond any time, size or letter

Value = int | str | bool
Values = Mapping[str, Value]
Number = Annotated[float, Meta(gt=-_LARGEST, lt=_LARGEST)]
Whole = Annotated[int, Meta(gt=-_LARGEST, lt=_LARGEST)]


@dataclass(frozen=True)
class Provenance:
    """What it takes to make a picture again, and what its numbers are worth."""

    # lesson, values, arch, level: what was run; `values` holds every parameter.
    lesson: str
    values: Values
    arch: str
    level: str = "sass"
    # compare_values, compare_arch: of the variant beside it; empty when there is none, or when the
    # architecture is the same.
    compare_values: Values = field(default_factory=dict)
    compare_arch: str = ""
    time: Number = 0.0  # seconds into the story; where a film begins
    end: Number = 0.0  # where a film ends; equal to `time` for a picture
    # theme, width, height, letters: the stage, in logical pixels, and how far letters are enlarged.
    theme: str = "dark"
    width: Whole = 1920
    height: Whole = 1080
    letters: Number = 1.0
    # What kind of number is shown, by quantity ("counts": "modelled").
    badges: Mapping[str, str] = field(default_factory=dict)
    language: str = "en"  # of the texts
    version: str = __version__  # the gpuviz that made it
    # How a kernel of the user's own is launched (`scenes.kernel.record_of`); else empty.
    launch: Values = field(default_factory=dict)
    # compare_lesson, compare_launch: of the variant beside it where it is of another lesson, or a
    # kernel that is launched in another way; else empty.
    compare_lesson: str = ""
    compare_launch: Values = field(default_factory=dict)

    @property
    def compared(self) -> bool:
        """Whether a second variant is shown beside the first."""
        return bool(self.compare_values or self.compare_arch or self.compare_lesson)

    @property
    def for_slide(self) -> Provenance:
        """The same without a kernel of the user's own as B: a slide has lessons there alone."""
        if not self.compare_launch:
            return self
        return replace(
            self, compare_values={}, compare_arch="", compare_lesson="", compare_launch={}
        )

    def text(self) -> str:
        """The record as one line that fits into every format."""
        plain = records.text({"gpuviz view": _VERSION, **records.plain(self)})
        for sign in "<>&":
            plain = plain.replace(sign, f"\\u{ord(sign):04x}")
        return plain

    def words(self) -> str:
        """The record for people: `coalescing · stride=2 · sm_90, sass · 4.0 s`."""
        until = f" to {self.end:.1f}" if self.end > self.time else ""
        moment = f"{self.time:.1f}{until} s"
        parts = (self.compare_lesson, _pairs(self.compare_values), self.compare_arch)
        beside = [" ".join(("compared with", *filter(None, parts)))] if self.compared else []
        said = [self.lesson, _pairs(self.values), *beside, f"{self.arch}, {self.level}", moment]
        return " · ".join([*said, f"gpuviz {self.version}"])


def file_name(provenance: Provenance, suffix: str, usual: Values = MappingProxyType({})) -> str:
    """A name that says what the file shows: `coalescing-stride=2-sm_90-4.0s.png`.

    Values that are `usual` are left out: the file itself knows all of them. A kernel of the user's
    own is called by its name, its file and its launch: `saxpy-main-16-256-findings-sm_90-0.5s.png`.
    """
    usual = {**usual, **_PLAIN} if provenance.launch else usual
    shown = {k: v for k, v in provenance.values.items() if k not in usual or usual[k] != v}
    picture = [str(shown.pop("picture"))] if provenance.launch and "picture" in shown else []
    parts = [*_called(provenance), *picture, *(f"{k}={v}" for k, v in shown.items())]
    if provenance.compared:
        others = provenance.compare_values.items()
        changed = [f"{k}={v}" for k, v in others if provenance.values.get(k) != v]
        beside = [provenance.compare_lesson, *changed, provenance.compare_arch]
        parts += ["vs", *filter(None, beside)]
    parts += [provenance.arch, f"{provenance.time:.1f}s"]
    name = re.sub(r"[^\w.=+-]+", "_", "-".join(parts))
    return name[:_LONGEST] + suffix


_PLAIN: Values = {  # of a kernel of the user's own: how its pictures begin
    "block": 0,
    "warp": 0,
    "every": False,
    "goes_on": True,
    "finding": -1,
    "columns": 0,
}


def _called(provenance: Provenance) -> Iterator[str]:
    """The lesson; of a kernel of the user's own its name, its file, grid and block."""
    launch = provenance.launch
    if not launch.get("name"):
        yield provenance.lesson
        return
    yield str(launch["name"])
    yield re.sub(r"^.*[/\\]|\.\w+$", "", str(launch.get("file", "")))
    for size in ("grid", "block"):
        yield re.sub(r"(,1)+$", "", str(launch.get(size, ""))).replace(",", "x")


def parse(found: bytes, path: str) -> Provenance:
    """The record that begins a text; unknown fields of the same version are left out.

    Raises
    ------
    FormatError : it is damaged, or of a newer gpuviz; names `path`
    """
    name = f"the record of the view in {path} is damaged"
    plain = records.parsed(found.decode("latin-1"), name, rest=True)
    if plain["gpuviz view"] != _VERSION:
        raise FormatError(
            f"{path} holds a view of version {plain['gpuviz view']}; this gpuviz "
            f"reads version {_VERSION}: update gpuviz"
        )
    return records.record(plain, Provenance, name)


def _pairs(values: Values) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())
