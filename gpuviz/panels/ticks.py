"""A mark for each pass, wavefront or transaction: done, now, to come; extra ones hatched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel


@dataclass(frozen=True, eq=False)
class Ticks(Panel):
    """`count` marks from the left, `served` of them over (the fraction is the one under way)."""

    answers: ClassVar[bool] = True
    count: int
    ideal: int
    served: float

    def need(self, stage: Stage, width: float) -> Need:
        """A low row."""
        return Need(10 * stage.scale, 10 * stage.scale)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Those beyond the ideal hatched, the one under way outlined."""
        palette, gap = stage.palette, 3.0 if self.count * 6 <= area.width else 1.0
        boxes = grid(area, 1, max(self.count, 1), gap)
        boxes[:, 2] = np.minimum(boxes[:, 2], max(area.width / 16, 8.0))
        boxes[:, 0] = area.x + np.arange(len(boxes)) * (boxes[:, 2] + gap)
        number = np.arange(len(boxes))
        done = number < int(self.served + 1e-6)
        now = (number == int(self.served)) & (self.served > 0) & ~done
        extra = number >= self.ideal
        for late in (False, True):
            color = palette.waste_ground if late else palette.accent
            hatch = palette.waste if late else None
            for over in (False, True):
                some = boxes[(extra == late) & (done == over)]
                dim = palette.todo(hatch) if hatch is not None and not over else hatch
                yield Boxes(some, color if over else palette.todo(color), hatch=dim, radius=2)
        yield Boxes(boxes[now], stroke=palette.outline, stroke_width=2, radius=2)
