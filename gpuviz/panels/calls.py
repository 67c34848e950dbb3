"""Calls of a program below each other, what each returned, and the values they brought back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.arrays import Array, Bool
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes
from gpuviz.panels.panel import Ink, Need, Panel, color
from gpuviz.trace import LANES

_CALL, _LEAST_CALL = 1.6, 1.2  # letters high
_BARS = 3.4


@dataclass(frozen=True)
class Call:
    """A call, in wordings from the longest, and what came of it."""

    forms: tuple[str, ...]
    said: str
    ink: Ink = "muted"


@dataclass(frozen=True, eq=False)
class Calls(Panel):
    """The first `made` of the calls."""

    answers: ClassVar[bool] = True
    calls: tuple[Call, ...]
    made: int

    def need(self, stage: Stage, width: float) -> Need:
        """A line each."""
        size, count = stage.text(14), len(self.calls)
        return Need(_CALL * size * count, _LEAST_CALL * size * count)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Calls at the left, results at the right."""
        size, rows = stage.text(14), area.rows(len(self.calls))
        for call, row in zip(self.calls[: self.made], rows, strict=False):
            bold, y = call.ink != "muted", row.center[1]
            room = area.width - text_width(call.said, size, bold) - size * 0.6
            said = first_fitting(call.forms, room, size)
            yield label(area.x, y, said, stage.palette.ink, size)
            yield label(area.right, y, call.said, color(stage, call.ink), size, bold, "right")


@dataclass(frozen=True, eq=False)
class ValuesBeside(Panel):
    """Magnitudes of up to 32 values: solid those there are, hollow those that should be."""

    share: ClassVar[float] = 1.0
    answers: ClassVar[bool] = True
    got: Array
    wanted: Array
    captions: tuple[str, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """A caption, and bars that can be told apart."""
        return Need(_BARS * stage.text(14), _BARS * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Bars from the same floor."""
        palette, size = stage.palette, stage.text(14)
        name, room = area.inset(0, size * 0.2).above(size * 1.5)
        text = first_fitting(self.captions, name.width, size)
        yield label(name.x, name.y + size * 0.6, text, palette.muted, size)
        wanted, got = (np.abs(v[:LANES]).astype(np.float32) for v in (self.wanted, self.got))
        top = max(float(wanted.max()), 1e-9)
        cells = grid(room, 1, LANES, 3.0)
        for values, hollow in ((got, False), (wanted, True)):
            boxes = cells[: len(values)].copy()
            boxes[:, 3] = np.minimum(values / top, 1.0) * room.height
            boxes[:, 1] = room.bottom - boxes[:, 3]
            if hollow:
                yield Boxes(boxes, stroke=palette.muted, stroke_width=1.0)
            else:
                yield Boxes(boxes, palette.lanes[: len(boxes)])


@dataclass(frozen=True, eq=False)
class LaneStrip(Panel):
    """(32,) lanes in a row: those `on` in their colours, the others hatched."""

    answers: ClassVar[bool] = True
    on: Bool

    def need(self, stage: Stage, width: float) -> Need:
        """A low row."""
        return Need(26 * stage.scale, 8)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The lanes."""
        palette, high = stage.palette, min(area.height, 26 * stage.scale)
        rects = lane_boxes(area.above(high)[0])
        yield Boxes(rects[self.on], palette.lanes[self.on], radius=2)
        yield Boxes(rects[~self.on], palette.waste_ground, hatch=palette.waste, radius=2)
