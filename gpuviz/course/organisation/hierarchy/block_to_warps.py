"""The blocks of a grid, the threads of a block, and the warps it is cut into, lane by lane."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool
from gpuviz.draw.ease import smooth, staggered
from gpuviz.draw.heading import badge, label, lines, pill_width
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.volume import Volume, numbers, planes, volume
from gpuviz.draw.warp import bands, partly
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import LANES, Launch
from gpuviz.words.language import tr

_AROUND = np.array([-1, -1, 2, 2], np.float32)
_LEAST = 15.75  # letters high


@dataclass(frozen=True, eq=False)
class Threads:
    """The threads of a block by their numbers: (T, 3) `place` is threadIdx, (T,) the numbers.

    `size` is blockDim.
    """

    size: tuple[int, int, int]
    place: I64
    thread: I64
    warp: I64
    lane: I64

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

    def tip(self, i: int) -> str:
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


@dataclass(frozen=True)
class WarpFormation:
    """How far it is: the share of `threads` numbered, warps `formed`, and of the next `count`
    together the share that is `forming`.
    """

    threads: float = 0.0
    formed: int = 0
    forming: float = 0.0
    count: int = 0

    def over(self, warps: int) -> int:
        """Warps that are there, of all."""
        return min(self.formed + (self.count if self.forming >= 1 else 0), warps)


@dataclass(frozen=True, eq=False)
class _View:
    """Where everything goes, whatever the time."""

    area: Rect
    threads: Volume
    cells: F32
    rows: Rect
    lanes: F32
    empty: F32
    curves: F32


@dataclass(frozen=True, eq=False)
class BlockToWarps(Panel):
    """Block `number` above, its warps below, bands from threads to the lanes they become."""

    share: ClassVar[float] = 0.69
    number: int
    threads: Threads
    moment: WarpFormation

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell threads and lanes apart."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Bands behind everything else."""
        view = _lay_out(stage, self.threads, area)
        yield _bands(stage, self.threads, view, self.moment)
        yield from _block(stage, self.number, self.threads, view, self.moment)
        yield from _warps(stage, self.threads, view, self.moment)


def _lay_out(stage: Stage, seen: Threads, right: Rect) -> _View:
    """The block above its warps."""
    size = stage.text(14)
    name = size * 1.4
    low = right.above(name)[1]
    rows = min(seen.warps * 30.0 * stage.scale, low.height * 0.36)
    room = Rect(low.x, low.y, low.width, low.height - rows - 2.2 * name)
    block = seen.size
    threads = volume(room, block, name if block[2] > 1 else 0.0, 60 * stage.scale)
    cells = threads.cells(*seen.place.T)
    start = text_width(tr("warp {n}", n=31), size) + size
    box = Rect(low.x + start, low.bottom - rows - size * 1.4, low.width - start, rows)
    lanes = grid(box, seen.warps, LANES, _gap(box, seen.warps))
    mine = lanes[seen.warp * LANES + seen.lane]
    feet, heads = centers(cells), centers(mine)
    feet[:, 1] += cells[:, 3] / 2
    heads[:, 1] -= mine[:, 3] / 2
    empty = lanes[seen.empty[:, 0] * LANES + seen.empty[:, 1]]
    return _View(right, threads, cells, box, mine, empty, bands(feet, heads))


def _gap(box: Rect, rows: int) -> float:
    """Space between lanes."""
    small = min(box.width / LANES, box.height / rows)
    return 2.0 if small >= 12 else 1.0 if small >= 5 else 0.0


def _share(seen: Threads, moment: WarpFormation) -> tuple[F64, Bool]:
    """(T,) how far each thread has come to its lane, and whether it is on its way now."""
    now = (seen.warp >= moment.formed) & (seen.warp < moment.formed + moment.count)
    return np.where(seen.warp < moment.formed, 1.0, np.where(now, moment.forming, 0.0)), now


def _block(
    stage: Stage, number: int, seen: Threads, view: _View, moment: WarpFormation
) -> tuple[Mark, ...]:
    """The threads of the block in their places, coloured by lane once they have a number."""
    palette, size = stage.palette, stage.text(14)
    numbered = np.arange(len(seen.thread)) < np.ceil(moment.threads * len(seen.thread))
    come, now = _share(seen, moment)
    strong = now | (come >= 1)
    fill = np.where(
        strong[:, None], palette.lanes[seen.lane], palette.soft(palette.lanes[seen.lane], 0.45)
    )
    fill = np.where(numbered[:, None], fill, palette.cell).astype(np.uint8)
    shape = " × ".join(map(str, seen.size))
    forms = (
        tr("block {b}: {shape} threads (x × y × z), colour = lane", b=number, shape=shape),
        tr("block {b}: {shape} threads", b=number, shape=shape),
    )
    text = first_fitting(forms, view.area.width, size)
    return (
        label(view.area.x, view.area.y + size * 0.6, text, palette.muted, size),
        *planes(stage, view.threads),
        Boxes(
            view.cells,
            fill,
            stroke=palette.border if view.threads.gap else None,
            radius=2,
            tip=seen.tip,
        ),
        *numbers(stage, view.cells[numbered], seen.thread[numbered], fill[numbered]),
        *_outlines(stage, view, now),
    )


def _outlines(stage: Stage, view: _View, now: Bool) -> tuple[Mark, ...]:
    """Around the threads of the warp that is being formed, unless they are very narrow."""
    if min(view.threads.pitch) < 6:
        return ()
    grown = (view.cells[now] + _AROUND).astype(np.float32)
    return (Boxes(grown, stroke=stage.palette.outline, stroke_width=2, radius=3),)


def _bands(stage: Stage, seen: Threads, view: _View, moment: WarpFormation) -> Mark:
    """From the threads of the warp that is being formed to its lanes, behind everything else."""
    come, now = _share(seen, moment)
    few = now & (come > 0) if int(now.sum()) <= 2 * LANES else np.zeros_like(now)
    curves = partly(view.curves[few], smooth(come[few] * 1.4))
    return Curves(curves, stage.palette.lanes[seen.lane[few]], 1.6 * stage.scale)


def _warps(stage: Stage, seen: Threads, view: _View, moment: WarpFormation) -> tuple[Mark, ...]:
    """A row of lanes for each warp, bands from the threads that become its lanes."""
    palette = stage.palette
    come, now = _share(seen, moment)
    color = palette.lanes[seen.lane]
    fill = palette.state(color, smooth(come))
    arrived = come >= 1
    lost = moment.formed + moment.count > seen.empty[:, 0]
    return (
        Boxes(view.lanes, fill, radius=2, tip=seen.tip, lanes=seen.lane),
        Boxes(
            view.empty[~lost],
            palette.todo(palette.waste_ground),
            hatch=palette.todo(palette.waste),
            tip=_empty_tip(seen, ~lost),
        ),
        Boxes(
            view.empty[lost], palette.waste_ground, hatch=palette.waste, tip=_empty_tip(seen, lost)
        ),
        *numbers(stage, view.lanes[arrived], seen.thread[arrived], fill[arrived]),
        *_names(stage, seen, view, moment),
    )


def _empty_tip(seen: Threads, chosen: Bool) -> Tip:
    """The hover text of lanes without a thread."""
    which = seen.empty[chosen]
    return lambda i: tr(
        "lane {lane} of warp {warp} has no thread", lane=which[i, 1], warp=which[i, 0]
    )


def _names(stage: Stage, seen: Threads, view: _View, moment: WarpFormation) -> tuple[Mark, ...]:
    """The warps' names beside their rows, and the lanes' numbers below the last, where no band
    crosses them.
    """
    palette, size = stage.palette, stage.text(14)
    pitch = view.rows.height / seen.warps
    every = next(n for n in (1, 2, 4, 8, 16, 32) if n * pitch >= size * 1.15 or n == 32)
    warps = range(0, seen.warps, every)
    y = [view.rows.y + (n + 0.5) * pitch for n in warps]
    at = np.array([(view.area.x, top) for top in y], np.float32)
    ink = np.where(
        (np.array(warps) < moment.formed + moment.count)[:, None], palette.ink, palette.faint
    ).astype(np.uint8)
    wide = view.rows.width / LANES
    lanes = range(0, LANES, 4)
    below = view.rows.bottom + size * 0.7
    places = np.array([(view.rows.x + (n + 0.5) * wide, below) for n in lanes], np.float32)
    title = label(view.area.x, below, tr("lane"), palette.muted, size)
    return (
        Texts(at, tuple(tr("warp {n}", n=n) for n in warps), ink, size),
        title,
        Texts(places, tuple(map(str, lanes)), palette.muted, size, "center"),
    )


_AROUND_BLOCK = np.array([-2, -2, 4, 4], np.float32)


@dataclass(frozen=True)
class SmAssignment:
    """The multiprocessor `sm` of each block, of the `count` that a device has; who said so."""

    sm: dict[int, int]
    count: int
    badge: str
    device: str


@dataclass(frozen=True, eq=False)
class GridOfBlocks(Panel):
    """The blocks of a launch, `counted` (0 to 1) of them numbered; `shown` is outlined.

    `placement` says where they ran, if that was measured.
    """

    share: ClassVar[float] = 0.31
    launch: Launch
    shown: int
    placement: SmAssignment | None
    counted: float

    def need(self, stage: Stage, width: float) -> Need:
        """A few cells."""
        return Need(8 * stage.text(14), 6 * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The grid above, where its blocks ran below."""
        palette, size, launch = stage.palette, stage.text(14), self.launch
        name = size * 1.4
        inside = area.above(name)[1]
        half = inside._replace(height=inside.height * 0.5)
        blocks = volume(half, launch.grid, name if launch.grid[2] > 1 else 0.0, 52 * stage.scale)
        number = np.arange(launch.blocks)
        rects = blocks.cells(*np.array([launch.block_index(int(b)) for b in number]).T)
        done = staggered(self.counted, launch.blocks)
        fill = palette.state(np.broadcast_to(palette.accent_soft, (launch.blocks, 4)), done)
        forms = tr("grid: {n} blocks", n=launch.blocks), tr("grid")
        text = first_fitting(forms, area.width, size)
        yield label(area.x, area.y + size * 0.6, text, palette.muted, size)
        yield from planes(stage, blocks)
        yield Boxes(rects, fill, stroke=palette.border, radius=3, tip=self.tip)
        chosen = rects[self.shown : self.shown + 1] + _AROUND_BLOCK
        yield Boxes(chosen, stroke=palette.accent, stroke_width=2.5, radius=4)
        yield from numbers(stage, rects[done >= 1], number[done >= 1], fill[done >= 1])
        top = blocks.area.bottom + size * 0.9
        yield from _placed(stage, self, Rect(area.x, top, area.width, area.bottom - top))

    def tip(self, block: int) -> str:
        """What hovering a block says."""
        x, y, z = self.launch.block_index(block)
        where = tr("block {block} · blockIdx ({x}, {y}, {z})", block=block, x=x, y=y, z=z)
        if self.placement and block in self.placement.sm:
            return f"{where}\n{tr('ran on multiprocessor {sm}', sm=self.placement.sm[block])}"
        return where


def _placed(stage: Stage, seen: GridOfBlocks, rest: Rect) -> tuple[Mark, ...]:
    """Which multiprocessor ran which block, if that was measured."""
    palette, size = stage.palette, stage.text(14)
    head, below = rest.above(size * 1.7, size * 0.3)
    if seen.placement is None:
        why = tr("The multiprocessor (SM) of each block is measured: no GPU and no recording.")
        said, left = lines(stage, below, why, palette.muted)
        if left.height < -size * 0.4:
            said = ()
        word = tr("SM: unavailable") if not said else tr("unavailable")
        return *badge(stage, head.x, head.center[1], word), *said
    placed = seen.placement
    sms = sorted(set(placed.sm.values()))
    pill = pill_width(stage, placed.badge)
    few = tr("{n} of {all} SMs", n=len(sms), all=placed.count)
    text = first_fitting((f"{few} · {placed.device}", few), head.width - pill, size)
    return (
        *badge(stage, head.x, head.center[1], placed.badge),
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
    home = next((i for i, sm in enumerate(sms) if shown in blocks[sm]), 0)
    kept = _kept(len(sms), fitting, home)
    few = [words[i] for i in kept] + ["…"] * (1 < fitting < len(words))
    rows = -(-len(few) // columns)
    rects = grid(Rect(area.x, area.y, area.width, rows * size * 1.7), rows, columns, 3.0)
    rects = rects[: len(few)]
    mine = np.array([shown in blocks[sms[i]] for i in kept], bool)
    inner = rects[:, :2] + np.array([size * 0.4, float(rects[0, 3]) / 2], np.float32)
    return (
        Boxes(rects, stage.palette.panel, stroke=stage.palette.border, radius=3),
        Boxes(rects[: len(kept)][mine], stroke=stage.palette.accent, stroke_width=2, radius=3),
        Texts(inner, tuple(few), stage.palette.ink, size),
    )


def _kept(count: int, fitting: int, home: int) -> list[int]:
    """Which of so many are shown where only some fit, an ellipsis among them: the first ones, and
    always the one at `home`.
    """
    if count <= fitting:
        return list(range(count))
    first = list(range(max(fitting - 1, 1)))
    return first if home in first else [*first[:-1], home]
