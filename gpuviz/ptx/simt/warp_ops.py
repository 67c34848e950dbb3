"""What the lanes of a warp tell each other: shuffles, votes, matches, reductions.

All arrays are (N, 32), one row a warp; `active` (bool) says which lanes take part, after the member
mask. Results of lanes that do not take part are unspecified.
Source: PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync", "activemask", "elect.sync".
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuviz.ptx.arithmetic.floating import extremum
from gpuviz.ptx.arithmetic.kinds import Bits, Variant, contained, dtype_of, is_float

LANES = np.arange(32)
_WEIGHTS = np.uint32(1) << LANES.astype(np.uint32)


def mask_of(active: Bits) -> Bits:
    """The lane mask of each warp, (N, 1) uint32."""
    mask: Bits = (active * _WEIGHTS).sum(axis=1, keepdims=True, dtype=np.uint32)
    return mask


def activemask(active: Bits) -> Bits:
    """activemask.b32: the mask of the active lanes, (N, 1)."""
    return mask_of(active)


def elect(active: Bits) -> tuple[Bits, Bits]:
    """elect.sync: the lowest active lane, (N, 1) uint32, and whether each lane is it, (N, 32)."""
    leader = active.argmax(axis=1, keepdims=True)
    return leader.astype(np.uint32), (leader == LANES) & active


def shfl(mode: str, value: Bits, b: Bits, c: Bits, active: Bits) -> tuple[Bits, Bits]:
    """shfl.sync.MODE (up, down, bfly, idx): each lane's value and whether its source is in range.

    `c` has the clamp in bits 0..4 and the segment mask in bits 8..12. Out of range, a lane gets its
    own value. Reading an inactive lane is undefined in PTX: it gives that lane's register here.
    """
    source, inside = sources(mode, b, c, active.shape)
    full = np.broadcast_to(value, active.shape)
    return np.take_along_axis(full, source, axis=1), np.broadcast_to(inside, active.shape)


def sources(mode: str, b: Bits, c: Bits, shape: tuple[int, ...]) -> tuple[Bits, Bits]:
    """The lane that each lane shuffles from, its own when out of range; and whether in range."""
    source, inside = source_of(mode, b, c)
    return np.broadcast_to(source.astype(np.int64), shape), inside


def source_of(mode: str, b: Bits, c: Bits) -> tuple[Bits, Bits]:
    """The same of all lanes of a warp, as signed integers of 32 bits."""
    lane, amount = LANES.astype(np.int32), b.astype(np.int32) & 31
    clamp, segment = c.astype(np.int32) & 31, (c.astype(np.int32) >> 8) & 31
    first = lane & segment
    limit = first | (clamp & ~segment)
    source, inside = _SOURCES[mode](lane, amount, limit, first, segment)
    return np.where(inside, source, lane), inside


# The source, and whether it is in range: of lane, amount, limit, first lane and segment.
_SOURCES: dict[str, Callable[[Bits, Bits, Bits, Bits, Bits], tuple[Bits, Bits]]] = {
    "up": lambda lane, n, limit, *_: (lane - n, lane - n >= limit),
    "down": lambda lane, n, limit, *_: (lane + n, lane + n <= limit),
    "bfly": lambda lane, n, limit, *_: (lane ^ n, (lane ^ n) <= limit),
    "idx": lambda _, n, limit, first, segment: (
        first | (n & ~segment),
        (first | (n & ~segment)) <= limit,
    ),
}


def vote(mode: str, predicate: Bits, active: Bits) -> Bits:
    """vote.sync.MODE: all, any, uni as (N, 1) bool; ballot as (N, 1) uint32."""
    yes = predicate & active
    if mode == "ballot":
        return mask_of(yes)
    everyone = (yes == active).all(axis=1, keepdims=True)
    someone = yes.any(axis=1, keepdims=True)
    result: Bits = {"all": everyone, "any": someone, "uni": everyone | ~someone}[mode]
    return result


def match_any(value: Bits, active: Bits) -> Bits:
    """match.any.sync: for each lane, the mask of the active lanes that hold its value."""
    value = np.broadcast_to(value, active.shape)
    equal = (value[:, :, None] == value[:, None, :]) & active[:, None, :]
    masks: Bits = (equal * _WEIGHTS).sum(axis=2, dtype=np.uint32)
    return masks


def match_all(value: Bits, active: Bits) -> tuple[Bits, Bits]:
    """match.all.sync: the mask of the active lanes if all hold one value, else 0; and whether."""
    value = np.broadcast_to(value, active.shape)
    leader = np.take_along_axis(value, active.argmax(axis=1, keepdims=True), axis=1)
    agree = ((value == leader) | ~active).all(axis=1, keepdims=True)
    return np.where(agree, mask_of(active), np.uint32(0)), agree


REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def redux(op: str, kind: str, value: Bits, active: Bits, mods: tuple[str, ...] = ()) -> Bits:
    """redux.sync.OP.KIND: the value of all active lanes combined, (N, 1).

    `op` is add, min, max, and, or, xor; `kind` u32, s32, b32, or f32 (min and max only, with the
    modifiers NaN and abs in `mods`). A warp without active lanes gives an unspecified value.
    """
    value = np.broadcast_to(value, active.shape)
    leader = np.take_along_axis(value, active.argmax(axis=1, keepdims=True), axis=1)
    if is_float(kind):
        return _reduce_floats(op, np.where(active, value, leader), mods)
    neutral = leader if op in ("min", "max", "and", "or") else np.zeros_like(leader)
    numbers = np.where(active, value, neutral).view(dtype_of(kind))
    combined: np.ndarray[Any, Any] = REDUCTIONS[op].reduce(
        numbers, axis=1, keepdims=True, dtype=numbers.dtype
    )
    return contained(combined)


def _reduce_floats(op: str, value: Bits, mods: tuple[str, ...]) -> Bits:
    combine = extremum(larger=op == "max")(Variant((*(m for m in mods if m == "NaN"), "f32")))
    if "abs" in mods:
        value = value & np.uint32(0x7FFFFFFF)
    width = 32
    while width > 1:
        width //= 2
        value = combine(value[:, :width], value[:, width : 2 * width])
    return value
