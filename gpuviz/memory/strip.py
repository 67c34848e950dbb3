"""The bytes of a request: its transactions cut into words, each with the lane that asks for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Bool

LINE = 128  # bytes


@dataclass(frozen=True, eq=False)
class Strip:
    """The transactions of one request. Byte positions are relative to the buffer's start.

    Attributes
    ----------
    start, size : (S,) first byte and bytes of each transaction
    unit : bytes of a cell: a word, or an element where that is smaller
    cell_box, cell_at, cell_lane : (C,) transaction of each cell, its first byte within it, and the
        lane that asks for it (the lowest one; -1: nobody)
    lane_box, lane_at : (32,) transaction that serves each lane (-1: inactive), byte within it
    width : bytes a lane asks for
    """

    start: I64
    size: I64
    unit: int
    cell_box: I64
    cell_at: I64
    cell_lane: I64
    lane_box: I64
    lane_at: I64
    width: int

    @property
    def used(self) -> I64:
        """(S,) bytes of each transaction that some lane asks for."""
        cells = np.bincount(self.cell_box[self.cell_lane >= 0], minlength=len(self.start))
        return np.asarray(cells * self.unit, dtype=np.int64)


def cut(start: I64, size: I64, serves: Bool, address: I64, width: int) -> Strip:
    """What lanes ask of each transaction: (S,) `start` and `size`, (S, 32) `serves`, (32,) address.

    A lane is served by one transaction, or by none when it takes no part.
    """
    unit = min(width, 4)
    box, at = _cells(size // unit)
    at = at * unit
    lane_box = np.where(serves.any(axis=0), serves.argmax(axis=0), -1)
    byte = (start[box] + at)[:, None]
    asked = serves[box] & (byte >= address) & (byte < address + width)
    lane = np.where(asked.any(axis=1), asked.argmax(axis=1), -1)
    return Strip(start, size, unit, box, at, lane, lane_box, address - start[lane_box], width)


def _cells(counts: I64) -> tuple[I64, I64]:
    """For boxes of so many cells: the box of each cell, and its number within it."""
    box = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return box, np.arange(len(box)) - first[box]
