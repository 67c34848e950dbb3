"""Warps needed against warps resident; kernels as compiled; what a GPU measured of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arch.occupancy_fit import name_of, percent
from gpuviz.base.arrays import F64
from gpuviz.course.together.latency_hiding import LOADS, WARPS, Latency, Variant
from gpuviz.draw.axis import logarithmic
from gpuviz.panels.bar import Bar
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Line, rows, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Corner, Curve, Element, Note, Plot, Points
from gpuviz.panels.table import Column, Columns, Table
from gpuviz.words.language import grouped, tr


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
    ink: Ink = "muted" if shown.rates is None else "good"
    texts = (tr("how fast one multiprocessor loads: {device}", device=shown.device), shown.device)
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
    body: Line = rows(
        _table(shown, share),
        Provenance(model, tr("model"), "accent"),
        Provenance(texts, shown.badge, ink),
        spare(_needed(shown, 1.0)),
    )
    said = tr("The compiler keeps every load that is under way in a register of its own.")
    return Picture(title, said, body)


def _table(shown: LatencyModel, share: float) -> Table:
    """What each kernel takes, leaves, and reaches."""
    every, rates, model = shown.variants, shown.rates, tr("model")
    cells = tuple("–" for _ in every)
    if rates is not None:
        cells = tuple(tr("{n} GB/s", n=f"{rate:.1f}") for rate in rates[-1])
    of, title = Columns(every), (tr("32 warps load"), tr("32 warps"))
    under_way = tr("bytes under way"), tr("bytes")
    ink: Ink = "muted" if rates is None else "good"

    def busy(one: Variant) -> Bar:
        return Bar(one.latency.busy, 1 - one.latency.busy, ink="accent")

    columns = (
        of((tr("loads at once"), tr("loads")), lambda v: v.loads),
        of(tr("registers"), lambda v: v.registers, badge=model, bold=True),
        of(tr("blocks"), lambda v: v.blocks, optional=2),
        of((tr("warps resident"), tr("warps")), lambda v: v.latency.warps, badge=model, bold=True),
        of((tr("warps needed"), tr("needed")), lambda v: v.latency.needed),
        of((tr("lanes busy"), tr("busy")), lambda v: percent(v.latency.busy)),
        of.bars((tr("of the time"), ""), busy, optional=4),
        of(under_way, lambda v: grouped(v.under_way), badge=model, optional=1),
        Column(title, cells, badge=shown.badge, ink=ink, optional=3),
    )
    count = min(int(share * len(LOADS)) + 1, len(LOADS))
    return Table(columns, LOADS.index(shown.one.independent), count)


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
