"""The same pieces in several orders, each lit with its like; and their numbers bit by bit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64
from gpuviz.draw.heading import brackets, label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import mix
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, Values, color

_HIGH, _LETTER = 34.0, 12.0  # pixels of a row at scale 1; least size of words in pieces
_LEAST = 4.0  # pixels of the lowest row


@dataclass(frozen=True, eq=False)
class Pieces(Panel):
    """N pieces on `rows` x `columns` places."""

    share: ClassVar[float] = 1.0
    names: tuple[str, ...]  # what it is, wordings from the longest
    rows: int
    columns: int
    # x, y, wide: (N,) where each begins and how wide it is, in places; y is its row.
    x: F64
    y: F64
    wide: F64
    heat: F64  # (N,) 0 to 1, its colour
    come: F64  # (N,) how far it is there
    words: tuple[str, ...]  # what stands in each, where it can be read
    tip: Callable[[int], str]  # hover text of a piece
    # column_name, row_name: of some columns and rows, as many as fit.
    column_name: Callable[[int], str]
    row_name: Callable[[int], str]
    corner: str  # what the columns are
    marked: I64  # pieces that are outlined
    followed: int  # the piece that is marked most, -1 for none
    picks: Callable[[int], Values]  # what a click on a piece sets

    def need(self, stage: Stage, width: float) -> Need:
        """A name, an axis, and rows that can be told apart."""
        head = self._head(stage)
        low = max(self.rows * _LEAST, stage.text(14) * 4)
        return Need(
            head + min(self.rows * 14.0, 200.0) * stage.scale, head + low, stage.text(14) * 12
        )

    def _head(self, stage: Stage) -> float:
        return stage.text(14) * 3.0

    def used(self, stage: Stage, area: Rect) -> Rect:
        """Down to the last row."""
        return area._replace(height=self._places(stage, area).bottom - area.y)

    def _places(self, stage: Stage, area: Rect) -> Rect:
        size = stage.text(13)
        names = max(text_width(self.row_name(i), size) for i in range(self.rows))
        names = max(names, text_width(self.corner, size)) + size * 0.6
        rest = area.beside(names)[1].above(self._head(stage))[1]
        return rest._replace(height=min(rest.height, self.rows * _HIGH * stage.scale))

    def _rects(self, stage: Stage, area: Rect) -> F32:
        """(N, 4) pieces, with a gap between them where there is room for one."""
        at = self._places(stage, area)
        across, down = at.width / self.columns, at.height / self.rows
        gaps = [2.0 if pitch >= 10 else 1.0 if pitch >= 5 else 0.0 for pitch in (across, down)]
        wide = np.maximum(self.wide * across - gaps[0], 1.0)
        high = np.full(len(self.x), max(down - gaps[1], 1.0))
        x, y = at.x + self.x * across, at.y + self.y * down
        return np.stack([x, y, wide, high], axis=1).astype(np.float32)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Name, axes, empty places, pieces, outlines."""
        palette, size = stage.palette, stage.text(14)
        name = first_fitting(self.names, area.width, size, True)
        yield label(area.x, area.y + size * 0.7, name, palette.ink, size, bold=True)
        yield from self._axes(stage, area)
        ground = self._places(stage, area)
        yield Boxes(ground.array(), mix(palette.cell, palette.ground, 0.5), radius=3)
        rects = self._rects(stage, area)
        full = palette.heat_at(0.12 + 0.88 * self.heat)
        fill = mix(palette.cell, full, self.come)
        yield Boxes(rects, fill, radius=2, tip=self.tip, link="piece")
        for which, ink, width in (
            (self.marked, palette.outline, 2.0),
            (np.array([self.followed] if self.followed >= 0 else [], np.int64), palette.bad, 3.0),
        ):
            if len(which):
                grown = rects[which] + np.array([-1, -1, 2, 2], np.float32)
                yield Boxes(grown, stroke=ink, stroke_width=width, radius=3)
        yield from self._words(stage, rects, fill)

    def _words(self, stage: Stage, rects: F32, fill: np.ndarray) -> Iterator[Mark]:
        if not self.words:
            return
        high, wide = float(rects[:, 3].min()), float(rects[:, 2].min())
        size = min(stage.text(14), high * 0.75)
        widest = max(text_width(word, size, True) for word in self.words)
        size = float(int(min(size, size * (wide - 4) / widest)))
        there = self.come > 0.5
        if size >= max(_LETTER, stage.least) and there.any():
            said = tuple(word for word, here in zip(self.words, there, strict=True) if here)
            ink = stage.palette.ink_on(fill[there])
            yield Texts(centers(rects[there]), said, ink, size, "center", bold=True)

    def _axes(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        size, muted, at = stage.text(13), stage.palette.muted, self._places(stage, area)
        across, down = at.width / self.columns, at.height / self.rows
        every = _every(down, size * 1.15)
        y = [at.y + down * (row + 0.5) for row in range(0, self.rows, every)]
        left = at.x - size * 0.5
        points = np.stack([np.full(len(y), left), y], axis=1).astype(np.float32)
        said = tuple(self.row_name(row) for row in range(0, self.rows, every))
        yield Texts(points, said, muted, size, "right")
        widest = max(text_width(self.column_name(i), size) for i in range(self.columns))
        each = _every(across, widest + size * 0.5)
        x = [at.x + across * (i + 0.5) for i in range(0, self.columns, each)]
        high = at.y - size * 0.8
        points = np.stack([x, np.full(len(x), high)], axis=1).astype(np.float32)
        said = tuple(self.column_name(i) for i in range(0, self.columns, each))
        yield Texts(points, said, muted, size, "center")
        yield label(left, high, self.corner, muted, size, align="right")

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The piece under a point."""
        left, top, width, height = self._rects(stage, area).T
        found = np.flatnonzero((left <= x) & (x < left + width) & (top <= y) & (y < top + height))
        return self.picks(int(found[-1])) if len(found) else None


def _every(pitch: float, room: float) -> int:
    """Every how many rows or columns there is room for a name."""
    return next(k for k in (1, 2, 4, 8, 16, 32, 64) if k * pitch >= room or k == 64)


_WIDE, _BIT_HIGH = 40.0, 30.0  # pixels of a bit at scale 1, at the most


@dataclass(frozen=True, eq=False)
class BitRow:
    """A number: its wordings, longest first; `lit` bits stand out, others are quiet.

    Of `only` these bits are shown (None: of all).
    """

    names: tuple[str, ...]
    value: int
    lit: tuple[tuple[range, Ink], ...] = ()
    only: range | None = None


@dataclass(frozen=True, eq=False)
class Bits(Panel):
    """`count` bits of each row; `parts` are names, from the longest, of ranges of bits."""

    count: int
    rows: tuple[BitRow, ...]
    parts: tuple[tuple[tuple[str, ...], range], ...]

    def need(self, stage: Stage, width: float) -> Need:
        """Its rows, numbers above them, names of parts below."""
        size = stage.text(14)
        high = size * 1.3 + len(self.rows) * (_BIT_HIGH * stage.scale) + size * 2.1
        least = size * 1.3 + len(self.rows) * size * 1.3 + size * 2.1
        return Need(high, least, size * 8 + self.count * size * 0.9)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Numbers of bits, rows, parts."""
        size, palette = stage.text(14), stage.palette
        names = max(text_width(row.names[-1], size) for row in self.rows) + size
        longest = max(text_width(row.names[0], size) for row in self.rows) + size
        room = area.width - self.count * size * 1.2
        names = longest if longest <= room else names
        wide = min((area.width - names) / self.count, _WIDE * stage.scale)
        free = area.height - size * 3.4
        high = min(free / len(self.rows), _BIT_HIGH * stage.scale)
        inner = Rect(area.x + names, area.y + size * 1.3, wide * self.count, high * len(self.rows))
        boxes = grid(inner, len(self.rows), self.count, 2.0).reshape(-1, self.count, 4)
        every = 1 if wide >= text_width("10", stage.text(13)) + 3 else 2
        bits = range(self.count - 1, -1, -every)
        at = centers(boxes[0])[::every].copy()
        at[:, 1] = area.y + size * 0.6
        yield Texts(at, tuple(map(str, bits)), palette.muted, stage.text(13), "center")
        for row, place in zip(self.rows, boxes, strict=True):
            yield from self._row(stage, row, place, area.x, names)
        yield from self._parts(stage, boxes[-1], inner.bottom + size * 0.2)

    def _row(
        self, stage: Stage, row: BitRow, boxes: F32, left: float, wide: float
    ) -> Iterator[Mark]:
        palette, size = stage.palette, stage.text(14)
        name = first_fitting(row.names, wide, size)
        middle = float(boxes[0, 1] + boxes[0, 3] / 2)
        yield label(left, middle, name, palette.ink, size)
        shown = row.only if row.only is not None else range(self.count)
        bits = [bit for bit in range(self.count - 1, -1, -1) if bit in shown]
        if not bits:
            return
        place = boxes[[self.count - 1 - bit for bit in bits]]
        fill = np.stack([self._fill(stage, row, bit) for bit in bits])
        digits = tuple(str(row.value >> bit & 1) for bit in bits)
        letters = float(int(min(size, boxes[0, 3] * 0.8)))
        yield Boxes(place, fill, radius=3)
        yield Texts(centers(place), digits, palette.ink_on(fill), letters, "center", bold=True)

    def _fill(self, stage: Stage, row: BitRow, bit: int) -> np.ndarray:
        for which, ink in row.lit:
            if bit in which:
                return stage.palette.soft(color(stage, ink), 0.25)
        return stage.palette.cell

    def _parts(self, stage: Stage, boxes: F32, y: float) -> Iterator[Mark]:
        size, palette = stage.text(14), stage.palette
        spans = []
        for names, bits in self.parts:
            if not len(bits) or bits.start >= self.count:
                continue
            last = boxes[self.count - 1 - bits.start]
            begin = boxes[self.count - min(bits.stop, self.count)]
            left, right = float(begin[0]), float(last[0] + last[2])
            spans.append((left, right))
            if text := first_fitting(names, right - left + size * 0.5, size):
                yield label((left + right) / 2, y + size, text, palette.muted, size, align="center")
        yield brackets(np.array(spans, np.float32), y, size * 0.3, palette.faint)
