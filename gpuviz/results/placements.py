"""Where and when the blocks of a launch ran, as a chart: a row for each block at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64
from gpuviz.draw.heading import at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.swimlanes import Bar, swimlanes
from gpuviz.language import grouped, tr, trn
from gpuviz.results.badges import caption
from gpuviz.results.timings import duration
from gpuviz.runners.measurement import Measurement, Placement
from gpuviz.traces import Launch

ROW = (2.0, 20.0)  # heights of a row in pixels, least and most
NAME = 12.0  # size of the letters beside the rows and on the axis
TICKS = 8  # at most
_STEPS = (1, 2, 5)
_NEVER = float("inf")


@dataclass(frozen=True, eq=False)
class Chart:
    """Blocks by the end of their time: (B,) linear block, multiprocessor, row, wave, start, end.

    A row holds blocks that ran one after another on one multiprocessor; `wave` counts them from 0.
    `owners` (R,) are the multiprocessors of the rows, `end_ns` is when the last block ended.
    """

    block: I64
    sm: I64
    row: I64
    wave: I64
    start_ns: I64
    stop_ns: I64
    owners: I64
    end_ns: int

    @property
    def waves(self) -> int:
        """The most blocks that ran one after another in a row."""
        return int(self.wave.max(initial=0)) + 1

    @property
    def at_once(self) -> int:
        """The most blocks that ran at once on one multiprocessor."""
        return int(np.unique(self.owners, return_counts=True)[1].max(initial=0))

    @property
    def tail(self) -> float:
        """Share of the time, at its end, in which a multiprocessor had nothing left to run."""
        last = [int(self.stop_ns[self.sm == sm].max()) for sm in np.unique(self.sm)]
        return 1.0 - min(last) / max(*last, 1) if max(last) else 0.0


def chart_of(placement: Placement) -> Chart:
    """Rows for blocks: each takes the first row of its multiprocessor that is free."""
    order = np.lexsort((placement.block, placement.start_ns, placement.sm)).tolist()
    free: dict[int, list[int]] = {}  # until when the rows of each multiprocessor are taken
    slots, waves = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
    depth: dict[tuple[int, int], int] = {}
    for i in order:
        sm, start = int(placement.sm[i]), int(placement.start_ns[i])
        rows = free.setdefault(sm, [])
        slot = next((n for n, until in enumerate(rows) if until <= start), len(rows))
        rows[slot : slot + 1] = [int(placement.end_ns[i])]
        slots[i], waves[i] = slot, depth.get((sm, slot), 0)
        depth[sm, slot] = int(waves[i]) + 1
    owners = np.array([sm for sm in sorted(free) for _ in free[sm]], np.int64)
    rows_of = np.searchsorted(owners, placement.sm) + slots
    by_end = np.argsort(placement.end_ns, kind="stable")
    end = max(int(placement.end_ns.max(initial=0)), 1)
    return Chart(
        placement.block[by_end],
        placement.sm[by_end],
        rows_of[by_end],
        waves[by_end],
        placement.start_ns[by_end],
        placement.end_ns[by_end],
        owners,
        end,
    )


def summary(chart: Chart, measurement: Measurement) -> str:
    """What the chart shows, in a line."""
    used = len(np.unique(chart.owners))
    said = [
        trn(
            "{n} block on {used} of {all} multiprocessors",
            "{n} blocks on {used} of {all} multiprocessors",
            len(chart.block),
            n=grouped(len(chart.block)),
            used=used,
            all=measurement.device.multiprocessors,
        ),
        tr("up to {count} at once on each", count=chart.at_once)
        if chart.at_once > 1
        else tr("one at a time on each"),
    ]
    if chart.waves > 1:
        said.append(trn("{n} wave", "{n} waves", chart.waves))
    said.append(duration(chart.end_ns / 1000))
    if used > 1:
        said.append(tr("tail {percent} %", percent=f"{100 * chart.tail:.0f}"))
    return " · ".join([*said, caption(measurement)])


def height_of(chart: Chart, room: float, scale: float) -> float:
    """How high the chart is where there is so much room; more when its rows would vanish."""
    rows = max(len(chart.owners), 1)
    low, high = (size * scale for size in ROW)
    return rows * min(max(room / rows, low), high)


def picture(chart: Chart, launch: Launch, stage: Stage) -> Frame:
    """The chart on a stage of the height it wants."""
    size = stage.text(NAME)
    side = text_width(tr("SM {number}", number=int(chart.owners.max(initial=0))), size) + size
    area = Rect(side, 0.0, stage.width - side - size, stage.height)
    bars = _bars(chart, stage)
    marks = swimlanes(
        stage, area, [""] * len(chart.owners), bars, _NEVER, lambda i: _tip(chart, launch, i)
    )
    return stage.frame(*_names(chart, stage), *marks)


def _bars(chart: Chart, stage: Stage) -> list[Bar]:
    """A bar for each block, coloured by its wave; named by its number."""
    palette = stage.palette
    colors = (palette.accent, palette.shared, palette.load, palette.compute)
    least = chart.end_ns / 1000
    rows = zip(chart.row, chart.start_ns, chart.stop_ns, chart.block, chart.wave, strict=True)
    return [
        Bar(
            int(row),
            float(start),
            float(max(stop, start + least)),
            (str(block),),
            colors[wave % len(colors)],
        )
        for row, start, stop, block, wave in rows
    ]


def _tip(chart: Chart, launch: Launch, i: int) -> str:
    block = launch.block_index(int(chart.block[i]))
    start, stop = int(chart.start_ns[i]), int(chart.stop_ns[i])
    return "\n".join(
        (
            tr("block {block} on multiprocessor {sm}", block=block, sm=int(chart.sm[i])),
            tr(
                "from {start} to {stop} ns: {time}",
                start=grouped(start),
                stop=grouped(stop),
                time=duration((stop - start) / 1000),
            ),
            tr("wave {number} of {count}", number=int(chart.wave[i]) + 1, count=chart.waves),
        )
    )


def _names(chart: Chart, stage: Stage) -> tuple[Mark, ...]:
    """The multiprocessors beside their rows, as many as there is room for; lines between them."""
    size, high = stage.text(NAME), stage.height / max(len(chart.owners), 1)
    owners, first, count = np.unique(chart.owners, return_index=True, return_counts=True)
    middle = np.clip((first + count / 2) * high, size * 0.6, stage.height - size * 0.6)
    every = max(1, int(np.ceil(size * 1.6 / max(float(count.min()) * high, 1e-9))))
    shown = slice(None, None, every)
    where = np.stack([np.full(len(owners), size * 0.4), middle], axis=1).astype(np.float32)[shown]
    words = tuple(tr("SM {number}", number=int(sm)) for sm in owners[shown])
    ends = np.array([[[0, y], [stage.width, y]] for y in (first[1:] * high).tolist()], np.float32)
    return (
        Lines(ends.reshape(-1, 2, 2), stage.palette.soft(stage.palette.border, 0.5), 1.0),
        Texts(where, words, stage.palette.muted, size),
    )


def axis(chart: Chart, frame: Frame, stage: Stage) -> Frame:
    """The times above a chart's picture: where its bars begin and end says how they lie."""
    boxes = next(mark for mark in frame.marks if isinstance(mark, Boxes))
    left = float(boxes.rect[:, 0].min())
    scale = (float((boxes.rect[:, 0] + boxes.rect[:, 2]).max()) - left) / chart.end_ns
    size, y = stage.text(NAME), stage.height / 2
    times = ticks(chart.end_ns, max(2, min(TICKS, int(scale * chart.end_ns / (size * 7)))))
    ink = stage.palette.muted
    marks = [
        Texts(
            at(left + t * scale, y),
            (duration(t / 1000) if t else "0",),
            ink,
            size,
            "center" if t else "left",
        )
        for t in times
    ]
    return stage.frame(*marks)


def ticks(end: float, most: int) -> list[float]:
    """Round times from 0 to the end, `most` of them after 0."""
    power = 10.0 ** np.floor(np.log10(end / most))
    step = next(s * power for s in (*_STEPS, 10, 20) if s * power * most >= end)
    return [float(t) for t in np.arange(0, end * 0.97, step)]
