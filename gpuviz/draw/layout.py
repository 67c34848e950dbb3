"""Where things go: areas cut in rows and columns, grids of cells, text that has to fit.

A single area is a `Rect`; many are an (N, 4) array of x, y, width, height, as in `Boxes`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from gpuviz.base.arrays import F32
from gpuviz.draw.metrics import text_width


class Rect(NamedTuple):
    """An area in logical pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x at which it ends."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y at which it ends."""
        return self.y + self.height

    @property
    def center(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def inset(self, dx: float, dy: float | None = None) -> Rect:
        """The area that lies `dx` and `dy` (default: the same) inside."""
        dy = dx if dy is None else dy
        return Rect(self.x + dx, self.y + dy, self.width - 2 * dx, self.height - 2 * dy)

    def above(self, height: float, gap: float = 0.0) -> tuple[Rect, Rect]:
        """A strip of that height cut off the top, and what is left below the gap."""
        top = Rect(self.x, self.y, self.width, height)
        used = height + gap
        return top, Rect(self.x, self.y + used, self.width, self.height - used)

    def beside(self, width: float, gap: float = 0.0) -> tuple[Rect, Rect]:
        """A strip of that width cut off the left, and what is left after the gap."""
        left = Rect(self.x, self.y, width, self.height)
        used = width + gap
        return left, Rect(self.x + used, self.y, self.width - used, self.height)

    def rows(self, count: int, gap: float = 0.0) -> tuple[Rect, ...]:
        """Equal rows, top to bottom."""
        height = (self.height - gap * (count - 1)) / count
        tops = (self.y + i * (height + gap) for i in range(count))
        return tuple(Rect(self.x, y, self.width, height) for y in tops)

    def columns(self, count: int, gap: float = 0.0) -> tuple[Rect, ...]:
        """Equal columns, left to right."""
        width = (self.width - gap * (count - 1)) / count
        lefts = (self.x + i * (width + gap) for i in range(count))
        return tuple(Rect(x, self.y, width, self.height) for x in lefts)

    def meets(self, other: Rect) -> bool:
        """Whether the two have an area in common."""
        across = self.x < other.right and other.x < self.right
        return across and self.y < other.bottom and other.y < self.bottom

    def array(self) -> F32:
        """This one area as (1, 4)."""
        return np.array([self], np.float32)


def grid(area: Rect, rows: int, columns: int, gap: float = 0.0) -> F32:
    """(rows * columns, 4) equal cells that fill the area, row by row."""
    width = (area.width - gap * (columns - 1)) / columns
    height = (area.height - gap * (rows - 1)) / rows
    row, column = np.divmod(np.arange(rows * columns), columns)
    x, y = area.x + column * (width + gap), area.y + row * (height + gap)
    sizes = np.full_like(x, width), np.full_like(y, height)
    return np.stack([x, y, *sizes], axis=1).astype(np.float32)


def cell_size(area: Rect, rows: int, columns: int, gap: float = 0.0, most: float = 64.0) -> float:
    """Side of the largest square cell, `most` at the largest, of which rows x columns fit."""
    wide = (area.width - gap * (columns - 1)) / columns
    high = (area.height - gap * (rows - 1)) / rows
    return max(min(wide, high, most), 0.0)


def centers(rects: F32) -> F32:
    """(N, 2) middles of (N, 4) rectangles: where a centred label is anchored."""
    return np.asarray(rects[:, :2] + rects[:, 2:] / 2, dtype=np.float32)


def around(rects: F32, pad: float = 0.0) -> Rect:
    """The smallest area that holds all (N, 4) rectangles, grown by `pad` on every side."""
    low = rects[:, :2].min(axis=0) - pad
    high = (rects[:, :2] + rects[:, 2:]).max(axis=0) + pad
    return Rect(float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1]))


def fit_size(
    text: str, width: float, size: float, least: float, bold: bool = False, mono: bool = False
) -> float:
    """The largest whole size in which a line fits the width, from `least` up to `size`."""
    needed = text_width(text, size, bold, mono)
    return size if needed <= width else max(least, float(int(size * width / needed)))


def elide(text: str, width: float, size: float, bold: bool = False, mono: bool = False) -> str:
    """The text, or as much of it as fits the width, ended by an ellipsis."""
    if text_width(text, size, bold, mono) <= width:
        return text
    keep = len(text)
    while keep and text_width(text[:keep].rstrip() + "…", size, bold, mono) > width:
        keep -= 1
    return text[:keep].rstrip() + "…" if keep else ""


def first_fitting(texts: tuple[str, ...], width: float, size: float, bold: bool = False) -> str:
    """The first of several wordings, longest first, that fits the width; "" when none does."""
    return next((t for t in texts if text_width(t, size, bold) <= width), "")


_WORD = re.compile(r"\d+ × \d+[^ \t\n]*|[^ \t\n]+(?: %)?")


def wrap(text: str, width: float, size: float, bold: bool = False) -> tuple[str, ...]:
    """The text in lines no wider than the width, broken at spaces; not within a number (thousands
    are apart by thin spaces), and not before its percent sign, nor within a size (16 × 16).
    """
    lines: list[str] = []
    for word in _WORD.findall(text):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines)
