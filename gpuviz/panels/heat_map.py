"""A value over two whole numbers: a map of warm and cold cells that can be picked, its legend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.arrays import F64, Rgba
from gpuviz.draw import figures
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, centers
from gpuviz.draw.marks import Mark, Raster, Texts
from gpuviz.draw.matrix import Matrix, outlined, painted
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, Values

_LEAST, _MOST_PART = 8.0, 20.0  # letters high; a part of a map is no higher than the latter


@dataclass(frozen=True)
class Axis:
    """What is counted along an axis: the parameter that a pick sets, its name, and the numbers
    beside the cells, those in bold among them.
    """

    id: str
    name: str
    ticks: tuple[int, ...]
    bold: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class HeatMap(Panel):
    """Square cells for `first` to `last` along both axes.

    Attributes
    ----------
    heat : (N, N) how far up the ramp each value is, 0 to 1; None when no value is known
    shown : columns filled so far
    picked : x and y of the cell that is set
    tip : hover text of x and y
    words : what stands in the cells where it fits; such a map is empty until all of it is filled,
        and while a class is asked
    """

    share: ClassVar[float] = 0.56
    x: Axis
    y: Axis
    first: int
    last: int
    heat: F64 | None
    shown: float
    picked: tuple[int, int]
    tip: Callable[[int, int], str]
    words: tuple[str, ...] = ()

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell cells apart; a part of a map no more than it can use."""
        size = stage.text(14)
        if self.words:
            return Need(min(width, _MOST_PART * size), 13 * size, 13 * size)
        return Need(_LEAST * size, _LEAST * size, _LEAST * size)

    def used(self, stage: Stage, area: Rect) -> Rect:
        """As wide as high."""
        wide = area.height + self._side(stage) - stage.text(14) * 1.6
        return area._replace(width=min(area.width, wide))

    @property
    def count(self) -> int:
        """Cells along an axis."""
        return self.last - self.first + 1

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Cells, the one that is set, numbers along both axes."""
        if self.words and (stage.asks or self.shown < self.last):
            return
        cells, hidden = self._cells(stage, area), stage.asks
        fill = self._fill(stage, 0.0 if hidden else self.shown)
        yield painted(cells, fill, None if hidden else self._tip)
        yield from self._words(stage, cells, fill)
        yield from self._picked(stage, cells)
        yield from self._axes(stage, cells)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The cell under a point; a gap is its left cell's."""
        if self.words and (stage.asks or self.shown < self.last or self.heat is None):
            return None
        cells = self._cells(stage, area)
        column, row = (x - cells.x) // cells.pitch, (y - cells.y) // cells.pitch
        if not (0 <= column < self.count and 0 <= row < self.count):
            return None
        return {self.x.id: int(column) + self.first, self.y.id: int(row) + self.first}

    def _side(self, stage: Stage) -> float:
        """Room of the numbers at the left."""
        return text_width(str(self.last), stage.text(14)) + stage.text(14) * 0.6

    def _cells(self, stage: Stage, area: Rect) -> Matrix:
        left = self._side(stage)
        side = max(min(area.height - stage.text(14) * 1.6, area.width - left), 1.0)
        y = area.bottom - side - stage.text(14) * 1.6 if self.words else area.y
        return Matrix(area.x + left, y, self.count, self.count, side / self.count)

    def _tip(self, cell: int) -> str:
        return self.tip(cell % self.count + self.first, cell // self.count + self.first)

    def _fill(self, stage: Stage, shown: float) -> Rgba:
        """(N * N, 4) colours: the columns that are filled, and empty cells."""
        palette, count = stage.palette, self.count
        if self.heat is None:
            return np.broadcast_to(palette.cell, (count * count, 4)).copy()
        known = (np.arange(self.first - 1, self.last) < shown)[None, :, None]
        warm = np.where(known, palette.heat_at(self.heat), palette.cell)
        return warm.astype(np.uint8).reshape(-1, 4)

    def _words(self, stage: Stage, cells: Matrix, fill: Rgba) -> Iterator[Mark]:
        """What stands in the cells, where all of it fits."""
        size = stage.text(13)
        wide = max((text_width(word, size) for word in self.words), default=0.0)
        if self.words and wide <= cells.pitch - cells.gap - 4 and cells.pitch >= size:
            middle = centers(cells.cells)
            yield Texts(middle, self.words, stage.palette.ink_on(fill), size, "center")

    def _picked(self, stage: Stage, cells: Matrix) -> Iterator[Mark]:
        x, y = (n - self.first for n in self.picked)
        if min(x, y) >= 0 and max(x, y) < self.count:
            one, palette = cells.part(y, x, 1, 1), stage.palette
            yield outlined(one, palette.outline, 2.0, 0.5)
            if not self.words:
                yield outlined(one.inset(-3), palette.ground, 1.5, 0.0)

    def _axes(self, stage: Stage, cells: Matrix) -> Iterator[Mark]:
        """The x axis below, the y axis at the left, each with its name at its first number."""
        size, palette, area = stage.text(14), stage.palette, cells.area
        low, left = area.bottom + size * 0.85, cells.x - size * 0.4
        room = cells.pitch * 8 > text_width(f"{self.x.name} {self.last}", size)
        for tick in self.x.ticks:
            bold = tick in self.x.bold
            named = tick == 1 and room and self.x.name
            name, at = (
                f"{self.x.name} {tick}" if named else str(tick),
                self._at(cells.x, cells, tick),
            )
            at = max(at, cells.x + text_width(name, size) / 2) if tick == 1 else at
            ink = palette.ink if bold else palette.muted
            yield label(at, low, name, ink, size, bold, "center")
        for tick in self.y.ticks:
            name = self.y.name if tick == 1 and self.y.name else str(tick)
            at = max(self._at(cells.y, cells, tick), cells.y + size * 0.5)
            yield label(left, at, name, palette.muted, size, align="right")

    def _at(self, start: float, cells: Matrix, tick: int) -> float:
        return start + (tick - self.first + 0.5) * cells.pitch


@dataclass(frozen=True, eq=False)
class Legend(Panel):
    """The ramp of colours between the least and the largest value, and where values come from."""

    answers: ClassVar[bool] = True
    low: str
    high: str
    badge: str
    ink: Ink = "accent"

    def need(self, stage: Stage, width: float) -> Need:
        """A line."""
        high = stage.text(14) * 1.9
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Least, ramp, largest, badge."""
        size, palette, y = stage.text(14), stage.palette, area.center[1]
        pill = figures.pill_width(stage, self.badge)
        first = area.x + text_width(self.low, size) + size * 0.6
        last = area.right - pill - text_width(self.high, size) - size * 0.8
        ramp = (first, y - size * 0.4, max(last - first, 1.0), size * 0.8)
        yield label(area.x, y, self.low, palette.ink, size)
        yield Raster(ramp, palette.heat[None, ::4])
        yield label(last + size * 0.5, y, self.high, palette.ink, size)
        left = area.right - pill + stage.text(13) * 0.7
        yield from badge(stage, left, y, self.badge)
