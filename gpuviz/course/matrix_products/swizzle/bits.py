"""Numbers bit by bit, the highest at the left, and what groups of bits mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32
from gpuviz.draw.heading import brackets, label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_WIDE, _HIGH = 40.0, 30.0  # pixels of a bit at scale 1, at the most


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
        high = size * 1.3 + len(self.rows) * (_HIGH * stage.scale) + size * 2.1
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
        high = min(free / len(self.rows), _HIGH * stage.scale)
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
