"""What checks found, one below the other; a click goes to where it happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, Values, color
from gpuviz.words.language import tr

_ROW, _GAP = 3.1, 0.4  # letters


@dataclass(frozen=True)
class Found:
    """One of them: wordings of what it is, longest first, where, and all of it as a sentence."""

    names: tuple[str, ...]
    where: tuple[str, ...]
    told: str
    ink: Ink


@dataclass(frozen=True, eq=False)
class FindingList(Panel):
    """As many as there is room for, those around the `chosen` one (-1: none)."""

    answers: ClassVar[bool] = True
    share: ClassVar[float] = 1.0
    rows: tuple[Found, ...]
    chosen: int
    choose: Callable[[int], Values]

    def need(self, stage: Stage, width: float) -> Need:
        """Two lines each; at least one of them."""
        size = stage.text(14)
        row = size * (_ROW + _GAP)
        return Need(row * len(self.rows), row, size * 12)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Boxes with a bar in the colour of how bad it is."""
        size, palette = stage.text(14), stage.palette
        shown = self._shown(stage, area)
        boxes = [self._box(stage, area, place) for place in range(len(shown))]
        if not boxes:
            return
        rects = np.concatenate([box.array() for box in boxes])
        tips = [self.rows[i].told for i in shown]
        yield Boxes(rects, palette.cell, radius=4, tip=lambda i: tips[i])
        bars = rects.copy()
        bars[:, 2] = size * 0.3
        yield Boxes(bars, np.stack([color(stage, self.rows[i].ink) for i in shown]), radius=1)
        for box, number in zip(boxes, shown, strict=True):
            row, room = self.rows[number], box.width - size * 1.2
            name = first_fitting(row.names, room, size, True) or elide(row.names[-1], room, size)
            where = first_fitting(row.where, room, size) or elide(row.where[-1], room, size)
            yield label(box.x + size * 0.8, box.y + size, name, palette.ink, size, True)
            yield label(box.x + size * 0.8, box.y + size * 2.3, where, palette.muted, size)
            if number == self.chosen:
                yield Boxes(box.array(), stroke=palette.outline, stroke_width=2.0, radius=4)
        left = len(self.rows) - len(shown)
        if left and boxes[-1].bottom + size * 1.3 <= area.bottom:
            said = tr("and {n} more", n=left)
            yield label(area.x, boxes[-1].bottom + size * 0.8, said, palette.muted, size)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """A click goes to one."""
        for place, number in enumerate(self._shown(stage, area)):
            box = self._box(stage, area, place)
            if box.x <= x < box.right and box.y <= y < box.bottom:
                return self.choose(number)
        return None

    def _shown(self, stage: Stage, area: Rect) -> range:
        row, size = stage.text(14) * (_ROW + _GAP), stage.text(14)
        whole = len(self.rows) * row <= area.height + size * _GAP
        room = max(1, int((area.height + (0 if whole else -size * 1.3)) / row) + whole)
        first = max(0, min(self.chosen - room // 2, len(self.rows) - room))
        return range(first, min(first + room, len(self.rows)))

    def _box(self, stage: Stage, area: Rect, place: int) -> Rect:
        size = stage.text(14)
        return Rect(area.x, area.y + place * size * (_ROW + _GAP), area.width, size * _ROW)
