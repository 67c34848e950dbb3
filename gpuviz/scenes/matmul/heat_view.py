"""Heat over the elements that a block of the naive kernel reads, where no table of them fits."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import I64
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Mark
from gpuviz.draw.matrix import Matrix, heat, once, outlined, painted, planned, strip, ticking
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.table import named
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.tips import element_tip
from gpuviz.scenes.matmul.view import often, own, told
from gpuviz.scenes.matmul.words import times


def heat_map(
    stage: Stage, area: Rect, about: Multiplication, moment: Moment, share: float, least: float
) -> tuple[Mark, ...]:
    """The elements of M and N that the block needs, and how often it has read them."""
    forms = ("",) if stage.asks else _often(about)
    caption, rest = area.above(stage.text(14) * 1.7)
    m, n = _bands(stage, rest, about)
    if m.pitch < 1.5:
        return named(stage, caption, tr("Naive kernel"), forms)
    return (
        *named(stage, caption, tr("Naive kernel"), forms),
        *_band(stage, m, about.m, about, moment, share, least),
        *_band(stage, n, about.n, about, moment, share, least),
    )


def _often(about: Multiplication) -> tuple[str, ...]:
    """How often the block reads its elements in all, in more words or less."""
    counts = [o.naive[-1][o.naive[-1] > 0] for o in (about.m, about.n)]
    low, high = min(int(c.min(initial=99)) for c in counts), max(int(c.max()) for c in counts)
    often = times(high) if low == high else tr("{a} to {b} times", a=low, b=high)
    return (
        tr("reads each element {often} from global memory", often=often),
        tr("each element {often}", often=often),
        often,
        "",
    )


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
    stage: Stage,
    matrix: Matrix,
    operand: Operand,
    about: Multiplication,
    moment: Moment,
    share: float,
    least: float,
) -> tuple[Mark, ...]:
    """The block's part of one factor: reads so far as heat and number, those now outlined."""
    palette, element = stage.palette, _elements(about, operand)
    after = operand.naive[moment.naive + (moment.step >= 0), element]
    read = ticking(operand.naive[moment.naive, element], after, float(smooth(share)))
    count = told(stage, read)
    every = np.ones(len(element), bool)
    fill = planned(
        palette, heat(palette, count, operand.most), once(palette, operand.most), every, count == 0
    )

    def tip(cell: int) -> str:
        return element_tip(about, operand, int(element[cell]), int(read[cell]))

    size = stage.text(14)
    name = _band_name(operand, about, matrix.area.width, size)
    return (
        label(matrix.x, matrix.y - size * 0.75, name, palette.ink, size),
        painted(matrix, fill, tip),
        *often(stage, matrix, count, fill, count > 0, least),
        *read_now(stage, matrix, operand, element, about, moment),
    )


def _band_name(operand: Operand, about: Multiplication, room: float, size: float) -> str:
    """Which rows or columns are shown."""
    axis = 1 if operand.is_m else 0
    first = about.block[axis] * about.sizes.tile
    last = first + _taken(about, axis) - 1
    if last == first:
        which = tr("row {a}", a=first) if operand.is_m else tr("column {a}", a=first)
    else:
        which = (
            tr("rows {a} to {b}", a=first, b=last)
            if operand.is_m
            else (tr("columns {a} to {b}", a=first, b=last))
        )
    return first_fitting((f"{operand.name}, {which}", operand.name), room, size)


def read_now(
    stage: Stage,
    matrix: Matrix,
    operand: Operand,
    element: I64,
    about: Multiplication,
    moment: Moment,
) -> tuple[Mark, ...]:
    """The elements read at the step that is made now, and the followed thread's one."""
    if moment.step < 0:
        return ()
    reads, palette = operand.naive_reads[moment.step], stage.palette
    now = np.flatnonzero(np.isin(element, reads))
    mine = np.flatnonzero(element == reads[about.watched])
    around = (outlined(strip(matrix, now), palette.accent, 2.0, pad=0.0),) if len(now) else ()
    return *around, *own(stage, matrix, mine)
