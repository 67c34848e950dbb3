"""The picture of a block's shared tiles: what they hold, who reads what, and the formula."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import I64, Rgba
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, first_fitting, fit_size, wrap
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.matrix import (
    Matrix,
    guards,
    heat,
    number_size,
    numbers,
    outlined,
    painted,
    strip,
    ticking,
)
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.matmul.layout import Framed
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.tips import slot_tip, thread_tip
from gpuviz.scenes.matmul.view import captions, notes_of, often, own, told

_LANDED = 0.97  # share of a load after which its elements are in the tile


def shared_memory(
    stage: Stage, framed: Framed, about: Multiplication, moment: Moment, share: float, least: float
) -> tuple[Mark, ...]:
    """Ms, Ns and the threads between them: what is there, and who reads what."""
    at, most = framed.matrices, str(about.sizes.tile)
    notes = notes_of(
        [slots(o, moment, share)[2] for o in (about.m, about.n)],
        number_size(stage, at.left, most, least),
    )
    marks = list(captions(stage, framed, ("Ms", "Ns", tr("threads")), notes))
    for operand, matrix in ((about.m, at.left), (about.n, at.top)):
        marks += _tile(stage, matrix, operand, about, moment, share, least)
    return *marks, *_threads(stage, at.corner, about, moment, least)


def slots(operand: Operand, moment: Moment, share: float) -> tuple[int, I64, I64]:
    """Phase whose elements the tile holds (-1: none yet), (S,) elements, (S,) reads so far."""
    order = ("load M", "load N")
    part = order.index(moment.part) if moment.part in order else 2
    mine = order.index(f"load {operand.name}")
    fresh = part > mine or (part == mine and share >= _LANDED)
    phase = moment.phase if fresh else moment.phase - 1
    if phase < 0:
        none = np.zeros(operand.held.shape[1], np.int64)
        return -1, none - 1, none
    counts = operand.shared[phase]
    if not fresh:
        return phase, operand.held[phase], counts[-1]
    before = counts[moment.multiplied]
    if moment.part == "multiply":
        before = ticking(before, counts[moment.multiplied + 1], float(smooth(share)))
    return phase, operand.held[phase], before


def _tile(
    stage: Stage,
    matrix: Matrix,
    operand: Operand,
    about: Multiplication,
    moment: Moment,
    share: float,
    least: float,
) -> tuple[Mark, ...]:
    """A shared tile: empty, loaded, heating up; the slots read now outlined."""
    palette = stage.palette
    phase, held, read = slots(operand, moment, share)
    count = told(stage, read)
    loaded = palette.soft(palette.load, 0.35)
    fill = heat(palette, count, max(about.sizes.tile, 1))
    fill = np.where((count == 0)[:, None] & (phase >= 0), loaded, fill).astype(np.uint8)

    def tip(slot: int) -> str:
        return slot_tip(about, operand, moment, phase, slot, int(read[slot]))

    zeros = np.flatnonzero((held < 0) & (phase >= 0))
    hatched = (guards(stage, matrix.cells[zeros], True),) if len(zeros) else ()
    shown = (count > 0) & ((held >= 0) | (matrix.pitch >= stage.text(14) * 1.6))
    return (
        painted(matrix, fill, tip),
        *hatched,
        *(() if stage.asks else plates(stage, matrix, zeros[shown[zeros]], fill)),
        *often(stage, matrix, count, fill, shown, least),
        *_reading(stage, matrix, operand, about, moment),
    )


def plates(stage: Stage, matrix: Matrix, cells: I64, fill: Rgba) -> tuple[Mark, ...]:
    """Ground for numbers on hatched cells."""
    if not len(cells):
        return ()
    pad = matrix.pitch * 0.22
    inner = matrix.cells[cells] + np.array([pad, pad, -2 * pad, -2 * pad], np.float32)
    return (Boxes(inner, fill[cells], radius=3),)


def _reading(
    stage: Stage, matrix: Matrix, operand: Operand, about: Multiplication, moment: Moment
) -> tuple[Mark, ...]:
    """The slots that threads read now; the followed thread's row or column, and its slot."""
    if moment.part != "multiply":
        return ()
    palette, reads = stage.palette, operand.tile.reads[moment.phase]
    now, mine = reads[moment.k], reads[:, about.watched]
    marks: list[Mark] = []
    if (mine >= 0).any():
        marks.append(outlined(strip(matrix, mine[mine >= 0]), palette.muted, 1.0, pad=0.0))
    if (now >= 0).any():
        marks.append(outlined(strip(matrix, now[now >= 0]), palette.accent, 2.0, pad=0.0))
    return *marks, *own(stage, matrix, mine[moment.k : moment.k + 1])


def _threads(
    stage: Stage, matrix: Matrix, about: Multiplication, moment: Moment, least: float
) -> tuple[Mark, ...]:
    """The block's threads in the colours of their lanes; those without an element are hatched."""
    palette, count = stage.palette, about.sizes.tile**2
    lane = np.arange(count) % 32
    fill = palette.lanes[lane]
    guard = np.flatnonzero(about.guards)
    marks: list[Mark] = [painted(matrix, fill, lambda i: thread_tip(about, i))]
    marks += _lane_numbers(stage, matrix, lane, fill, about, least)
    if len(guard):
        marks.append(guards(stage, matrix.cells[guard], moment.part == "store"))
    if moment.part in ("loaded", "multiplied"):
        marks.append(outlined(matrix.area, palette.barrier, 3.0))
    return *marks, *own(stage, matrix, np.array([about.watched]))


def _lane_numbers(
    stage: Stage, matrix: Matrix, lane: I64, fill: Rgba, about: Multiplication, least: float
) -> tuple[Mark, ...]:
    """Each thread's lane, where there is room; guard lanes are hatched instead."""
    shown = np.where(about.guards, 0, lane)
    return numbers(stage, matrix, shown, fill, ~about.guards, least)


def flying(
    stage: Stage, whole: Framed, tiles: Framed, about: Multiplication, moment: Moment, share: float
) -> tuple[Mark, ...]:
    """Elements on their way from global to shared memory."""
    if moment.part not in ("load M", "load N") or not 0.02 < share < _LANDED:
        return ()
    is_m = moment.part == "load M"
    operand = about.m if is_m else about.n
    source, target = ((f.matrices.left if is_m else f.matrices.top) for f in (whole, tiles))
    loading = np.flatnonzero(operand.tile.element[moment.phase] >= 0)
    row, column = np.divmod(operand.tile.element[moment.phase, loading], operand.shape[1])
    start = source.cells[row * source.columns + column]
    end = target.cells[operand.tile.slot[moment.phase, loading]]
    way = float(smooth(share))
    boxes = (start + (end - start) * way).astype(np.float32)
    color = stage.palette.load
    return (Boxes(boxes, color, stroke=stage.palette.ground, radius=3),)


def formula(stage: Stage, area: Rect, said: tuple[str, str, str], least: float) -> tuple[Mark, ...]:
    """The followed thread's statement, its explanation, its values; as much as there is room."""
    size, palette = stage.text(14), stage.palette
    large = fit_size(said[0], area.width, stage.text(17), least, bold=True)
    lines = [(line, large, palette.ink, True) for line in wrap(said[0], area.width, large, True)]
    for text, color in ((said[1], palette.muted), (said[2], palette.ink)):
        short = first_fitting(_shorter(text), area.width, size) or elide(text, area.width, size)
        lines += [(short, size, color, False)] if short else []
    y, marks = area.y, list[Mark]()
    for text, height, color, bold in lines:
        if y + height * 1.2 > area.bottom or text_width(text, height, bold) > area.width:
            break
        marks.append(label(area.x, y + height * 0.6, text, color, height, bold))
        y += height * 1.5
    return tuple(marks)


def _shorter(text: str) -> tuple[str, ...]:
    """A line in ever fewer words: `k = 1 · thread (1,0)`, `2 + 3 × 4 = 14`."""
    start, _, who = text.partition(" · ")
    result = text.rpartition(" = ")[2]
    return (text, start) if who else (text, f"= {result}")
