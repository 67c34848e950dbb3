"""What colours mean: a row of small boxes, each with a word beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color


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
