"""Bit containers: registers hold unsigned integers of their width, whatever the type means."""

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.base.errors import UnsupportedError
from gpuviz.ptx.arithmetic.bits import select
from gpuviz.ptx.arithmetic.kinds import CONTAINERS
from gpuviz.ptx.text.ir import Imm
from gpuviz.ptx.text.stream import type_bytes


def container(kind: str) -> np.dtype[Any]:
    """The NumPy dtype that holds a value of a PTX type."""
    if kind not in CONTAINERS:
        bits = 8 * type_bytes(kind)
        raise UnsupportedError(f"values of type .{kind} ({bits} bits) are not supported")
    return CONTAINERS[kind]


def zero(kind: str) -> Array:
    """The value of a register nobody wrote: one element, shared by all lanes."""
    return np.zeros(1, container(kind))


def constant(value: int, kind: str) -> Array:
    """An integer as the bits of a type, shared by all lanes."""
    if kind == "pred":
        return np.array([value != 0])
    dtype = container(kind)
    return np.array([value & ((1 << (8 * dtype.itemsize)) - 1)], dtype)


def immediate(imm: Imm, kind: str) -> Array:
    """A literal as the bits of the type the instruction reads.

    A double literal of a float instruction is rounded; an integer literal is truncated.
    """
    if imm.form == "f64" and kind == "f32":
        wide = struct.unpack("<d", struct.pack("<Q", imm.value))[0]
        return np.array([wide], np.float32).view(np.uint32)
    if imm.form == "f32" and kind == "f64":
        single = struct.unpack("<f", struct.pack("<I", imm.value))[0]
        return np.array([single], np.float64).view(np.uint64)
    return constant(imm.value, kind)


def _cast(dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    return lambda value: value.astype(dtype)


def _sign_extend(source: np.dtype[Any], target: np.dtype[Any]) -> Callable[[Array], Array]:
    signed, wide = np.dtype(f"i{source.itemsize}"), np.dtype(f"i{target.itemsize}")
    return lambda value: value.view(signed).astype(wide).view(target)


def blend(mask: Array, value: Array, old: Array) -> Array:
    """`value` where the mask holds, else `old`: what a masked write leaves in a register."""
    if value.dtype == np.bool_:
        return np.where(mask, value, old)
    return select(value, old, mask)


@cache
def adapter(source: str, target: str) -> Callable[[Array], Array] | None:
    """How a value of one type goes into a register (or operand) of another; None: as it is.

    Narrowing drops high bits; widening extends the sign of signed types and else fills zeros.
    """
    have, want = container(source), container(target)
    if have == want:
        return None
    if source[0] == "s" and want.itemsize > have.itemsize and target != "pred":
        return _sign_extend(have, want)
    return _cast(want)
