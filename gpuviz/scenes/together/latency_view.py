"""Warps taking turns: a row for each, its turns and its loads, and below what the lanes do."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import F32, F64
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.together.latency import Latency

PERIODS = 2.2  # of the longer of one load and one round of turns, shown


def span_of(one: Latency) -> float:
    """Cycles shown."""
    return PERIODS * one.period


def turns(stage: Stage, area: Rect, one: Latency, now: float) -> tuple[Mark, ...]:
    """The rows, and the lanes below, at a cycle."""
    size = stage.text(14)
    left = max(text_width(t, size) for t in (tr("warp {n}", n=one.warps - 1), tr("lanes")))
    left += size * 0.8
    body = Rect(area.x + left, area.y, area.width - left, area.height - size * 1.7)
    strip = min(size * 1.6, body.height * 0.16)
    rows = Rect(body.x, body.y, body.width, body.height - strip - size * 0.5)
    lanes = Rect(body.x, body.bottom - strip, body.width, strip)
    scale = body.width / span_of(one)
    starts = one.starts(int(np.ceil(PERIODS)))
    return (
        *_loads(stage, rows, one, starts, scale, now),
        *_names(stage, rows, one.warps),
        *_lanes(stage, lanes, one, scale, now),
        *_clock(stage, body, one, scale, now),
    )


def _rects(rows: Rect, warp: F64, start: F64, end: F64, scale: float, band: float) -> F32:
    """(N, 4) stretches of time in warps' rows, `band` of a row high, cut off at the right."""
    x0, x1 = (np.minimum(rows.x + c * scale, rows.right) for c in (start, end))
    high = rows.height / (warp.max() + 1)
    tall = max(round(high * band), 1)  # whole pixels: all rows alike
    y = np.rint(rows.y + (warp + 0.5) * high - tall / 2)
    return np.stack([x0, y, x1 - x0, np.full_like(y, tall)], axis=1).astype(np.float32)


def _loads(
    stage: Stage, rows: Rect, one: Latency, starts: F64, scale: float, now: float
) -> list[Mark]:
    """Each warp's loads on their way (thin) and its turns (high): done, now, to come."""
    palette = stage.palette
    warp = np.broadcast_to(np.arange(one.warps, dtype=np.float64), starts.shape).ravel()
    begin = starts.ravel()
    seen = begin < span_of(one)
    warp, begin = warp[seen], begin[seen]
    end, back = begin + one.turn, begin + one.wait
    # The last row decides the height of all, so every warp has a row even when few turns are seen.
    way = _rects(rows, warp, begin, back, scale, 0.22)
    work = _rects(rows, warp, begin, end, scale, 0.8)
    work[:, 2] = np.maximum(work[:, 2], 1.0)
    over, under = now >= end, (now >= begin) & (now < end)
    flying = now >= begin
    marks: list[Mark] = [
        Boxes(way[~flying], palette.todo(palette.load)),
        Boxes(way[flying], palette.load),
        Boxes(work[~over & ~under], palette.todo(palette.accent), radius=1),
        Boxes(work[over], palette.accent, radius=1),
        Boxes(work[under], palette.accent, stroke=palette.outline, stroke_width=2.0, radius=1),
    ]
    return marks


def _names(stage: Stage, rows: Rect, warps: int) -> list[Mark]:
    """The warps' numbers, as many as there is room for."""
    size, high = stage.text(14), rows.height / warps
    every = max(1, int(np.ceil(size * 1.25 / high)))
    kept = [w for w in range(0, warps, every) if rows.y + (w + 0.5) * high <= rows.bottom]
    if len(kept) > 1 and warps - kept[-1] < every * 0.6:
        kept.pop()
    x = rows.x - size * 0.6
    return [
        label(
            x,
            rows.y + (w + 0.5) * high,
            tr("warp {n}", n=w),
            stage.palette.muted,
            size,
            align="right",
        )
        for w in kept
    ]


def _lanes(stage: Stage, area: Rect, one: Latency, scale: float, now: float) -> list[Mark]:
    """The lanes: busy, or idle (hatched), as far as time has gone."""
    palette, size = stage.palette, stage.text(14)
    count = int(np.ceil(PERIODS))
    begin: F64 = np.linspace(0.0, (count - 1) * one.period, count)
    end: F64 = begin + min(one.warps * one.turn, one.period)
    again: F64 = begin + one.period
    marks: list[Mark] = [
        Boxes(area.array(), palette.cell, radius=2),
        label(area.x - size * 0.6, area.center[1], tr("lanes"), palette.ink, size, True, "right"),
    ]
    busy = _stretches(area, begin, _until(end, now), scale)
    idle = _stretches(area, end, _until(again, now), scale)
    marks.append(Boxes(busy, palette.accent))
    if one.busy < 1:
        marks.append(Boxes(idle, palette.waste_ground, hatch=palette.waste))
        word = tr("idle")
        wide = idle[idle[:, 2] > text_width(word, size, True) + size]
        plates = [
            Rect(
                float(r[0] + r[2] / 2 - text_width(word, size, True) / 2 - 4),
                float(r[1] + 2),
                text_width(word, size, True) + 8,
                float(r[3] - 4),
            )
            for r in wide
        ]
        if plates and area.height >= size:
            at = np.array([p.center for p in plates], np.float32)
            marks.append(Boxes(np.array(plates, np.float32), palette.ground, radius=3))
            marks.append(Texts(at, (word,) * len(plates), palette.warn, size, "center", True))
    return marks


def _until(times: F64, now: float) -> F64:
    """Times, none of them later than now."""
    return np.asarray(np.minimum(times, now), dtype=np.float64)


def _stretches(area: Rect, begin: F64, end: F64, scale: float) -> F32:
    """(N, 4) stretches of time in one row; those that have not begun are left out."""
    begun = end > begin
    x0, x1 = (np.minimum(area.x + c[begun] * scale, area.right) for c in (begin, end))
    rest = np.full_like(x0, area.y), x1 - x0, np.full_like(x0, area.height)
    rects = np.stack([x0, *rest], axis=1).astype(np.float32)
    return np.asarray(rects[rects[:, 2] > 0])


def _clock(stage: Stage, body: Rect, one: Latency, scale: float, now: float) -> list[Mark]:
    """A line at the present cycle, the time at which the first load is back, and cycles below."""
    palette, size = stage.palette, stage.text(14)
    x, back = body.x + min(now, span_of(one)) * scale, body.x + one.wait * scale
    ends = [[[x, body.y], [x, body.bottom]]]
    first = np.array([[[back, body.y], [back, body.bottom]]], np.float32)
    y = body.bottom + size * 0.95
    cycle = tr("cycle {n}", n=f"{min(now, span_of(one)):.0f}")
    done = tr("the first load is back: {n}", n=one.wait)
    wide = text_width(done, size)
    left = min(max(back - wide / 2, body.x), body.right - wide)
    marks: list[Mark] = [
        Lines(first, palette.muted, 1.5, dash=True),
        label(left, y, done, palette.muted, size),
        Lines(np.array(ends, np.float32), palette.ink, 1.5),
    ]
    room = text_width(cycle, size) + size
    if left - body.x >= room:
        marks.append(label(body.x, y, cycle, palette.ink, size))
    elif body.right - left - wide >= room:
        marks.append(label(body.right, y, cycle, palette.ink, size, align="right"))
    return marks
