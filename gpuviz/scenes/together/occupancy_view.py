"""A multiprocessor as rows of slots, one for each resource, filled block by block."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import F32
from gpuviz.draw.ease import passed
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr, trn
from gpuviz.scenes.together.occupancy_fit import Fit, Slots, grouped

_MOST_OVER = 0.3  # of a row, kept for the part of a block that does not fit
_LEAST_OVER = 0.06


def slots(stage: Stage, area: Rect, fit: Fit, arrived: float, tried: float) -> tuple[Mark, ...]:
    """The rows with `arrived` blocks (the fraction is the one under way).

    `tried` goes from 0 to 1 while one block more is tried.
    """
    rows = area.rows(len(fit.slots), stage.text(14) * 0.5)
    end = area.x + area.width / (1 + _over(fit))
    marks: list[Mark] = []
    for one, row in zip(fit.slots, rows, strict=True):
        marks += _row(stage, row, end, fit, one, arrived, tried)
    return tuple(marks)


def _over(fit: Fit) -> float:
    """How far beyond the end one block more would reach, of the row's length; cut off at most."""
    reach = [
        (fit.found.blocks + 1) * s.need / s.capacity - 1 for s in fit.slots if s.id in fit.limiters
    ]
    return min(max(*reach, _LEAST_OVER), _MOST_OVER) if reach else 0.0


def _row(
    stage: Stage, row: Rect, end: float, fit: Fit, one: Slots, arrived: float, tried: float
) -> list[Mark]:
    """One resource: its words, and its bar."""
    size = stage.text(14)
    words, bar = row.above(size * 1.3)
    bar = Rect(bar.x, bar.y, end - bar.x, min(bar.height, size * 5.5))
    marks = _words(
        stage, Rect(words.x, words.y, end - words.x, words.height), fit, one, passed(arrived), tried
    )
    base = stage.palette.cell if one.room is not None else stage.palette.panel
    marks.append(Boxes(bar.array(), base, stroke=stage.palette.border, radius=3))
    if one.room is None:
        return marks
    marks += _cells(stage, bar, one)
    marks += _filled(stage, bar, one, fit, arrived)
    if tried > 0 and not stage.asks:
        marks += _tried(stage, bar, row.right, fit, one, tried)
    line = np.array([[[bar.right, bar.y - 3], [bar.right, bar.bottom + 3]]], np.float32)
    return [*marks, Lines(line, stage.palette.ink, 2.0)]


def _words(stage: Stage, area: Rect, fit: Fit, one: Slots, blocks: int, tried: float) -> list[Mark]:
    """Name, used of capacity, and how many blocks there is room for; the name alone while the
    stage asks.
    """
    palette, size = stage.palette, stage.text(14)
    y = area.y + size * 0.55
    if stage.asks:
        return [label(area.x, y, one.name, palette.ink, size, bold=True)]
    limits = one.id in fit.limiters and tried > 0
    room = _room(one, limits)
    marks: list[Mark] = [
        label(area.x, y, one.name, palette.ink, size, bold=True),
        label(
            area.right, y, room, palette.warn if limits else palette.muted, size, limits, "right"
        ),
    ]
    x = area.x + text_width(one.name, size, True) + size * 0.7
    free = area.right - text_width(room, size, limits) - size - x
    text = first_fitting(_used(one, blocks, fit), free, size)
    return [*marks, label(x, y, text, palette.muted, size)] if text else marks


def _room(one: Slots, limits: bool) -> str:
    """How many blocks a resource has room for."""
    if one.room is None:
        return tr("none used")
    text = trn("room for {n} block", "room for {n} blocks", one.room)
    return "▸ " + tr("{room}: the limit", room=text) if limits else text


def _used(one: Slots, blocks: int, fit: Fit) -> tuple[str, ...]:
    """Used of capacity, in wordings from long to short."""
    if one.room is None:
        return ("",)
    used, all_, need = (grouped(n) for n in (blocks * one.need, one.capacity, one.need))
    brief = f"{used} / {all_}"
    plain = tr("{used} of {all}", used=used, all=all_)
    if one.id == "blocks":
        return plain, brief
    each = tr("{plain} · {need} a block", plain=plain, need=need)
    if one.id == "warps":
        threads = grouped(blocks * fit.demand.threads)
        return tr("{each} · {threads} threads", each=each, threads=threads), each, plain, brief
    if one.id == "registers":
        return each, plain, brief
    own = tr("{plain} bytes · {need} a block", plain=plain, need=need)
    if fit.demand.shared == 0:  # what it is given all the same
        own = tr("{plain} bytes · {need} a block for the system", plain=plain, need=need)
    return own, each, plain, brief


def _cells(stage: Stage, bar: Rect, one: Slots) -> list[Mark]:
    """Fine lines between slots, where there are few enough of them to be told apart."""
    if one.id not in ("warps", "blocks") or bar.width / one.capacity < 5:
        return []
    x = bar.x + np.arange(1, one.capacity) / one.capacity * bar.width
    low, high = np.full_like(x, bar.bottom - 1), np.full_like(x, bar.y + 1)
    points = np.stack([x, high, x, low], axis=1).reshape(-1, 2, 2).astype(np.float32)
    return [Lines(points, stage.palette.border, 1.0)]


def _spans(bar: Rect, one: Slots, count: int) -> F32:
    """(count, 4) what each block takes of a row."""
    wide = bar.width * one.need / one.capacity
    x = bar.x + np.arange(count) * wide
    gap = 2.0 if wide >= 6 else 1.0 if wide >= 3 else 0.0
    sizes = np.full_like(x, wide - gap), np.full_like(x, bar.height - 4)
    return np.stack([x + gap / 2, np.full_like(x, bar.y + 2), *sizes], axis=1).astype(np.float32)


def _filled(stage: Stage, bar: Rect, one: Slots, fit: Fit, arrived: float) -> list[Mark]:
    """The blocks that are there: done, now, and dim those that will come."""
    palette, size = stage.palette, stage.text(13)
    spans = _spans(bar, one, fit.found.blocks)
    number = np.arange(len(spans))
    there, now = number < passed(arrived), number == passed(arrived)
    color = palette.soft(palette.accent, 0.35)
    tip = _tip(one)
    marks: list[Mark] = [
        Boxes(spans[there], color, radius=2, tip=tip),
        Boxes(
            spans[now & (arrived > number)],
            palette.accent,
            stroke=palette.outline,
            stroke_width=2,
            radius=2,
        ),
    ]
    marks += _idle_lanes(stage, spans[there], one, fit)
    widest = text_width(str(fit.found.blocks - 1), size, True) + 4
    if len(spans) and spans[0, 2] >= widest and bar.height >= size + 4 and there.any():
        at = spans[there, :2] + spans[there, 2:] / 2
        marks.append(
            Texts(
                at.astype(np.float32),
                tuple(map(str, number[there].tolist())),
                palette.ink_on(color),
                size,
                "center",
                bold=True,
            )
        )
    return marks


def _tip(one: Slots) -> Tip:
    """Hover: which block, and what it has."""

    def say(block: int) -> str:
        return tr("block {n}: {need} {what}", n=block, need=grouped(one.need), what=one.name)

    return say


def _idle_lanes(stage: Stage, spans: F32, one: Slots, fit: Fit) -> list[Mark]:
    """Hatched: the lanes of each block's last warp that have no thread, and warps rounded up."""
    lanes = one.need * fit.arch.warp
    idle = lanes - fit.demand.threads
    if one.id != "warps" or idle == 0 or not len(spans):
        return []
    rects = spans.copy()
    wide = rects[:, 2] * (idle / lanes)
    rects[:, 0] += rects[:, 2] - wide
    rects[:, 2] = wide
    return [Boxes(rects, stage.palette.waste_ground, hatch=stage.palette.waste)]


def _tried(stage: Stage, bar: Rect, right: float, fit: Fit, one: Slots, tried: float) -> list[Mark]:
    """One block more: outlined where there is room, hatched where there is none.

    Once it has been tried, the warp slots that stay empty are hatched.
    """
    palette = stage.palette
    wide, count = bar.width * one.need / one.capacity, fit.found.blocks
    x = bar.x + count * wide
    marks: list[Mark] = []
    if one.id == "warps" and x < bar.right - 1 and tried >= 1:
        rest = Rect(x + 1, bar.y + 2, bar.right - x - 3, bar.height - 4)
        marks.append(Boxes(rest.array(), palette.waste_ground, hatch=palette.waste, radius=2))
    ghost = Rect(x + 1, bar.y + 2, max(min(wide - 2, right - x - 1), 2.0), bar.height - 4)
    if one.id in fit.limiters:
        marks.append(
            Boxes(
                ghost.array(),
                palette.soft(palette.bad, 0.7),
                stroke=palette.bad,
                stroke_width=2,
                hatch=palette.bad,
                radius=2,
            )
        )
    elif tried < 1:
        marks.append(Boxes(ghost.array(), stroke=palette.muted, stroke_width=1.5, radius=2))
    return marks
