"""A row of the table of operations: which opcodes it covers, and how to build their function.

A pattern is a list of slots: `rn/rz/rm/rp?` is at most one of four, `sat?` may be absent, a word in
capitals names a set. In the types `t` is the last type of the opcode, `d` the first, `w` the
integer of twice the width of `t`; others stand for themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gpuviz.ptx.arithmetic.compare import COMBINATIONS, FLOAT_RELATIONS, INTEGER_RELATIONS
from gpuviz.ptx.arithmetic.kinds import Builder, Function, Variant, widened


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A function of containers, and the PTX types of its operands and results."""

    function: Function
    sources: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One family: the name and modifiers it covers, its types and its builder."""

    name: str
    pattern: str
    sources: str
    results: str
    build: Builder

    def matches(self, mods: tuple[str, ...]) -> bool:
        """Whether the modifiers fill the slots of the pattern, in order."""
        position = 0
        for choices, optional in _slots(self.pattern):
            if position < len(mods) and mods[position] in choices:
                position += 1
            elif not optional:
                return False
        return position == len(mods)


_SETS: dict[str, str] = {
    "INT": "u16/s16/u32/s32/u64/s64",
    "SHORT": "u16/s16/u32/s32",
    "WORD": "u32/s32",
    "CARRY": "u32/s32/u64/s64",
    "BITS": "b16/b32/b64",
    "LONG": "b32/b64",
    "FLOAT": "f16/bf16/f32/f64",
    "HALF": "f16/f16x2/bf16/bf16x2",
    "REAL": "f16/f16x2/bf16/bf16x2/f32/f32x2/f64",
    "TWO": "f16x2/bf16x2",
    "EIGHTS": "e4m3x2/e5m2x2",
    "ONE": "b8/u8/s8/b16/u16/s16/b32/u32/s32/b64/u64/s64/f16/bf16/f32/f64",
    "PAIR": "f16x2/bf16x2/u16x2/s16x2",
    "NUMBER": "u8/s8/u16/s16/u32/s32/u64/s64",
    "ROUND": "rn/rz/rm/rp",
    "INTEGRAL": "rni/rzi/rmi/rpi",
    "COMPARE": "/".join(INTEGER_RELATIONS),
    "FCOMPARE": "/".join(FLOAT_RELATIONS),
    "COMBINE": "/".join(COMBINATIONS),
}


@cache
def _slots(pattern: str) -> tuple[tuple[frozenset[str], bool], ...]:
    parts = ((part.rstrip("?"), part.endswith("?")) for part in pattern.split())
    return tuple((_expanded(part), optional) for part, optional in parts)


def _expanded(part: str) -> frozenset[str]:
    return frozenset("/".join(_SETS.get(name, name) for name in part.split("/")).split("/"))


def built(row: Row, mods: tuple[str, ...]) -> Operation:
    """The operation of one opcode of the row's family."""
    variant = Variant(mods)
    return Operation(row.build(variant), _types(row.sources, variant), _types(row.results, variant))


def _types(text: str, variant: Variant) -> tuple[str, ...]:
    return tuple(_type(symbol, variant) for symbol in text.split())


def _type(symbol: str, variant: Variant) -> str:
    if symbol == "w":
        return widened(variant.kind)
    return {"t": variant.kind, "d": variant.kinds[0]}.get(symbol, symbol)
