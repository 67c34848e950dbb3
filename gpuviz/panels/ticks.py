"""A mark for each pass, wavefront or transaction: done, now, to come; extra ones hatched."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.draw.heading import badge, label, pill_width
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.words.language import tr

_WIDE, _FEW = 9.0, 6.0  # letters: room for words before ticks; ticks that are left out in less
_DONE = 8.5  # letters: `0 of 1 wavefront`


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
        high = self.need(stage, area.width).height
        row = area._replace(y=area.center[1] - high / 2, height=high)
        boxes = grid(row, 1, max(self.count, 1), gap)
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


@dataclass(frozen=True, eq=False)
class TicksLine(Panel):
    """A name, how many are over in words, their ticks, and the badge of the model.

    `name` has two wordings, the longer one first; `names` are those of all lines that stand below
    each other, so that all are in the same wording, and their ticks below each other, too.
    """

    name: tuple[str, str]
    names: tuple[tuple[str, str], ...]
    done: str
    ticks: Ticks

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(stage.text(14) * 1.45, stage.text(14) * 1.45)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The name alone while a class is asked."""
        palette, size, y = stage.palette, stage.text(14), area.y + stage.text(14) * 0.6
        pill = pill_width(stage, tr("model"))
        most = [max(text_width(name[i], size, True) for name in self.names) for i in (0, 1)]
        brief = most[0] + size * (_DONE + 1) + pill > area.width
        yield label(area.x, y, self.name[brief], palette.ink, size, bold=True)
        if stage.asks:
            return
        x = area.x + most[brief] + size
        over = self.ticks.served >= self.ticks.count
        yield label(x, y, self.done, palette.good if over else palette.accent, size, bold=True)
        if x + text_width(self.done, size, True) + pill > area.right:
            return
        yield from badge(stage, area.right - pill + size * 0.65, y, tr("model"))
        x += max(text_width(self.done, size, True), size * _WIDE) + size
        row = Rect(x, y - size * 0.35, area.right - pill - x - size, size * 0.7)
        if row.width > size * _FEW:
            yield from self.ticks.draw(stage, row)
