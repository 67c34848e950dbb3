"""Where and when the blocks of a launch ran, as a chart: a row for each block at once."""

from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import F32, I64, Rgba
from gpuviz.draw.heading import at
from gpuviz.draw.layout import centers
from gpuviz.draw.marks import Boxes, Frame, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import Palette
from gpuviz.draw.stage import Stage
from gpuviz.recordings.measurement import Measurement, Placement, slots_of
from gpuviz.results.badges import caption
from gpuviz.traces.trace import Launch
from gpuviz.words.language import duration, grouped, tr, trn

ROW = (2.0, 20.0)  # heights of a row in pixels, least and most
NAME = 12.0  # size of the letters beside the rows and on the axis
TICKS = 8  # at most
_STEPS = (1, 2, 5)
_GAP = 2.0  # pixels between two blocks, at most


@dataclass(frozen=True, eq=False)
class Chart:
    """Blocks by the end of their time: (B,) linear block, multiprocessor, row, turn, start, end.

    A row holds blocks that ran one after another on one multiprocessor; `turn` counts them from 0.
    `owners` (R,) are the multiprocessors of the rows, `end_ns` is when the last block ended.
    """

    block: I64
    sm: I64
    row: I64
    turn: I64
    start_ns: I64
    stop_ns: I64
    owners: I64
    end_ns: int

    @property
    def longest(self) -> int:
        """The most blocks that ran one after another in a row."""
        return int(self.turn.max(initial=0)) + 1

    @property
    def at_once(self) -> int:
        """The most blocks that ran at once on one multiprocessor."""
        return int(np.unique(self.owners, return_counts=True)[1].max(initial=0))

    @property
    def tail(self) -> float:
        """Share of the time, at its end, in which a multiprocessor had nothing left to run."""
        sms, which = np.unique(self.sm, return_inverse=True)
        last = np.zeros(len(sms), np.int64)
        np.maximum.at(last, which, self.stop_ns)
        return 1.0 - float(last.min()) / float(last.max()) if last.any() else 0.0


def chart_of(placement: Placement) -> Chart:
    """Rows for blocks: each takes the first row of its multiprocessor that is free."""
    slot = slots_of(placement)
    sms, owner = np.unique(placement.sm, return_inverse=True)
    rows = np.zeros(len(sms), np.int64)
    np.maximum.at(rows, owner, slot + 1)
    row = (np.cumsum(rows) - rows)[owner] + slot
    by_end = np.argsort(placement.end_ns, kind="stable")
    return Chart(
        placement.block[by_end],
        placement.sm[by_end],
        row[by_end],
        _turns(row, placement.start_ns)[by_end],
        placement.start_ns[by_end],
        placement.end_ns[by_end],
        np.repeat(sms, rows),
        max(int(placement.end_ns.max(initial=0)), 1),
    )


def _turns(row: I64, start: I64) -> I64:
    """(B,) how many blocks ran before each in its row."""
    order = np.lexsort((start, row))
    counts = np.bincount(row)
    turn = np.empty(len(row), np.int64)
    turn[order] = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    return turn


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
    if chart.longest > 1:
        said.append(tr("up to {n} one after another", n=chart.longest))
    said.append(duration(chart.end_ns / 1000))
    if used > 1:
        said.append(tr("tail {percent} %", percent=f"{100 * chart.tail:.0f}"))
    if crowded := _crowded(chart, measurement.resident_blocks):
        said.append(crowded)
    return " · ".join([*said, caption(measurement)])


def _crowded(chart: Chart, fit: int | None) -> str:
    """How there can be more blocks at once than fit whole; "" where there are not.

    A block is there from the first warp that begins to the last that ends.
    """
    if fit is None or chart.at_once <= fit:
        return ""
    return tr("{fit} whole ones fit: of some, warps had ended", fit=fit)


def height_of(chart: Chart, room: float, scale: float) -> float:
    """How high the chart is where there is so much room; more when its rows would vanish."""
    rows = max(len(chart.owners), 1)
    low, high = (size * scale for size in ROW)
    return rows * min(max(room / rows, low), high)


def picture(chart: Chart, launch: Launch, stage: Stage) -> Frame:
    """The chart on a stage of the height it wants."""
    boxes = _boxes(chart, stage)
    palette = stage.palette
    colors = np.stack([palette.soft(c, 0.45) for c in _turn_colors(palette)])
    fill = colors[chart.turn % len(colors)]
    high = stage.height / max(len(chart.owners), 1)
    bars = Boxes(boxes, fill, radius=3.0 if high > 8 else 0.0, tip=lambda i: _tip(chart, launch, i))
    return stage.frame(*_names(chart, stage), bars, *_numbers(chart, boxes, fill, stage))


def between(frame: Frame, top: float, bottom: float) -> Frame:
    """What of a picture is seen between two heights: scrolling paints that and nothing else."""
    return replace(frame, marks=tuple(_cut(mark, top, bottom) for mark in frame.marks))


def _cut(mark: Mark, top: float, bottom: float) -> Mark:
    """The boxes and words of a mark that are seen; they are painted, and never asked for tips."""
    if isinstance(mark, Boxes):
        seen = (mark.rect[:, 1] < bottom) & (mark.rect[:, 1] + mark.rect[:, 3] > top)
        fill = mark.fill[seen] if mark.fill is not None and mark.fill.ndim == 2 else mark.fill
        return replace(mark, rect=mark.rect[seen], fill=fill, tip=None)
    if isinstance(mark, Texts):
        half = mark.size * 0.6
        seen = (mark.at[:, 1] > top - half) & (mark.at[:, 1] < bottom + half)
        words = tuple(word for word, on in zip(mark.strings, seen, strict=True) if on)
        color = mark.color[seen] if mark.color.ndim == 2 else mark.color
        return replace(mark, at=mark.at[seen], strings=words, color=color)
    return mark


def _turn_colors(palette: Palette) -> tuple[Rgba, ...]:
    """Blocks that follow one another have different colours."""
    return palette.accent, palette.shared, palette.load, palette.compute


def _line(chart: Chart, stage: Stage) -> tuple[float, float]:
    """Where time 0 is on a stage, and how long all of the time is, in pixels."""
    size = stage.text(NAME)
    side = text_width(tr("SM {number}", number=int(chart.owners.max(initial=0))), size) + size
    return side, stage.width - side - size


def _boxes(chart: Chart, stage: Stage) -> F32:
    """(B, 4) where the bars of the blocks are."""
    left, width = _line(chart, stage)
    high = stage.height / max(len(chart.owners), 1)
    edge = min(1.0, high * 0.25)  # low rows must not vanish between their edges
    stop = np.maximum(chart.stop_ns, chart.start_ns + chart.end_ns / 1000)
    x, end = (left + width * t / chart.end_ns for t in (chart.start_ns, stop))
    wide = end - x - np.minimum(_GAP, (end - x) * 0.25)
    tall = np.full(len(x), high - 2 * edge)
    return np.stack([x, chart.row * high + edge, wide, tall], axis=1).astype(np.float32)


def _numbers(chart: Chart, boxes: F32, fill: Rgba, stage: Stage) -> tuple[Mark, ...]:
    """The blocks' numbers, where there is room; digits are all of one width."""
    size = stage.text(14)
    if not len(boxes) or float(boxes[0, 3]) < size:
        return ()
    digits = np.floor(np.log10(np.maximum(chart.block, 1))).astype(np.int64) + 1
    wide = np.array([text_width("0" * n, size, True) for n in range(1, int(digits.max()) + 1)])
    shown = np.flatnonzero(wide[digits - 1] <= boxes[:, 2] - 4)
    ink = stage.palette.ink_on(fill)[shown]
    words = tuple(str(block) for block in chart.block[shown].tolist())
    return (Texts(centers(boxes)[shown], words, ink, size, "center", bold=True),)


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
            tr("number {n} of those in its row", n=int(chart.turn[i]) + 1),
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
    left, width = _line(chart, replace(stage, width=frame.width))
    scale = width / chart.end_ns
    size, y = stage.text(NAME), stage.height / 2
    times = ticks(chart.end_ns, max(2, min(TICKS, int(scale * chart.end_ns / (size * 7)))))
    ink = stage.palette.muted
    marks = [
        Texts(
            at(left + t * scale, y),
            (duration(t / 1000, exact=True) if t else "0",),
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
