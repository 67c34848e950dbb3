"""The picture of divergence: lanes by instructions issued, those switched off hatched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arrays import F32, I32, I64, Bool, Rgba
from gpuviz.draw.figures import Figure, figures, line_height, sourced
from gpuviz.draw.heading import heading, label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Frame, Lines, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.trace import LANES


@dataclass(frozen=True)
class Part:
    """Rows [start, stop) of a way, in which the same lanes are on the same path (0: on none)."""

    start: int
    stop: int
    path: int


@dataclass(frozen=True, eq=False)
class Way:
    """The way of a warp through a program, one row a stretch of instructions.

    `start` and `count` (P,) are instructions issued before and in each row, `active` (P, 32) the
    lanes at work, `path` (P,) 0 outside the paths, 1 or 2 in them, `line` (P,) of the CUDA source.
    """

    warp: int
    start: I64
    count: I64
    active: Bool
    path: I32
    line: I32

    @cached_property
    def total(self) -> int:
        """Instructions issued."""
        return int(self.count.sum())

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Rows of one path and the same lanes together."""
        bits = np.packbits(self.active, axis=1)
        new = np.any(bits[1:] != bits[:-1], axis=1) | (self.path[1:] != self.path[:-1])
        edges = [0, *(np.flatnonzero(new) + 1).tolist(), len(self.path)]
        return tuple(Part(a, b, int(self.path[a])) for a, b in zip(edges, edges[1:], strict=False))

    def name(self, part: Part) -> str:
        """What a part is called."""
        return (tr("together"), tr("path A"), tr("path B"))[part.path]


@dataclass(frozen=True)
class Cost:
    """A launch with groups of `group` lanes: instructions a warp issues, and `used` of them if all
    lanes were always at work; how many warps came to the fork, how many parted there; the share of
    all branches that no warp parted at.
    """

    group: int
    issued: float
    used: float
    forks: int
    parted: int
    efficiency: float


def picture(
    stage: Stage, way: Way, costs: tuple[Cost, Cost], title: str, sentence: str, slot: float
) -> Frame:
    """The whole stage when so many instructions have been issued."""
    head, area = heading(stage, title, sentence)
    tall, size = line_height(stage), stage.text(14)
    feet = 2 if area.height > 11 * tall else 1
    bars = 2 * size * 1.75
    chart = Rect(area.x, area.y, area.width, area.height - bars - feet * tall - size * 0.4)
    below = Rect(area.x, chart.bottom + size * 0.4, area.width, bars)
    board = Rect(area.x, below.bottom, area.width, feet * tall)
    return stage.frame(
        *head,
        *_chart(stage, way, chart, slot),
        *_costs(stage, way, costs, below, slot),
        *_board(stage, way, costs[0], board, slot),
    )


def _chart(stage: Stage, way: Way, area: Rect, slot: float) -> tuple[Mark, ...]:
    """Lanes from top to bottom, instructions from left to right."""
    size, palette = stage.text(14), stage.palette
    first = text_width(tr("lane") + " 31", size) + size * 0.6
    body = area.beside(first)[1]
    names, rest = body.above(size * 1.7)
    plot, axis = rest.above(rest.height - size * 1.5)
    rects = _cells(way, plot)
    x = plot.x + plot.width * slot / way.total
    ends = Lines(np.array([[[x, plot.y - 3], [x, plot.bottom + 3]]], np.float32), palette.ink, 2.0)
    head = (ends,) if 0 < slot < way.total else ()
    return (
        *_names(stage, way, names, slot),
        *_lanes(stage, way, rects, slot),
        *_axes(stage, way, Rect(area.x, plot.y, first, plot.height), axis),
        *head,
    )


def _cells(way: Way, plot: Rect) -> F32:
    """(P, 32, 4) boxes: a lane's part in a stretch."""
    high = plot.height / LANES
    gap = 1.0 if high >= 4 else 0.5
    left = plot.x + plot.width * way.start / way.total
    wide = plot.width * way.count / way.total
    rects = np.zeros((len(way.count), LANES, 4), np.float32)
    rects[..., 0] = left[:, None]
    rects[..., 1] = plot.y + np.arange(LANES) * high
    rects[..., 2] = np.maximum(wide - 1.0, 0.8)[:, None]
    rects[..., 3] = high - gap
    return rects


def _lanes(stage: Stage, way: Way, rects: F32, slot: float) -> tuple[Mark, ...]:
    """Lanes at work in their colours, the others hatched; dim where their turn has not come."""
    palette = stage.palette
    done = way.start + way.count / 2 <= slot
    lane = np.broadcast_to(np.arange(LANES), way.active.shape)
    row = np.broadcast_to(np.arange(len(done))[:, None], way.active.shape)
    on = way.active
    fill = palette.state(palette.lanes[lane[on]], done[row[on]].astype(float))
    marks: list[Mark] = [Boxes(rects[on], fill, tip=_tip(way, row[on], lane[on]))]
    for state, ground, hatch in (
        (done, palette.waste_ground, palette.waste),
        (~done, palette.todo(palette.waste_ground), palette.todo(palette.waste)),
    ):
        boxes, rows, lanes = _runs(way, rects, state)
        marks.append(Boxes(boxes, ground, hatch=hatch, tip=_tip(way, rows, lanes)))
    return tuple(marks)


def _runs(way: Way, rects: F32, rows: Bool) -> tuple[F32, I64, I64]:
    """Boxes over neighbouring lanes that are switched off, and the row and first lane of each."""
    off = ~way.active & rows[:, None]
    edge = np.diff(np.pad(off, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    row, first = np.nonzero(edge == 1)
    last = np.nonzero(edge == -1)[1] - 1
    boxes = rects[row, first].copy()
    boxes[:, 3] = rects[row, last, 1] + rects[row, last, 3] - boxes[:, 1]
    return boxes, row, first


def _tip(way: Way, rows: I64, lanes: I64) -> Tip:
    """The hover text of boxes of these rows and lanes."""

    def say(i: int) -> str:
        row, lane = int(rows[i]), int(lanes[i])
        work = tr("at work") if way.active[row, lane] else tr("switched off")
        last = int(way.start[row] + way.count[row])
        return tr(
            "lane {lane} of warp {warp} · {work}\nline {line} · instructions {a} to {b}",
            lane=lane,
            warp=way.warp,
            work=work,
            line=way.line[row],
            a=int(way.start[row]) + 1,
            b=last,
        )

    return say


def _color(stage: Stage, path: int) -> Rgba:
    """The colour of a path's name."""
    palette = stage.palette
    return (palette.barrier, palette.load, palette.compute)[path]


def _names(stage: Stage, way: Way, area: Rect, slot: float) -> tuple[Mark, ...]:
    """Above the chart: which path is gone, and by how many lanes."""
    palette, size = stage.palette, stage.text(14)
    marks: list[Mark] = []
    for part in way.parts:
        start = int(way.start[part.start])
        end = int(way.start[part.stop - 1] + way.count[part.stop - 1])
        left = area.x + area.width * start / way.total
        box = Rect(left, area.y, area.width * (end - start) / way.total - 2, size * 1.4)
        color, now = _color(stage, part.path), start <= slot < end
        fill = color if now else palette.soft(color, 0.5) if slot >= end else palette.todo(color)
        marks.append(Boxes(box.array(), fill, radius=4))
        if now:
            marks.append(Boxes(box.array(), stroke=palette.outline, stroke_width=2, radius=4))
        lanes = int(way.active[part.start].sum())
        forms = (
            tr("{name}: {n} lanes", name=way.name(part), n=lanes),
            way.name(part),
            way.name(part)[-1] if part.path else "",
        )[stage.asks :]
        text = first_fitting(forms, box.width - size * 0.5, size, True)
        if text:
            ink = palette.ink_on(fill)
            marks.append(label(*box.center, text, ink, size, True, "center"))
    return tuple(marks)


def _axes(stage: Stage, way: Way, left: Rect, below: Rect) -> tuple[Mark, ...]:
    """Lane numbers at the left, instructions below."""
    palette, size = stage.palette, stage.text(14)
    lanes = (0, 8, 16, 24, 31) if left.height > 9 * size else (0, 16, 31)
    y = [left.y + (lane + 0.5) * left.height / LANES for lane in lanes]
    at = np.array([(left.right - size * 0.5, v) for v in y], np.float32)
    step = next(s for s in (5, 10, 20, 50, 100, 200, 500) if way.total / s <= 10 or s == 500)
    ticks = range(0, way.total - step // 2, step)
    under = np.array(
        [(below.x + below.width * n / way.total, below.y + size * 0.8) for n in ticks], np.float32
    )
    words = tuple(map(str, ticks))
    unit = tr("instructions of warp {warp}", warp=way.warp)
    end = text_width(unit, size) + size
    keep = under[:, 0] < below.right - end - size
    words = tuple(w for w, k in zip(words, keep, strict=True) if k)
    return (
        label(left.x, y[0], tr("lane"), palette.muted, size),
        Texts(at, tuple(map(str, lanes)), palette.muted, size, "right"),
        Texts(under[keep], words, palette.muted, size, "center"),
        label(below.right, below.y + size * 0.8, unit, palette.muted, size, align="right"),
    )


def _costs(
    stage: Stage, way: Way, costs: tuple[Cost, Cost], area: Rect, slot: float
) -> tuple[Mark, ...]:
    """Two bars of instructions a warp: with these groups, and with others; none while the stage
    asks.
    """
    if stage.asks:
        return ()
    palette, size = stage.palette, stage.text(14)
    names = [tr("groups of {n}", n=c.group) for c in costs]
    room = max(text_width(n, size) for n in names) + size
    most = max(c.issued for c in costs)
    marks: list[Mark] = []
    for cost, name, row in zip(costs, names, area.rows(2, size * 0.3), strict=True):
        mine = cost is costs[0]
        marks.append(
            label(row.x, row.center[1], name, palette.ink if mine else palette.muted, size)
        )
        bar = row.beside(room)[1]
        grown = slot / way.total if mine else 1.0
        marks += _bar(
            stage, Rect(bar.x, bar.y, bar.width * cost.issued / most, bar.height), cost, grown
        )
    return tuple(marks)


def _bar(stage: Stage, bar: Rect, cost: Cost, grown: float) -> list[Mark]:
    """Instructions of a warp: what they would be with all lanes at work, and what is lost."""
    palette, size = stage.palette, stage.text(14)
    used = bar.width * cost.used / cost.issued
    color = palette.accent_soft
    marks: list[Mark] = [
        Boxes(Rect(bar.x, bar.y, used, bar.height).array(), palette.todo(color)),
        Boxes(Rect(bar.x, bar.y, used * grown, bar.height).array(), color),
    ]
    lost = bar.width - used
    if lost > 1:
        hatched = Rect(bar.x + used, bar.y, lost, bar.height).array()
        ahead = palette.todo(palette.waste_ground), palette.todo(palette.waste)
        ground, hatch = (palette.waste_ground, palette.waste) if grown >= 1 else ahead
        marks.append(Boxes(hatched, ground, hatch=hatch))
    idle = 100 * (1 - cost.used / cost.issued)
    forms = (tr("{n} instructions a warp", n=f"{cost.issued:.4g}"), f"{cost.issued:.4g}")
    text = first_fitting(forms, used - size, size, True)
    marks.append(label(bar.x + size * 0.4, bar.center[1], text, palette.ink, size, True))
    said = first_fitting(
        (
            tr("{share} % of the lanes switched off", share=f"{idle:.0f}"),
            tr("{share} % off", share=f"{idle:.0f}"),
        ),
        lost - size * 1.6,
        size,
        True,
    )
    if said:
        wide = text_width(said, size, True) + size * 0.6
        plate = Rect(bar.right - wide - size * 0.3, bar.y + 2, wide, bar.height - 4)
        marks.append(Boxes(plate.array(), palette.waste_ground))
        marks.append(label(*plate.center, said, palette.warn, size, True, "center"))
    return marks


def _board(stage: Stage, way: Way, cost: Cost, area: Rect, slot: float) -> tuple[Mark, ...]:
    """Counts of branches, and what was published."""
    palette = stage.palette
    now = int(np.searchsorted(way.start, slot, side="right")) - 1
    lanes = int(way.active[max(now, 0)].sum())
    pieces: tuple[Figure, ...] = (
        (tr("{n} of 32 lanes at work", n=lanes), palette.accent, True),
        (tr("{n} of {all} warps part", n=cost.parted, all=cost.forks), palette.ink, False),
        (
            tr("branch efficiency {share} %", share=f"{100 * cost.efficiency:.0f}"),
            palette.ink,
            False,
        ),
    )
    first, rest = area.above(line_height(stage))
    marks = figures(stage, first, pieces, tr("model"), palette.accent)
    if rest.height < 0.5 * line_height(stage):
        return marks
    said = tr("8600 GTS, groups of 512, 16, 8: 14.5, 14.4, 22.1 ms")
    forms = (
        tr(
            "{said}, its half warps being served apart · Threads and blocks in detail (2013)",
            said=said,
        ),
        tr("{said} · Threads and blocks in detail (2013)", said=said),
        said,
    )
    return *marks, *sourced(stage, rest, tr("published"), palette.muted, forms)
