"""A table: columns of numbers with headings and badges, rows of which one may be under way.

Headings have several wordings; the table takes the longest that fit, sets them in two lines, and
leaves out optional columns before anything would overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import Rgba
from gpuviz.draw.heading import badge
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Align, Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage

_GAP = 1.3  # between columns, in letter sizes
_TIGHT = 1.28  # height of a line of text


@dataclass(frozen=True, eq=False)
class Column:
    """A column: wordings of its title, longest first; its cells; and where its numbers come from.

    `badge` is a word in a pill above the title (in its place where that is ""), in `color`.
    `optional` columns are left out where there is no room, the highest first. `least` is a width to
    keep, for bars drawn into the cells; a column that has one takes what width is left over.
    `given` columns say what was set, not what came of it: as the first one, they keep their cells
    while a stage asks. `tone` is the colour of the words (None: that of all text).
    """

    titles: tuple[str, ...]
    cells: tuple[str, ...]
    align: Align = "right"
    badge: str = ""
    color: Rgba | None = None
    optional: int = 0
    least: float = 0.0
    bold: bool = False
    given: bool = False
    tone: Rgba | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """A table laid out: `kept` numbers the columns kept; `asks` says that cells keep their counts
    back.
    """

    columns: tuple[Column, ...]
    kept: tuple[int, ...]
    titles: tuple[tuple[str, ...], ...]
    spans: tuple[tuple[float, float], ...]
    area: Rect
    head: float
    row: float
    size: float
    asks: bool = False

    def tells(self, column: int) -> bool:
        """Whether the cells of a column are to be seen."""
        return not self.asks or column == 0 or self.columns[column].given

    def cell(self, row: int, column: int) -> Rect | None:
        """The area of a cell, None when there is nothing to see: its column has been left out, or
        keeps back what the stage asks for.
        """
        if column not in self.kept or not self.tells(column):
            return None
        x, width = self.spans[self.kept.index(column)]
        return Rect(x, self.area.y + self.head + row * self.row, width, self.row)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.area.y + self.head + self.row * len(self.columns[0].cells)


def height_of(stage: Stage, rows: int, title_lines: int = 1, badges: bool = False) -> float:
    """A comfortable height for a table of so many rows; it can do with three quarters of it."""
    size = stage.text(14)
    pills = stage.text(13) * 1.9 if badges else 0.0
    return size * (_TIGHT * title_lines + 0.35 + 1.65 * rows) + pills


def least_width(stage: Stage, columns: Sequence[Column]) -> float:
    """The width of what is always there, with the shortest titles."""
    size, kept = stage.text(14), [column for column in columns if not column.optional]
    widths = [_width(stage, column, column.titles[-1:], size) for column in kept]
    return sum(widths) + _GAP * size * (len(kept) - 1)


def lay_out(stage: Stage, area: Rect, columns: Sequence[Column]) -> Table:
    """The columns in an area: as many of them, and as long titles, as fit its width."""
    size, kept = stage.text(14), list(range(len(columns)))
    while True:
        levels = max(len(columns[i].titles) for i in kept)
        for level in (*range(levels), *range(-levels, 0)):
            titles = tuple(_title(columns[i], level, size) for i in kept)
            widths = [_width(stage, columns[i], t, size) for i, t in zip(kept, titles, strict=True)]
            free = area.width - sum(widths) - _GAP * size * (len(kept) - 1)
            if free >= 0:
                return _placed(stage, area, columns, kept, titles, widths, free)
        spare = [i for i in kept if columns[i].optional]
        if not spare:
            return _placed(stage, area, columns, kept, titles, widths, 0.0)
        kept.remove(max(spare, key=lambda i: columns[i].optional))


def _title(column: Column, level: int, size: float) -> tuple[str, ...]:
    """The lines of a title: its wordings in one line each, then (below 0) in two lines each."""
    last = len(column.titles) - 1
    if level >= 0:
        return (column.titles[min(level, last)],)
    return _halved(column.titles[min(level + last + 1, last) if level + last + 1 > 0 else 0], size)


def _halved(text: str, size: float) -> tuple[str, ...]:
    """A text in two lines, as equal as they come."""
    words = text.split()
    cuts = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    if not cuts:
        return (text,)
    return min(cuts, key=lambda pair: max(text_width(half, size) for half in pair))


def _width(stage: Stage, column: Column, title: tuple[str, ...], size: float) -> float:
    """The width a column needs."""
    cells = (text_width(c, size, True) for c in column.cells)
    pill = text_width(column.badge, stage.text(13)) + stage.text(13) * 1.2 if column.badge else 0
    return max(*(text_width(t, size) for t in title), pill, column.least, *cells)


def _placed(
    stage: Stage,
    area: Rect,
    columns: Sequence[Column],
    kept: list[int],
    titles: tuple[tuple[str, ...], ...],
    widths: list[float],
    free: float,
) -> Table:
    """Columns side by side, what is left over shared out between them."""
    size = stage.text(14)
    elastic = [i for i, index in enumerate(kept) if columns[index].least]
    gap = _GAP * size + min(free / max(len(kept) - 1, 1), size * (1.5 if elastic else 5))
    rest = area.width - sum(widths) - gap * (len(kept) - 1)
    widths = [
        w + (max(rest, 0.0) / len(elastic) if i in elastic else 0.0) for i, w in enumerate(widths)
    ]
    left = area.x + np.concatenate([[0.0], np.cumsum(np.array(widths[:-1]) + gap)])
    badges = any(columns[i].badge and columns[i].titles[0] for i in kept)
    lines = max(len(t) for t in titles)
    head = size * (_TIGHT * lines + 0.35) + (stage.text(13) * 1.9 if badges else 0.0)
    rows = len(columns[0].cells)
    row = max(min((area.height - head) / rows, size * 1.9), size * 1.2)
    spans = tuple((float(x), w) for x, w in zip(left, widths, strict=True))
    return Table(tuple(columns), tuple(kept), titles, spans, area, head, row, size, stage.asks)


def draw(stage: Stage, table: Table, shown: int, now: int | None = None) -> tuple[Mark, ...]:
    """The headings, and the first `shown` rows; `now` is the row to be looked at."""
    palette, marks = stage.palette, list[Mark]()
    if now is not None and now < shown:
        area = Rect(
            table.area.x, table.area.y + table.head + now * table.row, table.area.width, table.row
        ).inset(-table.size * 0.4, 0.5)
        marks.append(Boxes(area.array(), palette.accent_soft, radius=5))
    y = table.area.y + table.head - table.size * 0.12
    line = np.array([[[table.area.x, y], [table.area.right, y]]], np.float32)
    marks.append(Lines(line, palette.border, 1.0))
    for place, index in enumerate(table.kept):
        marks += _heading(stage, table, place, index)
        marks += _cells(stage, table, index, shown, now) if table.tells(index) else ()
    return tuple(marks)


def _heading(stage: Stage, table: Table, place: int, index: int) -> list[Mark]:
    """A column's badge and title, the title's last line just above the rule."""
    column, title, size = table.columns[index], table.titles[place], table.size
    x, width = table.spans[place]
    at = {"left": x, "center": x + width / 2, "right": x + width}[column.align]
    low = table.area.y + table.head - size * 0.85
    y = np.array([low - size * _TIGHT * (len(title) - 1 - i) for i in range(len(title))])
    points = np.stack([np.full_like(y, at), y], axis=1).astype(np.float32)
    marks: list[Mark] = []
    if any(title):
        marks.append(Texts(points, title, stage.palette.muted, size, column.align))
    if column.badge:
        pill = text_width(column.badge, stage.text(13)) + stage.text(13) * 1.2
        left = at - pill * {"left": 0.0, "center": 0.5, "right": 1.0}[column.align]
        color = stage.palette.accent if column.color is None else column.color
        above = size * _TIGHT * (len(title) - 1) + stage.text(13) * 1.75
        top = low - (above if column.titles[0] else size * 0.15)
        marks += badge(stage, left, top, column.badge, color)
    return marks


def _cells(stage: Stage, table: Table, index: int, shown: int, now: int | None) -> tuple[Mark, ...]:
    """The cells of a column, quieter than the row under way."""
    column, marks = table.columns[index], list[Mark]()
    for bold in (False, True):
        rows = [r for r in range(shown) if column.cells[r] and (column.bold or r == now) == bold]
        if not rows:
            continue
        areas = [table.cell(r, index) or table.area for r in rows]
        x = [{"left": a.x, "center": a.center[0], "right": a.right}[column.align] for a in areas]
        at = np.stack([x, [a.center[1] for a in areas]], axis=1).astype(np.float32)
        words = tuple(column.cells[r] for r in rows)
        ink = stage.palette.ink if column.tone is None else column.tone
        marks.append(Texts(at, words, ink, table.size, column.align, bold))
    return tuple(marks)
