"""Counts in boxes, each below what it is the count of; the more, the warmer its box."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel

_TALL, _LOW = 84.0, 22.0  # most and least height of a box
_FEW, _MANY = 8, 16  # boxes in a row, where there is room for tall ones and where there is not

_GAP = 4.0  # pixels between boxes


@dataclass(frozen=True, eq=False)
class CountBoxes(Panel):
    """A box each, filled one after another; while a class is asked they stay empty."""

    names: tuple[str, ...]  # what the counts are of
    count: I64  # (N,) in the boxes
    heat: F64  # (N,) 0 to 1, how warm a box is
    filled: float  # boxes that are filled
    picked: int = -1  # the box that is marked, -1 for none

    def need(self, stage: Stage, width: float) -> Need:
        """Tall boxes in many rows, or low ones in few."""
        few = _MANY if self._fit(stage, width) else _FEW
        rows = [-(-len(self.names) // columns) for columns in (_FEW, few)]
        return Need(rows[0] * _TALL * stage.scale, rows[1] * _LOW * stage.scale)

    def _fit(self, stage: Stage, width: float) -> bool:
        """Whether the names fit boxes of which many are in a row."""
        return self._widest(stage) <= (width - _GAP * (_MANY - 1)) / _MANY

    def _widest(self, stage: Stage) -> float:
        return max(text_width(name, stage.text(13)) for name in self.names)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The boxes; those that are marked, and the next one to be filled, outlined."""
        total = len(self.names)
        low = area.height < -(-total // _MANY) * _TALL * stage.scale
        columns = _MANY if low and self._fit(stage, area.width) else _FEW
        inner = area._replace(height=area.height - 4)
        boxes = grid(inner, -(-total // columns), columns, _GAP)[:total]
        filled = 0.0 if stage.asks else self.filled
        yield from self._boxes(stage, boxes, np.arange(total) < filled)
        if 0 <= self.picked < filled:
            chosen = boxes[self.picked : self.picked + 1]
            yield Boxes(chosen, stroke=stage.palette.accent, stroke_width=3, radius=5)
        if filled < total:
            now = min(int(self.filled), total - 1)
            outline = boxes[now : now + 1]
            yield Boxes(outline, stroke=stage.palette.outline, stroke_width=2, radius=5)

    def _boxes(self, stage: Stage, boxes: F32, done: Bool) -> Iterator[Mark]:
        """Names above, counts below; counts alone where there is no room for both."""
        palette, small, high = stage.palette, stage.text(13), float(boxes[0, 3])
        fill = np.where(done[:, None], palette.heat_at(self.heat), palette.todo(palette.cell))
        fill = fill.astype(np.uint8)
        ink = np.where(done[:, None], palette.ink_on(fill), palette.muted).astype(np.uint8)
        large = float(int(min(stage.text(18), high - small - 3, boxes[0, 2] * 0.62)))
        both = large >= small and self._widest(stage) <= float(boxes[0, 2])
        x = boxes[:, 0] + boxes[:, 2] / 2
        above = np.stack([x, boxes[:, 1] + small * 0.72], axis=1).astype(np.float32)
        down = boxes[:, 1] + (high - large * 0.62 if both else high / 2)
        below = np.stack([x, down], axis=1).astype(np.float32)
        yield Boxes(boxes, fill, radius=4)
        if both:
            yield Texts(above, self.names, ink, small, "center")
        counts = tuple(map(str, self.count[done].tolist()))
        yield Texts(below[done], counts, ink[done], large if both else small, "center", bold=True)
