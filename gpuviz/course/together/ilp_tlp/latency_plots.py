"""Warps that take turns, by arithmetic: their rows, warps needed, kernels as compiled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arch.occupancy_fit import name_of
from gpuviz.base.arrays import F32, F64, Rgba
from gpuviz.course.together.latency_hiding import LOADS, WARPS, Latency, Variant
from gpuviz.draw.axis import Scales, logarithmic
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.panel import Ink, Need, Panel
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Corner, Curve, Element, Note, Plot, Points
from gpuviz.words.language import tr


@dataclass(frozen=True, eq=False)
class LatencyModel:
    """All that the pictures select from: a multiprocessor with its warps, the kernels as compiled,
    and what was measured of the sweep (None: nothing).
    """

    arch: Architecture
    one: Latency
    threads: int
    registers: int
    given: bool
    blocks: int
    variants: tuple[Variant, ...]
    rates: F64 | None
    waits: F64 | None
    badge: str
    device: str


def warps_needed(shown: LatencyModel, share: float) -> Picture:
    """Needed warps over independent instructions."""
    texts = (
        tr(
            "{name}: {wait} cycles of latency, {cycles} cycles an instruction of a warp",
            name=name_of(shown.arch),
            wait=shown.one.wait,
            cycles=f"{shown.one.cycles:g}",
        ),
        name_of(shown.arch),
    )
    return Picture(
        tr("Twice the independent instructions need half the warps"),
        tr(
            "Rings: our kernel with 1, 2, 4 and 8 loads at once, with the registers it compiles to."
        ),
        rows(_needed(shown, share), Provenance(texts, tr("model"), "accent")),
    )


def _needed(shown: LatencyModel, share: float) -> Plot:
    """The line above which latency is hidden; the kernels as compiled, and the one chosen."""
    one, fitting = shown.one, [v for v in shown.variants if v.latency.warps]
    top = 2.0 ** np.ceil(np.log2(max(one.wait / one.cycles, 64.0)) + 0.01)
    x = logarithmic(
        (tr("independent instructions before a warp waits"), tr("independent instructions")),
        1.0,
        16.0,
        2.0,
    )
    y = logarithmic((tr("warps on a multiprocessor"), tr("warps")), 1.0, float(top), 4.0)
    ways: F64 = np.array([1.0, 2.0 ** (4.0 * min(share * 1.5, 1.0))])
    elements: list[Element] = [Curve(ways, one.wait / (ways * one.cycles), width=3)]
    if share * 1.5 >= 1:
        elements += [
            Corner("top right", tr("above: every slot filled"), "good", answers=True),
            Corner("bottom left", tr("below: lanes idle"), "warn", answers=True),
        ]
        loads, warps = [v.loads for v in fitting], [v.latency.warps for v in fitting]
        if fitting:
            elements.append(
                Points(
                    loads,
                    warps,
                    "compute",
                    6,
                    hollow=True,
                    tip=lambda i: _tip(fitting[i]),
                    answers=True,
                )
            )
        if one.warps:
            ink: Ink = "good" if one.busy >= 1 else "warn"
            chosen = [one.independent], [one.warps]
            text = tr("{warps} warps, {needed} needed", warps=one.warps, needed=one.needed)
            elements.append(Points(*chosen, ink, answers=True))
            elements.append(Note(one.independent, one.warps, text, answers=True))
    return Plot(x, y, tuple(elements))


def _tip(one: Variant) -> str:
    """A compiled kernel in words."""
    what = {"loads": one.loads, "registers": one.registers, "warps": one.latency.warps}
    return tr("{loads} loads at once: {registers} registers, {warps} warps", **what)


def as_compiled(shown: LatencyModel, share: float) -> Picture:
    """The kernels as compiled."""
    model = (
        tr(
            "{name}: {threads} threads a block, latency {wait} cycles",
            name=name_of(shown.arch),
            threads=shown.threads,
            wait=shown.one.wait,
        ),
        name_of(shown.arch),
    )
    several = len({v.latency.warps for v in shown.variants}) > 1
    title = (
        tr("Loads at once cost registers, and registers cost warps")
        if several
        else tr("Loads at once cost registers; this multiprocessor has enough of them")
    )
    body = rows(_needed(shown, share), Provenance(model, tr("model"), "accent"))
    return Picture(title, registers_of(shown.variants), body)


def as_measured(shown: LatencyModel, rates: F64, share: float) -> Picture:
    """Gigabytes a second over warps, a line for each number of loads at once."""
    x = logarithmic((tr("warps on the multiprocessor"), tr("warps")), 1.0, 32.0, 2.0)
    low, high = 2.0 ** np.floor(np.log2(rates.min())), 2.0 ** np.ceil(np.log2(rates.max()))
    titles = tr("GB/s of one multiprocessor"), tr("GB/s")
    inks: tuple[Ink, ...] = ("warn", "good", "shared", "accent")
    elements: list[Element] = []
    for column, (loads, ink) in enumerate(zip(LOADS, inks, strict=True)):
        name, y = tr("{n} at once", n=loads), rates[:, column]
        elements += [Curve(WARPS, y, ink, name=name, grown=share), Points(WARPS, y, ink, 4, share)]
    plot = Plot(x, logarithmic(titles, float(low), float(high), 2.0), tuple(elements))
    return Picture(
        tr("Measured: more warps, or more loads of each, load faster"),
        tr("Each block alone on its multiprocessor, timed from its first to its last thread."),
        rows(plot, *of_one_load(shown.waits, shown.device, shown.badge)),
    )


def registers_of(variants: Sequence[Variant]) -> str:
    """What loads at once take, as the compiler made them."""
    few, many = variants[0], variants[-1]
    what = {"few": few.loads, "many": many.loads, "a": few.registers, "b": many.registers}
    return tr("{few} to {many} loads at once take {a} to {b} registers a thread.", **what)


def of_one_load(waits: F64 | None, device: str, badge: str) -> tuple[Provenance, ...]:
    """What a load of a warp alone takes, as measured, and what is published."""
    published = Provenance(
        (
            tr(
                "400 to 600 cycles from global memory · lecture slides (G80), Threads and blocks "
                "in detail (2013)"
            ),
            tr("400 to 600 cycles from global memory"),
        )
    )
    if waits is None:
        return Provenance((device,), badge, "good"), published
    wait = f"{waits[0, 0]:.0f}"
    texts = (
        tr(
            "{device}: a load of one warp alone, one at a time, takes {n} cycles",
            device=device,
            n=wait,
        ),
        tr("{device}: {n} cycles a load", device=device, n=wait),
    )
    return Provenance(texts, badge, "good"), published


_SCALE = "cycles"
_LOAD, _TURN = 0.22, 0.8  # of a row's height


@dataclass(frozen=True, eq=False)
class WarpTurns(Panel):
    """Turns of `warps`, each `turn` cycles long and over again after `period` cycles, `span` of
    them in view; a load comes back after `wait`. `now` is the present cycle.
    """

    share: ClassVar[float] = 1.0
    warps: int
    turn: float
    period: float
    wait: float
    span: float
    now: float

    def need(self, stage: Stage, width: float) -> Need:
        """A few rows and the lanes."""
        return Need(8 * stage.text(14), 5 * stage.text(14))

    def scales(self) -> Scales:
        """The cycles in view."""
        return {_SCALE: self.span}

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Rows, names, the lanes, the clock."""
        if (most := stage.most(_SCALE, self.span)) > self.span:
            yield from replace(self, span=most).draw(stage, area)
            return
        size = stage.text(14)
        names = tr("warp {n}", n=self.warps - 1), tr("lanes")
        left = max(text_width(t, size) for t in names) + size * 0.8
        body = Rect(area.x + left, area.y, area.width - left, area.height - size * 1.9)
        strip = min(size * 1.6, body.height * 0.16)
        rows = Rect(body.x, body.y, body.width, body.height - strip - size * 0.5)
        yield from self._rows(stage, rows)
        yield from self._names(stage, rows)
        yield from self._lanes(stage, Rect(body.x, body.bottom - strip, body.width, strip))
        yield from self._clock(stage, body)

    @property
    def rounds(self) -> int:
        """Rounds of turns in view."""
        return int(np.ceil(self.span / self.period))

    def _rows(self, stage: Stage, rows: Rect) -> Iterator[Mark]:
        """Each warp's loads on their way (thin) and its turns (high): done, now, to come."""
        palette = stage.palette
        warp = np.tile(np.arange(self.warps, dtype=np.float64), self.rounds)
        begin = np.repeat(np.arange(self.rounds) * self.period, self.warps) + warp * self.turn
        warp, begin = warp[begin < self.span], begin[begin < self.span]
        end = begin + self.turn
        way = self._stretches(rows, warp, begin, begin + self.wait, _LOAD)
        work = self._stretches(rows, warp, begin, end, _TURN)
        work[:, 2] = np.maximum(work[:, 2], 1.0)
        over, flying = self.now >= end, self.now >= begin
        under, edge = flying & ~over, palette.outline
        yield Boxes(way[~flying], palette.todo(palette.load))
        yield Boxes(way[flying], palette.load)
        yield Boxes(work[~flying], palette.todo(palette.accent), radius=1)
        yield Boxes(work[over], palette.accent, radius=1)
        yield Boxes(work[under], palette.accent, stroke=edge, stroke_width=2.0, radius=1)

    def _stretches(self, rows: Rect, warp: F64, start: F64, end: F64, band: float) -> F32:
        """(N, 4) stretches of time in warps' rows, `band` of a row high, cut off at the right."""
        scale, high = rows.width / self.span, rows.height / self.warps
        x0, x1 = (np.minimum(rows.x + c * scale, rows.right) for c in (start, end))
        tall = max(round(high * band), 1)  # whole pixels: all rows alike
        y = np.rint(rows.y + (warp + 0.5) * high - tall / 2)
        return np.stack([x0, y, x1 - x0, np.full_like(y, tall)], axis=1).astype(np.float32)

    def _names(self, stage: Stage, rows: Rect) -> Iterator[Mark]:
        """The warps' numbers, as many as there is room for."""
        size, high = stage.text(14), rows.height / self.warps
        every = max(1, int(np.ceil(size * 1.25 / high)))
        kept = list(range(0, self.warps, every))
        if len(kept) > 1 and self.warps - kept[-1] < every * 0.6:
            kept.pop()
        x, muted = rows.x - size * 0.6, stage.palette.muted
        for warp in kept:
            y = rows.y + (warp + 0.5) * high
            yield label(x, y, tr("warp {n}", n=warp), muted, size, align="right")

    def _lanes(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The lanes: busy, or idle (hatched), as far as time has gone."""
        palette, size = stage.palette, stage.text(14)
        begin: F64 = np.arange(self.rounds) * np.float64(self.period)
        end: F64 = begin + min(self.warps * self.turn, self.period)
        yield Boxes(area.array(), palette.cell, radius=2)
        name = area.x - size * 0.6, area.center[1]
        yield label(*name, tr("lanes"), palette.ink, size, True, "right")
        yield Boxes(self._past(area, begin, end), palette.accent)
        if self.warps * self.turn < self.period:
            idle = self._past(area, end, begin + self.period)
            yield Boxes(idle, palette.waste_ground, hatch=palette.waste)
            yield from self._idle(stage, area, idle)

    def _past(self, area: Rect, begin: F64, end: F64) -> F32:
        """(N, 4) stretches of time in one row, none later than now."""
        end, scale = np.minimum(end, self.now), area.width / self.span
        x0, x1 = (np.minimum(area.x + c[end > begin] * scale, area.right) for c in (begin, end))
        rest = np.full_like(x0, area.y), x1 - x0, np.full_like(x0, area.height)
        rects = np.stack([x0, *rest], axis=1).astype(np.float32)
        return np.asarray(rects[rects[:, 2] > 0])

    def _idle(self, stage: Stage, area: Rect, idle: F32) -> Iterator[Mark]:
        """What the hatched stretches are, where there is room to say it."""
        size, word = stage.text(14), tr("idle")
        wide = text_width(word, size, True)
        roomy = idle[idle[:, 2] > wide + size]
        if not len(roomy) or area.height < size:
            return
        at = (roomy[:, :2] + roomy[:, 2:] / 2).astype(np.float32)
        half = np.array([wide / 2 + 4, area.height / 2 - 2], np.float32)
        plates = np.concatenate([at - half, np.broadcast_to(2 * half, at.shape)], axis=1)
        yield Boxes(plates, stage.palette.ground, radius=3)
        yield Texts(at, (word,) * len(at), stage.palette.warn, size, "center", True)

    def _clock(self, stage: Stage, body: Rect) -> Iterator[Mark]:
        """A line at the present cycle, when the first load is back, and the cycle below."""
        palette, size, scale = stage.palette, stage.text(14), body.width / self.span
        now, back = min(self.now, self.span), body.x + self.wait * scale
        y, cycle = body.bottom + size * 0.95, tr("cycle {n}", n=f"{now:.0f}")
        done = tr("the first load is back: {n}", n=f"{self.wait:g}")
        wide, room = text_width(done, size), text_width(cycle, size) + size
        left = min(max(back - wide / 2, body.x), body.right - wide)
        yield _line(back, body, palette.muted, dash=True)
        yield label(left, y, done, palette.muted, size)
        yield _line(body.x + now * scale, body, palette.ink)
        if left - body.x >= room:
            yield label(body.x, y, cycle, palette.ink, size)
        elif body.right - left - wide >= room:
            yield label(body.right, y, cycle, palette.ink, size, align="right")


def _line(x: float, body: Rect, ink: Rgba, dash: bool = False) -> Lines:
    ends = np.array([[[x, body.y], [x, body.bottom]]], np.float32)
    return Lines(ends, ink, 1.5, dash=dash)
