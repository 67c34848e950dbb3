"""The picture of lanes over time: which of a warp's lanes are at work in what it issues."""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.base.keeping import kept_with_first
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.lanes_over_time import LanesOverTime, Span
from gpuviz.panels.layout import rows
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Ink
from gpuviz.story.own_kernel.events import Events
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.traces.trace import LANES, Path, Stretch, Trace, lane_mask
from gpuviz.words.language import grouped, tr, trn

_PAGE = 120  # instructions shown at once


@dataclass(frozen=True, eq=False)
class _Way:
    """A warp's way: (P,) stretches it issued, instructions `before` each, lanes at work in each.

    `all` are the lanes that the warp has, `at` (N,) the stretch that each event is of.
    """

    warp: int
    stretches: tuple[Stretch, ...]
    stretch: I64
    before: I64
    count: I64
    active: Bool
    all: int
    total: int


@kept_with_first(4)
def _way_of(trace: Trace, path: Path, warp: int) -> _Way:
    count = np.array([s.count for s in trace.stretches], np.int64)[path.stretch]
    active = lane_mask(path.active)
    threads = trace.launch.threads_per_block - warp * LANES
    return _Way(
        warp,
        trace.stretches,
        path.stretch.astype(np.int64),
        np.cumsum(count) - count,
        count,
        active,
        min(threads, LANES),
        int(count.sum()),
    )


@kept_with_first(4)
def _rows_of(trace: Trace, block: int, warp: int, path: Path) -> I64:
    """(R,) the stretch of the way that each request of a warp was made in.

    A request belongs to the next stretch that has its instruction and its lanes: a guard may keep
    an instruction from making one.
    """
    rows = trace.of(block=block, warp=warp)
    pcs = np.array([did.pc for did in trace.instructions], np.int64)[rows.instruction]
    first = np.array([s.pc for s in trace.stretches], np.int64)[path.stretch]
    last = first + np.array([s.count for s in trace.stretches], np.int64)[path.stretch]
    found = np.zeros(len(rows), np.int64)
    at, before = 0, -1
    spans = list(zip(first.tolist(), last.tolist(), path.active.tolist(), strict=True))
    for number, (pc, lanes) in enumerate(zip(pcs.tolist(), rows.active.tolist(), strict=True)):
        step = at + (pc <= before)
        while step < len(spans) and not _fits(spans[step], pc, lanes):
            step += 1
        if step < len(spans):
            at, before = step, pc
        found[number] = at
    return found


def _fits(span: tuple[int, int, int], pc: int, lanes: int) -> bool:
    """Whether a stretch has an instruction, and all of these lanes."""
    return span[0] <= pc < span[1] and not lanes & ~span[2]


def picture(moment: Moment) -> Narration:
    """The page of the warp's instructions that is under way."""
    events, warp = moment.events, moment.events.warp_of(moment.number)
    path = events.trace.path
    mine = path.of(events.block, max(warp, 0)) if path is not None else None
    if mine is None or not len(mine.stretch):
        said = tr("A saved trace may have requests only.")
        return Narration(tr("The way of the warps was not recorded"), said, Lines((Line((said,)),)))
    return _page(moment, _way(events, max(warp, 0)), _place(moment, max(warp, 0)))


def _way(events: Events, warp: int) -> _Way:
    return _way_of(events.trace, _path(events.trace, events.block, warp), warp)


@kept_with_first(8)
def _path(trace: Trace, block: int, warp: int) -> Path:
    assert trace.path is not None
    return trace.path.of(block, warp)


def _place(moment: Moment, warp: int) -> float:
    """Instructions that the warp has issued so far."""
    events = moment.events
    way = _way(events, warp)
    mine = np.flatnonzero(events.rows.warp[: _rows_so_far(moment)] == warp)
    if not len(mine):
        return 0.0
    path = _path(events.trace, events.block, warp)
    stretch = int(_rows_of(events.trace, events.block, warp, path)[len(mine) - 1])
    did = events.trace.instructions[int(events.rows.instruction[mine[-1]])]
    inside = did.pc - way.stretches[int(way.stretch[stretch])].pc + 1
    if events.row[moment.number] < 0:
        return float(way.before[stretch] + way.count[stretch])
    return float(way.before[stretch] + inside)


def _rows_so_far(moment: Moment) -> int:
    before = moment.events.row[: moment.number + 1]
    known = before[before >= 0][-1:]
    return int(known[0]) + 1 if len(known) else 0


def _page(moment: Moment, way: _Way, now: float) -> Narration:
    page = int(min(now, way.total - 1)) // _PAGE
    ends = way.before + way.count
    some = np.flatnonzero((ends > page * _PAGE) & (way.before < (page + 1) * _PAGE))
    start = np.maximum(way.before[some], page * _PAGE)
    count = np.minimum(ends[some], (page + 1) * _PAGE) - start
    active = way.active[some]
    first = int(start[0])
    body = LanesOverTime(
        start - first,
        count,
        active,
        now - first,
        _spans(way, some, start - first, count),
        tr("instructions"),
        lambda row, lane: _tip(way, int(some[row]), lane),
    )
    issued, useful = way.total, float((way.active.sum(axis=1) * way.count).sum())
    share = useful / max(issued * way.all, 1)
    split = int((way.active.sum(axis=1) < way.all).sum())
    figures = FigureRow(
        (
            Figure(
                tr(
                    "instructions {a} to {b} of {n}",
                    a=grouped(first + 1),
                    b=grouped(first + int(count.sum())),
                    n=grouped(way.total),
                ),
                shorter=(grouped(way.total),),
            ),
            Figure(
                tr("{share} of lanes at work", share=f"{100 * share:.0f} %"),
                "good" if share > 0.95 else "accent",
                True,
            ),
        )
    )
    title = (
        tr("Warp {warp} parts: some of its lanes wait while others go on", warp=way.warp)
        if split
        else tr("Warp {warp} stays together: its lanes always do the same", warp=way.warp)
    )
    said = tr("Lanes from top to bottom, what the warp issues from left to right.")
    return Narration(title, said, rows(body, figures))


def _spans(way: _Way, some: I64, start: I64, count: I64) -> tuple[Span, ...]:
    """Above the lanes: how many are at work, in stretches of the same ones."""
    made: list[Span] = []
    same = np.r_[True, (way.active[some][1:] != way.active[some][:-1]).any(axis=1)]
    edges = [*np.flatnonzero(same).tolist(), len(some)]
    for a, b in zip(edges, edges[1:], strict=False):
        lanes = int(way.active[some[a]].sum())
        whole = lanes == way.all
        ink: Ink = "compute" if whole else "warn"
        lines = _lines(way, some[a:b])
        names = (
            f"{trn('{n} lane', '{n} lanes', lanes)} · {lines}",
            trn("{n} lane", "{n} lanes", lanes),
            f"{lanes}",
        )
        made.append(Span(float(start[a]), float(start[b - 1] + count[b - 1]), names, ink))
    return tuple(made)


def _lines(way: _Way, some: I64) -> str:
    known = sorted({n for i in np.unique(way.stretch[some]) for n in way.stretches[i].lines if n})
    if not known:
        return tr("no line")
    if len(known) == 1:
        return tr("line {n}", n=known[0])
    return tr("lines {a} to {b}", a=known[0], b=known[-1])


def _tip(way: _Way, row: int, lane: int) -> str:
    """What hovering a lane in a stretch says."""
    return tr(
        "lane {lane} of warp {warp} · {work}\n{lines} · instructions {a} to {b}",
        lane=lane,
        warp=way.warp,
        work=tr("at work") if way.active[row, lane] else tr("switched off"),
        lines=_lines(way, np.array([row])),
        a=grouped(int(way.before[row]) + 1),
        b=grouped(int(way.before[row] + way.count[row])),
    )
