"""Words in boxes of their own: registers that hold the elements of an array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel

_TALL, _LOW = 40.0, 16.0  # most and least height of a box at scale 1
_FEW = 4  # up to so many stand in one row


@dataclass(frozen=True, eq=False)
class WordBoxes(Panel):
    """A box for each of the words; `short` ones stand in them where the others have no room."""

    words: tuple[str, ...]
    short: tuple[str, ...]

    @property
    def columns(self) -> int:
        """Boxes in a row."""
        return _FEW if len(self.words) <= _FEW else 2 * _FEW

    def need(self, stage: Stage, width: float) -> Need:
        """Rows of boxes."""
        rows = -(-len(self.words) // self.columns) * stage.scale
        return Need(rows * _TALL, rows * _LOW)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The boxes from the top left."""
        palette, size, count = stage.palette, stage.text(13), len(self.words)
        rows = -(-count // self.columns)
        tall = min(area.height / rows, _TALL * stage.scale)
        room = area._replace(height=tall * rows - 4)
        boxes = grid(room, rows, self.columns, 4.0)[:count]
        fits = max(text_width(word, size) for word in self.words) <= boxes[0, 2] - 4
        yield Boxes(boxes, palette.soft(palette.shared, 0.65), stroke=palette.shared, radius=3)
        words = self.words if fits else self.short
        yield Texts(centers(boxes), words, palette.ink, size, "center")
