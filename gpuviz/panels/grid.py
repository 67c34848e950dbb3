"""A matrix of cells: in colours that mean something, with numbers, hatching, and outlines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.base.arrays import F64, I64, Bool, Rgba
from gpuviz.draw import matrix as cells
from gpuviz.draw.color import mix
from gpuviz.draw.layout import centers
from gpuviz.draw.marks import Boxes, Mark, Texts, Tip
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, color
from gpuviz.traces.trace import LANES

_PLATED = 1.6  # letters a cell must be wide for a number on hatched ground


@dataclass(frozen=True, eq=False)
class Paint:
    """A colour over some cells, (N,) `cells` of them all.

    `done` is 0 for what is to come and 1 for the full colour, `soft` how quiet it is, and `over`
    how much of what is below it covers. Cell i of the ink "lanes" has the colour of lane i.
    """

    cells: Bool
    ink: Ink | Literal["lanes"]
    done: F64 | float = 1.0
    soft: float = 0.0
    over: float = 1.0


@dataclass(frozen=True, eq=False)
class Heat:
    """How often something happened to each cell: (N,) counts up to `most`; to the cells of `later`
    it still will. The counts stand in the cells; a class that is asked just sees which have one.
    """

    count: I64
    most: int
    later: Bool


@dataclass(frozen=True, eq=False)
class Hatch:
    """Cells, by number, that are of no use; `quiet` while nothing happens to them.

    Those that are `bad` are wrong; they are kept back while a class is asked.
    """

    cells: I64
    bad: bool = False
    quiet: bool = False


@dataclass(frozen=True, eq=False)
class Outline:
    """A line around the smallest area that holds some cells, by number."""

    cells: I64
    ink: Ink = "accent"
    width: float = 2.0
    pad: float = 0.0


@dataclass(frozen=True, eq=False)
class Note:
    """Wordings beside a matrix's name, longest first; kept back while a class is asked.

    `numbers` says whether it only stands where cells have room for numbers, or only where not.
    """

    texts: tuple[str, ...]
    ink: Ink = "muted"
    bold: bool = False
    numbers: bool | None = None


@dataclass(frozen=True, eq=False)
class Grid:
    """One matrix, its cells numbered row by row.

    Attributes
    ----------
    names : wordings of its name, longest first; the last is what moves to and from it call it
    paints, heat : its colours, from the first to the last, then heat
    words : what stands in each cell, instead of counts of heat
    own : cells with a double line, to be told from all others
    tile : lines stand between tiles so wide; 0: none
    answers : whether it is empty while a class is asked
    """

    names: tuple[str, ...]
    rows: int
    columns: int
    tip: Tip | None = None
    paints: tuple[Paint, ...] = ()
    heat: Heat | None = None
    words: tuple[str, ...] = ()
    hatched: tuple[Hatch, ...] = ()
    outlines: tuple[Outline, ...] = ()
    own: tuple[int, ...] = ()
    tile: int = 0
    note: Note | None = None
    answers: bool = False


def numbered(stage: Stage, matrix: Matrix) -> bool:
    """Whether cells have room for a digit."""
    return cells.number_size(stage, matrix, "1", stage.least) > 0


def draw(stage: Stage, matrix: Matrix, grid: Grid) -> Iterator[Mark]:
    """The cells, where they have been placed."""
    if grid.answers and stage.asks:
        grid = Grid(grid.names, grid.rows, grid.columns)
    fill = _fill(stage, grid)
    yield cells.painted(matrix, fill, grid.tip)
    if grid.tile:
        yield cells.tile_lines(stage, matrix, grid.tile)
    for one in grid.hatched:
        yield from _hatching(stage, matrix, one)
    yield from _words(stage, matrix, grid, fill)
    for line in grid.outlines:
        if len(line.cells):
            around = cells.strip(matrix, line.cells)
            yield cells.outlined(around, color(stage, line.ink), line.width, line.pad)
    if grid.own:
        yield from _own(stage, matrix, grid.own)


def _fill(stage: Stage, grid: Grid) -> Rgba:
    """(N, 4) the colours of the cells."""
    palette, count = stage.palette, grid.rows * grid.columns
    fill = np.tile(palette.cell, (count, 1))
    for one in grid.paints:
        if one.ink == "lanes":
            full = palette.lanes[np.arange(count) % LANES]
        else:
            full = np.tile(color(stage, one.ink), (count, 1))
        soft = palette.soft(palette.state(full, np.broadcast_to(one.done, count)), one.soft)
        fill = np.where(one.cells[:, None], mix(fill, soft, one.over), fill).astype(np.uint8)
    if grid.heat is not None:
        heat = grid.heat
        seen = _seen(stage, heat)
        warm = cells.heat(palette, seen, heat.most)
        fill = np.where((seen > 0)[:, None], warm, fill).astype(np.uint8)
        coming = cells.heat(palette, np.ones(1, np.int64), heat.most)
        fill[heat.later & (seen == 0)] = palette.todo(coming)
    for bad in grid.hatched:
        if bad.bad and not stage.asks:
            fill[bad.cells] = palette.waste_ground
    return fill


def _seen(stage: Stage, heat: Heat) -> I64:
    """Counts; while the stage asks for them, just whether there is one."""
    return np.minimum(heat.count, 1) if stage.asks else heat.count


def _hatching(stage: Stage, matrix: Matrix, one: Hatch) -> Iterator[Mark]:
    palette, rects = stage.palette, matrix.cells[one.cells]
    if not len(rects) or (one.bad and stage.asks):
        return
    if one.bad:
        ground, red = palette.waste_ground, palette.bad
        yield Boxes(rects, ground, hatch=red, stroke=red, stroke_width=1.5)
    else:
        yield cells.guards(stage, rects, not one.quiet)


def _words(stage: Stage, matrix: Matrix, grid: Grid, fill: Rgba) -> Iterator[Mark]:
    """Words in the cells, all of one size, on plain ground where these are hatched."""
    words = grid.words
    if grid.heat is not None:
        words = () if stage.asks else tuple(str(n) if n else "" for n in grid.heat.count.tolist())
    if not any(words):
        return
    shown, hatched = np.array([bool(word) for word in words], bool), np.zeros(len(words), bool)
    plated = matrix.pitch >= stage.text(14) * _PLATED
    for one in grid.hatched:
        shown[one.cells] &= one.bad or plated
        hatched[one.cells] |= not (one.bad and stage.asks)
    size = cells.number_size(stage, matrix, max(words, key=len), stage.least)
    if not size or not shown.any():
        return
    said = [word for word, here in zip(words, shown, strict=True) if here]
    middle = centers(matrix.cells[shown])
    if (under := hatched[shown]).any():
        wide = np.array([text_width(word, size, True) + size * 0.4 for word in said], np.float32)
        left, top = middle[:, 0] - wide / 2, middle[:, 1] - size * 0.6
        plates = np.stack([left, top, wide, np.full_like(wide, size * 1.2)], axis=1)
        yield Boxes(plates[under], fill[shown & hatched], radius=3)
    yield Texts(middle, tuple(said), stage.palette.ink_on(fill[shown]), size, "center", bold=True)


def _own(stage: Stage, matrix: Matrix, own: tuple[int, ...]) -> Iterator[Mark]:
    """Two lines inside the cells, to be seen on light and on dark ones."""
    palette, width = stage.palette, min(3.0, max(matrix.pitch * 0.12, 1.0))
    rects = matrix.cells[list(own)]
    inner = rects + np.array([width, width, -2 * width, -2 * width], np.float32)
    yield Boxes(rects, stroke=palette.outline, stroke_width=width, radius=3)
    if matrix.pitch >= 8:
        yield Boxes(inner, stroke=palette.ground, stroke_width=max(width * 0.6, 1.0), radius=2)
