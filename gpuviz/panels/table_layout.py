"""Where the columns of a table go: as many of them, and as long titles, as there is room for.

Headings have several wordings; the table takes the longest that fit, sets them in two lines, leaves
out optional columns, takes smaller letters, and in the end leaves out more, before anything would
overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Align
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.bar import Bar
from gpuviz.panels.panel import Ink

_GAP = 1.3  # between columns, in letter sizes
_SMALL = 12  # letters where those of 14 leave no room for the columns there have to be
TIGHT = 1.28  # height of a line of text


@dataclass(frozen=True, eq=False)
class Column:
    """A column: wordings of its title, longest first, and its cells.

    `badge` says where the numbers come from, in a pill. Columns that are
    `optional` are left out where there is no room, the highest first. Cells that were `given` tell
    nothing a class may be asked. `bars` stand in place of words: one or several below each other
    in each cell, each as long as its value beside those of other rows; the colour, if a bar has
    none, is the accent, quiet in rows that are not under way. Such a column is at least `wide`
    letters wide. `tone` is the colour of the words. A cell with one of the `remarks` is quiet; they
    stand below the table, once each, with the `origin` of the numbers: where and when.
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
    remarks: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True, eq=False)
class TableLayout:
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


def height_of(stage: Stage, rows: int, title_lines: int = 1, badges: bool = False) -> float:
    """A comfortable height for a table of so many rows; it can do with three quarters of it."""
    size = stage.text(14)
    pills = stage.text(13) * 1.9 if badges else 0.0
    return size * (TIGHT * title_lines + 0.35 + 1.65 * rows) + pills


def least_width(stage: Stage, columns: Sequence[Column]) -> float:
    """The width of what is always there, with the shortest titles."""
    size, kept = stage.text(14), [column for column in columns if not column.optional]
    widths = [_width(stage, column, column.titles[-1:], size) for column in kept]
    return sum(widths) + _GAP * size * (len(kept) - 1)


def lay_out(stage: Stage, area: Rect, columns: Sequence[Column]) -> TableLayout:
    """The columns in an area: as many of them, and as long titles, as fit its width."""
    order = sorted(range(1, len(columns)), key=lambda i: -columns[i].optional)
    spare = [i for i in order if columns[i].optional]
    last = [i for i in reversed(range(1, len(columns))) if not columns[i].optional]
    usual, small = stage.text(14), stage.text(_SMALL)
    tries = [(usual, spare[:n]) for n in range(len(spare) + 1)]
    tries += [(small, spare + last[:n]) for n in range(len(last) + 1)]
    for size, left_out in tries:
        kept = [i for i in range(len(columns)) if i not in left_out]
        levels = max(len(columns[i].titles) for i in kept)
        for level in (*range(levels), *range(-levels, 0)):
            titles = tuple(_title(columns[i], level, size) for i in kept)
            widths = [_width(stage, columns[i], t, size) for i, t in zip(kept, titles, strict=True)]
            free = area.width - sum(widths) - _GAP * size * (len(kept) - 1)
            if free >= 0:
                return _placed(stage, area, columns, kept, titles, widths, free, size)
    return _placed(stage, area, columns, kept, titles, widths, 0.0, size)


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
    bars = size * column.wide if column.bars else 0.0
    pill = text_width(column.badge, stage.text(13)) + stage.text(13) * 1.2 if column.badge else 0
    return max(*(text_width(t, size) for t in title), pill, bars, *cells)


def _placed(
    stage: Stage,
    area: Rect,
    columns: Sequence[Column],
    kept: list[int],
    titles: tuple[tuple[str, ...], ...],
    widths: list[float],
    free: float,
    size: float,
) -> TableLayout:
    """Columns side by side, what is left over shared out between them."""
    elastic = [i for i, index in enumerate(kept) if columns[index].bars]
    gap = _GAP * size + min(free / max(len(kept) - 1, 1), size * (1.5 if elastic else 5))
    rest = area.width - sum(widths) - gap * (len(kept) - 1)
    widths = [
        w + (max(rest, 0.0) / len(elastic) if i in elastic else 0.0) for i, w in enumerate(widths)
    ]
    left = area.x + np.concatenate([[0.0], np.cumsum(np.array(widths[:-1]) + gap)])
    badges = any(columns[i].badge and columns[i].titles[0] for i in kept)
    lines = max(len(t) for t in titles)
    head = size * (TIGHT * lines + 0.35) + (stage.text(13) * 1.9 if badges else 0.0)
    rows = len(columns[0].cells)
    row = max(min((area.height - head) / rows, size * 1.9), size * 1.2)
    spans = tuple((float(x), w) for x, w in zip(left, widths, strict=True))
    return TableLayout(
        tuple(columns), tuple(kept), titles, spans, area, head, row, size, stage.asks
    )
