"""A table of numbers, one row of which may be under way; bars stand beside a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gpuviz.arrays import Rgba
from gpuviz.draw import table
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Align, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.bar import Bar, draw_bar
from gpuviz.panels.panel import Ink, Need, Panel, color

_ABOVE = 0.2  # of a row's height is free above and below a bar


@dataclass(frozen=True, eq=False)
class Column:
    """A column: wordings of its title, longest first, and its cells.

    `badge` says where the numbers come from, in a pill of the colour of `ink`. Columns that are
    `optional` are left out where there is no room, the highest first. Cells that were `given` tell
    nothing a class may be asked. `bars` stand in place of words: one or several below each other
    in each cell, each as long as its value beside those of other rows; the colour, if a bar has
    none, is the accent, quiet in rows that are not under way. Such a column is at least `wide`
    letters wide. `tone` is the colour of the words.
    """

    titles: tuple[str, ...]
    cells: tuple[str, ...]
    align: Align = "right"
    badge: str = ""
    ink: Ink = "accent"
    optional: int = 0
    bold: bool = False
    given: bool = False
    bars: tuple[tuple[Bar, ...], ...] = ()
    wide: float = 4.0
    tone: Ink = "ink"


def bars(values: tuple[float, ...], optional: int = 1) -> Column:
    """A column of bars, for the values of the column before it."""
    made = tuple((Bar(value),) for value in values)
    return Column(("",), ("",) * len(values), "left", optional=optional, bars=made)


@dataclass(frozen=True, eq=False)
class Table(Panel):
    """The first `shown` rows (None: all), the row `now` in front of the others."""

    share: ClassVar[float] = 0.0
    columns: tuple[Column, ...]
    now: int | None = None
    shown: int | None = None

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.columns[0].cells)

    def need(self, stage: Stage, width: float) -> Need:
        """A comfortable height, of which it can do with three quarters; the shortest titles."""
        badges = any(column.badge and column.titles[0] for column in self.columns)
        titles = self._laid(stage, Rect(0, 0, width, 0)).titles
        high = table.height_of(stage, self.rows, max(map(len, titles)), badges)
        least = table.least_width(stage, [_drawn(stage, column) for column in self.columns])
        return Need(high, high * 0.75, least)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Titles, cells, and bars in their cells."""
        laid = self._laid(stage, area)
        shown = self.rows if self.shown is None else min(self.shown, self.rows)
        yield from table.draw(stage, laid, shown, self.now)
        for number, column in enumerate(self.columns):
            if column.bars:
                yield from self._bars(stage, laid, number, shown)

    def _laid(self, stage: Stage, area: Rect) -> table.Table:
        columns = [_drawn(stage, column) for column in self.columns]
        return table.lay_out(stage, area, columns)

    def _bars(self, stage: Stage, laid: table.Table, number: int, shown: int) -> Iterator[Mark]:
        rows = self.columns[number].bars
        most = [max(bar.whole for bar in scale) for scale in zip(*rows, strict=True)]
        for row, stack in enumerate(rows[:shown]):
            if (cell := laid.cell(row, number)) is None:
                continue
            lanes = cell.inset(0, cell.height * _ABOVE / len(stack)).rows(len(stack), 2)
            for bar, lane, longest in zip(stack, lanes, most, strict=True):
                long = max(lane.width * bar.whole / longest, stage.text(14) * 0.1)
                radius = 0 if bar.lost else 2
                fill = self._fill(stage, bar, row)
                yield from draw_bar(stage, bar, lane._replace(width=long), fill, radius)

    def _fill(self, stage: Stage, bar: Bar, row: int) -> Rgba:
        if bar.ink is not None:
            return color(stage, bar.ink)
        accent = stage.palette.accent
        return accent if row == self.now else stage.palette.soft(accent, 0.35)


def _drawn(stage: Stage, column: Column) -> table.Column:
    return table.Column(
        column.titles,
        column.cells,
        column.align,
        column.badge,
        color(stage, column.ink),
        column.optional,
        stage.text(14) * column.wide if column.bars else 0.0,
        column.bold,
        column.given,
        color(stage, column.tone),
    )
