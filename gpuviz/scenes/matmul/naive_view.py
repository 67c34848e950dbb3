"""The picture of the naive product: what the block reads, its access table, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide
from gpuviz.draw.marks import Mark
from gpuviz.draw.matrix import number_size
from gpuviz.draw.stage import Stage
from gpuviz.scenes.matmul.heat_view import read_now
from gpuviz.scenes.matmul.layout import Framed, framed
from gpuviz.scenes.matmul.naive_words import formula, shared_reads
from gpuviz.scenes.matmul.ratio import Ratios, height_of, picture
from gpuviz.scenes.matmul.scene import Multiplication
from gpuviz.scenes.matmul.shared_view import formula as statement
from gpuviz.scenes.matmul.table import Window, access_table, bottom_of, fitting, width_of
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.view import captions, factor, inside, legend, notes_of, result

_FLAT = 20  # text lines below the heading; fewer are a low stage
_FORMULA, _LOW_FORMULA = 4.9, 4.4  # text lines of the followed thread's statement


@dataclass(frozen=True, eq=False)
class Areas:
    """One area a part."""

    matrices: Rect
    formula: Rect
    table: Rect
    ratio: Rect


def draw(
    stage: Stage,
    body: Rect,
    about: Multiplication,
    rates: Ratios,
    moment: Moment,
    share: float,
    least: float,
) -> tuple[Mark, ...]:
    """Everything below the heading."""
    at = _areas(stage, body, about, rates)
    (rows, inner), (_, columns) = about.m.padded, about.n.padded
    window = fitting(stage, at.table, about, moment)
    return (
        *_matrices(
            stage, framed(stage, at.matrices, rows, inner, columns), about, moment, share, least
        ),
        *statement(stage, at.formula, formula(about, moment), least),
        *(access_table(stage, at.table, about, moment, window) if window else ()),
        *_others(stage, at.table, about, moment, window),
        *picture(stage, at.ratio, rates),
    )


def _others(
    stage: Stage, area: Rect, about: Multiplication, moment: Moment, window: Window | None
) -> tuple[Mark, ...]:
    """Below the table, where there is room: who else loads what the followed thread loads.

    Nothing while the stage asks how many do.
    """
    if stage.asks:
        return ()
    used = bottom_of(stage, window) if window else 0.0
    size, rest = stage.text(14), area.above(used + stage.text(14) * 0.8)[1]
    said = shared_reads(about, moment)
    if rest.height < size * 1.5 * len(said):
        return ()
    return tuple(
        label(
            rest.x,
            rest.y + size * (0.6 + 1.5 * i),
            elide(text, rest.width, size),
            stage.palette.muted,
            size,
        )
        for i, text in enumerate(said)
    )


def _areas(stage: Stage, body: Rect, about: Multiplication, rates: Ratios) -> Areas:
    """The matrices on the left, the rest on the right; in a tall body the table below both."""
    (rows, inner), (_, columns) = about.m.padded, about.n.padded
    size, aspect = stage.text(14), (inner + columns) / (inner + rows)
    gap = size * 1.8
    full = height_of(stage, rates, body.height > size * 24)
    if body.width < 1.15 * body.height:
        upper, table = body.above(max(body.height * 0.55, full + size * 6), size * 1.2)
        left, right = upper.beside(min(upper.height * aspect, (upper.width - gap) * 0.5), gap)
        top, ratio = right.above(right.height - full)
        return Areas(left, top, table, ratio)
    left, right = body.beside(_left(stage, body, aspect, gap, about), gap)
    top, rest = right.above(size * (_FORMULA if body.height >= size * _FLAT else _LOW_FORMULA))
    low = full if body.height >= size * _FLAT else height_of(stage, rates, False)
    if body.height < size * 15:
        low = size * 1.3
    table, ratio = rest.above(rest.height - low - size * 0.4, size * 0.4)
    return Areas(left, top, table, ratio)


def _left(stage: Stage, body: Rect, aspect: float, gap: float, about: Multiplication) -> float:
    """Width of the matrices: less where the whole table fits then."""
    table = width_of(stage, about, about.sizes.inner)
    room = body.width - gap
    left = min(max(body.height * aspect, stage.text(14) * 7), room * 0.46)
    return room - table if room - left < table <= room * 0.7 else left


def _matrices(
    stage: Stage, at: Framed, about: Multiplication, moment: Moment, share: float, least: float
) -> tuple[Mark, ...]:
    """M, N and P: how often the block has read each element, and what it reads now."""
    size = number_size(stage, at.matrices.left, "1", least)
    notes = notes_of([o.naive[moment.seen] for o in (about.m, about.n)], size)
    marks = [*captions(stage, at, ("M", "N", "P"), notes), *legend(stage, at, about, least)]
    now = float(smooth(share)) if moment.step >= 0 else 0.0
    for operand, matrix in ((about.m, at.matrices.left), (about.n, at.matrices.top)):
        marks += factor(stage, matrix, operand, operand.naive, moment.naive, now, about, least)
        element = inside(operand.shape, operand.padded)
        marks += read_now(stage, matrix, operand, element, about, moment)
    return *marks, *result(stage, at.matrices.corner, about, moment, share)
