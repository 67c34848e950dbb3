"""The picture of barriers: shared tiles, who reads what is not there, the race check, the turns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuviz.arrays import I64, Rgba
from gpuviz.draw.figures import lines, pill_width
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark, Tip
from gpuviz.draw.matrix import Matrix, number_size, numbers, outlined, painted, strip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import Palette
from gpuviz.draw.stage import Stage
from gpuviz.draw.swimlanes import Bar, height_of, swimlanes
from gpuviz.draw.table import Column
from gpuviz.draw.table import height_of as table_height
from gpuviz.language import tr
from gpuviz.scenes.matmul.barrier_scene import Course, Kernel, Timed, reads_so_far, running
from gpuviz.scenes.matmul.barrier_words import found, hazard_lines, nothing, turn_tip
from gpuviz.scenes.matmul.layout import Framed, framed, side_by_side
from gpuviz.scenes.matmul.results import summary, tip_of
from gpuviz.scenes.matmul.turns import TileReplay
from gpuviz.scenes.matmul.view import captions
from gpuviz.scenes.matmul.words import spaced
from gpuviz.trace import LANES

_FLAT = 20  # text lines below the heading; fewer are a low stage


def draw(stage: Stage, body: Rect, course: Course, t: float, least: float) -> tuple[Mark, ...]:
    """Everything below the heading."""
    tiles, report, table, lanes = _areas(stage, body, course)
    return (
        *_tiles(stage, _framed(stage, tiles, course.tile), course, t, least),
        *_report(stage, report, course, t),
        *_table(stage, table, course, t),
        *_lanes(stage, lanes, course, t),
    )


def _areas(stage: Stage, body: Rect, course: Course) -> tuple[Rect, Rect, Rect, Rect]:
    """Shared tiles, race check, table of kernels, turns of the warps."""
    size = stage.text(14)
    most = body.height * (0.32 if body.height < size * _FLAT else 0.4)
    below = min(height_of(stage, course.warps) + size * 1.5, most)
    rest, lanes = body.above(body.height - below - size * 0.6, size * 0.6)
    table = table_height(stage, 2, 2, True)
    if body.width < 1.15 * body.height:
        tiles, rest = rest.above(rest.height * 0.48, size)
        report, table_area = rest.above(rest.height - table, size * 0.5)
        return tiles, report, table_area, lanes
    if body.height < size * _FLAT:
        table = size * 1.4
    tiles, right = rest.beside(min(rest.height * 1.05, rest.width * 0.46), size * 2)
    report, table_area = right.above(right.height - table - size * 0.5, size * 0.5)
    return tiles, report, table_area, lanes


def _framed(stage: Stage, area: Rect, tile: int) -> Framed:
    """Ms, Ns and the threads, placed as leaves larger cells."""
    taught, flat = framed(stage, area, tile, tile, tile), side_by_side(stage, area, tile)
    return taught if taught.pitch * 1.1 >= flat.pitch else flat


def _tiles(stage: Stage, at: Framed, course: Course, t: float, least: float) -> tuple[Mark, ...]:
    """The tiles at a moment, and the block's threads."""
    position, matrices, made = course.position(t), at.matrices, course.shown.replay
    notes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if number_size(stage, matrices.left, "1", least):
        forms = (tr("number: phase of the element"), tr("number: phase"))
        notes = (forms, ())
    return (
        *captions(stage, at, ("Ms", "Ns", tr("threads")), notes),
        *_tile(stage, matrices.left, made.m, course, t, position, least),
        *_tile(stage, matrices.top, made.n, course, t, position, least),
        *_threads(stage, matrices.corner, course, t, position),
    )


def _of_phase(palette: Palette, phase: I64, phases: int) -> Rgba:
    """(N, 4) an empty cell, then ever fuller colours for later phases."""
    share = (phase + 1) / max(phases, 1)
    warm = palette.state(np.tile(palette.load, (len(phase), 1)), 0.25 + 0.75 * share)
    return np.where((phase >= 0)[:, None], warm, palette.cell).astype(np.uint8)


def _tile(
    stage: Stage,
    matrix: Matrix,
    tile: TileReplay,
    course: Course,
    t: float,
    position: int,
    least: float,
) -> tuple[Mark, ...]:
    """What each slot holds: the number is the phase; what is read now is outlined."""
    held = tile.held(position, course.tile**2)
    fill = _of_phase(stage.palette, held, course.phases)

    def tip(slot: int) -> str:
        row, column = divmod(slot, course.tile)
        return f"{tile.name}s[{row}][{column}]: {found(int(held[slot]))}"

    return (
        painted(matrix, fill, tip),
        *_reads(stage, matrix, tile, course, t, position),
        *numbers(stage, matrix, held + 1, fill, held >= 0, least),
    )


def _reads(
    stage: Stage, matrix: Matrix, tile: TileReplay, course: Course, t: float, position: int
) -> tuple[Mark, ...]:
    """The slots that the running warp reads now, those with the wrong element hatched."""
    now = course.at(t)
    if now >= len(course.line) or course.line[now].turn.part != "multiply":
        return ()
    turn, reads, palette = course.line[now].turn, tile.reads, stage.palette
    inside = (reads.position >= turn.first) & (reads.position < turn.last)
    behind = reads.position[inside]
    if not len(behind):
        return ()
    latest = np.flatnonzero(inside)[np.argmin(np.abs(behind - position))]
    same = inside & (reads.phase == reads.phase[latest]) & (tile.k == tile.k[latest])
    wrong = np.unique(reads.slot[same & tile.wrong & (not stage.asks)])
    marks: list[Mark] = []
    if len(wrong):
        marks.append(Boxes(matrix.cells[wrong], palette.waste_ground, hatch=palette.bad))
    return *marks, outlined(strip(matrix, np.unique(reads.slot[same])), palette.accent, 2.0, 0.0)


def _threads(
    stage: Stage, matrix: Matrix, course: Course, t: float, position: int
) -> tuple[Mark, ...]:
    """The threads in the colours of their lanes; those that have read something wrong hatched."""
    palette, kernel, now = stage.palette, course.shown, course.at(t)
    count = course.tile**2
    over = now >= len(course.line)
    fill = palette.lanes[np.arange(count) % LANES]
    fill = np.tile(palette.store, (count, 1)) if over else fill
    wrong = kernel.outcome.wrong.ravel() if over else kernel.replay.wrong_before(position)
    marks: list[Mark] = [painted(matrix, fill, tip_of(kernel.outcome) if over else _who(course))]
    if wrong.any() and not stage.asks:
        marks.append(
            Boxes(matrix.cells[wrong], palette.waste_ground, hatch=palette.bad, stroke=palette.bad)
        )
    turn = course.line[min(now, len(course.line) - 1)].turn
    if not over:
        mine = np.flatnonzero(running(course, turn.warp)) if turn.warp >= 0 else np.arange(count)
        color = palette.outline if turn.warp >= 0 else palette.barrier
        marks.append(outlined(strip(matrix, mine), color, 2.5, 0.0))
    return tuple(marks)


def _who(course: Course) -> Tip:
    """What hovering a thread says."""

    def tip(thread: int) -> str:
        y, x = divmod(thread, course.tile)
        return tr(
            "thread ({x},{y}), warp {warp} lane {lane}",
            x=x,
            y=y,
            warp=thread // LANES,
            lane=thread % LANES,
        )

    return tip


def _report(stage: Stage, area: Rect, course: Course, t: float) -> tuple[Mark, ...]:
    """What the race check has found, as much of it as there is room for; nothing while the stage
    asks.
    """
    if stage.asks:
        return ()
    size, palette = stage.text(14), stage.palette
    head, rest = area.above(size * 1.7)
    word = tr("model")
    name = first_fitting(
        (tr("Race check of the kernel"), tr("Race check")),
        head.width - pill_width(stage, word),
        size,
        True,
    )
    marks: list[Mark] = [
        label(head.x, head.y + size * 0.7, name, palette.ink, size, True),
        *badge(
            stage,
            head.right - pill_width(stage, word) + size * 0.65,
            head.y + size * 0.7,
            word,
            palette.accent,
        ),
    ]
    said = [line for one in course.shown.hazards for line in hazard_lines(course, one)]
    for text, bad in said or [(nothing(course), False)]:
        color = palette.bad if bad else palette.muted if said else palette.good
        drawn, left = lines(stage, rest, text, color, bad)
        if left.y > area.bottom + size * 0.3:
            break
        marks, rest = [*marks, *drawn], left
    return *marks, *_so_far(stage, rest.above(0.0, size * 0.6)[1], course, course.position(t))


def _so_far(stage: Stage, area: Rect, course: Course, position: int) -> tuple[Mark, ...]:
    """What the warps have read so far, as bars where there is room: right, and hatched wrong."""
    size, palette = stage.text(14), stage.palette
    head, rest = area.above(size * 1.7)
    side, room = _read_sides(stage, course)
    if rest.height < course.warps * size * 1.5 or rest.width - side - room < size * 4:
        return ()
    text = first_fitting(
        (
            tr("Reads of the shared tiles so far (hatched: wrong element)"),
            tr("Reads so far (hatched: wrong)"),
            tr("Reads so far"),
        ),
        head.width,
        size,
        True,
    )
    marks: list[Mark] = [label(head.x, head.y + size * 0.7, text, palette.ink, size, True)]
    every, wrong = reads_so_far(course, position)
    most = int(reads_so_far(course, 1 << 62)[0].max())
    for warp in range(course.warps):
        line = Rect(rest.x, rest.y + warp * size * 1.6, rest.width, size * 1.3)
        marks += _reads_of(stage, line, course, warp, (int(every[warp]), int(wrong[warp]), most))
    return tuple(marks)


def _read_sides(stage: Stage, course: Course) -> tuple[float, float]:
    """The room for words before and after the bars."""
    size, most = stage.text(14), spaced(int(reads_so_far(course, 1 << 62)[0].max()))
    widest = tr("{n} of {all} wrong", n=most, all=most)
    return (
        text_width(tr("warp {n}", n=course.warps), size) + size * 0.7,
        text_width(widest, size, True) + size,
    )


def _reads_of(
    stage: Stage, line: Rect, course: Course, warp: int, counts: tuple[int, int, int]
) -> list[Mark]:
    """The reads of one warp, the wrong ones hatched; `counts`: so far, wrong, most."""
    (every, wrong, most), size, palette = counts, stage.text(14), stage.palette
    side, room = _read_sides(stage, course)
    bar = Rect(line.x + side, line.y, line.width - side - room, line.height)
    done, lost = bar.width * every / most, bar.width * wrong / most
    said = tr("{n} of {all} wrong", n=spaced(wrong), all=spaced(every)) if wrong else spaced(every)
    color = palette.bad if wrong else palette.ink
    bad = Rect(bar.x + done - lost, bar.y, lost, bar.height)
    return [
        label(line.x, line.center[1], tr("warp {n}", n=warp), palette.muted, size),
        Boxes(bar.array(), palette.cell, radius=3),
        Boxes(bar._replace(width=done - lost).array(), palette.compute, radius=3),
        Boxes(bad.array(), palette.waste_ground, hatch=palette.bad),
        label(line.right, line.center[1], said, color, size, True, "right"),
    ]


def _table(stage: Stage, area: Rect, course: Course, t: float) -> tuple[Mark, ...]:
    """The kernel beside the one with both barriers."""
    kernels = (course.shown, course.right) if course.right is not course.shown else (course.shown,)
    over = course.at(t) >= len(course.line)
    columns = (
        Column((tr("barriers"),), _cells(kernels, lambda k: k.replay.barriers), optional=1),
        Column(
            (tr("stores to P"), tr("stores")),
            _cells(kernels, lambda k: k.replay.stores),
            optional=2,
        ),
        Column(
            (tr("words at risk"), tr("at risk")),
            _cells(kernels, lambda k: sum(one.count for one in k.hazards)),
        ),
    )
    known = (over,) * len(kernels)
    outcomes = tuple(k.outcome for k in kernels)
    return summary(stage, area, outcomes, known, columns, [k.run for k in kernels])


def _cells(kernels: tuple[Kernel, ...], number: Callable[[Kernel], int]) -> tuple[str, ...]:
    """A number of each kernel."""
    return tuple(spaced(number(kernel)) for kernel in kernels)


def _lanes(stage: Stage, area: Rect, course: Course, t: float) -> tuple[Mark, ...]:
    """The warps' turns, and whose idea their order is."""
    size = stage.text(14)
    caption, rest = area.above(size * 1.5)
    forms = (
        tr("An order the hardware may choose: each warp runs as far as the next barrier (grey)"),
        tr("Each warp runs as far as the next barrier (grey)"),
        tr("One possible order"),
    )
    text = first_fitting(forms, area.width, size)
    names = tuple(tr("warp {n}", n=n) for n in range(course.warps))
    bars = tuple(
        _bar(stage, timed, read.wrong > 0 and not stage.asks)
        for timed, read in zip(course.line, course.misreads, strict=True)
    )

    def tip(number: int) -> str:
        return turn_tip(course, number)

    return (
        label(caption.x, caption.y + size * 0.6, text, stage.palette.muted, size),
        *swimlanes(stage, rest, names, bars, t, tip),
    )


def _bar(stage: Stage, timed: Timed, wrong: bool) -> Bar:
    """A turn as a bar; one with wrong reads is hatched."""
    palette, turn = stage.palette, timed.turn
    n = turn.phase + 1
    names = {
        "load": (tr("load {n}", n=n), tr("load")),
        "store": (tr("store"),),
        "barrier": (),
        "multiply": (tr("multiply {n}", n=n), tr("multiply"), f"× {n}", "×"),
    }[turn.part]
    color = {
        "load": palette.load,
        "store": palette.store,
        "barrier": palette.barrier,
        "multiply": palette.compute,
    }[turn.part]
    return Bar(turn.warp, timed.start, timed.end, names, color, wrong)
