"""Occupancy over block size, registers and shared memory, and where it falls."""

import numpy as np

from gpuviz.arch.occupancy_fit import Fit, Sweep, name_of, names, percent
from gpuviz.draw.axis import Axis, linear
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import columns, first, rows
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Element, Plot, Points, Stairs, Upright
from gpuviz.words.language import grouped, tr, trn

_KIB = 1024


def cliffs(fit: Fit, sweeps: tuple[Sweep, ...], share: float) -> Picture:
    """The three curves."""
    texts = (
        trn(
            "{name}; {threads} threads, {registers} registers, {n} byte a block",
            "{name}; {threads} threads, {registers} registers, {n} bytes a block",
            fit.demand.shared,
            name=name_of(fit.arch),
            threads=fit.demand.threads,
            registers=fit.demand.registers,
        ),
        name_of(fit.arch),
    )
    known = [min(max(share * len(sweeps) - n, 0.0), 1.0) for n in range(len(sweeps))]
    beside = [_cliff(fit, s, k, n == 0) for n, (s, k) in enumerate(zip(sweeps, known, strict=True))]
    below = [_cliff(fit, s, k, True) for s, k in zip(sweeps, known, strict=True)]
    across = columns(*beside, gap=1.2)
    return Picture(
        _cliff_title(sweeps),
        tr("The ring is this kernel; the broken line, where fewer warps begin to fit."),
        rows(
            first(across, rows(*below, gap=0.6), across), Provenance(texts, tr("model"), "accent")
        ),
    )


def _cliff(fit: Fit, sweep: Sweep, known: float, named: bool) -> Plot:
    """One curve with the kernel's place on it, and the next cliff."""
    shown = int(np.searchsorted(sweep.edges[:-1], sweep.edges[-1] * known, "left"))
    heights, elements = [100 * f.fraction for f in sweep.fits[:shown]], list[Element]()
    if shown:
        tip = lambda i: _tip(sweep, i)  # noqa: E731
        elements.append(Stairs(sweep.edges[: shown + 1].tolist(), heights, tip=tip, answers=True))
    if known >= 1 and sweep.cliff is not None:
        elements.append(Upright(sweep.cliff, "warn", answers=True))
    if known >= 1:
        at = [float(sweep.now)], [100 * fit.found.fraction]
        elements.append(Points(*at, "accent", edged=True, answers=True))
    said = _words(fit, sweep) if known >= 1 else ()
    ink: Ink = "warn" if sweep.cliff is not None else "muted"
    return Plot(_demand_axis(sweep), _height(named), tuple(elements), said, ink, captioned=True)


def _words(fit: Fit, sweep: Sweep) -> tuple[str, ...]:
    """Here, and after the next cliff; that alone where there is no room for both."""
    here = _reached(_counted(sweep.id, sweep.now), fit.percent)
    if sweep.cliff is None:
        return here, _reached(_number(sweep.id, sweep.now), fit.percent)
    left = percent(sweep.at(sweep.cliff).fraction)
    whole, brief = (_reached(of(sweep.id, sweep.cliff), left) for of in (_counted, _number))
    return f"{here}, {brief}", whole, brief


def _reached(demand: str, occupancy: str) -> str:
    return tr("{here}: {percent}", here=demand, percent=occupancy)


def _counted(what: str, value: int) -> str:
    """The same with what it counts."""
    number = _number(what, value)
    if what == "threads":
        return tr("{n} threads", n=number)
    return tr("{n} registers", n=number) if what == "registers" else number


def _number(what: str, value: int) -> str:
    """A value of a demand, bytes in KiB when they are whole ones."""
    if what != "shared":
        return grouped(value)
    return f"{value // _KIB} KiB" if value % _KIB == 0 and value else f"{grouped(value)} B"


def _demand_axis(sweep: Sweep) -> Axis:
    """The demand."""
    low, high = 0.0, float(sweep.edges[-1] - 1)
    titles = {
        "threads": (tr("threads a block"), tr("threads")),
        "registers": (tr("registers a thread"), tr("registers")),
        "shared": (tr("shared memory a block, KiB"), tr("shared KiB")),
    }[sweep.id]
    if sweep.id == "shared":
        step = float(_KIB * next(n for n in (4, 16, 64) if high / _KIB / n <= 4.5))
        ticks = tuple(step * i for i in range(int(high / step) + 1))
        return Axis(titles, low, high, ticks, tuple(f"{t / _KIB:g}" for t in ticks))
    return linear(titles, low, high, next(s for s in (16, 32, 64, 128, 256) if high / s <= 4.5))


def _height(named: bool) -> Axis:
    """Occupancy in percent; numbers only beside the first of several plots in a row."""
    ticks = (0.0, 25.0, 50.0, 75.0, 100.0)
    labels = tuple(f"{t:g}" for t in ticks) if named else ("",) * len(ticks)
    return Axis((tr("occupancy, %"),) if named else ("",), 0.0, 100.0, ticks, labels)


def _tip(sweep: Sweep, index: int) -> str:
    """From where to where, how much fits, and what keeps more out."""
    fits = sweep.fits[index]
    first_, last = int(sweep.edges[index]), int(sweep.edges[index + 1]) - 1
    return tr(
        "{first} to {last}: {blocks} blocks, {percent}; limit: {held}",
        first=_number(sweep.id, first_),
        last=_number(sweep.id, last),
        blocks=fits.blocks,
        percent=percent(fits.fraction),
        held=", ".join(names()[key] for key in fits.limiters),
    )


def _cliff_title(sweeps: tuple[Sweep, ...]) -> str:
    """How near the next cliff in registers is."""
    sweep = next(s for s in sweeps if s.id == "registers")
    if sweep.cliff is None:
        return tr("Occupancy falls in steps, not in slopes")
    more, there = sweep.cliff - sweep.now, percent(sweep.at(sweep.cliff).fraction)
    if not sweep.at(sweep.cliff).blocks:
        return trn(
            "{n} register more, and no block fits: the launch is refused",
            "{n} registers more, and no block fits: the launch is refused",
            more,
        )
    if more == 1:
        return tr("One register more, and occupancy falls to {percent}", percent=there)
    return tr("{n} registers more, and occupancy falls to {percent}", n=more, percent=there)
