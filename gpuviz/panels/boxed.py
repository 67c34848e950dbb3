"""A box with a title around other panels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels import layout
from gpuviz.panels.panel import Need, Panel

_SIDE, _EDGE, _TITLE, _WIDE = 0.6, 0.45, 1.35, 16.0  # letters


@dataclass(frozen=True, eq=False)
class Boxed(Panel):
    """What is in the box, below its title (None: nothing yet); at most `most` letters high."""

    title: str
    body: layout.Node | None
    most: float

    def need(self, stage: Stage, width: float) -> Need:
        """As high as it may be; it can do with the title and what the body needs."""
        size = stage.text(14)
        least, wide = (2 * _EDGE + _TITLE) * size, _WIDE * size
        if self.body is not None:
            inner = layout.need(self.body, stage, width - 2 * _SIDE * size)
            least, wide = least + inner.least, max(wide, inner.width + 2 * _SIDE * size)
        return Need(max(self.most * size, least), least, wide)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Box, title, and the panels inside."""
        size, palette = stage.text(14), stage.palette
        area = area._replace(height=min(area.height, self.most * size))
        inner = area.inset(size * _SIDE, size * _EDGE)
        yield Boxes(area.array(), palette.panel, stroke=palette.border, radius=6)
        yield label(inner.x, inner.y + size * 0.6, self.title, palette.ink, size, bold=True)
        if self.body is not None:
            for panel, piece in layout.place(self.body, stage, inner.above(size * _TITLE)[1]):
                if not (panel.answers and stage.asks):
                    yield from panel.draw(stage, piece)
