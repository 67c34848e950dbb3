"""A table of numbers, one row of which may be under way; bars stand beside a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import Rgba
from gpuviz.draw.heading import badge
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.scales import Scales
from gpuviz.draw.stage import Stage
from gpuviz.panels.bar import Bar, draw_bar
from gpuviz.panels.panel import Need, Panel, color
from gpuviz.panels.table_layout import TIGHT, TableLayout, height_of, lay_out, least_width
from gpuviz.panels.table_layout import Column as Column
from gpuviz.words.language import tr

_ABOVE = 0.2  # of a row's height is free above and below a bar
_SIDE = 0.4  # letters that the row under way reaches beyond the words


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
        titles = lay_out(stage, Rect(0, 0, width, 0), self.columns).titles
        high = height_of(stage, self.rows, max(map(len, titles)), badges)
        foot = self._foot(stage)
        return Need(high + foot, high * 0.75 + foot, least_width(stage, self.columns))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Titles, cells, and bars in their cells."""
        laid = lay_out(stage, area._replace(height=area.height - self._foot(stage)), self.columns)
        shown = self.rows if self.shown is None else min(self.shown, self.rows)
        if self.now is not None and self.now < shown:
            row = Rect(area.x, area.y + laid.head + self.now * laid.row, area.width, laid.row)
            row = row.inset(-laid.size * _SIDE, 0.5)
            yield Boxes(row.array(), stage.palette.accent_soft, radius=5)
        y = area.y + laid.head - laid.size * 0.12
        rule = np.array([[[area.x, y], [area.right, y]]], np.float32)
        yield Lines(rule, stage.palette.border, 1.0)
        for place, number in enumerate(laid.kept):
            yield from _heading(stage, laid, place)
            if laid.tells(number):
                yield from self._cells(stage, laid, number, shown)
        for number, column in enumerate(self.columns):
            if column.bars:
                yield from self._bars(stage, laid, number, shown)
        yield from self._remarks(stage, laid, area)

    def _foot(self, stage: Stage) -> float:
        """The height of what is said below the rows."""
        told = any(c.origin or any(c.remarks) for c in self.columns)
        return stage.text(14) * TIGHT if told else 0.0

    def _remarks(self, stage: Stage, laid: TableLayout, area: Rect) -> Iterator[Mark]:
        """Where numbers come from and what to know of quiet cells: below the rows, to the right."""
        told = [self.columns[i] for i in laid.kept if laid.tells(i)]
        origin = " · ".join(dict.fromkeys(c.origin for c in told if c.origin))
        remark = " · ".join(dict.fromkeys(r for c in told for r in c.remarks if r))
        grey = tr("grey: {remark}", remark=remark) if remark else ""
        said = tuple(
            " · ".join(filter(None, parts)) for parts in ((origin, grey), (origin, remark), (grey,))
        )
        if not grey:
            said = (origin, *_shorter(origin))
        if said[0] and not stage.asks:
            size, last = stage.text(13), grey or said[-1]
            words = first_fitting(said, area.width, size) or elide(last, area.width, size)
            bottom = laid.area.y + laid.head + self.rows * laid.row
            at = np.array([[area.right, bottom + size * TIGHT / 2]], np.float32)
            yield Texts(at, (words,), stage.palette.muted, size, "right")

    def _cells(self, stage: Stage, laid: TableLayout, number: int, shown: int) -> Iterator[Mark]:
        """The words of a column, quieter than the row under way."""
        column = self.columns[number]
        looks: dict[tuple[bool, bool], list[int]] = {}
        for row in range(shown):
            quiet = bool(column.remarks and column.remarks[row])
            bold = (column.bold or row == self.now) and not quiet
            if column.cells[row]:
                looks.setdefault((bold, quiet), []).append(row)
        for (bold, quiet), rows in sorted(looks.items()):
            areas = [laid.cell(row, number) or laid.area for row in rows]
            at = np.array([(_anchor(column, a), a.center[1]) for a in areas], np.float32)
            ink = color(stage, "muted" if quiet else column.tone)
            words = tuple(column.cells[row] for row in rows)
            yield Texts(at, words, ink, laid.size, column.align, bold)

    def scales(self) -> Scales:
        """The longest bars of each column of bars."""
        found = [self._longest(i) for i, column in enumerate(self.columns) if column.bars]
        return {name: most for longest in found for name, most in longest.items()}

    def _longest(self, number: int) -> dict[str, float]:
        """The longest of the bars that stand first in each row of a column, second, ...; they are
        named after what the column before counts.
        """
        rows, title = self.columns[number].bars, self.columns[max(number - 1, 0)].titles[0]
        return {
            f"bars {place} of {title}": max(bar.whole for bar in scale)
            for place, scale in enumerate(zip(*rows, strict=True))
        }

    def _bars(self, stage: Stage, laid: TableLayout, number: int, shown: int) -> Iterator[Mark]:
        rows = self.columns[number].bars
        most = [stage.most(name, own) for name, own in self._longest(number).items()]
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


def _shorter(origin: str) -> tuple[str, ...]:
    """Where numbers come from without the last, or the last few, of its parts."""
    parts = origin.split(", ")
    return tuple(", ".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))


def _heading(stage: Stage, laid: TableLayout, place: int) -> Iterator[Mark]:
    """A column's badge and title, the title's last line just above the rule."""
    column, title, size = laid.columns[laid.kept[place]], laid.titles[place], laid.size
    x, width = laid.spans[place]
    at = _anchor(column, Rect(x, 0, width, 0))
    low = laid.area.y + laid.head - size * 0.85
    y = [low - size * TIGHT * (len(title) - 1 - line) for line in range(len(title))]
    points = np.array([(at, high) for high in y], np.float32)
    if any(title):
        yield Texts(points, title, stage.palette.muted, size, column.align)
    if column.badge:
        pill = text_width(column.badge, stage.text(13)) + stage.text(13) * 1.2
        left = at - pill * {"left": 0.0, "center": 0.5, "right": 1.0}[column.align]
        above = size * TIGHT * (len(title) - 1) + stage.text(13) * 1.75
        top = low - (above if column.titles[0] else size * 0.15)
        yield from badge(stage, left, top, column.badge)


def _anchor(column: Column, area: Rect) -> float:
    """The x at which words of a column are anchored."""
    return {"left": area.x, "center": area.center[0], "right": area.right}[column.align]
