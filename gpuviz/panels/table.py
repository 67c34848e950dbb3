"""A table of numbers, one row of which may be under way."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np

from gpuviz.draw.heading import badge
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Align, Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

T = TypeVar("T")
_GAP = 1.3  # between columns, in letter sizes
_SMALL = 12  # letters where those of 14 leave no room for the columns there have to be
TIGHT = 1.28  # height of a line of text


@dataclass(frozen=True, eq=False)
class Column:
    """A column: wordings of its title, longest first, and its cells.

    `badge` says where the numbers come from, in a pill. Columns that are
    `optional` are left out where there is no room, the highest first. Cells that were `given` tell
    nothing a class may be asked. `tone` is the colour of the words.
    """

    titles: tuple[str, ...]
    cells: tuple[str, ...]
    align: Align = "right"
    badge: str = ""
    ink: Ink = "accent"
    optional: int = 0
    bold: bool = False
    given: bool = False
    tone: Ink = "ink"


@dataclass(frozen=True, eq=False)
class Columns(Generic[T]):
    """Columns about the same things, one in each row: a cell is a function of its thing.

    What a function does not know (None) is a dash.
    """

    things: Sequence[T]

    def __call__(
        self,
        titles: str | tuple[str, ...],
        cell: Callable[[T], object],
        align: Align = "right",
        badge: str = "",
        ink: Ink = "accent",
        optional: int = 0,
        bold: bool = False,
        given: bool = False,
    ) -> Column:
        """A column of words or numbers."""
        said = tuple("–" if (it := cell(one)) is None else str(it) for one in self.things)
        return Column(_wordings(titles), said, align, badge, ink, optional, bold, given)


def _wordings(titles: str | tuple[str, ...]) -> tuple[str, ...]:
    return (titles,) if isinstance(titles, str) else titles


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
    pill = text_width(column.badge, stage.text(13)) + stage.text(13) * 1.2 if column.badge else 0
    return max(*(text_width(t, size) for t in title), pill, *cells)


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
    gap = _GAP * size + min(free / max(len(kept) - 1, 1), size * 5)
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


_SIDE = 0.4  # letters that the row under way reaches beyond the words


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
        return Need(high, high * 0.75, least_width(stage, self.columns))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Titles and cells."""
        laid = lay_out(stage, area, self.columns)
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

    def _cells(self, stage: Stage, laid: TableLayout, number: int, shown: int) -> Iterator[Mark]:
        """The words of a column, quieter than the row under way."""
        column = self.columns[number]
        looks: dict[bool, list[int]] = {}
        for row in range(shown):
            if column.cells[row]:
                looks.setdefault(column.bold or row == self.now, []).append(row)
        for bold, rows in sorted(looks.items()):
            areas = [laid.cell(row, number) or laid.area for row in rows]
            at = np.array([(_anchor(column, a), a.center[1]) for a in areas], np.float32)
            ink = color(stage, column.tone)
            words = tuple(column.cells[row] for row in rows)
            yield Texts(at, words, ink, laid.size, column.align, bold)


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
