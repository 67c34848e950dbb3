"""Words for the parts of a request: transactions, elements, bytes; in the reader's language."""

from __future__ import annotations

from gpuviz.language import english, tr, trn

ELEMENTS = {1: "byte", 2: "16-bit word", 4: "float", 8: "float2", 16: "float4"}


def counted(noun: str, number: int) -> str:
    """`8 sectors`, `1 sector`."""
    if noun == "segment":
        return trn("{n} segment", "{n} segments", number)
    if noun == "line":
        return trn("{n} line", "{n} lines", number)
    return trn("{n} sector", "{n} sectors", number)


def numbered(noun: str, number: int) -> str:
    """`sector 3`."""
    if noun == "segment":
        return tr("segment {n}", n=number)
    return tr("line {n}", n=number) if noun == "line" else tr("sector {n}", n=number)


def one(noun: str) -> str:
    """`sector`."""
    return {"segment": tr("segment"), "line": tr("line")}.get(noun, tr("sector"))


def nouns(noun: str) -> str:
    """`sectors`."""
    return {"segment": tr("segments"), "line": tr("lines")}.get(noun, tr("sectors"))


def element(name: str) -> str:
    """One element: `float`."""
    known = {"index": tr("index"), "byte": tr("byte"), "16-bit word": tr("16-bit word")}
    return known.get(name, name)


def elements(name: str, count: int) -> str:
    """So many elements: `32 floats`."""
    known = {
        "index": trn("{n} index", "{n} indices", count),
        "byte": trn("{n} byte", "{n} bytes", count),
        "16-bit word": trn("{n} 16-bit word", "{n} 16-bit words", count),
    }
    return known.get(name) or english(f"{{n}} {name}", f"{{n}} {name}s", count)


def ordinal(number: int) -> str:
    """`second`, `third`, `4th`, `21st`."""
    if number in (2, 3):
        return (tr("second"), tr("third"))[number - 2]
    if number % 100 not in (11, 12, 13):
        if number % 10 == 1:
            return tr("{n}st", n=number)
        if number % 10 == 2:
            return tr("{n}nd", n=number)
        if number % 10 == 3:
            return tr("{n}rd", n=number)
    return tr("{n}th", n=number)


def in_bytes(count: int) -> str:
    """`1 024 bytes`, thousands apart by a thin space."""
    return trn("{n} byte", "{n} bytes", count, n=f"{count:,}".replace(",", "\u2009"))
