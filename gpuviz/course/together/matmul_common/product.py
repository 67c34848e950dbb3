"""Three matrices as multiplication is taught: a row of one and a column of another meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.base.arrays import F32, I64
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, wrap
from gpuviz.draw.marks import Mark
from gpuviz.draw.matrix import Matrix, indices, product
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels import grid
from gpuviz.panels.grid import (
    LARGEST,
    Grid,
    Heat,
    MatricesLayout,
    Note,
    Outline,
    cells_of,
    drawn,
    extent,
    noted,
    side_by_side,
)
from gpuviz.panels.panel import Need, Panel
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


_LEAST = 1.5  # pixels of a cell; smaller ones nobody sees
_LARGE = 1.75  # letters of a cell beside which rows and columns are numbered
_SMALL, _LARGER = 1.3, 1.15  # cells so small give up their places for others so much larger
_HIGH, _LOW = 7.0, 4.5  # letters, placed as taught or in a row
_THIN, _PART = 4, 16  # so many times as long as wide; rows and columns of a part
_IN_A_ROW = 40.0  # pixels of a cell at scale 1


class _Taught(NamedTuple):
    """Where the matrices are; `side` and `head` the room of row and column numbers, if any."""

    area: Rect
    left: Matrix
    top: Matrix
    corner: Matrix
    gap: float
    numbered: bool

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """All three."""
        return self.left, self.top, self.corner


@dataclass(frozen=True, eq=False)
class Product(Panel):
    """Rows of `left` and columns of `top` meet in `corner`.

    `legend` says what cells show, where they have room for numbers and where not. A `loose` one
    stands in a row where its cells would otherwise be too small for numbers. Of a thin one, whose
    cells would be as small, the part around `focus` is shown: a row of `left`, a column of it, and
    a column of `top`, which are under way; parts hold whole tiles.
    """

    share: ClassVar[float] = 1.0
    left: Grid
    top: Grid
    corner: Grid
    legend: tuple[str, str] = ("", "")
    loose: bool = False
    focus: tuple[int, int, int] | None = None

    @property
    def grids(self) -> tuple[Grid, ...]:
        """All three."""
        return self.left, self.top, self.corner

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to be seen."""
        size = stage.text(14)
        high = size * (_LOW if self.loose else _HIGH)
        return Need(high, high, size * _HIGH)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Names, the legend, and the matrices; of a loose one nothing where cells are too small."""
        if (part := self._part(stage, area)) is not self:
            yield from part.draw(stage, area)
            return
        laid = self._laid(stage, area)
        if not self._shown(laid):
            return
        if isinstance(laid, MatricesLayout):
            yield from drawn(stage, laid, self.grids)
            return
        yield from self._names(stage, laid)
        yield from self._legend(stage, laid)
        for matrix, one in zip(laid.matrices, self.grids, strict=True):
            yield from grid.draw(stage, matrix, one)

    def used(self, stage: Stage, area: Rect) -> Rect:
        """Down to the last row, up to the last column."""
        return extent(area, self._part(stage, area)._laid(stage, area).matrices)

    def zoom(self, stage: Stage, area: Rect) -> float:
        """How large the cells are; those in a row are no larger than ones better placed."""
        laid = self._part(stage, area)._laid(stage, area)
        most = (
            stage.text(14) * _SMALL if isinstance(laid, MatricesLayout) else LARGEST * stage.scale
        )
        return min(laid.matrices[0].pitch, most)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """The cells of a matrix."""
        part = self._part(stage, area)
        laid = part._laid(stage, area)
        if part is self:
            return cells_of(self.grids, laid.matrices, name) if self._shown(laid) else None
        across = zip(self.grids, laid.matrices, self._stretches(), strict=True)
        return next(
            (
                Matrix(
                    m.x - columns.first * m.pitch,
                    m.y - rows.first * m.pitch,
                    one.rows,
                    one.columns,
                    m.pitch,
                ).cells
                for one, m, (rows, columns) in across
                if one.names[-1] == name
            ),
            None,
        )

    def _stretches(self) -> tuple[tuple[Stretch, Stretch], ...]:
        """Rows and columns of all three that are around the focus."""
        row, inner, column = self.focus or (0, 0, 0)
        tile = max(self.left.tile, 1)
        count = -(-_PART // tile) * tile
        rows = stretch(row, count, self.left.rows)
        steps = stretch(inner, count, self.left.columns)
        columns = stretch(column, count, self.top.columns)
        return (rows, steps), (steps, columns), (rows, columns)

    def _part(self, stage: Stage, area: Rect) -> Product:
        """Itself, or what is around the focus of a thin product whose cells are too small."""
        sizes = self.left.rows, self.left.columns, self.top.columns
        thin = min(sizes) * _THIN <= max(sizes)
        if self.focus is None or not thin:
            return self
        if self._taught(stage, area).left.pitch >= stage.text(14) * _SMALL:
            return self
        left, top, corner = (
            part_of(one, *part) for one, part in zip(self.grids, self._stretches(), strict=True)
        )
        (rows, steps), (_, columns), _ = self._stretches()
        said = (
            tr("rows {a} to {b} of {n}", **_ends(rows)) if not rows.whole else "",
            tr("k = {a} to {b} of {n}", **_ends(steps)) if not steps.whole else "",
            tr("columns {a} to {b} of {n}", **_ends(columns)) if not columns.whole else "",
        )
        shown = tr("Shown: {parts}", parts=", ".join(filter(None, said)))
        legend = f"{self.legend[0]}. {shown}", f"{self.legend[1]}. {shown}"
        return Product(left, top, corner, legend, self.loose)

    def _shown(self, laid: _Taught | MatricesLayout) -> bool:
        return not self.loose or laid.matrices[0].pitch >= _LEAST

    def _laid(self, stage: Stage, area: Rect) -> _Taught | MatricesLayout:
        """As taught, or in a row."""
        taught = self._taught(stage, area)
        if not self.loose or taught.left.pitch >= stage.text(14) * _SMALL:
            return taught
        flat = side_by_side(stage, area, self.grids, _IN_A_ROW)
        return flat if flat.pitch > taught.left.pitch * _LARGER else taught

    def _taught(self, stage: Stage, area: Rect) -> _Taught:
        """Names above, numbers of rows and columns where they leave the cells large."""
        size, rows, (inner, columns) = stage.text(14), self.left.rows, self._widths
        for numbered in (True, False):
            side = text_width(str(rows - 1), size) + size * 0.5 if numbered else 0.0
            head = size * (2.5 if numbered else 1.35)
            gap = size * (1.5 if numbered else 1.4)
            inside = Rect(area.x + side, area.y + head, area.width - side, area.height - head)
            made = product(inside, rows, inner, columns, gap, LARGEST * stage.scale)
            if made.corner.pitch >= size * _LARGE:
                break
        return _Taught(area, made.left, made.top, made.corner, gap, numbered)

    @property
    def _widths(self) -> tuple[int, int]:
        return self.left.columns, self.top.columns

    def _names(self, stage: Stage, at: _Taught) -> Iterator[Mark]:
        """The three names; rows and columns by number."""
        size, corner = stage.text(14), at.corner
        low, top = corner.y - at.gap + size * 0.15, at.area.y
        high = low if not at.numbered else at.left.y - at.gap - size * 1.05
        places = (at.left.x, high), (corner.x, top), (corner.x, low)
        for (x, y), matrix, one in zip(places, at.matrices, self.grids, strict=True):
            name = one.names[0]
            yield label(x, y + size * 0.6, name, stage.palette.ink, size, True)
            room = Rect(x, y, matrix.area.width, size)
            if one.note is not None:
                taken = text_width(name, size, True) + size * 0.5
                yield from noted(stage, matrix, one.note, room.beside(taken)[1])
        if at.numbered:
            beside, side = corner.x - at.gap / 2, (at.area.x + at.left.x) / 2
            yield indices(stage, _middles(at.left.x, low + size * 0.6, at.left, at.left.columns))
            yield indices(stage, _middles(corner.x, top + size * 1.85, corner, at.top.columns))
            yield indices(stage, _middles(corner.y, side, corner, corner.rows)[:, ::-1])
            yield indices(stage, _middles(at.top.y, beside, corner, at.top.rows)[:, ::-1])

    def _legend(self, stage: Stage, at: _Taught) -> Iterator[Mark]:
        """What cells show, in the corner that the matrices leave free; cells do not while a class
        is asked.
        """
        size, text = stage.text(14), self.legend[not grid.numbered(stage, at.left)]
        if stage.asks or not text:
            return
        wide = at.left.area.right - at.area.x
        lines = wrap(text, wide, size)
        high = at.top.area.bottom - at.area.y - size * 1.8
        if max(text_width(line, size) for line in lines) > wide or len(lines) * size * 1.35 > high:
            return
        for i, line in enumerate(lines):
            y = at.area.y + size * (0.6 + 1.35 * i)
            yield label(at.area.x, y, line, stage.palette.muted, size)


def _ends(part: Stretch) -> dict[str, int]:
    return {"a": part.first, "b": part.first + part.count - 1, "n": part.all}


def _middles(start: float, across: float, matrix: Matrix, count: int) -> F32:
    """(count, 2) middles of cells along one axis from `start`, at one place of the other."""
    along = start + (np.arange(count) + 0.5) * matrix.pitch - matrix.gap / 2
    return np.stack([along, np.full(count, across)], axis=1).astype(np.float32)
