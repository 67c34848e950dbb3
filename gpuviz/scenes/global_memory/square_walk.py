"""The small example of the square array: which element each thread works on, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import I64, Rgba
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import at, label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.request.requests import Request, requests_of
from gpuviz.trace import LANES, Trace

_LINE = 32  # floats in a line of 128 bytes


@dataclass(frozen=True, eq=False)
class Walk:
    """One block's walk through the array, from its trace.

    Attributes
    ----------
    element : (I, T) element that each thread loads in each iteration
    path : (T,) number of the branch that each thread takes
    size : elements of the array
    request : the first load of warp 0
    """

    element: I64
    path: I64
    size: int
    request: Request

    @property
    def threads(self) -> int:
        """Threads of the block."""
        return int(self.element.shape[1])

    @property
    def iterations(self) -> int:
        """Elements of each thread."""
        return len(self.element)

    @cached_property
    def owner(self) -> I64:
        """(size,) thread that works on each element, -1 for none."""
        found = np.full(self.size, -1, np.int64)
        found[self.element] = np.arange(self.threads)
        return found

    @cached_property
    def turn(self) -> I64:
        """(size,) iteration in which each element's turn comes; of no meaning without an owner."""
        found = np.zeros(self.size, np.int64)
        found[self.element] = np.arange(self.iterations)[:, None]
        return found


def walk_of(trace: Trace, arch: Architecture) -> Walk:
    """The walk of block 0, which is one warp or less."""
    loads = trace.of(block=0, warp=0, space="global", op="load")
    buffer = trace.launch.buffers[0]
    lines = np.array([trace.instructions[i].line for i in loads.instruction])
    active = np.stack([loads.lanes(row) for row in range(len(loads))])
    index = (loads.address.astype(np.int64) - buffer.address) // 4
    threads = trace.launch.threads_per_block
    element = np.stack([index[active[:, t], t] for t in range(threads)], axis=1)
    path = np.unique([lines[active[:, t]][0] for t in range(threads)], return_inverse=True)[1]
    request = requests_of(trace, arch, 0, 0)[0]
    return Walk(element, path, buffer.count, request)


def colors(stage: Stage, walk: Walk) -> Rgba:
    """(T,) colours of the threads, spread over the lanes' colours so that few stay apart."""
    count = max(walk.threads, 4)
    quarter, place = np.divmod(np.arange(walk.threads) * 4, count)
    within = np.rint(place / 4 / max(count / 4 - 1, 1) * (LANES / 4 - 1)).astype(np.int64)
    return stage.palette.lanes[quarter * (LANES // 4) + within]


def picture(stage: Stage, area: Rect, walk: Walk, now: float) -> tuple[Mark, ...]:
    """The table of threads and elements beside the array, `now` iterations being over."""
    gap = stage.text(14) * 1.6
    size = stage.text(14)
    column = text_width(str(walk.size - 1), size, True) + size * 0.6
    needed = _names(size) + walk.threads * column
    left, right = area.beside(max((area.width - gap) * 0.44, needed), gap)
    return (*_table(stage, left, walk, now), *_array(stage, right, walk, now))


def _names(size: float) -> float:
    """The width of the column of iterations."""
    return text_width(tr("thread"), size) + size * 0.8


def _rows(walk: Walk, now: float, room: int) -> list[int]:
    """Iterations whose rows are shown; -1 where some are left out.

    The first ones and the last one always are; the one under way is, wherever it is.
    """
    count = walk.iterations
    if room >= count:
        return list(range(count))
    first = max(room - 4, 1)
    current = min(int(now), count - 1)
    if current < first + 1 or current >= count - 2:
        return [*range(first + 1), -1, count - 2, count - 1]
    return [*range(first), -1, current, -1, count - 1]


def _table(stage: Stage, area: Rect, walk: Walk, now: float) -> tuple[Mark, ...]:
    """Threads as columns, iterations as rows: the document's table, filling."""
    size = stage.text(14)
    caption, rest = area.above(size * 1.6)
    first, body = rest.above(size * 1.9, size * 0.3)
    words = (tr("element that each thread works on"), tr("elements of each thread"))
    text = first_fitting(words, caption.width, size)
    marks: list[Mark] = [label(caption.x, caption.y + size * 0.5, text, stage.palette.muted, size)]
    names = _names(size)
    head = grid(first.beside(names)[1], 1, walk.threads, 3.0)
    fill = colors(stage, walk)
    numbers = tuple(str(t) for t in range(walk.threads))
    marks += [
        label(first.x, first.center[1], tr("thread"), stage.palette.muted, size),
        Boxes(head, fill, radius=4, tip=lambda t: _thread_tip(walk, t)),
        Texts(centers(head), numbers, stage.palette.ink_on(fill), size, "center", bold=True),
    ]
    rows = _rows(walk, now, int(body.height / (size * 1.4)))
    return *marks, *_body(stage, body, walk, now, rows, names)


def _body(
    stage: Stage, area: Rect, walk: Walk, now: float, rows: list[int], names: float
) -> tuple[Mark, ...]:
    """The rows of the table."""
    size, palette, marks = stage.text(14), stage.palette, list[Mark]()
    high = min(area.height / len(rows), size * 2.0)
    line = Rect(area.x, area.y - size * 0.15, area.width, 0)
    marks.append(Boxes(Rect(line.x, line.y, line.width, 1).array(), palette.border))
    for place, row in enumerate(rows):
        band = Rect(area.x, area.y + place * high, area.width, high)
        if row < 0:
            marks.append(
                Texts(at(band.x + names / 2, band.center[1]), ("…",), palette.faint, size, "center")
            )
            continue
        is_now = row == int(now) and now < walk.iterations
        if is_now:
            marks.append(Boxes(band.inset(-4, 1).array(), palette.accent_soft, radius=5))
        marks += _row(stage, band, walk, row, names, now, is_now)
    return tuple(marks)


def _row(
    stage: Stage, band: Rect, walk: Walk, row: int, names: float, now: float, is_now: bool
) -> list[Mark]:
    """One iteration: its number, then the element of each thread once its turn has come."""
    size, palette = stage.text(14), stage.palette
    cells = centers(grid(band.beside(names)[1], 1, walk.threads, 3.0))
    ink = palette.ink if row < now else palette.faint
    text = tuple(str(n) for n in walk.element[row].tolist())
    middle = at(band.x + names / 2 - size * 0.4, band.center[1])
    return [
        Texts(middle, (str(row),), palette.ink if is_now else palette.muted, size, "center"),
        Texts(
            cells,
            text,
            ink,
            size,
            "center",
            bold=is_now,
            tip=lambda t: f"a[{walk.element[row, t]}] · {_thread_tip(walk, t)}",
        ),
    ]


def _array(stage: Stage, area: Rect, walk: Walk, now: float) -> tuple[Mark, ...]:
    """The array, a line of 128 bytes a row, in the colour of the thread that works on it."""
    size, palette = stage.text(14), stage.palette
    caption, body = area.above(size * 1.6)
    last = walk.size - 1
    words = (
        tr("a[0] to a[{last}], a line of 128 bytes in each row", last=last),
        tr("the array, 128 bytes a row"),
        tr("the array"),
    )
    rows = -(-walk.size // _LINE)
    pitch = min(body.width / _LINE, body.height / rows)
    cells = grid(
        Rect(body.x, body.y, pitch * _LINE, min(pitch * 1.7 * rows, body.height)),
        rows,
        _LINE,
        2.0 if pitch >= 12 else 1.0,
    )[: walk.size]
    mine = walk.owner >= 0
    fill = np.where(mine[:, None], colors(stage, walk)[walk.owner], palette.cell).astype(np.uint8)
    progress = np.where(mine, smooth(np.asarray(now - walk.turn, np.float64)), 0.0)
    going = mine & (walk.turn == int(now))
    fill = palette.state(fill, progress)
    edge = cells[going] + np.array([-1, -1, 2, 2], np.float32)
    marks: list[Mark] = [
        label(
            caption.x,
            caption.y + size * 0.5,
            first_fitting(words, caption.width, size),
            palette.muted,
            size,
        ),
        Boxes(cells, fill, radius=2.0 if pitch >= 12 else 0.0, tip=lambda i: _element_tip(walk, i)),
    ]
    if now < walk.iterations:
        marks.append(Boxes(edge, stroke=palette.outline, stroke_width=2.0, radius=2))
    return tuple(marks)


def _thread_tip(walk: Walk, thread: int) -> str:
    """What hovering a thread says."""
    first, last = walk.element[0, thread], walk.element[-1, thread]
    what = tr("doubles its elements") if walk.path[thread] else tr("squares its elements")
    return tr(
        "thread {thread} · a[{first}] to a[{last}] · {what}",
        thread=thread,
        first=first,
        last=last,
        what=what,
    )


def _element_tip(walk: Walk, element: int) -> str:
    """What hovering an element says."""
    if walk.owner[element] < 0:
        return tr("a[{n}] · no thread works on it", n=element)
    return tr(
        "a[{n}] · thread {thread} in iteration {turn}",
        n=element,
        thread=walk.owner[element],
        turn=walk.turn[element],
    )
