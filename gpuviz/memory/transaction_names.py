"""What an architecture calls its transactions, and bytes, in the reader's language."""

from __future__ import annotations

from gpuviz.arch import Architecture
from gpuviz.memory.units import UNITS
from gpuviz.traces.trace import Space
from gpuviz.words.language import grouped, tr, trn


def counted(noun: str, number: int) -> str:
    """`8 sectors`, `1 sector`, `1 695 sectors`."""
    n = grouped(number)
    return {
        "segment": lambda: trn("{n} segment", "{n} segments", number, n=n),
        "line": lambda: trn("{n} line", "{n} lines", number, n=n),
        "wavefront": lambda: trn("{n} wavefront", "{n} wavefronts", number, n=n),
        "pass": lambda: trn("{n} pass", "{n} passes", number, n=n),
    }.get(noun, lambda: trn("{n} sector", "{n} sectors", number, n=n))()


def noun_of(arch: Architecture, space: Space) -> str:
    """What requests to a space of memory are served in."""
    if space == "shared":
        return "wavefront"
    if space == "constant":
        return "pass"
    return arch.transaction()


def numbered(noun: str, number: int) -> str:
    """`sector 3`."""
    if noun == "segment":
        return tr("segment {n}", n=number)
    return tr("line {n}", n=number) if noun == "line" else tr("sector {n}", n=number)


def one(noun: str) -> str:
    """`sector`."""
    return UNITS[f"{noun}s"].said(True)


def nouns(noun: str) -> str:
    """`sectors`."""
    return UNITS[f"{noun}s"].said()


def in_bytes(count: int) -> str:
    """`1 024 bytes`, thousands apart by a thin space."""
    return trn("{n} byte", "{n} bytes", count, n=grouped(count))
