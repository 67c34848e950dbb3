"""Packed values: an operation on one element made one on all the elements of a word."""

from collections.abc import Callable

import numpy as np

from gpuviz.ptx.arithmetic.integer import byte, extend
from gpuviz.ptx.arithmetic.kinds import CONTAINERS, Bits, Builder, Function, Variant


def halves(bits: Bits, kind: str) -> tuple[Bits, Bits]:
    """The lower and upper element of packed pairs, as containers of `kind`."""
    dtype = CONTAINERS[kind]
    return bits.astype(dtype), (bits >> (dtype.itemsize * 8)).astype(dtype)


def joined(low: Bits, high: Bits) -> Bits:
    """Pairs of containers as words of twice the width."""
    dtype = np.dtype(f"u{low.dtype.itemsize * 2}")
    word: Bits = low.astype(dtype) | (high.astype(dtype) << (low.dtype.itemsize * 8))
    return word


def pairs(builder: Builder) -> Builder:
    """The builder for kinds that end in x2, from that for their elements; others pass through."""

    def build(variant: Variant) -> Function:
        if not variant.kind.endswith("x2"):
            return builder(variant)
        kind = variant.kind[:-2]
        return _on_both(builder(variant.of(kind)), kind)

    return build


def _on_both(function: Function, kind: str) -> Function:
    def both(*words: Bits) -> Bits:
        low, high = zip(*(halves(word, kind) for word in words), strict=True)
        return joined(function(*low), function(*high))

    return both


def predicates(builder: Builder) -> Builder:
    """As `pairs`, for results that are one predicate an element."""

    def build(variant: Variant) -> Function:
        kind = variant.kind[:-2]
        function = builder(variant.of(kind))

        def both(a: Bits, b: Bits, *third: Bits) -> tuple[Bits, Bits]:
            (a_low, a_high), (b_low, b_high) = halves(a, kind), halves(b, kind)
            return function(a_low, b_low, *third), function(a_high, b_high, *third)

        return both

    return build


def chosen_pairs(builder: Builder) -> Builder:
    """set on pairs, from the builder of predicates: halves of ones (or 1.0) where they hold."""

    def build(variant: Variant) -> Function:
        holds, kind = predicates(builder)(variant), variant.kinds[0][:-2]
        true = np.uint16(_ONE.get(kind, 0xFFFF))
        return lambda *operands: joined(*(half * true for half in holds(*operands)))

    return build


_ONE = {"f16": 0x3C00, "bf16": 0x3F80}

# On int32 arrays that hold the extended bytes.
_BYTEWISE: dict[str, Callable[[Bits, Bits], Bits]] = {
    "vadd4": np.add,
    "vsub4": np.subtract,
    "vabsdiff4": lambda a, b: np.abs(a - b),
    "vavrg4": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vmin4": np.minimum,
    "vmax4": np.maximum,
}
BYTEWISE = tuple(_BYTEWISE)


def bytewise(name: str) -> Builder:
    """The builder of a four-byte SIMD instruction: bytes packed, or (.add) their sum plus c."""
    operate = _BYTEWISE[name]

    def build(variant: Variant) -> Function:
        to, a_kind, b_kind = variant.kinds
        low, high = (-128, 127) if to == "s32" else (0, 255)

        def function(a: Bits, b: Bits, c: Bits) -> Bits:
            lanes = [_lane(operate, a, b, index, a_kind, b_kind) for index in range(4)]
            if variant.has("sat"):
                lanes = [np.clip(lane, low, high) for lane in lanes]
            words = [lane.view(np.uint32) for lane in lanes]
            if variant.has("add"):
                return c + words[0] + words[1] + words[2] + words[3]
            return _packed_bytes(words)

        return function

    return build


def _lane(
    operate: Callable[[Bits, Bits], Bits], a: Bits, b: Bits, index: int, a_kind: str, b_kind: str
) -> Bits:
    x, y = byte(a, index, a_kind).view(np.int32), byte(b, index, b_kind).view(np.int32)
    return operate(x, y)


def _packed_bytes(words: list[Bits]) -> Bits:
    w = [extend(word, "u32", "u8").astype(np.uint32) for word in words]
    return w[0] | (w[1] << 8) | (w[2] << 16) | (w[3] << 24)
