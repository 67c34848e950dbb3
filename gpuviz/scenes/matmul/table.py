"""The access table of the naive kernel: a row a thread, a column a step.

Each cell names the elements of M and N read. Where there is no room for all of it, a window shows
the steps around the one under way and the threads around the one that is followed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuviz.arrays import F32, I64
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, around, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.matrix import guards, heat, outlined
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.matmul.layout import Table
from gpuviz.scenes.matmul.reads import earlier
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.tips import element_tip

_MOST_CELLS = 160
_TALLEST = 2.2  # height of a row, in letter sizes
_STRIP = 5.0  # height of the hatched strip under an element that is read again


class Window(NamedTuple):
    """The part of the table that is shown: threads and steps from the first on."""

    thread: int
    threads: int
    step: int
    steps: int

    def of(self, reads: I64) -> I64:
        """That part of (steps, T) numbers, flat, thread by thread."""
        steps = slice(self.step, self.step + self.steps)
        return reads[steps, self.thread : self.thread + self.threads].T.ravel()


def whole(about: Multiplication) -> Window:
    """The whole table."""
    steps, threads = about.naive.m.shape
    return Window(0, threads, 0, steps)


def fitting(stage: Stage, area: Rect, about: Multiplication, moment: Moment) -> Window | None:
    """As much of the table as fits an area; None when that is next to nothing.

    Steps are turned over like pages; the threads stay the same all the time.
    """
    steps, threads = about.naive.m.shape
    size = stage.text(14)
    across = int((area.width - width_of(stage, about, 0)) / _step_width(stage, about))
    down = int((area.height - _height(stage, 0)) / (size * 1.6))
    if down < threads:  # more of them without a caption
        down = max(down, int((area.height - size * 1.3) / (size * 1.45)))
    across, down = min(across, steps), min(down, threads)
    if across < 1 or down < 2:
        return None
    first = min(max(moment.seen - 1, 0) // across * across, steps - across)
    return Window(min(max(about.watched - down // 2, 0), threads - down), down, first, across)


def table_size(stage: Stage, about: Multiplication) -> Table:
    """The room the whole table needs; infinite where it would say too much."""
    steps, threads = about.naive.m.shape
    if steps * threads > _MOST_CELLS:
        return Table(*[float("inf")] * 3)
    bare = stage.text(14) * (1.3 + 1.45 * threads)
    return Table(width_of(stage, about, steps), _height(stage, threads), bare)


def width_of(stage: Stage, about: Multiplication, steps: int) -> float:
    """Width of so many steps."""
    return _row_head(stage, about) + steps * _step_width(stage, about)


def _step_width(stage: Stage, about: Multiplication) -> float:
    """Width of one step: two elements, and the space to the next."""
    return 2 * _half(stage, about) + stage.text(14) * 0.5


def _height(stage: Stage, threads: int) -> float:
    """Height of so many threads, with a caption."""
    return stage.text(14) * (1.7 + 1.4 + threads * 1.6)


def _row_head(stage: Stage, about: Multiplication) -> float:
    """Width of the column that names the threads."""
    last = about.sizes.tile - 1
    size = stage.text(14)
    widest = max(text_width(f"({last},{last})", size), text_width(tr("Naive"), size, True))
    return widest + size * 0.5


def _half(stage: Stage, about: Multiplication) -> float:
    """Width of half a cell: the name of one element."""
    sizes = about.sizes
    longest = f"M{sizes.rows - 1},{max(sizes.inner, sizes.columns) - 1}"
    return text_width(longest, stage.text(14)) + stage.text(14) * 0.4


def named(stage: Stage, area: Rect, name: str, forms: tuple[str, ...]) -> tuple[Mark, ...]:
    """The name of a picture, and what it shows in as many words as fit."""
    size = stage.text(14)
    taken = text_width(name, size, True) + size * 0.7
    text = first_fitting(forms, area.width - taken, size)
    y = area.y + size * 0.6
    title = label(area.x, y, name, stage.palette.ink, size, bold=True)
    return (title, label(area.x + taken, y, text, stage.palette.muted, size)) if text else (title,)


def access_table(
    stage: Stage, area: Rect, about: Multiplication, moment: Moment, window: Window | None = None
) -> tuple[Mark, ...]:
    """What each thread reads at each step; an element that was read before is hatched."""
    size, shown = stage.text(14), window or whole(about)
    bare = area.height < _height(stage, shown.threads) - 0.5
    caption, rest = area.above(0.0 if bare else size * 1.7)
    head = _row_head(stage, about)
    wide = min(area.width, width_of(stage, about, shown.steps) * 1.3) - head
    names, rest = rest.above(size * (1.3 if bare else 1.4))
    name = label(names.x, names.y + size * 0.6, tr("Naive"), stage.palette.ink, size, True)
    high = min(rest.height, shown.threads * size * _TALLEST)
    space = size * 0.3  # between steps; rows stand closer
    cells = grid(Rect(rest.x + head, rest.y, wide + space, high), shown.threads, shown.steps, 2.0)
    cells[:, 2] -= space
    said = _caption(stage, about, shown)
    return (
        *((name,) if bare else named(stage, caption, tr("Naive kernel"), said)),
        *_heads(stage, names, cells, about, shown),
        *_half_cells(stage, cells, about.m, about, moment, shown, 0.0),
        *_half_cells(stage, cells, about.n, about, moment, shown, 0.5),
        guards(stage, cells[shown.of(about.m.naive_reads) < 0], False),
        *_now(stage, cells, about, moment, shown),
    )


def bottom_of(stage: Stage, shown: Window) -> float:
    """The most height that a captioned table of this size takes."""
    return stage.text(14) * (1.7 + 1.4 + shown.threads * _TALLEST)


def _caption(stage: Stage, about: Multiplication, shown: Window) -> tuple[str, ...]:
    """What is seen, and what is left out, in more words or less; nothing while the stage asks."""
    if stage.asks:
        return ("",)
    again = (tr("reads global memory every time (hatched: again)"), tr("hatched: read again"), "")
    steps, threads = about.naive.m.shape
    if (shown.threads, shown.steps) == (threads, steps):
        return again
    part = tr(
        "{a} of {threads} threads, {b} of {steps} steps",
        a=shown.threads,
        threads=threads,
        b=shown.steps,
        steps=steps,
    )
    return f"{part} · {again[1]}", part, *again[1:]


def _heads(
    stage: Stage, names: Rect, cells: F32, about: Multiplication, shown: Window
) -> tuple[Mark, ...]:
    """Steps above the columns, threads beside the rows."""
    size, muted, tile = stage.text(14), stage.palette.muted, about.sizes.tile
    middle, thread = centers(cells), shown.thread + np.arange(shown.threads)
    over = np.stack([middle[: shown.steps, 0], np.full(shown.steps, names.y + size * 0.6)], axis=1)
    beside = np.stack([np.full(shown.threads, names.x), middle[:: shown.steps, 1]], axis=1)
    who = tuple(f"({t % tile},{t // tile})" for t in thread.tolist())
    which = tuple(f"k = {shown.step + k}" for k in range(shown.steps))
    own = np.where(thread[:, None] == about.watched, stage.palette.ink, muted)
    return (
        Texts(over.astype(np.float32), which, muted, size, "center"),
        Texts(beside.astype(np.float32), who, own.astype(np.uint8), size),
    )


def repeats(reads: I64) -> I64:
    """(steps, T) how often each element read has been read before: by earlier steps and threads."""
    return earlier(reads.ravel()).reshape(reads.shape)


def _half_cells(
    stage: Stage,
    cells: F32,
    operand: Operand,
    about: Multiplication,
    moment: Moment,
    shown: Window,
    at: float,
) -> tuple[Mark, ...]:
    """The elements of one factor: to come dim, done in the heat of their reads so far."""
    palette, size = stage.palette, stage.text(14)
    rects = cells.copy()
    rects[:, 2] = cells[:, 2] / 2 - 0.5
    rects[:, 0] += at * (cells[:, 2] + 1)
    over = shown.step + np.tile(np.arange(shown.steps), shown.threads) < moment.seen
    element = shown.of(operand.naive_reads)
    before = shown.of(repeats(operand.naive_reads)) * (not stage.asks)
    warm = heat(palette, before + 1, operand.most)
    fill = np.where(over[:, None], warm, palette.cell).astype(np.uint8)
    some = element >= 0
    again = rects[over & some & (before > 0)].copy()
    again[:, 1] += again[:, 3] - _STRIP * stage.scale
    again[:, 3] = _STRIP * stage.scale
    ink = np.where(over[:, None], palette.ink_on(fill), palette.muted).astype(np.uint8)
    middle = centers(rects) - np.array([0, _STRIP * 0.45 * stage.scale], np.float32)
    words = tuple(_short(operand, int(e)) for e in element[some])

    def tip(i: int) -> str:
        which = int(element[some][i])
        return element_tip(about, operand, which, int(operand.naive[moment.naive, which]))

    return (
        Boxes(rects[some], fill[some], radius=2, tip=tip),
        Boxes(again, palette.waste_ground, hatch=palette.waste),
        Texts(middle[some], words, ink[some], size, "center"),
    )


def _short(operand: Operand, element: int) -> str:
    """`M1,2`."""
    row, column = operand.place(element)
    return f"{operand.name}{row},{column}"


def _now(
    stage: Stage, cells: F32, about: Multiplication, moment: Moment, shown: Window
) -> tuple[Mark, ...]:
    """A line around the step that is made now, and around the followed thread's cell."""
    at, row = moment.step - shown.step, about.watched - shown.thread
    if moment.step < 0 or not 0 <= at < shown.steps:
        return ()
    column, palette = cells[at :: shown.steps], stage.palette
    return (
        outlined(around(column), palette.accent, 2.0, pad=-1.0),
        Boxes(column[row : row + 1], stroke=palette.outline, stroke_width=2.0, radius=3),
    )
