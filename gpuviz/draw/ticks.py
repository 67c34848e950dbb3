"""A mark for each pass, wavefront or transaction: done, now, to come; extra ones hatched."""

from __future__ import annotations

import numpy as np

from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage


def ticks(stage: Stage, area: Rect, count: int, ideal: int, served: float) -> tuple[Mark, ...]:
    """`count` marks from the left, `served` of them over (the fraction is the one under way).

    None while the stage asks how many there are.
    """
    if stage.asks:
        return ()
    palette, gap = stage.palette, 3.0 if count * 6 <= area.width else 1.0
    boxes = grid(area, 1, max(count, 1), gap)
    boxes[:, 2] = np.minimum(boxes[:, 2], max(area.width / 16, 8.0))
    boxes[:, 0] = area.x + np.arange(len(boxes)) * (boxes[:, 2] + gap)
    number = np.arange(len(boxes))
    done = number < int(served + 1e-6)
    now = (number == int(served)) & (served > 0) & ~done
    extra = number >= ideal
    marks: list[Mark] = []
    for late in (False, True):
        color = palette.waste_ground if late else palette.accent
        hatch = palette.waste if late else None
        for over in (False, True):
            some = boxes[(extra == late) & (done == over)]
            dim = palette.todo(hatch) if hatch is not None and not over else hatch
            marks.append(Boxes(some, color if over else palette.todo(color), hatch=dim, radius=2))
    return *marks, Boxes(boxes[now], stroke=palette.outline, stroke_width=2, radius=2)
