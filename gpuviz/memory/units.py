"""What counts are called on screen: spaces, operations, quantities, and what the latter mean."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.arch import Architecture
from gpuviz.traces.trace import Space
from gpuviz.words.language import grouped, texts, tr, trn

_TABLE = texts("units")
SPACES: Mapping[str, str] = _TABLE["spaces"]
OPS: Mapping[str, str] = _TABLE["operations"]


@dataclass(frozen=True)
class Unit:
    """A quantity: its name, what it means, and its name where there is one of it ("": the same)."""

    name: str
    hint: str
    one: str = ""

    def said(self, single: bool = False) -> str:
        """Its name in the reader's language."""
        return tr(self.one) if single and self.one else tr(self.name)


UNITS: Mapping[str, Unit] = {name: Unit(**row) for name, row in _TABLE["units"].items()}


def unit_of(quantity: str, sectors: bool = True) -> Unit:
    """The words for a quantity; as it is written where it has none.

    `sectors` is false on architectures older than 5.0, whose transactions are segments.
    """
    name = "segments" if quantity == "sectors" and not sectors else quantity
    return UNITS.get(name, Unit(name, ""))


def label(op: str, unit: Unit) -> str:
    """The name of a count: "load sectors"."""
    return tr("{op} {quantity}", op=tr(OPS[op]), quantity=unit.said())


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
