"""Matrices of cells, beside or below each other: colours, numbers, hatching, outlines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw import matrix as cells
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, around, centers, first_fitting
from gpuviz.draw.marks import Boxes, Mark, Texts, Tip
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import mix
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color
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
    """One matrix, its cells numbered row by row."""

    # Wordings of its name, longest first; the last is what moves to and from it call it.
    names: tuple[str, ...]
    rows: int
    columns: int
    tip: Tip | None = None
    # paints, heat: its colours, from the first to the last, then heat.
    paints: tuple[Paint, ...] = ()
    heat: Heat | None = None
    words: tuple[str, ...] = ()  # what stands in each cell, instead of counts of heat
    hatched: tuple[Hatch, ...] = ()
    outlines: tuple[Outline, ...] = ()
    own: tuple[int, ...] = ()  # cells with a double line, to be told from all others
    tile: int = 0  # lines stand between tiles so wide; 0: none
    note: Note | None = None
    answers: bool = False  # whether it is empty while a class is asked


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


LARGEST = 64.0  # pixels of a cell at scale 1
_LEAST = 1.5  # pixels of a cell; smaller ones nobody sees
_HEAD, _GAP = 1.4, 1.2  # letters above a matrix, and between matrices
_LOW, _SIDE = 4.4, 1.7  # lower than this, names stand on the left


class MatricesLayout(NamedTuple):
    """Where matrices are, and the areas of their names; `aside`: on their left."""

    matrices: tuple[Matrix, ...]
    names: tuple[Rect, ...]
    aside: bool = False

    @property
    def pitch(self) -> float:
        """Pixels from one cell to the next."""
        return self.matrices[0].pitch


def whole_pixels(pitch: float) -> float:
    """Cells of whole pixels, unless they are tiny."""
    return max(float(int(pitch)) if pitch >= 4 else pitch, 0.5)


def side_by_side(stage: Stage, area: Rect, grids: tuple[Grid, ...], most: float) -> MatricesLayout:
    """From left to right, names above, or on the left where there is no height for them."""
    size, aside = stage.text(14), area.height < stage.text(14) * _LOW
    head, side = (0.0, size * _SIDE) if aside else (size * _HEAD, 0.0)
    gap = size * (0.6 if aside else _GAP)
    count, columns = len(grids), sum(one.columns for one in grids)
    wide = (area.width - count * side - (count - 1) * gap) / columns
    high = (area.height - head) / max(one.rows for one in grids)
    pitch = whole_pixels(min(wide, high, most * stage.scale))
    x, placed = area.x, list[tuple[Matrix, Rect]]()
    for one in grids:
        matrix = Matrix(x + side, area.y + head, one.rows, one.columns, pitch)
        name = Rect(x, matrix.area.center[1] - size * 0.7, size * 1.5, head or size * _HEAD)
        room = name if aside else Rect(x, area.y, matrix.area.width + gap * 0.8, head)
        placed.append((matrix, room))
        x = matrix.x + one.columns * pitch + gap
    matrices, names = zip(*placed, strict=True)
    return MatricesLayout(matrices, names, aside)


def _stacked(stage: Stage, area: Rect, grids: tuple[Grid, ...]) -> MatricesLayout:
    """From top to bottom, names above."""
    size, count = stage.text(14), len(grids)
    head, gap = size * _HEAD, size * 0.5
    wide = area.width / max(one.columns for one in grids)
    high = (area.height - count * head - (count - 1) * gap) / sum(one.rows for one in grids)
    pitch = whole_pixels(min(wide, high, LARGEST * stage.scale))
    y, placed = area.y, list[tuple[Matrix, Rect]]()
    for one in grids:
        matrix = Matrix(area.x, y + head, one.rows, one.columns, pitch)
        placed.append((matrix, Rect(area.x, y, area.width, head)))
        y = matrix.y + one.rows * pitch + gap
    matrices, names = zip(*placed, strict=True)
    return MatricesLayout(matrices, names)


def drawn(stage: Stage, laid: MatricesLayout, grids: tuple[Grid, ...]) -> Iterator[Mark]:
    """The matrices with their names."""
    for matrix, room, one in zip(laid.matrices, laid.names, grids, strict=True):
        yield from named(stage, matrix, room, one, aside=laid.aside)
        yield from draw(stage, matrix, one)


def named(
    stage: Stage, matrix: Matrix, room: Rect, one: Grid, aside: bool = False
) -> Iterator[Mark]:
    """The name of a matrix and its note, in the longest wordings that there is room for."""
    size, y = stage.text(14), room.y + stage.text(14) * 0.6
    name = first_fitting(one.names, room.width, size, True)
    wide = text_width(name, size, True)
    if name:
        x = matrix.x - wide - size * 0.35 if aside else room.x
        yield label(x, y, name, stage.palette.ink, size, True)
    if not aside and one.note is not None:
        taken = wide + size * 0.5 if name else 0.0
        yield from noted(stage, matrix, one.note, room.beside(taken)[1])


def noted(stage: Stage, matrix: Matrix, note: Note, room: Rect) -> Iterator[Mark]:
    """A note, unless it depends on numbers that are not there, or that are."""
    size = stage.text(14)
    told = note.numbers is None or note.numbers == numbered(stage, matrix)
    said = first_fitting(note.texts, room.width, size, note.bold)
    if said and told and not stage.asks:
        yield label(room.x, room.y + size * 0.6, said, color(stage, note.ink), size, note.bold)


@dataclass(frozen=True, eq=False)
class Grids(Panel):
    """The matrices, all with cells of one size."""

    share: ClassVar[float] = 1.0
    grids: tuple[Grid, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to be seen."""
        size = stage.text(14)
        return Need(size * 6, size * 6, size * 8)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Nothing where cells would be too small."""
        laid = self._laid(stage, area)
        if laid.pitch >= _LEAST:
            yield from drawn(stage, laid, self.grids)

    def used(self, stage: Stage, area: Rect) -> Rect:
        """Down to the last row, up to the last column."""
        return extent(area, self._laid(stage, area).matrices)

    def zoom(self, stage: Stage, area: Rect) -> float:
        """How large the cells are."""
        return self._laid(stage, area).pitch

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """The cells of a matrix."""
        return cells_of(self.grids, self._laid(stage, area).matrices, name)

    def _laid(self, stage: Stage, area: Rect) -> MatricesLayout:
        both = side_by_side(stage, area, self.grids, LARGEST), _stacked(stage, area, self.grids)
        return max(both, key=lambda laid: laid.pitch)


def extent(area: Rect, matrices: tuple[Matrix, ...]) -> Rect:
    """The part of an area that matrices take, from its top left corner."""
    taken = around(np.array([one.area for one in matrices], np.float32))
    return Rect(area.x, area.y, taken.right - area.x, taken.bottom - area.y)


def cells_of(grids: tuple[Grid, ...], matrices: tuple[Matrix, ...], name: str) -> F32 | None:
    """The cells of the matrix of a name."""
    found = zip(grids, matrices, strict=True)
    return next((matrix.cells for one, matrix in found if one.names[-1] == name), None)
