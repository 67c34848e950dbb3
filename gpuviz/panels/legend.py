"""What the colours of a map mean: the ramp, its ends, and where the values come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gpuviz.draw import figures
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark, Raster
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel


@dataclass(frozen=True, eq=False)
class Legend(Panel):
    """The ramp of colours between the least and the largest value, and where values come from."""

    answers: ClassVar[bool] = True
    low: str
    high: str
    badge: str

    def need(self, stage: Stage, width: float) -> Need:
        """A line."""
        high = stage.text(14) * 1.9
        return Need(high, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Least, ramp, largest, badge."""
        size, palette, y = stage.text(14), stage.palette, area.center[1]
        pill = figures.pill_width(stage, self.badge)
        first = area.x + text_width(self.low, size) + size * 0.6
        last = area.right - pill - text_width(self.high, size) - size * 0.8
        ramp = (first, y - size * 0.4, max(last - first, 1.0), size * 0.8)
        yield label(area.x, y, self.low, palette.ink, size)
        yield Raster(ramp, palette.heat[None, ::4])
        yield label(last + size * 0.5, y, self.high, palette.ink, size)
        left = area.right - pill + stage.text(13) * 0.7
        yield from badge(stage, left, y, self.badge)
