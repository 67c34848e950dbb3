"""A box with a title around other panels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuviz.base.arrays import F32
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels import layout
from gpuviz.panels.panel import Need, Panel

_SIDE, _EDGE, _TITLE, _WIDE = 0.6, 0.45, 1.35, 16.0  # letters


@dataclass(frozen=True, eq=False)
class Box(Panel):
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
        box, inner = self._inside(stage, area)
        yield Boxes(box.array(), palette.panel, stroke=palette.border, radius=6)
        yield label(inner.x, inner.y + size * 0.6, self.title, palette.ink, size, bold=True)
        for panel, piece in self._placed(stage, area):
            if not (panel.answers and stage.asks):
                yield from panel.draw(stage, piece)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """Those of the panels inside."""
        found = (panel.spots(stage, piece, name) for panel, piece in self._placed(stage, area))
        return next((rects for rects in found if rects is not None), None)

    def _inside(self, stage: Stage, area: Rect) -> tuple[Rect, Rect]:
        size = stage.text(14)
        box = area._replace(height=min(area.height, self.most * size))
        return box, box.inset(size * _SIDE, size * _EDGE)

    def _placed(self, stage: Stage, area: Rect) -> Iterator[tuple[Panel, Rect]]:
        if self.body is None:
            return
        inner = self._inside(stage, area)[1].above(stage.text(14) * _TITLE)[1]
        yield from layout.place(self.body, stage, inner)
