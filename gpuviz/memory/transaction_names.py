"""What an architecture calls its transactions, and bytes, in the reader's language."""

from __future__ import annotations

from gpuviz.language import tr, trn


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


def in_bytes(count: int) -> str:
    """`1 024 bytes`, thousands apart by a thin space."""
    return trn("{n} byte", "{n} bytes", count, n=f"{count:,}".replace(",", "\u2009"))
