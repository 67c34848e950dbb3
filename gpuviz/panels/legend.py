"""What colours mean: a ramp with its ends and where the values are from, or boxes with words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.draw import heading
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark, Raster
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_LINE = 1.9  # height of a line, in letters
_RAMP = 2.0  # letters that a ramp takes at least


@dataclass(frozen=True, eq=False)
class Legend(Panel):
    """The ramp of colours between the least and the largest value, and where values come from."""

    answers: ClassVar[bool] = True
    low: str
    high: str
    badge: str

    def need(self, stage: Stage, width: float) -> Need:
        """A line; two where the ramp would have no room beside the badge."""
        high = _LINE * stage.text(14) * (1 + self._folded(stage, width))
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Least, ramp, largest, badge; the badge above them where there is too little room."""
        size, palette = stage.text(14), stage.palette
        pill, folded = heading.pill_width(stage, self.badge), self._folded(stage, area.width)
        line = area.height / (1 + folded)
        y = area.bottom - line / 2
        first = area.x + text_width(self.low, size) + size * 0.6
        beside = 0.0 if folded else pill
        last = area.right - beside - text_width(self.high, size) - size * 0.8
        ramp = (first, y - size * 0.4, max(last - first, 1.0), size * 0.8)
        yield label(area.x, y, self.low, palette.ink, size)
        yield Raster(ramp, palette.heat[None, ::4])
        yield label(last + size * 0.5, y, self.high, palette.ink, size)
        left = area.right - pill + stage.text(13) * 0.7
        yield from badge(stage, left, area.y + line / 2, self.badge)

    def _folded(self, stage: Stage, width: float) -> bool:
        """Whether the badge stands above the ramp."""
        size = stage.text(14)
        words = text_width(self.low, size) + text_width(self.high, size)
        taken = words + heading.pill_width(stage, self.badge) + size * 1.4
        return width < taken + size * _RAMP


@dataclass(frozen=True)
class Key:
    """A word and its colour, as `soft` as it is in the picture; a `hatched` one stands for what is
    of no use.
    """

    word: str
    ink: Ink = "ink"
    hatched: bool = False
    soft: float = 0.3


@dataclass(frozen=True, eq=False)
class ColorKey(Panel):
    """As many of the keys as there is room for, from the left."""

    keys: tuple[Key, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        size = stage.text(14)
        first = text_width(self.keys[0].word, size) + size * 1.2 if self.keys else 0.0
        return Need(size * 1.7, size * 1.7, first)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """A box and its word, one after another."""
        size, palette, x, y = stage.text(14), stage.palette, area.x, area.center[1]
        for key in self.keys:
            wide = text_width(key.word, size) + size * 1.2
            if x + wide > area.right:
                return
            box = np.array([[x, y - size * 0.4, size * 0.8, size * 0.8]], np.float32)
            if key.hatched:
                yield Boxes(box, palette.waste_ground, hatch=palette.waste, radius=2)
            else:
                yield Boxes(box, palette.soft(color(stage, key.ink), key.soft), radius=2)
            yield label(x + size * 1.2, y, key.word, palette.muted, size)
            x += wide + size * 1.2
