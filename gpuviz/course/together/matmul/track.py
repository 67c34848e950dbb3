"""A track of phases and their parts: what is done, what happens now, what is still to come.

All phases stand side by side where their parts can be named; else the parts of the phase under way,
over a row of marks for the phases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, elide, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color
from gpuviz.words.language import tr

_GAP = 4.0
_HEIGHT, _SLIM = 3.5, 1.9  # letters; a slim track does not number the phases


@dataclass(frozen=True)
class Part:
    """A part of a phase: its name, its colour, and the phase's number (-1: after the last).

    One that is `skipped` never happens: it is hatched, whatever the time, unless a class is asked.
    """

    name: str
    ink: Ink
    phase: int
    skipped: bool = False


@dataclass(frozen=True, eq=False)
class Track(Panel):
    """The parts, `now` being the one under way (their number when all are done)."""

    parts: tuple[Part, ...]
    now: int
    slim: bool = False

    def need(self, stage: Stage, width: float) -> Need:
        """One line, or two."""
        high = stage.text(14) * (_SLIM if self.slim else _HEIGHT)
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """A box a part, and the phases below."""
        size = stage.text(14)
        row, below = area.above(min(size * 2.0, area.height), size * 0.25)
        needed = max(text_width(p.name, size, True) for p in self.parts) + size * 0.8
        every = tuple(range(len(self.parts)))
        if needed * len(every) + _GAP * (len(every) - 1) <= area.width:
            yield from self._boxes(stage, row, every)
            yield from self._names(stage, row, below)
            return
        phase = self.parts[min(self.now, len(every) - 1)].phase
        phase = phase if phase >= 0 else max(p.phase for p in self.parts)
        few = tuple(i for i in every if self.parts[i].phase in (phase, -1))
        yield from self._boxes(stage, row, few)
        yield from self._overview(stage, below, phase)

    def _boxes(self, stage: Stage, row: Rect, shown: tuple[int, ...]) -> Iterator[Mark]:
        """One box a part: full when done, outlined now, dim when still to come."""
        size, cells = stage.text(14), grid(row, 1, len(shown), _GAP)
        fill = np.stack([self._fill(stage, i) for i in shown])
        skipped = np.array([self._skipped(stage, i) for i in shown], bool)
        room = float(cells[0, 2]) - 4
        words = tuple(elide(self.parts[i].name, room, size, bold=True) for i in shown)
        current = cells[[i == self.now for i in shown]]
        yield Boxes(cells[~skipped], fill[~skipped], radius=5)
        if skipped.any():
            names = [word for word, one in zip(words, skipped, strict=True) if one]
            yield from _hatched(stage, cells[skipped], names)
        yield Boxes(current, stroke=stage.palette.outline, stroke_width=2.5, radius=5)
        yield Texts(centers(cells), words, stage.palette.ink_on(fill), size, "center", bold=True)

    def _skipped(self, stage: Stage, number: int) -> bool:
        return self.parts[number].skipped and not stage.asks

    def _fill(self, stage: Stage, number: int) -> Rgba:
        palette, full = stage.palette, color(stage, self.parts[number].ink)
        if self._skipped(stage, number):
            return palette.waste_ground
        if number == self.now:
            return full
        return palette.soft(full, 0.45) if number < self.now else palette.todo(full)

    def _names(self, stage: Stage, row: Rect, below: Rect) -> Iterator[Mark]:
        """The phases' numbers under their first parts; none in a slim track."""
        size = stage.text(14)
        if below.height < size:
            return
        cells, before = grid(row, 1, len(self.parts), _GAP), -1
        for cell, part in zip(cells.tolist(), self.parts, strict=True):
            if part.phase not in (-1, before):
                name = tr("phase {n}", n=part.phase + 1)
                yield label(cell[0], below.y + size * 0.6, name, stage.palette.muted, size)
            before = part.phase

    def _overview(self, stage: Stage, below: Rect, phase: int) -> Iterator[Mark]:
        """Which phase of how many, in words and as a row of marks; nothing in a slim track."""
        palette, size = stage.palette, stage.text(14)
        if below.height < size:
            return
        count = max(p.phase for p in self.parts) + 1
        text = tr("phase {n} of {all}", n=phase + 1, all=count)
        widest = text_width(tr("phase {n} of {all}", n=count, all=count), size) + size
        bar = below.beside(widest)[1]
        cells = grid(Rect(bar.x, below.y + size * 0.3, bar.width, size * 0.6), 1, count, 2.0)
        over = (np.arange(count) < (phase + (self.now >= len(self.parts))))[:, None]
        fill = np.where(over, palette.soft(palette.accent, 0.45), palette.todo(palette.accent))
        fill[phase] = palette.accent
        yield label(below.x, below.y + size * 0.6, text, palette.muted, size)
        yield Boxes(cells, fill.astype(np.uint8), radius=2)


def _hatched(stage: Stage, cells: F32, names: list[str]) -> Iterator[Mark]:
    """Skipped parts, with plain ground for their names."""
    size, palette, middle = stage.text(14), stage.palette, centers(cells)
    wide = np.array([text_width(name, size, True) for name in names], np.float32) + size * 0.6
    left, top = middle[:, 0] - wide / 2, middle[:, 1] - size * 0.65
    plates = np.stack([left, top, wide, np.full_like(wide, size * 1.3)], axis=1)
    yield Boxes(cells, palette.waste_ground, hatch=palette.waste, radius=5)
    yield Boxes(plates, palette.waste_ground, radius=3)
