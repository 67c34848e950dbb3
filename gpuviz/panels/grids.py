"""Matrices beside or below each other, whichever makes their cells larger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.base.arrays import F32
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, around, first_fitting
from gpuviz.draw.marks import Mark
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels import grid
from gpuviz.panels.grid import Grid, Note
from gpuviz.panels.panel import Need, Panel, color

LARGEST = 64.0  # pixels of a cell at scale 1
_LEAST = 1.5  # pixels of a cell; smaller ones nobody sees
_HEAD, _GAP = 1.4, 1.2  # letters above a matrix, and between matrices
_LOW, _SIDE = 4.4, 1.7  # lower than this, names stand on the left


class MatricesLayout(NamedTuple):
    """Where matrices are, and the areas of their names; `aside`: on their left."""

    matrices: tuple[Matrix, ...]
    names: tuple[Rect, ...]
    aside: bool = False

    @property
    def pitch(self) -> float:
        """Pixels from one cell to the next."""
        return self.matrices[0].pitch


def whole_pixels(pitch: float) -> float:
    """Cells of whole pixels, unless they are tiny."""
    return max(float(int(pitch)) if pitch >= 4 else pitch, 0.5)


def side_by_side(stage: Stage, area: Rect, grids: tuple[Grid, ...], most: float) -> MatricesLayout:
    """From left to right, names above, or on the left where there is no height for them."""
    size, aside = stage.text(14), area.height < stage.text(14) * _LOW
    head, side = (0.0, size * _SIDE) if aside else (size * _HEAD, 0.0)
    gap = size * (0.6 if aside else _GAP)
    count, columns = len(grids), sum(one.columns for one in grids)
    wide = (area.width - count * side - (count - 1) * gap) / columns
    high = (area.height - head) / max(one.rows for one in grids)
    pitch = whole_pixels(min(wide, high, most * stage.scale))
    x, placed = area.x, list[tuple[Matrix, Rect]]()
    for one in grids:
        matrix = Matrix(x + side, area.y + head, one.rows, one.columns, pitch)
        name = Rect(x, matrix.area.center[1] - size * 0.7, size * 1.5, head or size * _HEAD)
        room = name if aside else Rect(x, area.y, matrix.area.width + gap * 0.8, head)
        placed.append((matrix, room))
        x = matrix.x + one.columns * pitch + gap
    matrices, names = zip(*placed, strict=True)
    return MatricesLayout(matrices, names, aside)


def _stacked(stage: Stage, area: Rect, grids: tuple[Grid, ...]) -> MatricesLayout:
    """From top to bottom, names above."""
    size, count = stage.text(14), len(grids)
    head, gap = size * _HEAD, size * 0.5
    wide = area.width / max(one.columns for one in grids)
    high = (area.height - count * head - (count - 1) * gap) / sum(one.rows for one in grids)
    pitch = whole_pixels(min(wide, high, LARGEST * stage.scale))
    y, placed = area.y, list[tuple[Matrix, Rect]]()
    for one in grids:
        matrix = Matrix(area.x, y + head, one.rows, one.columns, pitch)
        placed.append((matrix, Rect(area.x, y, area.width, head)))
        y = matrix.y + one.rows * pitch + gap
    matrices, names = zip(*placed, strict=True)
    return MatricesLayout(matrices, names)


def drawn(stage: Stage, laid: MatricesLayout, grids: tuple[Grid, ...]) -> Iterator[Mark]:
    """The matrices with their names."""
    for matrix, room, one in zip(laid.matrices, laid.names, grids, strict=True):
        yield from named(stage, matrix, room, one, aside=laid.aside)
        yield from grid.draw(stage, matrix, one)


def named(
    stage: Stage, matrix: Matrix, room: Rect, one: Grid, aside: bool = False
) -> Iterator[Mark]:
    """The name of a matrix and its note, in the longest wordings that there is room for."""
    size, y = stage.text(14), room.y + stage.text(14) * 0.6
    name = first_fitting(one.names, room.width, size, True)
    wide = text_width(name, size, True)
    if name:
        x = matrix.x - wide - size * 0.35 if aside else room.x
        yield label(x, y, name, stage.palette.ink, size, True)
    if not aside and one.note is not None:
        taken = wide + size * 0.5 if name else 0.0
        yield from noted(stage, matrix, one.note, room.beside(taken)[1])


def noted(stage: Stage, matrix: Matrix, note: Note, room: Rect) -> Iterator[Mark]:
    """A note, unless it depends on numbers that are not there, or that are."""
    size = stage.text(14)
    told = note.numbers is None or note.numbers == grid.numbered(stage, matrix)
    said = first_fitting(note.texts, room.width, size, note.bold)
    if said and told and not stage.asks:
        yield label(room.x, room.y + size * 0.6, said, color(stage, note.ink), size, note.bold)


@dataclass(frozen=True, eq=False)
class Grids(Panel):
    """The matrices, all with cells of one size."""

    share: ClassVar[float] = 1.0
    grids: tuple[Grid, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to be seen."""
        size = stage.text(14)
        return Need(size * 6, size * 6, size * 8)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Nothing where cells would be too small."""
        laid = self._laid(stage, area)
        if laid.pitch >= _LEAST:
            yield from drawn(stage, laid, self.grids)

    def used(self, stage: Stage, area: Rect) -> Rect:
        """Down to the last row, up to the last column."""
        return extent(area, self._laid(stage, area).matrices)

    def zoom(self, stage: Stage, area: Rect) -> float:
        """How large the cells are."""
        return self._laid(stage, area).pitch

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """The cells of a matrix."""
        return cells_of(self.grids, self._laid(stage, area).matrices, name)

    def _laid(self, stage: Stage, area: Rect) -> MatricesLayout:
        both = side_by_side(stage, area, self.grids, LARGEST), _stacked(stage, area, self.grids)
        return max(both, key=lambda laid: laid.pitch)


def extent(area: Rect, matrices: tuple[Matrix, ...]) -> Rect:
    """The part of an area that matrices take, from its top left corner."""
    taken = around(np.array([one.area for one in matrices], np.float32))
    return Rect(area.x, area.y, taken.right - area.x, taken.bottom - area.y)


def cells_of(grids: tuple[Grid, ...], matrices: tuple[Matrix, ...], name: str) -> F32 | None:
    """The cells of the matrix of a name."""
    found = zip(grids, matrices, strict=True)
    return next((matrix.cells for one, matrix in found if one.names[-1] == name), None)
