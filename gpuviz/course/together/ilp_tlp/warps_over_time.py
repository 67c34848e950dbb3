"""ILP against TLP as simulated: warps over time, Little's law, and what a GPU recorded beside."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import F64
from gpuviz.course.together.ilp_tlp.latency_plots import of_one_load, registers_of
from gpuviz.course.together.latency_hiding import (
    ELEMENTS,
    LINE,
    LOADS,
    WARPS,
    Group,
    UnderWay,
    Variant,
    law,
    rates_of,
    waits_of,
)
from gpuviz.draw.axis import logarithmic
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import first, rows, share, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Curve, Element, Note, Plot, Points
from gpuviz.panels.time_bars import TimeBar, TimeBars
from gpuviz.panels.warp_timeline import WarpTimeline
from gpuviz.run.run import Run
from gpuviz.story.lesson import Story
from gpuviz.story.measured import passed
from gpuviz.story.script import Script, StepKind
from gpuviz.timing.timeline import Timeline
from gpuviz.words.language import grouped, tr, trn

_ONE, _MORE, _LAW, _BESIDE, _TABLE, _END = 3.0, 1.6, 2.5, 2.5, 2.0, 1.5  # seconds
_LOADS_SHOWN = 5.5  # one after another, in view
_FEW, _MANY = 4, WARPS[-1]  # warps that are shown over time, beside a single one
_INKS: tuple[Ink, ...] = ("warn", "good", "shared", "accent")


@dataclass(frozen=True, eq=False)
class WarpSimulation:
    """All that the pictures select from.

    `every` (24) blocks of the sweep over time, by warps and loads at once; `recorded` (6, 4)
    gigabytes a second of each on a GPU, and `waits` cycles of a round of loads, None where there
    are none, of the device `where`, with its `badge`; `variants` are the kernels as compiled.
    """

    arch: Architecture
    every: tuple[UnderWay, ...]
    variants: tuple[Variant, ...]
    threads: int
    recorded: F64 | None
    waits: F64 | None
    badge: str
    where: str

    def of(self, warps: int, loads: int) -> UnderWay:
        """The block with so many warps and loads at once."""
        return self.every[WARPS.index(warps) * len(LOADS) + LOADS.index(loads)]

    @property
    def one(self) -> UnderWay:
        """The least."""
        return self.every[0]

    @property
    def device(self) -> str:
        """What was modelled."""
        return self.one.timeline.device.name

    @property
    def rates(self) -> F64:
        """(6, 4) gigabytes a second of each block as modelled, from its first to its last cycle."""
        times = np.array([_nanoseconds(each.timeline) for each in self.every])
        moved = np.array([each.warps for each in self.every]) * LINE * ELEMENTS
        return np.asarray((moved / times).reshape(len(WARPS), len(LOADS)))


def simulated(
    arch: Architecture, sweep: Run, variants: tuple[Variant, ...], threads: int
) -> WarpSimulation | None:
    """The sweep over time; None where the device is not modelled."""
    shapes = [(warps, loads) for warps in WARPS for loads in LOADS]
    if len(sweep.timelines) != len(shapes):
        return None
    every = tuple(
        UnderWay(warps, loads, one.only(warps))
        for (warps, loads), one in zip(shapes, sweep.timelines, strict=True)
    )
    found, rates = sweep.measurement, rates_of(sweep)
    badge, where = (found.badge, found.gpu) if found and rates is not None else ("", "")
    return WarpSimulation(arch, every, variants, threads, rates, waits_of(sweep), badge, where)


def _nanoseconds(timeline: Timeline) -> float:
    return timeline.cycles / timeline.device.clock_ghz


def narrate(shown: WarpSimulation, independent: int, role: str, lines: tuple[int, int]) -> Story:
    """One warp; more warps; more loads of each; Little's law; recorded; as compiled.

    `lines` of the source load, and use what was loaded; `role` is that of the sweep.
    """
    script, pictures = Script(role), list[tuple[float, Callable[[float], Picture]]]()

    shapes = [(n, loads) for loads in (LOADS[0], independent) for n in (WARPS[0], _FEW, _MANY)]
    shapes = list(dict.fromkeys(shapes))
    timed = len(shapes)

    def act(
        seconds: float, label: str, said: str, line: int, at: Callable[[float], Picture]
    ) -> None:
        kind: StepKind = "load" if len(pictures) < timed else "result"
        pictures.append((script.act(seconds, kind, label, said, line).end, at))

    for number, (warps, loads) in enumerate(shapes):
        one = shown.of(warps, loads)
        label = trn("{n} warp", "{n} warps", warps)
        said = trn("{n} load at once", "{n} loads at once", loads)
        seconds = _MORE if number else _ONE
        act(seconds, label, said, lines[0], lambda part, one=one: _over_time(shown, one, part))  # type: ignore[misc]
    said = tr("under way = latency × rate")
    act(_LAW + _END, tr("Little's law"), said, lines[0], lambda part: _law(shown, part))
    label = tr("recorded") if shown.recorded is not None else tr("1 to 32 warps")
    said = tr("gigabytes a second, modelled and recorded")
    act(_BESIDE + _END, label, said, lines[0], lambda part: _beside(shown, part))
    said = tr("registers of 1, 2, 4 and 8 loads at once")
    act(_TABLE + _END, tr("as compiled"), said, lines[1], lambda part: _compiled(shown, part))
    begun = [0.0, *(end for end, _ in pictures)]

    def at(t: float) -> Picture:
        number = min(int(np.searchsorted(begun, t, "right")) - 1, len(pictures) - 1)
        end, picture = pictures[number]
        return picture(min((t - begun[number]) / (end - begun[number]) * 1.15, 1.0))

    return Story.of(script, at, shown.one.arithmetic)


# Over time


def _over_time(shown: WarpSimulation, one: UnderWay, part: float) -> Picture:
    """The first loads of a block's warps."""
    span = _seen(shown, one)
    panel = WarpTimeline(one.timeline, 0.0, span, now=span * part if part < 1 else None)
    low = replace(panel, busy=False)
    source = spare(_source(shown))
    body = first(*(rows(share(1, p), one.figures(), source, gap=0.4) for p in (panel, low)))
    said = tr(
        "Each answer takes {latency} cycles; {n} lines are under way, {rate} bytes come a cycle.",
        latency=f"{one.latency:.0f}",
        n=one.lines,
        rate=f"{one.rate:.3g}",
    )
    return Picture(_title(shown, one), said, body)


def _seen(shown: WarpSimulation, one: UnderWay) -> float:
    """The last cycle that is in view."""
    return min(_LOADS_SHOWN * shown.one.latency, one.timeline.cycles)


def _title(shown: WarpSimulation, one: UnderWay) -> str:
    """What this block shows, beside the least."""
    loads = trn("{n} load at once", "{n} loads at once", one.each)
    if one is shown.one:
        percent = f"{100 * one.waits(_seen(shown, one)):.0f} %"
        return tr("One warp, one load at a time: it waits {percent} of its time", percent=percent)
    times = f"{one.rate / shown.one.rate:.3g}"
    if one.warps == 1:
        return tr("One warp, {loads}: {times} times as fast by ILP alone", loads=loads, times=times)
    if one.each == 1:
        what = {"n": one.warps, "loads": loads, "times": times}
        return tr("{n} warps, {loads}: {times} times as fast by TLP alone", **what)
    return tr(
        "{n} warps, {loads}: {times} times as fast by both", n=one.warps, loads=loads, times=times
    )


def _source(shown: WarpSimulation) -> Provenance:
    where = tr(
        "each block alone on a multiprocessor of an {device}, the data in L2", device=shown.device
    )
    return Provenance((where, shown.device), tr("model"), "accent")


# Little's law


def _law(shown: WarpSimulation, grown: float) -> Picture:
    """All blocks: bytes a cycle over bytes under way, by loads at once."""
    groups = [
        Group(tuple(one for one in shown.every if one.each == loads), ink, hollow=loads > 1)
        for loads, ink in zip(LOADS, _INKS, strict=True)
    ]
    apart = [shown.of(*shape) for shape in ((1, 1), (4, 2), (8, 4), (32, 8))]
    plot = law(
        shown.one,
        groups,
        [
            Note(one.under_way, one.rate, f"{one.warps} × {one.each}", ink, answers=True)
            for one, ink in zip(apart, _INKS, strict=True)
        ],
        _tip,
        grown,
        tr("warps × loads at once"),
    )
    said = tr(
        "32 warps with a load each have nearly as much under way as 8 warps with 4: only the lines "
        "under way count. {needed} of them fill what L2 gives a multiprocessor.",
        needed=_enough(shown),
    )
    title = tr("Little's law: bytes under way = latency × bytes a cycle")
    return Picture(title, said, rows(share(1, plot), spare(_source(shown))))


def _enough(shown: WarpSimulation) -> int:
    """Lines under way that fill what L2 gives a multiprocessor."""
    port = shown.one.timeline.device.port * 32
    return ceil(port * shown.one.latency / LINE)


def _tip(one: UnderWay) -> str:
    warps = trn("{n} warp", "{n} warps", one.warps)
    loads = trn("{n} load at once", "{n} loads at once", one.each)
    return f"{warps}, {loads}: " + tr("{n} bytes a cycle", n=f"{one.rate:.3g}")


# Beside what was recorded


def _beside(shown: WarpSimulation, grown: float) -> Picture:
    """Gigabytes a second over warps: lines are modelled, discs recorded."""
    plot = _rates_plot(shown, grown)
    model = Provenance((tr("lines: {device}", device=shown.device),), tr("model"), "accent")
    if shown.recorded is None:
        title = tr("Twice the loads at once do what twice the warps do, until L2 gives no more")
        return Picture(title, _alone(), rows(share(1, plot), model))
    measured, published = of_one_load(
        shown.waits, tr("discs: {device}", device=shown.where), shown.badge
    )
    apart = _apart(shown)
    title = tr(
        "Recorded times are {median} longer than modelled, {most} at the most",
        median=f"{100 * float(np.median(apart)):.0f} %",
        most=f"{100 * float(apart.max()):.0f} %",
    )
    if float(np.median(apart)) <= 0:
        title = tr("Recorded beside modelled: more warps, or more loads of each, load faster")
    return Picture(title, _alone(), rows(share(1, plot), model, measured, spare(published)))


def _alone() -> str:
    return tr(
        "Each block alone on its multiprocessor, from its first to its last thread; the loads of a "
        "thread lie 96 KiB apart, and how much that costs beyond L2 is not modelled."
    )


def _apart(shown: WarpSimulation) -> F64:
    """(6, 4) how much longer each block took than modelled, 0.1 for a tenth."""
    assert shown.recorded is not None
    return np.asarray(shown.rates / shown.recorded - 1)


def _rates_plot(shown: WarpSimulation, grown: float) -> Plot:
    rates, recorded = shown.rates, shown.recorded
    every = rates if recorded is None else np.concatenate([rates, recorded])
    low, high = 2.0 ** np.floor(np.log2(every.min())), 2.0 ** np.ceil(np.log2(every.max()))
    x = logarithmic((tr("warps on the multiprocessor"), tr("warps")), 1.0, float(_MANY), 2.0)
    titles = tr("GB/s of one multiprocessor"), tr("GB/s")
    elements: list[Element] = []
    for column, (loads, ink) in enumerate(zip(LOADS, _INKS, strict=True)):
        name = tr("{n} at once", n=loads)
        elements.append(Curve(WARPS, rates[:, column], ink, name=name, grown=grown))
        if recorded is not None:
            elements.append(Points(WARPS, recorded[:, column], ink, 5, grown))
    return Plot(x, logarithmic(titles, float(low), float(high), 2.0), tuple(elements))


# As compiled


def _compiled(shown: WarpSimulation, over: float) -> Picture:
    """How long as many warps take to load the same bytes, with what loads at once cost."""
    many, moved = len(WARPS) - 1, _MANY * LINE * ELEMENTS
    bars, known = list[TimeBar](), [(shown.rates[many], tr("model"))]
    if shown.recorded is not None:
        known.insert(0, (shown.recorded[many], shown.badge))
    several = len({one.latency.warps for one in shown.variants}) > 1
    for column, one in enumerate(shown.variants):
        held = trn("{n} register a thread", "{n} registers a thread", one.registers)
        if several:
            held += " · " + trn("{n} warp fits", "{n} warps fit", one.latency.warps)
        name = trn("{n} load at once", "{n} loads at once", one.loads)
        for n, (rates, badge) in enumerate(known):
            us = moved / float(rates[column]) / 1e3
            bars.append(TimeBar((tr("modelled") if n else name,), us, badge, ("" if n else held,)))
    rates, _ = known[0]
    what = {"most": LOADS[-1], "n": f"{float(rates[-1] / rates[0]):.3g}"}
    title = tr("{most} loads at once bring the same bytes {n} times as fast", **what)
    size = tr("{n} bytes", n=grouped(moved))
    where = tr("time of {n} warps that load {size}", n=_MANY, size=size)
    device = shown.where if shown.recorded is not None else shown.device
    times = TimeBars(tuple(bars), (f"{where}: {device}", device), None, passed(over))
    return Picture(title, registers_of(shown.variants), times)
