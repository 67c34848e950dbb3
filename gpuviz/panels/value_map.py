"""A value for each of many settings: a map over two of them, bars over one. Cells can be picked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F64, Bool, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark, Raster
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel, Value, Values

_LEAST = 9.0  # letters wide and high
_LEAST_CELL = 7.0  # pixels; smaller ones are painted as an image
_BETWEEN = 0.6  # letters kept free between two names


@dataclass(frozen=True)
class MapAxis:
    """What is varied along an axis: the parameter that a pick sets, its name, its values; those of
    them that are named beside the cells, if not as many as have room.
    """

    id: str
    name: str
    values: tuple[Value, ...]
    named: tuple[Value, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The values as they are written."""
        return tuple(map(str, self.values))

    def places(self, wanted: float, pitch: float) -> range | tuple[int, ...]:
        """Which of them to name: each wants so many pixels, and has `pitch` to itself."""
        if self.named:
            return tuple(map(self.values.index, self.named))
        return range(0, len(self.values), _every(wanted, pitch))


@dataclass(frozen=True, eq=False)
class ValueMap(Panel):
    """One cell for each pair of values, or one bar for each value where `y` is None."""

    share: ClassVar[float] = 1.0
    x: MapAxis
    y: MapAxis | None
    values: F64  # (rows, columns), NaN where nothing is known
    failed: Bool  # (rows, columns) where nothing ever will be: such cells are hatched
    picked: tuple[int, int]  # column and row of the cell that is shown elsewhere; (-1, -1) for none
    tip: Callable[[int, int], str]  # hover text of column and row
    log: bool = False  # whether cells are as warm as the logarithm of their value
    most: float | None = None  # a value from which on cells are no warmer
    shown: float = 1.0  # the part of the columns that is filled so far
    # Whether cells are, and the axes are named within as little room as can be.
    square: bool = False
    link: str = ""  # the other maps of this name light the cell that is pointed at in this one, too

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell cells apart."""
        size = stage.text(14)
        return Need(_LEAST * size, _LEAST * size, _LEAST * size)

    def used(self, stage: Stage, area: Rect) -> Rect:
        """Square cells leave what they do not need."""
        if not self.square:
            return area
        return area._replace(width=self._cells(stage, area).right - area.x)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The values at which colours begin and end, None when nothing is known."""
        known = self.values[np.isfinite(self.values)]
        if not len(known):
            return None
        most = float(known.max())
        return float(known.min()), most if self.most is None else min(most, self.most)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Cells or bars, names along the axes, the cell that is picked."""
        cells = self._cells(stage, area)
        yield from self._bars(stage, cells) if self.y is None else self._heat(stage, cells)
        column, row = self.picked
        if column >= 0:
            one, line = self._cell(cells, column, row), 2.0 * stage.scale
            for grown, color in ((line, stage.palette.outline), (line + 1.5, stage.palette.ground)):
                place = one.inset(-grown).array()
                yield Boxes(place, stroke=color, stroke_width=line, radius=grown + 2)
        yield from self._names_within(stage, cells) if self.square else self._names(stage, cells)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The values of the cell under a point."""
        cells = self._cells(stage, area)
        rows, columns = self.values.shape
        column = int((x - cells.x) // (cells.width / columns))
        row = int((y - cells.y) // (cells.height / rows))
        if not (0 <= column < columns and 0 <= row < rows):
            return None
        picked = {self.x.id: self.x.values[column]}
        return picked if self.y is None else {**picked, self.y.id: self.y.values[row]}

    def _side(self, stage: Stage) -> float:
        """Room of the names at the left."""
        size = stage.text(14)
        if self.y is None:
            return size
        wide = max(text_width(value, size) for value in self.y.words)
        if not self.square:
            return wide + size
        return max(wide, text_width(self.y.name, size, True)) + size * 0.6

    def _cells(self, stage: Stage, area: Rect) -> Rect:
        """Where cells lie: names of rows at the left, of columns below, of both axes outside."""
        size, left = stage.text(14), self._side(stage)
        rows, columns = self.values.shape
        if self.square:
            room = max(area.width - left, 1.0), max(area.height - size * 1.6, 1.0)
            pitch = min(room[0] / columns, room[1] / rows)
            return Rect(area.x + left, area.y, pitch * columns, pitch * rows)
        top = size * 1.6 if self.y is not None else size * 0.5
        low = size * 3.2
        return Rect(
            area.x + left,
            area.y + top,
            max(area.width - left - 2, 1.0),
            max(area.height - top - low, 1.0),
        )

    def _cell(self, cells: Rect, column: int, row: int) -> Rect:
        rows, columns = self.values.shape
        wide, high = cells.width / columns, cells.height / rows
        gap = 1.0 if min(wide, high) >= _LEAST_CELL else 0.0
        left, top = cells.x + column * wide, cells.y + row * high
        return Rect(left, top, wide - gap, high - gap)

    def _heat(self, stage: Stage, cells: Rect) -> Iterator[Mark]:
        rows, columns = self.values.shape
        fill, tip = self._fill(stage), self.tip

        def of_cell(cell: int) -> str:
            return tip(cell % columns, cell // columns)

        if min(cells.width / columns, cells.height / rows) < _LEAST_CELL:
            pixels = fill.reshape(rows, columns, 4)
            said = None if stage.asks else lambda row, column: tip(column, row)
            yield Raster(cells, pixels, said, self.link)
            return
        places = np.array(
            [self._cell(cells, c, r) for r in range(rows) for c in range(columns)], np.float32
        )
        said_of = None if stage.asks else of_cell
        yield Boxes(places, fill, radius=2.0, tip=said_of, link=self.link)
        if (failed := self.failed.ravel()).any():
            palette = stage.palette
            yield Boxes(places[failed], palette.waste_ground, hatch=palette.waste, radius=2.0)

    def _fill(self, stage: Stage) -> Rgba:
        """(N, 4) colours, row by row; none while a class is asked."""
        palette, ends = stage.palette, self.ends
        flat = self.values.ravel()
        columns = self.values.shape[1]
        seen = np.arange(len(flat)) % columns < self.shown * columns
        known = np.isfinite(flat) & seen & (not stage.asks)
        fill = np.broadcast_to(palette.cell, (len(flat), 4)).copy()
        if ends is not None:
            fill[known] = palette.heat_at(_share(flat[known], ends, self.log))
        return fill

    def _bars(self, stage: Stage, cells: Rect) -> Iterator[Mark]:
        palette, (_, columns) = stage.palette, self.values.shape
        most = max(self.ends[1] if self.ends else 1.0, 1e-30)
        grounds = [self._cell(cells, column, 0) for column in range(columns)]
        yield Boxes(
            np.array(grounds, np.float32),
            palette.cell,
            radius=2.0,
            tip=lambda column: self.tip(column, 0),
        )
        known = np.isfinite(self.values[0])
        bars = [
            ground._replace(y=ground.bottom - ground.height * share, height=ground.height * share)
            for ground, share in zip(grounds, np.nan_to_num(self.values[0] / most), strict=True)
        ]
        if known.any():
            yield Boxes(np.array(bars, np.float32)[known], palette.accent, radius=2.0)
        if (failed := self.failed[0]).any():
            places = np.array(grounds, np.float32)[failed]
            yield Boxes(places, palette.waste_ground, hatch=palette.waste, radius=2.0)

    def _names(self, stage: Stage, cells: Rect) -> Iterator[Mark]:
        """As many values as have room beside each other, then what they are values of."""
        size, ink = stage.text(14), stage.palette.muted
        rows, columns = self.values.shape
        wide = max(text_width(value, size) for value in self.x.words) + size * _BETWEEN
        for column in self.x.places(wide, cells.width / columns):
            at = cells.x + (column + 0.5) * cells.width / columns
            yield label(at, cells.bottom + size, self.x.words[column], ink, size, align="center")
        ink = stage.palette.ink
        yield label(
            cells.center[0], cells.bottom + size * 2.4, self.x.name, ink, size, True, "center"
        )
        if self.y is None:
            return
        left, side = cells.x - size * 0.5, cells.x - self._side(stage)
        yield label(side, cells.y - size * 0.9, self.y.name, ink, size, True)
        ink = stage.palette.muted
        for row in self.y.places(size * 1.2, cells.height / rows):
            at = cells.y + (row + 0.5) * cells.height / rows
            yield label(left, at, self.y.words[row], ink, size, align="right")

    def _names_within(self, stage: Stage, cells: Rect) -> Iterator[Mark]:
        """Values along both axes; in place of the first one stands what they are values of."""
        assert self.y is not None
        size, palette, pitch = stage.text(14), stage.palette, cells.width / self.values.shape[1]
        wide = max(text_width(value, size) for value in self.x.words) + size * _BETWEEN
        low, left = cells.bottom + size * 0.85, cells.x - size * 0.4
        room = cells.x + text_width(self.x.name, size, True) + size * _BETWEEN
        yield label(cells.x, low, self.x.name, palette.ink, size, True)
        for column in self.x.places(wide, pitch):
            at = cells.x + (column + 0.5) * pitch
            if at - wide / 2 >= room:
                yield label(at, low, self.x.words[column], palette.muted, size, align="center")
        yield label(left, cells.y + size * 0.5, self.y.name, palette.ink, size, True, "right")
        for row in self.y.places(size * 1.2, pitch):
            at = cells.y + (row + 0.5) * pitch
            if at >= cells.y + size * 1.6:
                yield label(left, at, self.y.words[row], palette.muted, size, align="right")


def _every(wanted: float, pitch: float) -> int:
    """Name each, or each second, fifth, tenth ... so that names have the room they want."""
    for step in (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256):
        if step * pitch >= wanted:
            return step
    return 10**6


def _share(values: F64, ends: tuple[float, float], log: bool) -> F64:
    """How far up from the smallest to the largest value, 0 to 1; all alike are 0.5."""
    low, high = ends
    if low == high:
        return np.full(len(values), 0.5)
    held = np.minimum(values, high)
    if log and low > 0:
        return np.asarray(np.log(held / low) / np.log(high / low))
    return np.asarray((held - low) / (high - low))
