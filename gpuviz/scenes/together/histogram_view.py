"""The picture of a histogram: lanes, the counters they go to, and the bars that grow of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpuviz.arrays import F32, I32, I64
from gpuviz.draw import table
from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import passed, smooth
from gpuviz.draw.figures import Figure, figures
from gpuviz.draw.heading import at, label
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Curves, Mark, Raster, Texts
from gpuviz.draw.matrix import heat
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr, trn
from gpuviz.runners.base import Run
from gpuviz.scenes.measured import Timed, badge_of, time_of
from gpuviz.scenes.request.words import counted
from gpuviz.scenes.shared_memory.bank_view import wavefronts
from gpuviz.scenes.together.histogram_count import Counting
from gpuviz.trace import LANES


@dataclass(frozen=True)
class Moment:
    """How far the story has come.

    `asked` 0 to 1 and `served` turns of the first request, then `requests` that are over (the
    fraction being the one under way), then `merged` 0 to 1 with all blocks.
    """

    asked: float
    served: float
    requests: float
    merged: float


@dataclass(frozen=True, eq=False)
class View:
    """Where everything goes: (32, 4) `lanes`, the counters' `area`, (B, 4) columns for `bars`."""

    names: float
    lanes: F32
    area: Rect
    bars: F32
    axis: float


def lay_out(stage: Stage, area: Rect, counting: Counting) -> View:
    """Lanes, bands, counters (rows of copies), bars, and the numbers of the bins."""
    size = stage.text(14)
    names = max(text_width(t, size) for t in (tr("lane"), tr("bin"), tr("copies"))) + size * 0.7
    inner = area.beside(names)[1]
    row, rest = inner.above(min(26 * stage.scale, inner.height * 0.11))
    axis = size * 1.4
    tall = rest.height * (0.3 if counting.copies >= 8 else 0.07)
    tall = max(tall, 10.0)
    high = rest.height * (0.26 if counting.copies >= 8 else 0.36)
    top = rest.bottom - axis - high - tall - size * 0.3
    cells = Rect(rest.x, top, rest.width, tall)
    columns = grid(
        Rect(rest.x, rest.bottom - axis - high, rest.width, high),
        1,
        counting.bins,
        1.0 if rest.width > counting.bins * 4 else 0.0,
    )
    return View(
        area.x + names - size * 0.7, lane_boxes(row), cells, columns, rest.bottom - axis * 0.45
    )


def draw(stage: Stage, view: View, counting: Counting, total: I64, now: Moment) -> tuple[Mark, ...]:
    """The picture at one moment; `total` (B,) is the histogram of all blocks."""
    request, progress = _under_way(counting, now)
    going = counting.active[request] & (progress > 0) & (progress < 1)
    counts = _counts(counting, now)
    return (
        *_names(stage, view, counting),
        *_counters(stage, view, counting, counts),
        *_bands(stage, view, counting, request, progress, now),
        *lane_row(
            stage,
            view.lanes,
            counting.active[request],
            going,
            lambda i: _lane_tip(counting, request, i),
        ),
        *_hits(stage, view, counting, request, progress, now),
        *_bars(stage, view, counting, counts, total, now.merged),
    )


def _under_way(counting: Counting, now: Moment) -> tuple[int, npt.NDArray[np.float64]]:
    """The request that is shown, and how far each of its lanes is."""
    if now.requests <= 1:
        return 0, np.clip(now.served - counting.turn, 0.0, 1.0)
    request = min(int(now.requests), len(counting.cell) - 1)
    share = now.requests - request if now.merged == 0 and now.requests < len(counting.cell) else 1.0
    return request, np.full(LANES, min(max(share, 0.0), 1.0))


def _counts(counting: Counting, now: Moment) -> I32:
    """The counters of the block."""
    if now.requests <= 1:
        return counting.partly(now.served)
    return np.asarray(counting.after[min(passed(now.requests), len(counting.cell))])


def _target(view: View, counting: Counting, request: int) -> F32:
    """(32, 4) the counters that the lanes of a request go to."""
    a = view.area
    wide, tall = a.width / counting.bins, a.height / counting.copies
    x = a.x + counting.bin[request] * wide
    y = a.y + counting.copy[request] * tall
    size = np.full(LANES, wide), np.full(LANES, tall)
    return np.stack([x, y, *size], axis=1).astype(np.float32)


def _bands(
    stage: Stage,
    view: View,
    counting: Counting,
    request: int,
    progress: npt.NDArray[np.float64],
    now: Moment,
) -> tuple[Mark, ...]:
    """From lanes to counters: thin once asked for, full while a turn is under way."""
    active, palette = counting.active[request], stage.palette
    lanes, cells = view.lanes[active], _target(view, counting, request)[active]
    start = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3] + 3], axis=1)
    end = np.stack([cells[:, 0] + cells[:, 2] / 2, cells[:, 1] + cells[:, 3] / 2], axis=1)
    curves, colors, come = bands(start, end), palette.lanes[active], progress[active]
    done, going, waits = come >= 1, (come > 0) & (come < 1), come <= 0
    asked = np.full(int(waits.sum()), float(smooth(now.asked)))
    quiet = 0.35 if now.requests <= 1 else 0.55
    return (
        Curves(curves[done], palette.soft(colors[done], quiet), 1.2 * stage.scale),
        Curves(partly(curves[waits], asked), palette.soft(colors[waits], 0.65), 1.2 * stage.scale),
        Curves(
            partly(curves[going], smooth(np.minimum(come[going] * 1.6, 1.0))),
            colors[going],
            2.5 * stage.scale,
        ),
    )


def _counters(stage: Stage, view: View, counting: Counting, counts: I32) -> tuple[Mark, ...]:
    """Every counter, the warmer the more it has counted."""
    most = max(int(counting.after[-1].max()), 2)
    pixels = heat(stage.palette, counts.astype(np.int64), most)
    pixels = pixels.reshape(counting.copies, counting.bins, 4)

    def tip(row: int, column: int) -> str:
        count = int(counts[row * counting.bins + column])
        if counting.copies == 1:
            return tr("bin {bin}: {n} so far", bin=column, n=count)
        return tr("copy {copy} of bin {bin}: {n} so far", copy=row, bin=column, n=count)

    return (Raster(view.area, pixels, tip),)


def _hits(
    stage: Stage,
    view: View,
    counting: Counting,
    request: int,
    progress: npt.NDArray[np.float64],
    now: Moment,
) -> tuple[Mark, ...]:
    """The counters of the turn under way, outlined in the lanes' colours."""
    going = counting.active[request] & (progress > 0) & (progress < 1)
    if now.requests > 1 or not going.any():
        return ()
    cells = _target(view, counting, request)[going]
    grown = cells + np.array([-2, -2, 4, 4], np.float32)
    return (
        Boxes(cells, stage.palette.lanes[going]),
        Boxes(grown, stroke=stage.palette.outline, stroke_width=1.5, radius=2),
    )


def _bars(
    stage: Stage, view: View, counting: Counting, counts: I32, total: I64, merged: float
) -> tuple[Mark, ...]:
    """The block's bins as bars; those of the other blocks come on top of them."""
    palette, size = stage.palette, stage.text(14)
    block = counts.reshape(counting.copies, -1).sum(axis=0).astype(np.float64)
    whole = counting.after[-1].reshape(counting.copies, -1).sum(axis=0)
    share = float(smooth(merged))
    most = float(whole.max()) * (1 - share) + float(total.max()) * share
    unit = view.bars[:, 3] / most
    mine, rest = block * unit, (total - whole) * share * unit
    bottom = view.bars[:, 1] + view.bars[:, 3]
    low, high = view.bars.copy(), view.bars.copy()
    low[:, 1], low[:, 3] = bottom - mine, mine
    high[:, 1], high[:, 3] = bottom - mine - rest, rest

    def tip(i: int) -> str:
        return tr("bin {bin}: {n} in block 0, {all} in all", bin=i, n=int(block[i]), all=total[i])

    line = Rect(view.area.x, float(bottom[0]), view.area.width, 1.0)
    every = next(
        k
        for k in (1, 2, 4, 8, 16, 32, 64)
        if k * float(view.bars[0, 2] + 1) > text_width(str(counting.bins), size) + size * 0.5
    )
    middle = view.bars[::every, 0] + view.bars[::every, 2] / 2
    under = np.stack([middle, np.full_like(middle, view.axis)], axis=1)
    return (
        Boxes(low, palette.accent, tip=tip),
        Boxes(high, palette.soft(palette.accent, 0.5), tip=tip),
        Boxes(line.array(), palette.border),
        Texts(
            under.astype(np.float32),
            tuple(map(str, range(0, counting.bins, every))),
            palette.muted,
            size,
            "center",
        ),
    )


def _names(stage: Stage, view: View, counting: Counting) -> tuple[Mark, ...]:
    """What the rows are."""
    size, muted = stage.text(14), stage.palette.muted
    lanes = float(view.lanes[0, 1] + view.lanes[0, 3] / 2)
    marks = [
        label(view.names, lanes, tr("lane"), muted, size, align="right"),
        label(view.names, view.axis, tr("bin"), muted, size, align="right"),
    ]
    if counting.copies > 1:
        points = at(view.names, view.area.center[1])
        marks.append(Texts(points, (tr("copies"),), muted, size, "right"))
    return tuple(marks)


def _lane_tip(counting: Counting, request: int, lane: int) -> str:
    """What hovering a lane says."""
    if not counting.active[request, lane]:
        return tr("lane {lane} · takes no part", lane=lane)
    where = tr(
        "lane {lane} of warp {warp} counts in bin {bin}",
        lane=lane,
        warp=counting.warp[request],
        bin=counting.bin[request, lane],
    )
    if request:
        return where
    turn = int(counting.turn[lane]) + 1
    return f"{where}\n{turn_name(counting, turn)}"


def turn_name(counting: Counting, number: int) -> str:
    """`round 2` or `wavefront 2`."""
    if counting.shared:
        return tr("wavefront {number}", number=number)
    return tr("round {number}", number=number)


def requests(number: int) -> str:
    """`32 requests`."""
    return trn("{n} request", "{n} requests", number)


def cost_in_words(counting: Counting, cost: int) -> str:
    """`2 wavefronts`, or `13 sectors`."""
    return wavefronts(cost) if counting.shared else counted(counting.noun, cost)


def now_figures(stage: Stage, area: Rect, counting: Counting, now: Moment) -> tuple[Mark, ...]:
    """What has been counted so far, and what that cost."""
    palette = stage.palette
    over = passed(now.requests)
    cost, ideal = int(counting.cost[:over].sum()), int(counting.ideal[:over].sum())
    values = int(_counts(counting, now).sum())
    pieces: tuple[Figure, ...] = (
        (tr("{n} values counted", n=values), palette.accent, True),
        (requests(over), palette.ink, False),
        (cost_in_words(counting, cost), palette.ink, False),
        (tr("ideal {n}", n=ideal), palette.muted, False),
    )
    if now.requests < 1:
        turn = min(int(now.served) + 1, counting.turns)
        of_all = tr("{turn} of {all}", turn=turn_name(counting, turn), all=counting.turns)
        pieces = (pieces[0], (of_all, palette.ink, False))
    return figures(stage, area, pieces, tr("model"), palette.accent)


@dataclass(frozen=True)
class Cost:
    """What one way of counting costs in all: sectors of atomics in global memory, wavefronts of
    atomics and of everything else in shared memory, bytes of it a block, instructions, time.
    """

    role: str
    sectors: int
    atomic: int
    around: int
    bytes: int
    instructions: int
    time: Timed | None

    @property
    def wavefronts(self) -> int:
        """All of shared memory."""
        return self.atomic + self.around


def cost_of(role: str, run: Run) -> Cost:
    """The cost of a launch."""
    totals = run.counts.totals
    sectors = totals["global_atomic_sectors"] + totals["global_reduction_sectors"]
    around = totals["shared_load_wavefronts"] + totals["shared_store_wavefronts"]
    shared = run.resources.static_shared_bytes if run.resources else 0
    return Cost(
        role,
        sectors,
        totals["shared_atomic_wavefronts"],
        around,
        shared,
        run.trace.warp_instructions,
        time_of(run),
    )


def cost_table(
    stage: Stage, area: Rect, costs: tuple[Cost, ...], names: tuple[str, ...], now: int
) -> tuple[Mark, ...]:
    """The ways beside each other, `now` being the one shown."""
    times = [c.time for c in costs]
    columns = [
        table.Column((tr("place"),), names, "left", tr("model")),
        table.Column(
            (tr("sectors of global atomics"), tr("sectors")),
            tuple(str(c.sectors) for c in costs),
            bold=True,
        ),
        table.Column(
            (tr("wavefronts of shared atomics"), tr("wavefronts")),
            tuple(str(c.atomic) for c in costs),
            bold=True,
        ),
        table.Column((tr("to clear and merge"),), tuple(str(c.around) for c in costs), optional=1),
        table.Column(
            (tr("bytes a block"), tr("bytes")), tuple(str(c.bytes) for c in costs), optional=3
        ),
        table.Column(
            (tr("PTX instructions"), tr("PTX instr.")),
            tuple(str(c.instructions) for c in costs),
            optional=2,
        ),
        table.Column(
            (tr("time"),),
            tuple(t.text if t else "–" for t in times),
            badge=badge_of(times),
            color=stage.palette.good if any(times) else stage.palette.muted,
        ),
    ]
    return table.draw(stage, table.lay_out(stage, area, columns), len(costs), now)
