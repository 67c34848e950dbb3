"""A part of a matrix of cells: some of its rows and columns, with all that stands in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.panels.grid import Grid, Heat, Note, Outline
from gpuviz.words.language import tr


@dataclass(frozen=True)
class Stretch:
    """Of `all` rows or columns, `count` from `first` on."""

    first: int
    count: int
    all: int

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.count == self.all


def stretch(about: int, count: int, of: int) -> Stretch:
    """The `count` (or all) of `of` rows that hold a row, beginning at a multiple of `count`."""
    count = min(count, of)
    return Stretch(min(about // count * count, of - count), count, of)


def part_of(grid: Grid, rows: Stretch, columns: Stretch) -> Grid:
    """The cells of some rows and columns, numbered anew; the note says of how many."""
    if rows.whole and columns.whole:
        return grid
    row, column = (np.arange(s.first, s.first + s.count) for s in (rows, columns))
    index = (row[:, None] * grid.columns + column).ravel()
    numbers = np.full(grid.rows * grid.columns, -1)
    numbers[index] = np.arange(len(index))

    def kept(cells: I64) -> I64:
        found = numbers[np.asarray(cells, np.int64)]
        return np.asarray(found[found >= 0])

    tip, heat = grid.tip, grid.heat
    some, whole = (f"{a} × {b}" for a, b in ((rows.count, columns.count), (rows.all, columns.all)))
    lines = (Outline(kept(o.cells), o.ink, o.width, o.pad) for o in grid.outlines)
    return replace(
        grid,
        rows=rows.count,
        columns=columns.count,
        tip=None if tip is None else lambda cell: tip(int(index[cell])),
        paints=tuple(
            replace(
                p,
                cells=p.cells[index],
                done=p.done[index] if isinstance(p.done, np.ndarray) else p.done,
            )
            for p in grid.paints
        ),
        heat=None if heat is None else Heat(heat.count[index], heat.most, heat.later[index]),
        words=tuple(grid.words[i] for i in index.tolist()) if grid.words else (),
        hatched=tuple(replace(h, cells=kept(h.cells)) for h in grid.hatched),
        outlines=tuple(lines),
        own=tuple(kept(np.array(grid.own, np.int64)).tolist()),
        note=Note((tr("{some} of {all}", some=some, all=whole), tr("of {all}", all=whole))),
    )
