"""Variables by their names with the values they hold, and a check of them: ticked or crossed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.color import mix
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting, grid
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_CAPTION, _TALL, _LOW = 1.4, 2.8, 1.35  # letters high


@dataclass(frozen=True, eq=False)
class Variables(Panel):
    """Boxes with names and values; the values are kept back while a class is asked.

    Attributes
    ----------
    captions : where they lie, wordings from the longest
    names, values : of each; a value not known yet is ""
    ink : the colour of what holds something, which `filled` (0 to 1) of them do
    spot : what it is called by what moves to it and from it
    below : the caption is below the boxes, where something comes to them from above
    tip : hover text of each
    """

    captions: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[str, ...]
    tips: tuple[str, ...]
    ink: Ink = "load"
    filled: float = 1.0
    spot: str = ""
    below: bool = False

    def need(self, stage: Stage, width: float) -> Need:
        """A caption and a row of boxes; the boxes may be low."""
        size = stage.text(14)
        return Need((_CAPTION + _TALL) * size, (_CAPTION + _LOW) * size, 12 * size)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """The boxes."""
        return self._boxes(stage, area) if name and name == self.spot else None

    def _boxes(self, stage: Stage, area: Rect) -> F32:
        size = stage.text(14)
        room = Rect(area.x, area.y, area.width, area.height - size * _CAPTION)
        if not self.below:
            room = area.above(size * _CAPTION)[1]
        row = room.above(min(room.height - 1, size * _TALL))[0]
        return grid(row, 1, len(self.names), 4.0)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The caption, and the boxes from the left."""
        palette, size, boxes = stage.palette, stage.text(14), self._boxes(stage, area)
        caption = first_fitting(self.captions, area.width, size)
        top = float(boxes[0, 1] + boxes[0, 3]) + size * 0.2 if self.below else area.y
        yield label(area.x, top + size * 0.65, caption, palette.muted, size)
        full = 0.0 if stage.asks else self.filled
        done = np.clip(full * len(boxes) - np.arange(len(boxes)), 0.0, 1.0)
        strong = np.tile(palette.soft(color(stage, self.ink), 0.45), (len(boxes), 1))
        fill = mix(np.tile(palette.cell, (len(boxes), 1)), strong, done)
        yield Boxes(boxes, fill, stroke=palette.border, radius=4, tip=lambda i: self.tips[i])
        ink = palette.ink_on(fill)
        left = np.stack([boxes[:, 0] + size * 0.5, boxes[:, 1] + boxes[:, 3] / 2], axis=1)
        right = np.stack(
            [boxes[:, 0] + boxes[:, 2] - size * 0.5, boxes[:, 1] + boxes[:, 3] / 2], axis=1
        )
        yield Texts(left.astype(np.float32), self.names, ink, size)
        words = tuple("" if stage.asks else v for v in self.values)
        room = float(boxes[0, 2]) - max(text_width(n, size) for n in self.names) - size * 1.4
        if max(text_width(word, size, True) for word in words) <= room:
            yield Texts(right.astype(np.float32), words, ink, size, "right", bold=True)


@dataclass(frozen=True, eq=False)
class Verdict(Panel):
    """A check in words, and what came of it: ticked, or crossed; kept back while a class is asked.

    `texts` are wordings from the longest; `passed` None is no verdict yet; `ink` says how far it is
    to be believed.
    """

    texts: tuple[str, ...]
    passed: bool | None
    ink: Ink
    bold: bool = True

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(stage.text(14) * 2.0, stage.text(14) * 1.6)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The sign, then the words."""
        size, y = stage.text(14), area.center[1]
        known = self.passed is not None and not stage.asks
        ink = color(stage, self.ink) if known else stage.palette.muted
        if known:
            yield sign(area.x + size * 0.6, y, size, bool(self.passed), ink)
        x = area.x + size * 1.6
        text = first_fitting(self.texts, area.right - x, size, self.bold) or self.texts[-1]
        if not stage.asks:
            yield label(x, y, text, ink, size, bold=self.bold)


def sign(x: float, y: float, size: float, passed: bool, ink: Rgba) -> Lines:
    """A tick or a cross around a point."""
    h = size * 0.36
    tick = [[[x - h, y], [x - h * 0.3, y + h * 0.8]], [[x - h * 0.3, y + h * 0.8], [x + h, y - h]]]
    cross = [[[x - h, y - h], [x + h, y + h]], [[x - h, y + h], [x + h, y - h]]]
    return Lines(np.array(tick if passed else cross, np.float32), ink, max(size * 0.16, 2.0))
