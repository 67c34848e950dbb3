"""Scalar video instructions: parts of words combined in 33 bits, cut to a range, combined once more
or put into a word.

Source: PTX ISA, "Scalar Video Instructions".
"""

from collections.abc import Callable

import numpy as np

from gpuviz.ptx.arithmetic.integer import extend
from gpuviz.ptx.arithmetic.kinds import Bits, Builder, Function, Variant, contained, signed

_OPERATIONS: dict[str, Callable[[Bits, Bits], Bits]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}
_SECOND = {"add": np.add, "min": np.minimum, "max": np.maximum}
PARTS = ["b0", "b1", "b2", "b3", "h0", "h1"]  # bytes and halves of a register: `%r1.h0`


def video(name: str) -> Builder:
    """The builder of one; a part of an operand is a modifier here: `a:b1`, of the result `d:h0`."""
    operate = _OPERATIONS[name]

    def build(variant: Variant) -> Function:
        to, a_kind, b_kind = variant.kinds
        chosen = dict(mod.split(":") for mod in variant.mods if ":" in mod)
        second = next((_SECOND[mod] for mod in variant.mods if mod in _SECOND), None)
        first, width = _place(chosen.get("d", ""))
        low, high = _range(width, to[0] == "s")

        def function(a: Bits, b: Bits, c: Bits | None = None) -> Bits:
            x, y = _part(a, a_kind, chosen.get("a", "")), _part(b, b_kind, chosen.get("b", ""))
            made = operate(x, y)
            made = np.clip(made, low, high) if variant.has("sat") else made
            if second is not None and c is not None:
                made = second(made, signed(extend(c, to, "s64")))
            word = contained(made).astype(np.uint32)
            if width == 32 or c is None:
                return word
            mask = np.uint32((1 << width) - 1)
            return ((word & mask) << first) | (c & ~(mask << np.uint32(first)))

        return function

    return build


def _range(width: int, with_sign: bool) -> tuple[int, int]:
    low = -(1 << width - 1) if with_sign else 0
    return low, low + (1 << width) - 1


def _place(part: str) -> tuple[int, int]:
    """The first bit of a part, and how many it has."""
    width = {"": 32, "b": 8, "h": 16}[part[:1]]
    return width * int(part[1:] or 0), width


def _part(word: Bits, kind: str, part: str) -> Bits:
    """A part of words as signed 64-bit integers, extended as the kind says."""
    first, width = _place(part)
    bits = (word >> first).astype(f"u{width // 8}")
    return signed(extend(bits, f"{kind[0]}{width}", "s64"))
