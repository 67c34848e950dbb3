"""A table of numbers, one row of which may be under way; bars stand beside a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gpuviz.draw import table
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Align, Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_BARS = 4.0  # letters that bars are wide at least


@dataclass(frozen=True, eq=False)
class Column:
    """A column: wordings of its title, longest first, and its cells.

    `badge` says where the numbers come from, in a pill of the colour of `ink`. Columns that are
    `optional` are left out where there is no room, the highest first. Cells that were `given` tell
    nothing a class may be asked. `bars` are drawn in place of words, the largest as wide as the
    column; those `of_whole` are parts of 1, and what is missing of it is hatched.
    """

    titles: tuple[str, ...]
    cells: tuple[str, ...]
    align: Align = "right"
    badge: str = ""
    ink: Ink = "accent"
    optional: int = 0
    bold: bool = False
    given: bool = False
    bars: tuple[float, ...] = ()
    of_whole: bool = False


def bars(values: tuple[float, ...], optional: int = 1) -> Column:
    """A column of bars, for the values of the column before it."""
    return Column(("",), ("",) * len(values), "left", optional=optional, bars=values)


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
        """A comfortable height; it can do with three quarters."""
        badges = any(column.badge and column.titles[0] for column in self.columns)
        high = table.height_of(stage, self.rows, badges=badges)
        return Need(high, high * 0.75)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Titles, cells, and bars in their cells."""
        columns = [_drawn(stage, column) for column in self.columns]
        laid = table.lay_out(stage, area, columns)
        shown = self.rows if self.shown is None else self.shown
        yield from table.draw(stage, laid, shown, self.now)
        for number, column in enumerate(self.columns):
            if column.bars:
                yield from self._bars(stage, laid, number, shown)

    def _bars(self, stage: Stage, laid: table.Table, number: int, shown: int) -> Iterator[Mark]:
        values = self.columns[number].bars
        for row, value in enumerate(values[:shown]):
            if (cell := laid.cell(row, number)) is None:
                continue
            bar = cell.inset(0, cell.height * 0.2)
            accent, whole = stage.palette.accent, self.columns[number].of_whole
            if whole:
                waste = stage.palette.waste
                yield Boxes(bar.array(), stage.palette.waste_ground, hatch=waste)
                yield Boxes(bar._replace(width=bar.width * value).array(), accent)
                continue
            fill = accent if row == self.now else stage.palette.soft(accent, 0.35)
            long = max(bar.width * value / max(values), stage.text(14) * 0.1)
            yield Boxes(Rect(bar.x, bar.y, long, bar.height).array(), fill, radius=2)


def _drawn(stage: Stage, column: Column) -> table.Column:
    return table.Column(
        column.titles,
        column.cells,
        column.align,
        column.badge,
        color(stage, column.ink),
        column.optional,
        stage.text(14) * _BARS if column.bars else 0.0,
        column.bold,
        column.given,
    )
