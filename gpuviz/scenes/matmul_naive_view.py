"""Pictures of the naive kernel: its access table, or where that is too large, heat over its reads.

The table has a row a thread and a column a step; each cell names the elements of M and N read.
"""

from __future__ import annotations

import numpy as np

from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import F32, Boxes, Mark, Texts
from gpuviz.draw.matrix import (
    Matrix,
    guards,
    heat,
    numbers,
    once,
    outlined,
    painted,
    planned,
    strip,
    ticking,
)
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.scenes.matmul_layout import Table
from gpuviz.scenes.matmul_scene import Multiplication, Operand
from gpuviz.scenes.matmul_time import Moment
from gpuviz.scenes.matmul_tips import element_tip
from gpuviz.scenes.matmul_view import own
from gpuviz.scenes.matmul_words import times
from gpuviz.trace import I64

_NAME = "Naive kernel"
_MOST_CELLS = 160
_STRIP = 5.0  # height of the hatched strip under an element that is read again


def table_size(stage: Stage, about: Multiplication) -> Table:
    """The room the access table needs; infinite where it would say too much."""
    steps, threads = about.naive.m.shape
    if steps * threads > _MOST_CELLS:
        return Table(*[float("inf")] * 3)
    size = stage.text(14)
    width = _row_head(stage, about) + steps * (2 * _half(stage, about) + size * 0.5)
    bare = size * (1.3 + 1.45 * threads)
    return Table(width, size * (1.7 + 1.4) + threads * size * 1.6, bare)


def _row_head(stage: Stage, about: Multiplication) -> float:
    """Width of the column that names the threads."""
    last = about.sizes.tile - 1
    size = stage.text(14)
    widest = max(text_width(f"({last},{last})", size), text_width(_NAME.split()[0], size, True))
    return widest + size * 0.5


def _half(stage: Stage, about: Multiplication) -> float:
    """Width of half a cell: the name of one element."""
    sizes = about.sizes
    longest = f"M{sizes.rows - 1},{max(sizes.inner, sizes.columns) - 1}"
    return text_width(longest, stage.text(14)) + stage.text(14) * 0.4


def naive_caption(stage: Stage, area: Rect, forms: tuple[str, ...]) -> tuple[Mark, ...]:
    """What the picture shows, in as many words as fit."""
    size = stage.text(14)
    taken = text_width(_NAME, size, True) + size * 0.7
    text = first_fitting(forms, area.width - taken, size)
    y = area.y + size * 0.6
    return (
        label(area.x, y, _NAME, stage.palette.ink, size, bold=True),
        label(area.x + taken, y, text, stage.palette.muted, size),
    )


def access_table(
    stage: Stage, area: Rect, about: Multiplication, moment: Moment
) -> tuple[Mark, ...]:
    """What each thread reads at each step; an element that was read before is hatched."""
    size = stage.text(14)
    needed = table_size(stage, about)
    forms = ("reads global memory every time (hatched: again)", "hatched: read again", "")
    bare = area.height < needed.height - 0.5
    caption, rest = area.above(0.0 if bare else size * 1.7)
    head = _row_head(stage, about)
    wide = min(area.width, needed.width * 1.3) - head
    steps, threads = about.naive.m.shape
    names, rest = rest.above(size * (1.3 if bare else 1.4))
    name = label(names.x, names.y + size * 0.6, _NAME.split()[0], stage.palette.ink, size, True)
    high = min(rest.height, threads * size * 1.9)
    space = size * 0.3  # between steps; rows stand closer
    cells = grid(Rect(rest.x + head, rest.y, wide + space, high), threads, steps, 2.0)
    cells[:, 2] -= space
    return (
        *((name,) if bare else naive_caption(stage, caption, forms)),
        *_heads(stage, names, cells, about),
        *_half_cells(stage, cells, about.m, about, moment, 0.0),
        *_half_cells(stage, cells, about.n, about, moment, 0.5),
        guards(stage, cells[about.m.naive_reads.T.ravel() < 0], False),
        *_now(stage, cells, about, moment),
    )


def _heads(stage: Stage, names: Rect, cells: F32, about: Multiplication) -> tuple[Mark, ...]:
    """Steps above the columns, threads beside the rows."""
    steps, threads = about.naive.m.shape
    size, muted, tile = stage.text(14), stage.palette.muted, about.sizes.tile
    middle = centers(cells)
    over = np.stack([middle[:steps, 0], np.full(steps, names.y + size * 0.6)], axis=1)
    beside = np.stack([np.full(threads, names.x), middle[::steps, 1]], axis=1)
    who = tuple(f"({t % tile},{t // tile})" for t in range(threads))
    which = tuple(f"k = {k}" for k in range(steps))
    own = np.where(np.arange(threads)[:, None] == about.watched, stage.palette.ink, muted)
    return (
        Texts(over.astype(np.float32), which, muted, size, "center"),
        Texts(beside.astype(np.float32), who, own.astype(np.uint8), size),
    )


def repeats(reads: I64) -> I64:
    """(steps, T) how often each element read has been read before: by earlier steps and threads."""
    flat = reads.ravel()
    order = np.argsort(flat, kind="stable")
    rank = np.arange(len(flat)) - np.searchsorted(flat[order], flat[order])
    before = np.empty_like(flat)
    before[order] = rank
    return before.reshape(reads.shape)


def _half_cells(
    stage: Stage, cells: F32, operand: Operand, about: Multiplication, moment: Moment, at: float
) -> tuple[Mark, ...]:
    """The elements of one factor: to come dim, done in the heat of their reads so far."""
    palette, size, reads = stage.palette, stage.text(14), operand.naive_reads.T
    rects = cells.copy()
    rects[:, 2] = cells[:, 2] / 2 - 0.5
    rects[:, 0] += at * (cells[:, 2] + 1)
    step = np.broadcast_to(np.arange(reads.shape[1]), reads.shape).ravel()
    over = step < moment.naive + (moment.step >= 0)
    before, element = repeats(operand.naive_reads).T.ravel(), reads.ravel()
    warm = heat(palette, before + 1, operand.most)
    fill = np.where(over[:, None], warm, palette.cell).astype(np.uint8)
    shown = element >= 0
    again = rects[over & shown & (before > 0)].copy()
    again[:, 1] += again[:, 3] - _STRIP * stage.scale
    again[:, 3] = _STRIP * stage.scale
    ink = np.where(over[:, None], palette.ink_on(fill), palette.muted).astype(np.uint8)
    middle = centers(rects) - np.array([0, _STRIP * 0.45 * stage.scale], np.float32)
    words = tuple(_short(operand, int(e)) for e in element[shown])

    def tip(i: int) -> str:
        which = int(element[shown][i])
        return element_tip(about, operand, which, int(operand.naive[moment.naive, which]))

    return (
        Boxes(rects[shown], fill[shown], radius=2, tip=tip),
        Boxes(again, palette.waste_ground, hatch=palette.waste),
        Texts(middle[shown], words, ink[shown], size, "center"),
    )


def _short(operand: Operand, element: int) -> str:
    """`M1,2`."""
    row, column = operand.place(element)
    return f"{operand.name}{row},{column}"


def _now(stage: Stage, cells: F32, about: Multiplication, moment: Moment) -> tuple[Mark, ...]:
    """A line around the step that is made now, and around the followed thread's cell."""
    if moment.step < 0:
        return ()
    steps = about.naive.m.shape[0]
    column = cells[moment.step :: steps]
    top, last = column[0], column[-1]
    around = Rect(float(top[0]), float(top[1]), float(top[2]), float(last[1] + last[3] - top[1]))
    own = column[about.watched : about.watched + 1]
    palette = stage.palette
    return (
        outlined(around, palette.accent, 2.0, pad=-1.0),
        Boxes(own, stroke=palette.outline, stroke_width=2.0, radius=3),
    )


def heat_map(
    stage: Stage, area: Rect, about: Multiplication, moment: Moment, share: float, least: float
) -> tuple[Mark, ...]:
    """The elements of M and N that the block needs, and how often it has read them."""
    forms = _often(about)
    caption, rest = area.above(stage.text(14) * 1.7)
    m, n = _bands(stage, rest, about)
    if m.pitch < 1.5:
        return naive_caption(stage, caption, forms)
    return (
        *naive_caption(stage, caption, forms),
        *_band(stage, m, about.m, about, moment, share, least),
        *_band(stage, n, about.n, about, moment, share, least),
    )


def _often(about: Multiplication) -> tuple[str, ...]:
    """How often the block reads its elements in all, in more words or less."""
    counts = [o.naive[-1][o.naive[-1] > 0] for o in (about.m, about.n)]
    low, high = min(int(c.min(initial=99)) for c in counts), max(int(c.max()) for c in counts)
    often = times(high) if low == high else f"{low} to {high} times"
    return (f"reads each element {often} from global memory", f"each element {often}", often, "")


def _bands(stage: Stage, area: Rect, about: Multiplication) -> tuple[Matrix, Matrix]:
    """The block's rows of M and columns of N with captions above, side by side or stacked."""
    size, inner, most = stage.text(14), about.sizes.inner, 64 * stage.scale
    high, wide, name, gap = _taken(about, 1), _taken(about, 0), size * 1.4, size * 1.5
    beside = min((area.width - gap) / (inner + wide), (area.height - name) / max(inner, high), most)
    stacked = min(area.width / max(inner, wide), (area.height - 2.5 * name) / (inner + high), most)
    pitch = max(beside, stacked, 0.5)
    pitch = float(int(pitch)) if pitch >= 4 else pitch
    x, y = area.x, area.y + name
    m = Matrix(x, y, high, inner, pitch)
    if stacked > beside:
        return m, Matrix(x, y + high * pitch + 1.5 * name, inner, wide, pitch)
    return m, Matrix(x + inner * pitch + gap, y, inner, wide, pitch)


def _taken(about: Multiplication, axis: int) -> int:
    """Rows (1) or columns (0) of P that the block has."""
    tile, first = about.sizes.tile, about.block[axis] * about.sizes.tile
    end = about.sizes.rows if axis == 1 else about.sizes.columns
    return min(tile, end - first)


def _elements(about: Multiplication, operand: Operand) -> I64:
    """The elements of the block's rows of M or columns of N, row by row."""
    whole = np.arange(operand.shape[0] * operand.shape[1]).reshape(operand.shape)
    tile, (bx, by) = about.sizes.tile, about.block
    if operand.is_m:
        return whole[by * tile : (by + 1) * tile].ravel()
    return whole[:, bx * tile : (bx + 1) * tile].ravel()


def _band(
    stage: Stage, matrix: Matrix, operand: Operand, about: Multiplication, moment: Moment,
    share: float, least: float,
) -> tuple[Mark, ...]:  # fmt: skip
    """The block's part of one factor: reads so far as heat and number, those now outlined."""
    palette, element = stage.palette, _elements(about, operand)
    after = operand.naive[moment.naive + (moment.step >= 0), element]
    count = ticking(operand.naive[moment.naive, element], after, float(smooth(share)))
    every = np.ones(len(element), bool)
    fill = planned(palette, heat(palette, count, operand.most), once(palette, operand.most), every,
                   count == 0)  # fmt: skip

    def tip(cell: int) -> str:
        return element_tip(about, operand, int(element[cell]), int(count[cell]))

    size = stage.text(14)
    name = _band_name(operand, about, matrix.area.width, size)
    return (
        label(matrix.x, matrix.y - size * 0.75, name, palette.ink, size),
        painted(matrix, fill, tip),
        *numbers(stage, matrix, count, fill, count > 0, least),
        *_read_now(stage, matrix, operand, element, about, moment),
    )


def _band_name(operand: Operand, about: Multiplication, room: float, size: float) -> str:
    """Which rows or columns are shown."""
    axis = 1 if operand.is_m else 0
    first = about.block[axis] * about.sizes.tile
    last = first + _taken(about, axis) - 1
    which = f"{first}" if last == first else f"{first} to {last}"
    noun = ("row" if operand.is_m else "column") + "s" * (last > first)
    return first_fitting((f"{operand.name}, {noun} {which}", operand.name), room, size)


def _read_now(
    stage: Stage, matrix: Matrix, operand: Operand, element: I64, about: Multiplication,
    moment: Moment,
) -> tuple[Mark, ...]:  # fmt: skip
    """The elements read at the step that is made now, and the followed thread's one."""
    if moment.step < 0:
        return ()
    reads, palette = operand.naive_reads[moment.step], stage.palette
    now = np.flatnonzero(np.isin(element, reads))
    mine = np.flatnonzero(element == reads[about.watched])
    around = (outlined(strip(matrix, now), palette.accent, 2.0, pad=0.0),) if len(now) else ()
    return *around, *own(stage, matrix, mine)
