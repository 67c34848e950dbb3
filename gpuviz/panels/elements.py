"""The elements of an array or a matrix, in rows as they lie in memory, in their lanes' colours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw import figures
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, around, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel

_LARGEST = 64.0  # pixels of an element at scale 1
_CAPTION, _WIDE = 1.5, 18.0  # letters high, and wide
_READABLE = 12.0  # letters that lines of text are wide at least
_QUIET = 0.35  # how much colour is left of what is over


@dataclass(frozen=True, eq=False)
class Elements(Panel):
    """(N,) elements, `columns` in a row.

    Attributes
    ----------
    lane : lane whose colour each has, -1: none
    done : how far its turn has come: 0 to come, 1 over
    now : those whose turn it is
    captions : what they are, wordings from the longest
    tip : hover text of an element
    quiet : those whose turn is long over
    along : moved, though no lane asks for them; kept back while a class is asked
    numbered : whether their numbers stand in them, where these can be read
    notes : sentences for the room they leave, beside or below, the first one said loudest
    tall : how many times as high as wide they may be
    """

    share: ClassVar[float] = 1.0
    columns: int
    lane: I64
    done: F64
    now: Bool
    captions: tuple[str, ...]
    tip: Tip
    quiet: Bool | None = None
    along: Bool | None = None
    numbered: bool = False
    notes: tuple[str, ...] = ()
    tall: float = 1.0

    @property
    def rows(self) -> int:
        """Rows, the last one possibly not full."""
        return -(-len(self.lane) // self.columns)

    def need(self, stage: Stage, width: float) -> Need:
        """Elements can be a few pixels high."""
        size = stage.text(14)
        high = size * _CAPTION + min(self.rows * 4.0, size * 8)
        return Need(high, high, size * _WIDE)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Caption, elements, what came along, outlines, numbers."""
        size, palette = stage.text(14), stage.palette
        text = first_fitting(self.captions, area.width, size)
        yield label(area.x, area.y + size * 0.55, text, palette.muted, size)
        pitch, cells = self._cells(stage, area)
        fill = self._fill(stage)
        yield Boxes(cells, fill, radius=2.0 if pitch >= 12 else 0.0, tip=self.tip)
        if self.along is not None and not stage.asks:
            yield Boxes(cells[self.along & (self.lane >= 0)], hatch=palette.waste)
            new = self.along & (self.lane < 0)
            yield Boxes(cells[new], palette.waste_ground, hatch=palette.waste)
        yield Boxes(
            _outlined(cells, self.now, pitch), stroke=palette.outline, stroke_width=2.0, radius=3
        )
        if self.numbered:
            yield from _numbers(stage, cells, fill, pitch)
        yield from self._notes(stage, area, around(cells))

    def _cells(self, stage: Stage, area: Rect) -> tuple[float, F32]:
        """Pixels from one element to the next in its row, and (N, 4) elements."""
        body = area.above(stage.text(14) * _CAPTION)[1]
        high = body.height / self.rows
        pitch = min(body.width / self.columns, high, _LARGEST * stage.scale)
        pitch = float(int(pitch)) if pitch >= 6 and self.tall == 1 else pitch
        gap = 2.0 if pitch >= 12 else 1.0 if pitch >= 6 else 0.0
        room = pitch * self.columns - gap, min(pitch * self.tall, high) * self.rows - gap
        cells = grid(Rect(body.x, body.y, *room), self.rows, self.columns, gap)
        return pitch, cells[: len(self.lane)]

    def _notes(self, stage: Stage, area: Rect, taken: Rect) -> Iterator[Mark]:
        """Sentences in the larger of the two places that are left."""
        size, top = stage.text(14), area.y + stage.text(14) * _CAPTION
        x, y = taken.right + size * 1.5, taken.bottom + size * 0.8
        beside = Rect(x, top, max(area.right - x, 0), area.bottom - top)
        below = Rect(area.x, y, area.width, max(area.bottom - y, 0))
        rest = max(beside, below, key=lambda room: room.width * room.height)
        for number, text in enumerate(self.notes):
            ink = stage.palette.muted if number else stage.palette.ink
            said, rest = figures.lines(stage, rest, text, ink)
            if rest.width < size * _READABLE or rest.height < 0:
                return
            yield from said

    def _fill(self, stage: Stage) -> Rgba:
        palette = stage.palette
        full = palette.lanes[np.maximum(self.lane, 0)]
        fill = palette.state(full, smooth(self.done))
        if self.quiet is not None:
            fill = np.where(self.quiet[:, None], palette.soft(full, _QUIET), fill)
        return np.where((self.lane >= 0)[:, None], fill, palette.cell).astype(np.uint8)


def _outlined(cells: F32, chosen: Bool, pitch: float) -> F32:
    """Lines around chosen cells: around each, or around all where they are small neighbours."""
    rects = cells[chosen]
    if not len(rects):
        return rects
    whole = around(rects)
    full = len(rects) * pitch * pitch > 0.8 * whole.width * whole.height
    grown = 2 if pitch >= 12 else 1
    rects = whole.array() if pitch < 12 and full else rects
    return np.asarray(rects + np.array([-grown, -grown, 2 * grown, 2 * grown], np.float32))


def _numbers(stage: Stage, cells: F32, fill: Rgba, pitch: float) -> Iterator[Mark]:
    """The place of each element in memory, in elements, where it can be read."""
    size = min(stage.text(14), pitch * 0.6)
    wide = text_width(str(len(cells)), size, True)
    size = float(int(min(size, size * (pitch - 4) / wide)))
    if size >= 12:
        words = tuple(map(str, range(len(cells))))
        yield Texts(centers(cells), words, stage.palette.ink_on(fill), size, "center", bold=True)
