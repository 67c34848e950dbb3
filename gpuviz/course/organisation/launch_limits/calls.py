"""Calls of a program below each other, and what each returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, Bool
from gpuviz.draw.heading import at, label
from gpuviz.draw.layout import Rect, elide
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes
from gpuviz.panels.panel import Ink, Need, Panel, color

_CALL, _SAID, _LOW = 1.5, 1.35, 1.2  # letters high: a call, what it returned, either at least
_EDGE = 1.4  # letters that the edge around a call is high at least


@dataclass(frozen=True)
class Call:
    """A call as code, in wordings from the longest, and what it returned ("": nobody asked)."""

    forms: tuple[str, ...]
    said: str = ""
    ink: Ink = "muted"


@dataclass(frozen=True, eq=False)
class Calls(Panel):
    """The first `made` of the calls, the one under way marked (-1: none); below each what it
    returned, which is kept back while a class is asked.
    """

    calls: tuple[Call, ...]
    made: int
    now: int = -1

    def need(self, stage: Stage, width: float) -> Need:
        """Two lines each; it can do with one."""
        size, count = stage.text(14), len(self.calls)
        return Need((_CALL + _SAID) * size * count, _LOW * size * count, 14 * size)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """Where a `call` ends: what it starts goes on from there."""
        if name != "call":
            return None
        size = stage.text(14)
        rows = [row.above(size * 1.6)[0] for row in area.rows(len(self.calls))]
        boxes = [Rect(row.right - size * 2.6, row.y, size * 2.6, size * 1.6) for row in rows]
        return np.array(boxes, np.float32)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Code, and below it what came back."""
        size = stage.text(14)
        two = area.height >= 2 * _LOW * size * len(self.calls)
        rows = area.rows(len(self.calls))[: self.made]
        for number, (call, row) in enumerate(zip(self.calls, rows, strict=False)):
            code, below = row, row
            if two:
                code, below = row.above(row.height * _CALL / (_CALL + _SAID))
            room = 0.0 if two else text_width(call.said, size, True) + size
            yield from self._code(stage, call, code, code.width - room, number == self.now)
            if call.said and not stage.asks:
                ink = color(stage, call.ink)
                if two:
                    x, y, said = below.x + size * 1.2, below.center[1], f"→ {call.said}"
                    yield label(x, y, said, ink, size, bold=True)
                else:
                    y = row.center[1]
                    yield label(row.right, y, call.said, ink, size, bold=True, align="right")

    def _code(self, stage: Stage, call: Call, row: Rect, room: float, now: bool) -> Iterator[Mark]:
        """The call, in the longest wording that has room."""
        size, palette = stage.text(14), stage.palette
        if now:
            edge = row.inset(-size * 0.3, min(1.0, (row.height - size * _EDGE) / 2))
            yield Boxes(edge.array(), stroke=palette.outline, stroke_width=1.5, radius=4)
        fits = (form for form in call.forms if text_width(form, size, mono=True) <= room)
        said = next(fits, elide(call.forms[-1], room, size, mono=True))
        yield Texts(at(row.x, row.center[1]), (said,), palette.ink, size, mono=True)


@dataclass(frozen=True, eq=False)
class LaneStrip(Panel):
    """(32,) lanes in a row: those `on` in their colours, the others hatched."""

    on: Bool

    def need(self, stage: Stage, width: float) -> Need:
        """A low row."""
        return Need(22 * stage.scale, 8)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The lanes; all alike while a class is asked."""
        palette, high = stage.palette, min(area.height, 22 * stage.scale)
        rects = lane_boxes(area.above(high)[0])
        if stage.asks:
            yield Boxes(rects, palette.cell, radius=2)
            return
        yield Boxes(rects[self.on], palette.lanes[self.on], radius=2)
        yield Boxes(rects[~self.on], palette.waste_ground, hatch=palette.waste, radius=2)
