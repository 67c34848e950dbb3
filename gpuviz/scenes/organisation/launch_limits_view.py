"""The picture of a launch held against limits: a table of devices, and what calls return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import Array, Bool, Rgba
from gpuviz.draw.figures import line_height, pill_width, sourced
from gpuviz.draw.heading import badge, heading, label
from gpuviz.draw.layout import Rect, first_fitting, grid, wrap
from gpuviz.draw.marks import Boxes, Frame, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes
from gpuviz.language import tr

# Seen on an NVIDIA H200 with CUDA 13.0: every launch beyond a limit, and cudaMemcpy of a symbol,
# return this; cudaDeviceSynchronize and later copies return cudaSuccess.
_ERROR, _OK = "cudaErrorInvalidValue", "cudaSuccess"
_SEEN = "NVIDIA H200, CUDA 13.0, 2026-11-20"
_SOURCES = (
    "8600 GTS (1.1, 1458 MHz): Threads and blocks in detail (2013) · GF100 (2.0): CUDA 2da parte",
    "Threads and blocks in detail (2013) · CUDA 2da parte",
    "Threads and blocks (2013), CUDA 2da parte",
)

_TIMED = (
    "fma4 with N = 2^22: 883.584 µs, occupancy 0.667, Tesla C2070 · CUDA 2da parte",
    "N = 2^22: 883.584 µs, Tesla C2070 (CUDA 2da parte)",
)

_LAUNCHES = ("fma4<<<grid, block>>>", "fma4<<<…>>>")


@dataclass(frozen=True)
class Limit:
    """What a launch asks for (None: nothing to ask) and what each device allows (None: not said).

    The last device is the architecture chosen.
    """

    name: str
    asked: int | None
    allowed: tuple[int | None, ...]

    def refused(self, device: int) -> bool:
        """Whether a device refuses."""
        most = self.allowed[device]
        return self.asked is not None and most is not None and self.asked > most


@dataclass(frozen=True, eq=False)
class Attempt:
    """A launch asked for, and what comes of it.

    `why` is the reason why `arch` refuses it, "" when it does not; `got` what the host has after
    unchecked calls; `difference` its largest difference from `reference`; `guarded` (32,) which
    lanes of the last warp that stores have an element; `ran` elements of the launch that was run.
    """

    arch: str
    cards: tuple[str, ...]
    limits: tuple[Limit, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    elements: int
    why: str
    plain_copy: bool
    got: Array
    reference: Array
    difference: float
    guarded: Bool
    ran: int


Moments = tuple[float, float, float, float]  # asked, compared (rows), called, checked


def picture(stage: Stage, attempt: Attempt, title: str, sentence: str, now: Moments) -> Frame:
    """The whole stage: the table beside the calls, or above them where it is narrow.

    Nothing is compared and no call made while the stage asks what comes of it.
    """
    now = (now[0], -1.0, 0.0, 0.0) if stage.asks else now
    head, area = heading(stage, title, sentence)
    size = stage.text(14)
    if area.width < 620 * stage.scale:
        table, rest = area.above(area.height * 0.58, size * 0.6)
        top, bottom = rest.columns(2, size * 0.6)
    else:
        table, rest = area.beside(min(area.width * 0.62, 660 * stage.scale), size * 0.9)
        top, bottom = _halves(rest, size)
    return stage.frame(
        *head,
        *_table(stage, table, attempt, now),
        *_unchecked(stage, top, attempt, now[2]),
        *_checked(stage, bottom, attempt, now[3]),
    )


def _halves(area: Rect, size: float) -> tuple[Rect, Rect]:
    """The upper part a little higher, and neither higher than it can use."""
    high = min(area.height * 0.56, size * 18)
    low = min(area.height - high - size * 0.6, size * 9)
    top, rest = area.above(high, size * 0.6)
    return top, rest.above(low)[0]


def _number(value: int | None) -> str:
    """A count, thousands apart; 2^31 - 1 by its name; a dash for what is not known."""
    if value is None:
        return "–"
    return "2^31 - 1" if value == 2**31 - 1 else f"{value:,}".replace(",", "\u2009")


def _table(stage: Stage, area: Rect, attempt: Attempt, now: Moments) -> tuple[Mark, ...]:
    """One row a limit: what is asked, what each device allows, crossed where it refuses."""
    size, palette = stage.text(14), stage.palette
    body = Rect(area.x, area.y, area.width, area.height - line_height(stage))
    rows = Rect(
        body.x, body.y, body.width, min(body.height, size * 2.7 * (len(attempt.limits) + 1))
    ).rows(len(attempt.limits) + 1)
    columns = _columns(stage, area, attempt)
    names = (
        tr("limit"),
        tr("asked"),
        *attempt.cards,
        _short(attempt.arch, columns[-1].width, size),
    )
    marks: list[Mark] = []
    for column, name in zip(columns, names, strict=True):
        marks.append(_cell(column, rows[0], name, palette.muted, size, name == names[0]))
    for n, limit in enumerate(attempt.limits):
        marks += _row(
            stage,
            columns,
            rows[n + 1],
            limit,
            now[0] > n / len(attempt.limits),
            now[1] > n,
            n <= now[1] < n + 1 and now[1] < len(attempt.limits),
        )
    foot = Rect(area.x, rows[-1].bottom + size * 0.2, area.width, line_height(stage))
    texts = _TIMED if attempt.elements == 1 << 22 else _SOURCES
    return *marks, *sourced(stage, foot, tr("published"), palette.muted, texts)


def _short(arch: str, width: float, size: float) -> str:
    """`Hopper (9.0)`, or just the number where that is too long."""
    return first_fitting((arch, arch.split("(")[-1].rstrip(")")), width, size)


def _columns(stage: Stage, area: Rect, attempt: Attempt) -> tuple[Rect, ...]:
    """Name, asked, one column a device."""
    size = stage.text(14)
    first = max(text_width(limit.name, size) for limit in attempt.limits) + size
    name, rest = area.beside(first - size * 0.4)
    return name, *rest.columns(2 + len(attempt.cards))


def _cell(
    column: Rect,
    row: Rect,
    text: str,
    color: Rgba,
    size: float,
    left: bool = False,
    bold: bool = False,
) -> Mark:
    """A text in a table, numbers to the right."""
    x = column.x if left else column.right - size * 0.5
    return label(x, row.center[1], text, color, size, bold, "left" if left else "right")


def _row(
    stage: Stage,
    columns: tuple[Rect, ...],
    row: Rect,
    limit: Limit,
    asked: bool,
    compared: bool,
    current: bool,
) -> list[Mark]:
    """A limit; what is too small for the launch is marked with a cross, not by colour alone."""
    palette, size = stage.palette, stage.text(14)
    marks: list[Mark] = []
    if current:
        back = Boxes(row.array(), palette.panel, stroke=palette.outline, stroke_width=2, radius=4)
        marks.append(back)
    marks.append(_cell(columns[0].inset(size * 0.4, 0), row, limit.name, palette.ink, size, True))
    if asked:
        worst = compared and limit.refused(-1)
        color = palette.bad if worst else palette.accent
        marks.append(_cell(columns[1], row, _number(limit.asked), color, size, bold=True))
    for device, column in enumerate(columns[2:]):
        last = device == len(limit.allowed) - 1
        marks += _allowed(stage, column, row, limit, device, compared, last)
    return marks


def _allowed(
    stage: Stage, column: Rect, row: Rect, limit: Limit, device: int, compared: bool, last: bool
) -> list[Mark]:
    """What one device allows, crossed out when the launch asks for more."""
    palette, size = stage.palette, stage.text(14)
    text = _number(limit.allowed[device])
    if not (compared and limit.refused(device)):
        return [_cell(column, row, text, palette.ink if last else palette.muted, size)]
    wide = text_width(f"×{text}", size, True) + size * 0.6
    plate = Rect(column.right - wide, row.y + 1, wide, row.height - 2)
    back = Boxes(plate.array(), palette.soft(palette.bad, 0.85), stroke=palette.bad, radius=3)
    inner = Rect(column.x, column.y, column.width + size * 0.2, column.height)
    return [back, _cell(inner, row, f"×{text}", palette.bad, size, bold=True)]


def _panel(stage: Stage, area: Rect, title: str) -> tuple[list[Mark], Rect]:
    """A box with a title, and the area inside below it."""
    size, palette = stage.text(14), stage.palette
    inner = area.inset(size * 0.6, size * 0.45)
    marks: list[Mark] = [
        Boxes(area.array(), palette.panel, stroke=palette.border, radius=6),
        label(inner.x, inner.y + size * 0.6, title, palette.ink, size, bold=True),
    ]
    return marks, inner.above(size * 1.35)[1]


def _unchecked(stage: Stage, area: Rect, attempt: Attempt, share: float) -> list[Mark]:
    """The calls one after another, whose results nobody reads, and what the host then has."""
    palette, size = stage.palette, stage.text(14)
    marks, inner = _panel(stage, area, tr("unchecked: no call is asked"))
    calls = (_LAUNCHES, ("cudaDeviceSynchronize", "cudaDevice…"), ("cudaMemcpy",))
    failed = (bool(attempt.why), False, attempt.plain_copy)
    step = min(size * 1.6, inner.height / 5)
    for n, (forms, bad) in enumerate(zip(calls, failed, strict=True)):
        if share * 4 <= n:
            continue
        y = inner.y + (n + 0.5) * step
        said = tr("fails, silently") if bad else tr("no error")
        call = first_fitting(forms, inner.width - text_width(said, size, bad) - size * 0.6, size)
        marks.append(label(inner.x, y, call, palette.ink, size))
        marks.append(
            label(inner.right, y, said, palette.bad if bad else palette.muted, size, bad, "right")
        )
    if share * 4 > 3:
        marks += _result(stage, inner.above(3 * step)[1], attempt)
    return marks


def _result(stage: Stage, area: Rect, attempt: Attempt) -> list[Mark]:
    """What the host has, as bars or as numbers, and the largest difference from the reference."""
    palette, size = stage.palette, stage.text(14)
    above, foot = area.above(area.height - min(size * 1.6, area.height / 2))
    wrong = attempt.difference > 1e-3
    forms = (
        tr("maximum difference {d}", d=f"{attempt.difference:.3g}"),
        tr("max. difference {d}", d=f"{attempt.difference:.2g}"),
        tr("max. diff. {d}", d=f"{attempt.difference:.2g}"),
    )
    pill = pill_width(stage, tr("model"))
    text = first_fitting(forms, area.width - pill, size, True)
    marks = (
        _bars(stage, above, attempt)
        if above.height > size * 3.4
        else [
            label(area.x, above.center[1], _values(attempt, area.width, size), palette.muted, size)
        ]
    )
    return [
        *marks,
        label(area.x, foot.center[1], text, palette.bad if wrong else palette.good, size, True),
        *badge(stage, area.right - pill + size * 0.7, foot.center[1], tr("model"), palette.accent),
    ]


def _values(attempt: Attempt, width: float, size: float) -> str:
    """The first values, as many as fit."""
    texts = tuple(
        "d = " + "  ".join(f"{v:.3f}".rstrip("0").rstrip(".") for v in attempt.got[:n]) + " …"
        for n in range(8, 0, -1)
    )
    return first_fitting(texts, width, size)


def _bars(stage: Stage, area: Rect, attempt: Attempt) -> list[Mark]:
    """The first elements: hollow what the sequential loop computes, solid what the host has."""
    palette, size = stage.palette, stage.text(14)
    name, room = area.inset(0, size * 0.2).above(size * 1.5)
    text = first_fitting(
        (
            tr("first 32 elements of d (solid) and of the reference (hollow)"),
            tr("d solid, reference hollow"),
        ),
        name.width,
        size,
    )
    cells = grid(room, 1, 32, 3.0)
    wanted, got = _heights(attempt.reference[:32]), _heights(attempt.got[:32])
    hollow, solid = cells[: len(wanted)].copy(), cells[: len(got)].copy()
    top = max(float(wanted.max()), 1e-9)
    for boxes, value in ((hollow, wanted), (solid, got)):
        boxes[:, 3] = np.minimum(value / top, 1.0) * room.height
        boxes[:, 1] = room.bottom - boxes[:, 3]
    return [
        label(name.x, name.y + size * 0.6, text, palette.muted, size),
        Boxes(solid, palette.lanes[: len(solid)]),
        Boxes(hollow, stroke=palette.muted, stroke_width=1.0),
    ]


def _heights(values: Array) -> Array:
    """Magnitudes."""
    return np.abs(values).astype(np.float32)


def _checked(stage: Stage, area: Rect, attempt: Attempt, share: float) -> list[Mark]:
    """What the same calls say to a program that asks, or the lanes that are guarded off."""
    palette, size = stage.palette, stage.text(14)
    marks, inner = _panel(stage, area, tr("checked: cudaGetLastError"))
    if share <= 0:
        return marks
    failed = bool(attempt.why) or attempt.plain_copy
    y = inner.y + size * 0.7
    marks.append(
        label(
            inner.x,
            y,
            _ERROR if failed else _OK,
            palette.bad if failed else palette.good,
            size,
            bold=True,
        )
    )
    rest = inner.above(size * 1.45)[1]
    if not failed:
        return marks + _guards(stage, rest, attempt)
    said = _words(attempt) if share > 0.4 else ()
    room = max(int((rest.height - size * 1.5) / (size * 1.35)), 0)
    rows = [row for text in said for row in wrap(text, rest.width, size)]
    rows = rows if len(rows) <= room else []  # the sentence at the top says it, too
    for n, row in enumerate(rows):
        marks.append(label(rest.x, rest.y + size * (0.6 + 1.35 * n), row, palette.ink, size))
    foot = Rect(rest.x, rest.bottom - size * 1.4, rest.width, line_height(stage))
    return [
        *marks,
        *sourced(
            stage,
            foot,
            tr("recorded"),
            palette.good,
            (_SEEN, "NVIDIA H200, CUDA 13.0", "NVIDIA H200"),
        ),
    ]


def _words(attempt: Attempt) -> tuple[str, ...]:
    """The reason in words."""
    if attempt.why:
        return (attempt.why,)
    return (tr("the address of a symbol on the host is no device address"),)


def _guards(stage: Stage, area: Rect, attempt: Attempt) -> list[Mark]:
    """The lanes of the last warp: those beyond N are switched off by the kernel's if."""
    palette, size = stage.palette, stage.text(14)
    off = int((~attempt.guarded).sum())
    text = (
        tr("last warp that stores: {n} lanes have no element", n=off)
        if off
        else tr("last warp: every lane has an element")
    )
    if attempt.ran < attempt.elements:
        text = f"{text} ({tr('of the first {n} run here', n=attempt.ran)})"
    marks: list[Mark] = []
    rows = wrap(text, area.width, size)
    for n, row in enumerate(rows):
        marks.append(label(area.x, area.y + size * (0.6 + 1.35 * n), row, palette.muted, size))
    top = area.y + size * 1.35 * len(rows)
    high = min(area.bottom - top, 26 * stage.scale)
    if high < 8:
        return marks
    rects = lane_boxes(Rect(area.x, top, area.width, high))
    on = attempt.guarded
    marks.append(Boxes(rects[on], palette.lanes[on], radius=2))
    marks.append(Boxes(rects[~on], palette.waste_ground, hatch=palette.waste, radius=2))
    return marks
