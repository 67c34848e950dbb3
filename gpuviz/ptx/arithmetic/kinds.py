"""PTX types ("kinds") and the NumPy arrays that hold their bits.

A value lives in an unsigned container of its width (bool for `pred`), whatever its type: f32 is
the 32 bits of a float in uint32, f16x2 two halves in uint32. Operations look at containers through
views.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[Any]

WIDTHS: dict[str, int] = {
    **{f"{letter}{width}": width for letter in "bus" for width in (8, 16, 32, 64)},
    **{"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64},
    **{"f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64},
}
CONTAINERS: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    **{kind: np.dtype(f"u{width // 8}") for kind, width in WIDTHS.items()},
}
_SIGNED = {np.dtype(f"u{size}"): np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
_UNSIGNED = {signed: unsigned for unsigned, signed in _SIGNED.items()}


def is_signed(kind: str) -> bool:
    """Whether `kind` is a signed integer."""
    return kind[0] == "s"


def is_float(kind: str) -> bool:
    """Whether `kind` is one floating-point value (not a packed pair)."""
    return kind in ("f16", "bf16", "f32", "tf32", "f64")


def dtype_of(kind: str) -> np.dtype[Any]:
    """The integer dtype that gives a container of `kind` its numeric value."""
    return _SIGNED[CONTAINERS[kind]] if is_signed(kind) else CONTAINERS[kind]


def signed(bits: Bits) -> Bits:
    """The same bits as two's complement integers (a view)."""
    return bits.view(_SIGNED[bits.dtype])


def contained(values: Bits) -> Bits:
    """Signed integers back in their unsigned container (a view)."""
    return values.view(_UNSIGNED.get(values.dtype, values.dtype))


def bits_of(kind: str) -> int:
    """The width of a type; 1 of a predicate."""
    return 1 if kind == "pred" else WIDTHS[kind]


def widened(kind: str) -> str:
    """The integer kind of twice the width: s32 of s16."""
    return f"{kind[0]}{WIDTHS[kind] * 2}"


Function = Callable[..., Any]  # containers in, a container or a tuple of them out
_MODES = ("rn", "rz", "rm", "rp", "rna")


@dataclass(frozen=True, slots=True)
class Variant:
    """The modifiers of an opcode, and what they mean to a family's builder."""

    mods: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types among the modifiers, in order."""
        return tuple(mod for mod in self.mods if mod in CONTAINERS)

    @property
    def kind(self) -> str:
        """The last type: that of the operands in most families."""
        return self.kinds[-1]

    @property
    def mode(self) -> str:
        """The rounding mode; to nearest even unless another is named."""
        return next((mod for mod in self.mods if mod in _MODES), "rn")

    def has(self, *mods: str) -> bool:
        """Whether any of `mods` is there."""
        return any(mod in self.mods for mod in mods)

    def of(self, kind: str) -> Variant:
        """The same variant of another type."""
        return Variant((*(mod for mod in self.mods if mod != self.kind), kind))


Builder = Callable[[Variant], Function]
