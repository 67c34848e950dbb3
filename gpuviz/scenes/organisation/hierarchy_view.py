"""The picture of the hierarchy: the grid, one of its blocks, the warps the block is cut into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import smooth, staggered
from gpuviz.draw.figures import Figure, figures, line_height, lines, pill_width, sourced
from gpuviz.draw.heading import badge, label, steady_heading
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Curves, Frame, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.volume import Volume, volume
from gpuviz.language import tr
from gpuviz.trace import LANES, Launch

_LEAST_NUMBER = 12.0  # pixels: smaller numbers are left out of cells
_AROUND = np.array([-2, -2, 4, 4], np.float32)


@dataclass(frozen=True)
class Placed:
    """The multiprocessor `sm` of each block, of the `count` that a device has; who said so."""

    sm: dict[int, int]
    count: int
    badge: str
    device: str


@dataclass(frozen=True, eq=False)
class Organisation:
    """What the threads of block `shown` wrote down, by thread number.

    `place` (T, 3) is threadIdx; `thread`, `warp` and `lane` (T,) the numbers. `placement` says
    where the blocks ran, if that was measured.
    """

    launch: Launch
    shown: int
    place: I64
    thread: I64
    warp: I64
    lane: I64
    placement: Placed | None

    @cached_property
    def warps(self) -> int:
        """Warps of the block."""
        return int(self.warp.max()) + 1

    @cached_property
    def empty(self) -> I64:
        """(E, 2) warp and lane of lanes that have no thread."""
        taken = np.zeros((self.warps, LANES), bool)
        taken[self.warp, self.lane] = True
        return np.argwhere(~taken)

    def thread_tip(self, i: int) -> str:
        """What hovering a thread says."""
        x, y, z = self.place[i].tolist()
        return tr(
            "threadIdx ({x}, {y}, {z}) · thread {thread}\nwarp {warp} · lane {lane}",
            x=x,
            y=y,
            z=z,
            thread=self.thread[i],
            warp=self.warp[i],
            lane=self.lane[i],
        )

    def block_tip(self, block: int) -> str:
        """What hovering a block says."""
        x, y, z = self.launch.block_index(block)
        where = tr("block {block} · blockIdx ({x}, {y}, {z})", block=block, x=x, y=y, z=z)
        if self.placement and block in self.placement.sm:
            return f"{where}\n{tr('ran on multiprocessor {sm}', sm=self.placement.sm[block])}"
        return where


@dataclass(frozen=True)
class Moment:
    """How far the story is: shares of the blocks and threads numbered, warps formed, the next."""

    blocks: float
    threads: float
    formed: int
    forming: float
    count: int = 0  # warps that are being formed together


@dataclass(frozen=True, eq=False)
class View:
    """Where everything goes, whatever the time."""

    left: Rect
    right: Rect
    blocks: Volume
    threads: Volume
    cells: F32
    rows: Rect
    lanes: F32
    empty: F32
    curves: F32


def picture(
    stage: Stage,
    seen: Organisation,
    title: str,
    sentences: tuple[str, ...],
    number: int,
    moment: Moment,
) -> Frame:
    """The whole stage, the sentence being the one of that number."""
    head, area = steady_heading(stage, title, sentences[number], sentences)
    tall = line_height(stage)
    count = 2 if area.height > 11 * tall else 1
    board = Rect(area.x, area.bottom - count * tall, area.width, count * tall)
    view = lay_out(stage, seen, Rect(area.x, area.y, area.width, area.height - board.height))
    return stage.frame(
        *head,
        *_grid(stage, seen, view, moment),
        _bands(stage, seen, view, moment),
        *_block(stage, seen, view, moment),
        *_warps(stage, seen, view, moment),
        *_board(stage, seen, board, moment),
    )


def lay_out(stage: Stage, seen: Organisation, area: Rect) -> View:
    """The grid on the left; on the right the block above its warps."""
    size = stage.text(14)
    left, right = area.beside(area.width * 0.3, size * 1.5)
    name = size * 1.4
    inside = left.above(name)[1]
    shape = seen.launch.grid
    half = Rect(inside.x, inside.y, inside.width, inside.height * 0.5)
    blocks = volume(half, shape, name if shape[2] > 1 else 0.0, 52 * stage.scale)
    low = right.above(name)[1]
    rows = min(seen.warps * 30.0 * stage.scale, low.height * 0.36)
    room = Rect(low.x, low.y, low.width, low.height - rows - 2.2 * name)
    block = seen.launch.block
    threads = volume(room, block, name if block[2] > 1 else 0.0, 60 * stage.scale)
    cells = threads.cells(*seen.place.T)
    start = text_width(tr("warp {n}", n=31), size) + size
    box = Rect(low.x + start, low.bottom - rows - size * 0.2, low.width - start, rows)
    lanes = grid(box, seen.warps, LANES, _gap(box, seen.warps))
    mine = lanes[seen.warp * LANES + seen.lane]
    feet, heads = centers(cells), centers(mine)
    feet[:, 1] += cells[:, 3] / 2
    heads[:, 1] -= mine[:, 3] / 2
    empty = lanes[seen.empty[:, 0] * LANES + seen.empty[:, 1]]
    return View(left, right, blocks, threads, cells, box, mine, empty, bands(feet, heads))


def _gap(box: Rect, rows: int) -> float:
    """Space between lanes."""
    small = min(box.width / LANES, box.height / rows)
    return 2.0 if small >= 12 else 1.0 if small >= 5 else 0.0


def _numbers(stage: Stage, rects: F32, numbers: I64, fill: Rgba) -> tuple[Mark, ...]:
    """Numbers in cells, where they can be read."""
    if not len(rects):
        return ()
    widest = str(int(numbers.max()))
    size = min(stage.text(14), float(rects[0, 3]) * 0.85)
    size = float(int(min(size, size * (float(rects[0, 2]) - 3) / text_width(widest, size, True))))
    if size < _LEAST_NUMBER:
        return ()
    words = tuple(map(str, numbers.tolist()))
    return (Texts(centers(rects), words, stage.palette.ink_on(fill), size, "center", bold=True),)


def _planes(stage: Stage, shape: Volume) -> tuple[Mark, ...]:
    """The z of each plane, above it."""
    if shape.size[2] == 1:
        return ()
    z = np.arange(shape.size[2])
    corner = shape.cells(np.zeros_like(z), np.zeros_like(z), z)[:, :2]
    at = (corner - np.array([0, stage.text(14) * 0.62])).astype(np.float32)
    words = tuple(f"z = {n}" for n in z)
    room = shape.plane[0] if shape.columns > 1 else shape.area.width + stage.text(14) * 2
    if text_width(f"z = {shape.size[2] - 1}", stage.text(14)) > room:
        words = tuple(str(n) for n in z)
    return (Texts(at, words, stage.palette.muted, stage.text(14)),)


def _grid(stage: Stage, seen: Organisation, view: View, moment: Moment) -> tuple[Mark, ...]:
    """The blocks of the grid, numbered in their order, and where they ran."""
    palette, size, launch = stage.palette, stage.text(14), seen.launch
    block = np.arange(launch.blocks)
    place = np.array([launch.block_index(int(b)) for b in block])
    rects = view.blocks.cells(*place.T)
    done = staggered(moment.blocks, launch.blocks)
    fill = palette.state(np.broadcast_to(palette.accent_soft, (launch.blocks, 4)), done)
    chosen = rects[seen.shown : seen.shown + 1]
    text = first_fitting(
        (tr("grid: {n} blocks", n=launch.blocks), tr("grid")), view.left.width, size
    )
    numbered = done >= 1
    return (
        label(view.left.x, view.left.y + size * 0.6, text, palette.muted, size),
        *_planes(stage, view.blocks),
        Boxes(rects, fill, stroke=palette.border, radius=3, tip=seen.block_tip),
        Boxes(chosen + _AROUND, stroke=palette.accent, stroke_width=2.5, radius=4),
        *_numbers(stage, rects[numbered], block[numbered], fill[numbered]),
        *_placed(stage, seen, view),
    )


def _placed(stage: Stage, seen: Organisation, view: View) -> tuple[Mark, ...]:
    """Which multiprocessor ran which block, if that was measured."""
    palette, size = stage.palette, stage.text(14)
    top = view.blocks.area.bottom + size * 0.9
    rest = Rect(view.left.x, top, view.left.width, view.left.bottom - top)
    head, below = rest.above(size * 1.7, size * 0.3)
    if seen.placement is None:
        why = tr("The multiprocessor (SM) of each block is measured: no GPU and no recording.")
        said, left = lines(stage, below, why, palette.muted)
        if left.height < -size * 0.4:
            said = ()
        word = tr("SM: unavailable") if not said else tr("unavailable")
        return *badge(stage, head.x, head.center[1], word, palette.faint), *said
    placed = seen.placement
    sms = sorted(set(placed.sm.values()))
    pill = pill_width(stage, placed.badge)
    few = tr("{n} of {all} SMs", n=len(sms), all=placed.count)
    text = first_fitting((f"{few} · {placed.device}", few), head.width - pill, size)
    return (
        *badge(stage, head.x, head.center[1], placed.badge, palette.good),
        label(head.x + pill, head.center[1], text, palette.muted, size),
        *_processors(stage, placed.sm, sms, seen.shown, below),
    )


def _processors(
    stage: Stage, placement: dict[int, int], sms: list[int], shown: int, area: Rect
) -> tuple[Mark, ...]:
    """A box for each multiprocessor at work, as many as there is room for, with its blocks."""
    size = stage.text(14)
    blocks = {sm: [b for b, s in placement.items() if s == sm] for sm in sms}
    numbers = {sm: " ".join(map(str, blocks[sm])) for sm in sms}
    for words in (
        [tr("SM {sm}: block {n}", sm=sm, n=numbers[sm]) for sm in sms],
        [f"SM {sm}: {numbers[sm]}" for sm in sms],
    ):
        wide = max(text_width(w, size) for w in words) + size
        columns = max(int(area.width // wide), 1)
        fitting = max(int(area.height // (size * 1.7)), 0) * columns
        if fitting >= len(words):
            break
    if not fitting:
        return ()
    few = words if len(words) <= fitting else [*words[: fitting - 1], "…"]
    rows = -(-len(few) // columns)
    rects = grid(Rect(area.x, area.y, area.width, rows * size * 1.7), rows, columns, 3.0)
    rects = rects[: len(few)]
    mine = np.array([shown in blocks[sm] for sm in sms][: len(few)], bool)
    inner = rects[:, :2] + np.array([size * 0.4, float(rects[0, 3]) / 2], np.float32)
    return (
        Boxes(rects, stage.palette.panel, stroke=stage.palette.border, radius=3),
        Boxes(rects[mine[: len(rects)]], stroke=stage.palette.accent, stroke_width=2, radius=3),
        Texts(inner, tuple(few), stage.palette.ink, size),
    )


def _share(seen: Organisation, moment: Moment) -> tuple[F64, Bool]:
    """(T,) how far each thread has come to its lane, and whether it is on its way now."""
    now = (seen.warp >= moment.formed) & (seen.warp < moment.formed + moment.count)
    return np.where(seen.warp < moment.formed, 1.0, np.where(now, moment.forming, 0.0)), now


def _block(stage: Stage, seen: Organisation, view: View, moment: Moment) -> tuple[Mark, ...]:
    """The threads of the block in their places, coloured by lane once they have a number."""
    palette, size = stage.palette, stage.text(14)
    numbered = np.arange(len(seen.thread)) < np.ceil(moment.threads * len(seen.thread))
    come, now = _share(seen, moment)
    strong = now | (come >= 1)
    fill = np.where(
        strong[:, None], palette.lanes[seen.lane], palette.soft(palette.lanes[seen.lane], 0.45)
    )
    fill = np.where(numbered[:, None], fill, palette.cell).astype(np.uint8)
    shape = " × ".join(map(str, seen.launch.block))
    forms = (
        tr("block {b}: {shape} threads (x × y × z), colour = lane", b=seen.shown, shape=shape),
        tr("block {b}: {shape} threads", b=seen.shown, shape=shape),
    )
    text = first_fitting(forms, view.right.width, size)
    return (
        label(view.right.x, view.right.y + size * 0.6, text, palette.muted, size),
        *_planes(stage, view.threads),
        Boxes(
            view.cells,
            fill,
            stroke=palette.border if view.threads.gap else None,
            radius=2,
            tip=seen.thread_tip,
        ),
        *_numbers(stage, view.cells[numbered], seen.thread[numbered], fill[numbered]),
        *_outlines(stage, view, now),
    )


def _outlines(stage: Stage, view: View, now: Bool) -> tuple[Mark, ...]:
    """Around the threads of the warp that is being formed, unless they are very narrow."""
    if min(view.threads.pitch) < 6:
        return ()
    grown = (view.cells[now] + _AROUND / 2).astype(np.float32)
    return (Boxes(grown, stroke=stage.palette.outline, stroke_width=2, radius=3),)


def _bands(stage: Stage, seen: Organisation, view: View, moment: Moment) -> Mark:
    """From the threads of the warp that is being formed to its lanes, behind everything else."""
    come, now = _share(seen, moment)
    few = now & (come > 0) if int(now.sum()) <= 2 * LANES else np.zeros_like(now)
    curves = partly(view.curves[few], smooth(come[few] * 1.4))
    return Curves(curves, stage.palette.lanes[seen.lane[few]], 1.6 * stage.scale)


def _warps(stage: Stage, seen: Organisation, view: View, moment: Moment) -> tuple[Mark, ...]:
    """A row of lanes for each warp, bands from the threads that become its lanes."""
    palette = stage.palette
    come, now = _share(seen, moment)
    color = palette.lanes[seen.lane]
    fill = palette.state(color, smooth(come))
    arrived = come >= 1
    lost = moment.formed + moment.count > seen.empty[:, 0]
    return (
        Boxes(view.lanes, fill, radius=2, tip=seen.thread_tip),
        Boxes(
            view.empty[~lost],
            palette.todo(palette.waste_ground),
            hatch=palette.todo(palette.waste),
            tip=_empty_tip(seen, ~lost),
        ),
        Boxes(
            view.empty[lost], palette.waste_ground, hatch=palette.waste, tip=_empty_tip(seen, lost)
        ),
        *_numbers(stage, view.lanes[arrived], seen.thread[arrived], fill[arrived]),
        *_names(stage, seen, view, moment),
    )


def _empty_tip(seen: Organisation, chosen: Bool) -> Tip:
    """The hover text of lanes without a thread."""
    which = seen.empty[chosen]
    return lambda i: tr(
        "lane {lane} of warp {warp} has no thread", lane=which[i, 1], warp=which[i, 0]
    )


def _names(stage: Stage, seen: Organisation, view: View, moment: Moment) -> tuple[Mark, ...]:
    """The warps' names beside their rows, and the lanes' numbers above the first."""
    palette, size = stage.palette, stage.text(14)
    pitch = view.rows.height / seen.warps
    every = next(n for n in (1, 2, 4, 8, 16, 32) if n * pitch >= size * 1.15 or n == 32)
    warps = range(0, seen.warps, every)
    y = [view.rows.y + (n + 0.5) * pitch for n in warps]
    at = np.array([(view.right.x, top) for top in y], np.float32)
    ink = np.where(
        (np.array(warps) < moment.formed + moment.count)[:, None], palette.ink, palette.faint
    ).astype(np.uint8)
    wide = view.rows.width / LANES
    lanes = range(0, LANES, 4)
    above = np.array(
        [(view.rows.x + (n + 0.5) * wide, view.rows.y - size * 0.7) for n in lanes], np.float32
    )
    title = label(view.right.x, view.rows.y - size * 0.7, tr("lane"), palette.muted, size)
    return (
        Texts(at, tuple(tr("warp {n}", n=n) for n in warps), ink, size),
        title,
        Texts(above, tuple(map(str, lanes)), palette.muted, size, "center"),
    )


def _board(stage: Stage, seen: Organisation, area: Rect, moment: Moment) -> tuple[Mark, ...]:
    """The counts, and the published one."""
    palette = stage.palette
    formed = min(moment.formed + (moment.count if moment.forming >= 1 else 0), seen.warps)
    used, launch = len(seen.thread), seen.launch
    pieces: tuple[Figure, ...] = (
        (tr("{n} of {all} warps", n=formed, all=seen.warps), palette.accent, True),
        (
            tr(
                "{used} of {all} lanes used ({share} %)",
                used=used,
                all=seen.warps * LANES,
                share=f"{100 * used / (seen.warps * LANES):.0f}",
            ),
            palette.ink,
            False,
        ),
        (tr("{threads} threads in the grid", threads=used * launch.blocks), palette.muted, False),
        (tr("{warps} warps", warps=seen.warps * launch.blocks), palette.muted, False),
    )
    first = area.above(line_height(stage))[0]
    marks = figures(stage, first, pieces, tr("model"), palette.accent)
    if area.height < 1.5 * line_height(stage):
        return marks
    said = tr("G80: 8 cores × 4 pipeline stages = a warp of 32")
    forms = (f"{said} · {tr('lecture slides on memory sharing and coalescing')}", said)
    last = area.above(line_height(stage))[1]
    return *marks, *sourced(stage, last, tr("published"), palette.muted, forms)
