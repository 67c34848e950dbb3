"""A row of cells in the colours of the lanes that own them: done, to come, and those asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, I64, Bool
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel

_CAPTION, _ROW = 1.7, 1.4  # letters high


@dataclass(frozen=True, eq=False)
class CellRow(Panel):
    """(C,) cells from left to right.

    Attributes
    ----------
    lane : who owns each cell; `done` and `now` whether it is written, and asked for at the moment
    captions : what the row is, wordings from the longest; left out where it is low
    tip : hover text of cell i
    """

    lane: I64
    done: Bool
    now: Bool
    captions: tuple[str, ...]
    tip: Callable[[int], str]

    def need(self, stage: Stage, width: float) -> Need:
        """The row with its caption; it can do without."""
        size = stage.text(14)
        return Need((_CAPTION + _ROW) * size, _ROW * size)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Caption, cells, lane numbers where they fit, outlines."""
        size, palette = stage.text(14), stage.palette
        if area.height > size * (_CAPTION + _ROW) - 1:
            above, area = area.above(size * 1.5)
            text = first_fitting(self.captions, above.width, size)
            yield label(above.x, above.y + size * 0.55, text, palette.muted, size)
        row = area.above(size * 1.35)[0]
        rects = grid(row, 1, len(self.lane), 2.0 if row.width > len(self.lane) * 8 else 0.0)
        fill = palette.state(palette.lanes[self.lane], self.done.astype(np.float64))
        yield Boxes(rects, fill, tip=self.tip, lanes=self.lane)
        small = stage.text(13)
        if float(rects[0, 2]) >= text_width("31", small, True) + 2:
            numbers, ink = tuple(map(str, self.lane.tolist())), palette.ink_on(fill)
            yield Texts(centers(rects), numbers, ink, small, "center", bold=True)
        edge = _around_runs(rects, self.now)
        yield Boxes(edge, stroke=palette.outline, stroke_width=1.5, radius=1)


def _around_runs(rects: F32, chosen: Bool) -> F32:
    """(R, 4) areas around each run of chosen neighbours."""
    edge = np.diff(chosen.astype(np.int8), prepend=0, append=0)
    first, last = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
    left, right = rects[first, 0], rects[last, 0] + rects[last, 2]
    top, height = rects[first, 1] - 2, rects[first, 3] + 4
    return np.stack([left - 1, top, right - left + 2, height], axis=1).astype(np.float32)
