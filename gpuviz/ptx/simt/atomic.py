"""Atomic operations of many lanes on the same memory, as if one lane went after the other.

Lanes that hit different cells commute, so only lanes of the same cell need an order. With many
cells all first lanes run at once, then all second ones; with few, each gets a running total.
Source: PTX ISA, "atom".
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuviz.ptx.arithmetic.bits import select
from gpuviz.ptx.arithmetic.kinds import Bits, contained, dtype_of
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.arithmetic.rounding import canonical, value_of
from gpuviz.ptx.text.ir import Opcode

Step = Callable[[Bits, Bits, Bits | None], Bits]  # old, b, c to new

_FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
_SINGLES = ("f32", "f64")
_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
}


def apply(op: str, kind: str, cells: Bits, index: Bits, b: Bits, c: Bits | None = None) -> Bits:
    """Apply `op` to cells[index] lane by lane, in place; returns what each lane found there.

    `cells` is one-dimensional, in the container of `kind`; `index` (k,) int64; `b` and `c` (k,) in
    the same container (`c` for cas alone: the new value, where b is the one compared with).
    Raises KeyError for an operation that PTX has not.
    """
    step = step_of(op, kind)
    order = np.argsort(index, kind="stable")
    starts = _starts(index[order])
    if len(starts) == len(index):
        return _at_once(step, cells, index, b, c)
    if op == "cas" and c is not None:
        return _swap_in_order(cells, index, b, c, order, starts)
    if op == "add" and kind not in _FLOATS:
        return _added(cells, index, b, order, starts)
    accumulate = _accumulator(op, kind)
    groups = _parts(order, starts)
    if accumulate and len(groups) <= max(map(len, groups)):
        return _cell_by_cell(accumulate, cells, index, b, groups)
    return _rank_by_rank(step, cells, index, b, c, _ranks(order, starts))


def _starts(ordered: Bits) -> Bits:
    """Where the runs of equal numbers start."""
    changed = np.ones(len(ordered), np.bool_)
    changed[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(changed)


def _parts(values: Bits, starts: Bits) -> list[Bits]:
    """The runs that start at some places (`np.split` takes ten times as long for short ones)."""
    ends = [*starts[1:].tolist(), len(values)]
    return [values[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]


def _added(cells: Bits, index: Bits, b: Bits, order: Bits, starts: Bits) -> Bits:
    """Sums of whole numbers wrap round: the running totals of all cells are one running total, less
    what it was where the cell begins.
    """
    each, where = b[order], index[order[starts]]
    totals = np.add.accumulate(each, dtype=b.dtype)
    lengths = np.diff(np.append(starts, len(order)))
    before = cells[where] - (totals - each)[starts]
    old = np.empty_like(b)
    old[order] = totals - each + np.repeat(before, lengths)
    cells[where] = before + totals[starts + lengths - 1]
    return old


def _at_once(step: Step, cells: Bits, index: Bits, b: Bits, c: Bits | None) -> Bits:
    old: Bits = cells[index]
    cells[index] = step(old, b, c)
    return old


def _swap_in_order(cells: Bits, index: Bits, b: Bits, c: Bits, order: Bits, starts: Bits) -> Bits:
    """Compare and swap: each pass goes to the next lane of every cell that succeeds."""
    wanted, place = b[order], np.arange(len(order))
    cell = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    where = index[order[starts]]
    now, found = cells[where], np.empty_like(b)
    waiting = np.ones(len(order), np.bool_)
    while waiting.any():
        hits = np.where(waiting & (wanted == now[cell]), place, len(order))
        winner = np.minimum.reduceat(hits, starts)
        seen = waiting & (place <= winner[cell])
        found[order[seen]] = now[cell[seen]]
        waiting &= ~seen
        won = winner < len(order)
        now[won] = c[order[winner[won]]]
    cells[where] = now
    return found


def _cell_by_cell(
    accumulate: Callable[[Bits], Bits], cells: Bits, index: Bits, b: Bits, groups: list[Bits]
) -> Bits:
    """Few cells, many lanes each: the lanes of a cell see its running total."""
    old = np.empty_like(b)
    for lanes in groups:
        cell = index[lanes[0]]
        totals = accumulate(np.append(cells[cell], b[lanes]))
        old[lanes], cells[cell] = totals[:-1], totals[-1]
    return old


def _rank_by_rank(
    step: Step, cells: Bits, index: Bits, b: Bits, c: Bits | None, ranks: list[Bits]
) -> Bits:
    """Many cells: all first lanes of the cells at once, then all second ones, and so on."""
    old = np.empty_like(b)
    for lanes in ranks:
        new = None if c is None else c[lanes]
        old[lanes] = _at_once(step, cells, index[lanes], b[lanes], new)
    return old


def _ranks(order: Bits, starts: Bits) -> list[Bits]:
    """The lanes that come first, second, ... at their cell."""
    lengths = np.diff(np.append(starts, len(order)))
    rank = np.arange(len(order)) - np.repeat(starts, lengths)
    by_rank = order[np.argsort(rank, kind="stable")]
    sizes = np.bincount(rank)
    return _parts(by_rank, np.cumsum(sizes) - sizes)


def _accumulator(op: str, kind: str) -> Callable[[Bits], Bits] | None:
    """The running totals of containers, one lane after the other, where NumPy has them."""
    if op == "exch":
        return lambda values: values
    if op not in _UFUNCS or (kind in _FLOATS and not (op == "add" and kind in _SINGLES)):
        return None
    ufunc = _UFUNCS[op]
    if kind in _SINGLES:
        return lambda values: _summed(values, kind)
    dtype = dtype_of(kind)
    return lambda values: contained(ufunc.accumulate(values.view(dtype), dtype=dtype))


def _summed(values: Bits, kind: str) -> Bits:
    with np.errstate(all="ignore"):
        totals = np.add.accumulate(value_of(values, kind))
        found = canonical(totals) if kind == "f32" else totals.view(np.uint64)
    found[0] = values[0]  # a NaN already there keeps its bits
    return found


def step_of(op: str, kind: str) -> Step:
    """One lane's step: the new value from the old one and the operands."""
    if op in _SPECIAL:
        return _SPECIAL[op]
    found = operation(Opcode(op, (kind,)))
    if found is None:
        raise KeyError(f"atom.{op}.{kind}")
    function = found.function

    def step(old: Bits, b: Bits, c: Bits | None) -> Bits:
        result: Bits = function(old, b)
        return result

    return step


_SPECIAL: dict[str, Callable[[Bits, Bits, Any], Bits]] = {
    "inc": lambda old, b, _: select(old.dtype.type(0), old + old.dtype.type(1), old >= b),
    "dec": lambda old, b, _: select(b, old - old.dtype.type(1), (old == 0) | (old > b)),
    "exch": lambda old, b, _: b,
    "cas": lambda old, b, c: select(c, old, old == b),
}
