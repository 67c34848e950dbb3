"""A block's threads as cells, and which of them are its first warp."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, cell_size
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import LANES
from gpuviz.words.language import trn


@dataclass(frozen=True, eq=False)
class FirstWarp(Panel):
    """`columns` x `rows` threads of a block, those of its first warp in their lanes' colours."""

    columns: int
    rows: int
    caption: str
    idle: str
    tip: Callable[[int], str]

    def need(self, stage: Stage, width: float) -> Need:
        """A narrow column."""
        size = stage.text(14)
        return Need(8 * size, 5 * size, 7 * size)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Caption, cells, and how many warps that are."""
        size, palette = stage.text(14), stage.palette
        head, body = area.above(size * 1.5)
        x, y = self.columns, self.rows
        room = body._replace(height=body.height - size * 1.5)
        pitch = max(cell_size(room, y, x, 0.0, 22 * stage.scale), 1.0)
        cells, lanes = Matrix(body.x, body.y, y, x, pitch), min(x * y, LANES)
        fill = np.broadcast_to(palette.cell, (x * y, 4)).copy()
        fill[:lanes] = palette.lanes[:lanes]
        yield label(head.x, head.y + size * 0.55, self.caption, palette.muted, size)
        yield Boxes(cells.cells, fill, tip=self.tip)
        if not stage.asks:
            warps = -(-x * y // LANES)
            said = self.idle or trn("{n} warp", "{n} warps", warps)
            yield label(head.x, cells.area.bottom + size * 0.95, said, palette.muted, size)
