"""What the parts of a request are called, with how many there are: `8 wavefronts`, `1 sector`."""

from __future__ import annotations

from typing import Literal

from gpuviz.arch import Architecture
from gpuviz.language import trn
from gpuviz.trace import Space

Unit = Literal["sector", "segment", "line", "wavefront", "pass"]


def counted(unit: Unit, count: int) -> str:
    """So many of them."""
    return {
        "sector": trn("{n} sector", "{n} sectors", count),
        "segment": trn("{n} segment", "{n} segments", count),
        "line": trn("{n} line", "{n} lines", count),
        "wavefront": trn("{n} wavefront", "{n} wavefronts", count),
        "pass": trn("{n} pass", "{n} passes", count),
    }[unit]


def unit_of(arch: Architecture, space: Space) -> Unit:
    """What requests to a space of memory are served in."""
    if space == "shared":
        return "wavefront"
    if space == "constant":
        return "pass"
    return "sector" if arch.has_sectors else "segment"
