"""The picture of a matrix in memory: who reads which element, and the request that does it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F32, I64, Bool, Rgba
from gpuviz.draw.ease import passed
from gpuviz.draw.figures import Figure, figures, line_height, lines
from gpuviz.draw.heading import label, steady_heading
from gpuviz.draw.layout import Rect, around, centers, first_fitting
from gpuviz.draw.marks import Boxes, Frame, Mark, Texts
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.request.requests import Request
from gpuviz.scenes.request.view import draw, lay_out
from gpuviz.scenes.request.words import nouns


@dataclass(frozen=True)
class Bar:
    """What all loads of a launch fetch: transactions, and how many would do."""

    name: str
    count: int
    ideal: int


@dataclass(frozen=True, eq=False)
class Reading:
    """How warp 0 reads a matrix of `rows` x `columns` floats.

    `loads` are its requests in their order; `turn` and `lane` (rows * columns,) say with which of
    them each element is read and by whom, -1 where it is not. `bars` begin with the launch shown.
    """

    each: str
    rows: int
    columns: int
    loads: tuple[Request, ...]
    turn: I64
    lane: I64
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Moment:
    """The request under way (their number when all are over), sent and served from 0 to 1."""

    request: int
    sent: float
    served: float


def picture(
    stage: Stage, reading: Reading, title: str, sentences: tuple[str, ...], now: Moment
) -> Frame:
    """The matrix beside the request under way, or above it where the stage is narrow."""
    k = min(now.request, len(reading.loads) - 1)
    load, size = reading.loads[k], stage.text(14)
    head, area = steady_heading(stage, title, sentences[k], (max(sentences, key=len),))
    bars = 2 * size * 1.75 + line_height(stage)
    body = Rect(area.x, area.y, area.width, area.height - bars - size * 0.4)
    if body.height > body.width * 0.62:
        left, right = body.above(body.height * 0.5, size * 0.5)
    else:
        left, right = body.beside(_matrix_width(body, reading, size), size * 1.4)
    board = Rect(area.x, area.bottom - bars, area.width, bars)
    over = 1.0 if now.request > k else now.served
    return stage.frame(
        *head,
        *_matrix(stage, reading, left, k, now.sent, over),
        *draw(stage, lay_out(load, stage, right), now.sent, over * load.count),
        *_board(stage, reading, board, k, over),
    )


def _matrix_width(body: Rect, reading: Reading, size: float) -> float:
    """As much as the matrix needs at that height, and not more than leaves room for the request."""
    high = (body.height - size * 1.5) / reading.rows
    return max(min(high * reading.columns + size, body.width * 0.42), body.width * 0.26)


def _matrix(
    stage: Stage, reading: Reading, area: Rect, k: int, sent: float, served: float
) -> tuple[Mark, ...]:
    """Elements in the colours of the lanes that read them; what comes along for nothing hatched."""
    palette, size, load = stage.palette, stage.text(14), reading.loads[k]
    top, rest = area.above(size * 1.5)
    pitch = min(rest.width / reading.columns, rest.height / reading.rows, 64 * stage.scale)
    pitch = float(int(pitch)) if pitch >= 6 else pitch
    matrix = Matrix(rest.x, rest.y, reading.rows, reading.columns, pitch)
    mine, along = reading.turn == k, _along(reading, load)
    cells, fill = matrix.cells, _fill(stage, reading, k, served)
    forms = (
        tr("M, {rows} × {columns}, stored row by row", rows=reading.rows, columns=reading.columns),
        tr("M, {rows} × {columns}", rows=reading.rows, columns=reading.columns),
    )
    text = first_fitting(forms, area.width, size)
    hatched = along & (served > 0.5) & (not stage.asks)
    again, new = hatched & (reading.turn < k), hatched & (reading.turn > k)

    def tip(i: int) -> str:
        return element_tip(reading, i)

    return (
        label(top.x, top.y + size * 0.55, text, palette.muted, size),
        Boxes(cells, fill, radius=2.0 if pitch >= 14 else 0.0, tip=tip),
        Boxes(cells[again], hatch=palette.waste),
        Boxes(cells[new], palette.waste_ground, hatch=palette.waste),
        _outline(stage, cells[mine], pitch),
        *_numbers(stage, reading, matrix, fill),
        *_rule(stage, reading, area, matrix.area),
    )


def _outline(stage: Stage, cells: F32, pitch: float) -> Mark:
    """Around each element that is read now, or around all where they are small."""
    rects = cells if pitch >= 12 else around(cells).array()
    grown = (rects + np.array([-2, -2, 4, 4])).astype(np.float32)
    return Boxes(grown, stroke=stage.palette.outline, stroke_width=2.0, radius=3.0)


def _rule(stage: Stage, reading: Reading, area: Rect, matrix: Rect) -> tuple[Mark, ...]:
    """Where an element lies, and what a step costs, in the larger space that the matrix leaves."""
    size, palette = stage.text(14), stage.palette
    top = area.y + size * 1.5
    right = Rect(
        matrix.right + size * 1.5, top, area.right - matrix.right - size * 1.5, area.bottom - top
    )
    below = Rect(
        area.x, matrix.bottom + size * 0.8, area.width, area.bottom - matrix.bottom - size * 0.8
    )
    room = max(right, below, key=lambda r: max(r.width, 0) * max(r.height, 0))
    width = 4 * reading.columns
    marks: list[Mark] = []
    for n, text in enumerate(
        (
            tr("M[row][column] lies at byte (row × {n} + column) × 4.", n=reading.columns),
            tr("A step along a row is 4 bytes, a step down a column {n}.", n=width),
            tr(
                "Whether L1 still holds the rest of a sector when the next request comes is not "
                "counted here."
            ),
        )
    ):
        said, rest = lines(stage, room, text, palette.ink if n == 0 else palette.muted)
        if room.width < size * 12 or rest.height < 0:
            break
        marks += said
        room = rest
    return tuple(marks)


def _along(reading: Reading, load: Request) -> Bool:
    """(rows * columns,) elements fetched by a request that no lane of it asks for."""
    strip, width = load.strip, load.instruction.width
    byte = strip.start[strip.cell_box] + strip.cell_at
    element = np.unique(byte[strip.cell_lane < 0] // width)
    found = np.zeros(reading.rows * reading.columns, bool)
    found[element[element < len(found)]] = True
    return found


def _fill(stage: Stage, reading: Reading, k: int, served: float) -> Rgba:
    """Read before: quiet; now: full as it is served; later, or never: an empty cell."""
    palette = stage.palette
    color = palette.lanes[np.maximum(reading.lane, 0)]
    before = (reading.turn >= 0) & (reading.turn < k)
    now = reading.turn == k
    fill = np.where(before[:, None], palette.soft(color, 0.35), palette.cell)
    coming = palette.state(color, np.full(len(color), served))
    return np.where(now[:, None], coming, fill).astype(np.uint8)


def _numbers(stage: Stage, reading: Reading, matrix: Matrix, fill: Rgba) -> tuple[Mark, ...]:
    """The place of each element in memory, in elements, where it can be read."""
    count = reading.rows * reading.columns
    size = min(stage.text(14), matrix.pitch * 0.6)
    size = float(int(min(size, size * (matrix.pitch - 4) / text_width(str(count), size, True))))
    if size < 12:
        return ()
    words = tuple(map(str, range(count)))
    ink = stage.palette.ink_on(fill)
    return (Texts(centers(matrix.cells), words, ink, size, "center", bold=True),)


def element_tip(reading: Reading, element: int) -> str:
    """What hovering an element says."""
    row, column = divmod(element, reading.columns)
    place = tr(
        "M[{r}][{c}] · element {n} · byte {byte}", r=row, c=column, n=element, byte=4 * element
    )
    if reading.turn[element] < 0:
        return f"{place}\n{tr('not read by this warp')}"
    who = tr(
        "read by lane {lane} with request {k}", lane=reading.lane[element], k=reading.turn[element]
    )
    return f"{place}\n{who}"


def _board(stage: Stage, reading: Reading, area: Rect, k: int, served: float) -> tuple[Mark, ...]:
    """The requests so far, and what all loads fetch either way."""
    palette, load = stage.palette, reading.loads[k]
    first, rest = area.above(line_height(stage))
    so_far = sum(one.count for one in reading.loads[:k]) + passed(served * load.count)
    used = f"{100 * load.used / load.moved:.3g}"
    pieces: tuple[Figure, ...] = (
        (tr("request {n} of {all}", n=k + 1, all=len(reading.loads)), palette.ink, False),
        (tr("{n} so far", n=load.counted(so_far)), palette.accent, True),
        (tr("{share} % of the bytes used", share=used), palette.ink, False),
    )
    return *figures(stage, first, pieces, tr("model"), palette.accent), *_bars(stage, reading, rest)


def _bars(stage: Stage, reading: Reading, area: Rect) -> tuple[Mark, ...]:
    """Transactions of all loads, with a thread a row and with a thread a column; nothing while the
    stage asks how many these are.
    """
    if stage.asks:
        return ()
    palette, size = stage.palette, stage.text(14)
    room = max(text_width(bar.name, size) for bar in reading.bars) + size
    most = max(bar.count for bar in reading.bars)
    marks: list[Mark] = []
    for bar, row in zip(reading.bars, area.rows(len(reading.bars), size * 0.3), strict=True):
        color = palette.ink if bar is reading.bars[0] else palette.muted
        marks.append(label(row.x, row.center[1], bar.name, color, size))
        place = row.beside(room)[1]
        marks += _bar(
            stage,
            Rect(place.x, place.y, place.width * bar.count / most, place.height),
            place.right,
            bar,
            nouns(reading.loads[0].noun),
        )
    return tuple(marks)


def _bar(stage: Stage, area: Rect, end: float, bar: Bar, noun: str) -> list[Mark]:
    """What would do, solid; what is fetched beyond it, hatched; the words on it or behind it."""
    palette, size = stage.palette, stage.text(14)
    need = area.width * min(bar.ideal / bar.count, 1.0)
    marks: list[Mark] = [
        Boxes(Rect(area.x, area.y, need, area.height).array(), palette.accent_soft)
    ]
    if bar.count > bar.ideal:
        rest = Rect(area.x + need, area.y, area.width - need, area.height)
        marks.append(Boxes(rest.array(), palette.waste_ground, hatch=palette.waste))
        text = tr("{n} {noun}, {few} would do", n=f"{bar.count:,}", noun=noun, few=bar.ideal)
        color = palette.warn
    else:
        text, color = tr("{n} {noun}, all needed", n=f"{bar.count:,}", noun=noun), palette.ink
    wide = text_width(text, size, True) + size * 0.6
    inside = wide + size * 0.6 <= area.width
    x = area.right - wide - size * 0.3 if inside else min(area.right + size * 0.3, end - wide)
    plate = Rect(x, area.y + 2, wide, area.height - 4)
    ground = palette.waste_ground if color is palette.warn and inside else None
    marks.append(Boxes(plate.array(), ground))
    marks.append(label(plate.x + size * 0.3, plate.center[1], text, color, size, True))
    return marks
