"""Rows and columns of memory cells in the colours of the lanes whose element they hold."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Rgba
from gpuviz.draw.heading import label, lines
from gpuviz.draw.layout import Rect, around, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Raster, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import mix
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_WORDS_WIDE, _FEW = 12.0, 3.0  # letters that lines are wide at least, and that a few are high


def room_left(stage: Stage, area: Rect, taken: Rect) -> Rect:
    """The room for sentences: below what is taken if there are a few lines, or else beside it."""
    size = stage.text(14)
    below = area.above(taken.bottom + size * 0.8 - area.y)[1]
    beside = area.beside(taken.right + size * 1.5 - area.x)[1]
    room = below if below.height >= size * _FEW else beside
    return room if room.width >= size * _WORDS_WIDE else room._replace(width=0.0)


def noted(stage: Stage, room: Rect, sentences: tuple[str, ...]) -> Iterator[Mark]:
    """As many as fit, the first one said loudest."""
    palette, rest = stage.palette, room
    for number, sentence in enumerate(sentences if room.width else ()):
        said, rest = lines(stage, rest, sentence, palette.muted if number else palette.ink)
        if rest.height < 0:
            return
        yield from said


_NAME, _AXIS = 1.5, 1.3  # letters above the cells: the map's name, the columns' names
_LEAST = 5.0  # letters high and wide
_TALL, _LOW = 30.0, 3.0  # most and least height of a row at scale 1
_BOX = 6.0  # pixels; smaller cells are an image
_BOLD = 8.0  # pixels of a cell from which outlines stand out
_WIDE = 64.0  # pixels that a cell is wide at most, at scale 1, where all together have a shape
_LETTER = 12.0  # least size of words in cells
_READABLE = 16.0  # letters of a line that is easy to read


@dataclass(frozen=True, eq=False)
class Outline:
    """A line around (T, 3) runs of cells: row, first column, and columns of each.

    One that is `bold` stands out from the cells around.
    """

    runs: I64
    ink: Ink
    bold: bool = False


@dataclass(frozen=True, eq=False)
class CellMap(Panel):
    """The cells of a part of memory."""

    names: tuple[str, ...]  # what it is, wordings from the longest
    # rows, columns: how many cells there are.
    rows: int
    columns: int
    lane: I64  # (N,) whose element a cell holds, -1 for none
    done: F64  # (N,) how far it is there, 0 to 1
    ahead: bool  # whether what is to come is seen, dim, or the cell is empty until then
    tip: Callable[[int], str]  # hover text of a cell
    # How many times as wide as high they are together; None: as the room is.
    aspect: float | None = None
    # unused, wasted: cells that are hatched; those that are wasted, not while a class is asked, and
    # over their colour where something is there.
    unused: I64 | None = None
    wasted: I64 | None = None
    outlines: tuple[Outline, ...] = ()  # around what is asked for and served
    # row_name, column_name: names of some rows and columns, as many as fit.
    row_name: Callable[[int], str] | None = None
    column_name: Callable[[int], str] | None = None
    corner: str = ""  # what the columns are
    words: tuple[str, ...] = ()  # what stands in each cell, where it can be read
    # Sentences for the room that is left beside or below, the first one said loudest.
    notes: tuple[str, ...] = ()
    least: float = _LEAST  # letters that the cells are high and wide at least

    def need(self, stage: Stage, width: float) -> Need:
        """As high as wide, or rows that can be told apart; they take what room is left."""
        head, least = self._head(stage), self.least * stage.text(14)
        if self.aspect is not None:
            high = head + width / self.aspect
            return Need(high, min(head + least, high), least)
        least = max(self.rows * _LOW * stage.scale, least)
        return Need(head + least, head + least, self.least * stage.text(14))

    def _head(self, stage: Stage) -> float:
        """The height of what stands above the cells."""
        return stage.text(14) * (_NAME * bool(self.names) + _AXIS * (self.column_name is not None))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Name, cells, what is hatched, outlines, names of rows and columns, notes."""
        area = self.used(stage, area)
        yield from _named(stage, area, self.names)
        body = area.above(self._head(stage))[1]
        laid = _MapLayout(self, stage, self._inner(stage, body))
        yield laid.painted()
        yield from laid.hatching()
        for outline in self.outlines:
            yield laid.outlined(outline)
        yield from laid.axes()
        yield from laid.numbers()
        yield from noted(stage, room_left(stage, body, laid.area), self.notes)

    def used(self, stage: Stage, area: Rect) -> Rect:
        """Of a fixed shape, no more width than its cells, its name and its notes need."""
        if self.aspect is None:
            return area
        body = area.above(self._head(stage))[1]
        cells = self._inner(stage, body)
        room = room_left(stage, body, cells)
        if self.notes and room.width and room.x > area.x:
            return area
        size = stage.text(14)
        name = text_width(first_fitting(self.names, area.width, size, bold=True), size, True)
        least = size * _READABLE if self.notes and room.width else 0.0
        return area._replace(width=min(max(cells.right - area.x, least, name), area.width))

    def zoom(self, stage: Stage, area: Rect) -> float:
        """How large the cells are."""
        inner = self._inner(stage, area.above(self._head(stage))[1])
        return min(inner.width / self.columns, inner.height / self.rows)

    def _inner(self, stage: Stage, area: Rect) -> Rect:
        """The area of the cells."""
        if self.row_name is not None:
            widest = max(text_width(self.row_name(i), stage.text(13)) for i in range(self.rows))
            area = area.beside(widest + stage.text(13) * 0.6)[1]
        if self.aspect is not None:
            return _fitted(area, self.aspect, self.columns * _WIDE * stage.scale)
        return area._replace(height=min(area.height, self.rows * _TALL * stage.scale))


@dataclass(frozen=True, eq=False)
class Blank(Panel):
    """Where a square map would be: its names, and in words why it is not there."""

    names: tuple[str, ...]
    why: str
    least: float = _LEAST

    def need(self, stage: Stage, width: float) -> Need:
        """As for a map."""
        head, least = _NAME * stage.text(14), self.least * stage.text(14)
        return Need(head + width, head + min(least, width), least)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """A frame with the words in it."""
        yield from _named(stage, area, self.names)
        box = _fitted(area.above(_NAME * stage.text(14))[1])
        yield Boxes(box.array(), stroke=stage.palette.border, radius=4)
        faint = stage.palette.faint
        yield label(*box.center, self.why, faint, stage.text(14), align="center")


def _named(stage: Stage, area: Rect, names: tuple[str, ...]) -> Iterator[Mark]:
    """The longest of the names that fits, at the top of the area."""
    size = stage.text(14)
    if text := first_fitting(names, area.width, size, bold=True):
        yield label(area.x, area.y + size * 0.6, text, stage.palette.ink, size, bold=True)


def _fitted(area: Rect, aspect: float = 1.0, most: float = np.inf) -> Rect:
    """As large as fits, so many times as wide as high, `most` pixels wide at the most."""
    wide = min(area.width, area.height * aspect, most)
    return area._replace(width=wide, height=wide / aspect)


@dataclass(frozen=True, eq=False)
class _MapLayout:
    """A map in an area."""

    panel: CellMap
    stage: Stage
    area: Rect

    @property
    def pitch(self) -> tuple[float, float]:
        """Width and height of a cell with its gap."""
        return self.area.width / self.panel.columns, self.area.height / self.panel.rows

    @cached_property
    def cells(self) -> F32:
        """(N, 4) cells, row by row."""
        gaps = [2.0 if pitch >= 12 else 1.0 if pitch >= 6 else 0.0 for pitch in self.pitch]
        across = grid(self.area, 1, self.panel.columns, gaps[0])
        down = grid(self.area, self.panel.rows, 1, gaps[1])
        x, y = np.tile(across, (len(down), 1)), np.repeat(down, len(across), axis=0)
        return np.stack([x[:, 0], y[:, 1], x[:, 2], y[:, 3]], axis=1)

    def painted(self) -> Mark:
        """Dim or empty until an element is there, full from then on; an image of tiny cells."""
        panel, fill = self.panel, self._fill()
        if min(self.pitch) >= _BOX:
            return Boxes(self.cells, fill, tip=panel.tip, lanes=panel.lane)
        pixels = fill.reshape(panel.rows, panel.columns, 4)
        return Raster(self.area, pixels, lambda row, at: panel.tip(row * panel.columns + at))

    def _fill(self) -> Rgba:
        panel, palette = self.panel, self.stage.palette
        full = palette.lanes[np.maximum(panel.lane, 0)]
        start = palette.todo(full) if panel.ahead else np.broadcast_to(palette.cell, full.shape)
        held = (panel.lane >= 0)[:, None]
        return np.where(held, mix(start, full, panel.done), palette.cell).astype(np.uint8)

    def hatching(self) -> Iterator[Mark]:
        """Cells that are not used, and those that a request moves and does not use."""
        palette, asks = self.stage.palette, self.stage.asks
        for cells in (self.panel.unused, None if asks else self.panel.wasted):
            if cells is None:
                continue
            there = (self.panel.lane[cells] >= 0) & (self.panel.done[cells] > 0)
            for which, ground in ((cells[there], None), (cells[~there], palette.waste_ground)):
                if len(which):
                    yield Boxes(self.cells[which], ground, hatch=palette.waste)

    def outlined(self, outline: Outline) -> Mark:
        """Around the cells of each run."""
        row, column, count = outline.runs.T
        first = self.cells[row * self.panel.columns + column]
        last = self.cells[row * self.panel.columns + column + count - 1]
        rects = first.copy()
        rects[:, 2] = last[:, 0] + last[:, 2] - first[:, 0]
        tall = self.pitch[1] >= _BOLD
        if outline.bold and not tall and len(rects) > 1 and (np.diff(row) == 1).all():
            rects = around(rects).array()
        if outline.bold and (tall or len(rects) <= 4):
            rects += np.array([-1.5, -1.5, 3, 3], np.float32)
            return Boxes(rects, stroke=color(self.stage, outline.ink), stroke_width=2.0, radius=1)
        width = 1.5 if tall else 1.0
        return Boxes(rects, stroke=color(self.stage, outline.ink), stroke_width=width)

    def numbers(self) -> Iterator[Mark]:
        """The words in the cells, all or none."""
        words, pitch = self.panel.words, min(self.pitch)
        if not words:
            return
        size = min(self.stage.text(14), pitch * 0.6)
        widest = max(text_width(word, size, True) for word in words)
        if (size := float(int(min(size, size * (self.pitch[0] - 4) / widest)))) >= _LETTER:
            ink = self.stage.palette.ink_on(self._fill())
            yield Texts(centers(self.cells), words, ink, size, "center", bold=True)

    def axes(self) -> Iterator[Mark]:
        """Names beside the rows and above the columns, as many as fit."""
        size, muted, panel = self.stage.text(13), self.stage.palette.muted, self.panel
        left, above = self.area.x - size * 0.6, self.area.y - size * 0.75
        if panel.row_name is not None:
            every = _every(self.pitch[1], size * 1.1)
            rows = range(0, panel.rows, every)
            y = [self.area.y + self.pitch[1] * (row + 0.5) for row in rows]
            at = np.stack([np.full(len(y), left), y], axis=1).astype(np.float32)
            yield Texts(at, tuple(map(panel.row_name, rows)), muted, size, "right")
        if panel.column_name is not None:
            widest = max(text_width(panel.column_name(i), size) for i in range(panel.columns))
            columns = range(0, panel.columns, max(_every(self.pitch[0], widest * 1.5), 4))
            x = [self.area.x + self.pitch[0] * (column + 0.5) for column in columns]
            at = np.stack([x, np.full(len(x), above)], axis=1).astype(np.float32)
            yield Texts(at, tuple(map(panel.column_name, columns)), muted, size, "center")
            yield label(left, above, panel.corner, muted, size, align="right")


def _every(pitch: float, room: float) -> int:
    """Every how many rows or columns there is room for a name."""
    return next(k for k in (1, 2, 4, 8, 16, 32) if k * pitch >= room or k == 32)
