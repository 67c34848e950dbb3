"""The pictures there are of a run: the same moments, each shown in another way."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from gpuviz.arch import Architecture
from gpuviz.arch.occupancy_fit import Demand, Fit, Sweep, fit_of, reason, sweeps_of
from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.launch.signature import short_name
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import at_least, first, rows, share
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.occupancy_cliffs import cliffs
from gpuviz.panels.panel import Values
from gpuviz.panels.roofline import Climb, Kernel, Roofline
from gpuviz.panels.slots import slots_of, title_of
from gpuviz.run.run import Run
from gpuviz.story.lesson import Parameter
from gpuviz.story.measured import time_of
from gpuviz.story.own_kernel import buffers, findings, lanes, phases, requests
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.story.own_kernel.roof import Under, roof_of
from gpuviz.words.language import grouped, later, tr, trn


class _Still(Roofline):
    """One in which there is nothing to choose."""

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """A click sets nothing."""
        return None


def _roofline(moment: Moment) -> Narration:
    """The whole launch: its operations by the bytes of memory, under the roof of the model of
    time.
    """
    run = moment.run
    under = roof_of(run)
    if under is None:
        title = tr("Without floating-point operations on global memory there is no roofline")
        said = tr("It would be operations for each byte: here one of the two is 0.")
        return Narration(title, said, Lines((Line((said,), "muted"),)))
    timed = time_of(run)
    reached = under.flops / (timed.microseconds * 1e-6) if timed is not None else None
    name, asked = short_name(run.trace.launch.kernel), under.asked
    beside = (Kernel(tr("by what lanes ask for"), asked, None),)
    body = _Still(
        under.roof,
        (),
        beside,
        Climb(name, (Kernel("", under.intensity, reached),), 0.0, ("",), lambda number: {}),
        (tr("operations for each byte of memory"), tr("FLOP a byte")),
        timed.badge if timed is not None else "",
        arrived=float(len(beside)),
    )
    figures = FigureRow(
        (
            Figure(tr("{n} operations a byte of memory", n=f"{under.intensity:.3g}"), bold=True),
            Figure(tr("{n} a byte that lanes ask for", n=f"{asked:.3g}"), "muted"),
        )
    )
    return Narration(under.title, under.said, rows(body, figures, _source(run, under)))


def _source(run: Run, under: Under) -> Provenance:
    """Where the roof comes from."""
    if under.device is not None:
        return Provenance((tr("roof: {device}", device=under.device.name),), tr("modelled"))
    if under.roof is None or run.measurement is None:
        return Provenance((tr("no GPU and no recording"),), tr("unavailable"))
    return Provenance(
        (tr("roof: {device}", device=run.measurement.device.name),), run.measurement.badge
    )


def _occupancy(moment: Moment) -> Narration:
    """The multiprocessor full of the kernel's blocks, as the compiler says what they take."""
    known, launch = moment.run.resources, moment.events.trace.launch
    if known is None:
        said = tr("Registers are what the assembler gives: the kernel came as PTX, or as a trace.")
        return Narration(
            tr("What a block takes is not known"), said, Lines((Line((said,), "muted"),))
        )
    shared = known.static_shared_bytes + launch.dynamic_shared
    demand = Demand(launch.threads_per_block, known.registers, shared)
    fit, sweeps = _fit(moment.events.arch, demand)
    spilled = known.spill_stores_bytes + known.spill_loads_bytes
    figures = FigureRow(
        (
            Figure(trn("{n} register a thread", "{n} registers a thread", known.registers)),
            Figure(
                tr("{n} bytes spilled", n=grouped(spilled)) if spilled else tr("nothing spilled"),
                "warn" if spilled else "good",
                True,
            ),
            Figure(tr("{n} bytes of shared memory a block", n=grouped(shared)), "muted"),
        ),
        tr("compiler"),
    )
    slots, curves = slots_of(fit, fit.found.blocks, 1.0), cliffs(fit, sweeps, 1.0).body
    body = first(
        at_least(rows(share(3, slots), figures, share(2, curves), gap=0.4), height=28, width=44),
        rows(slots, figures),
    )
    return Narration(title_of(fit), reason(fit), body)


@lru_cache(maxsize=8)
def _fit(arch: Architecture, demand: Demand) -> tuple[Fit, tuple[Sweep, ...]]:
    return fit_of(arch, demand), sweeps_of(arch, demand)


REQUEST, FINDINGS = "request", "findings"
NAME = "picture"  # of the parameter
_FINDINGS = 1 << 16  # that can be told apart


class _Picture(NamedTuple):
    name: str
    of: Callable[[Moment], Narration]


PICTURES = {
    REQUEST: _Picture(later("Request"), requests.picture),
    "lanes": _Picture(later("Lanes"), lanes.picture),
    "phases": _Picture(later("Phases"), phases.picture),
    "buffer": _Picture(later("Buffer"), buffers.picture),
    "occupancy": _Picture(later("Occupancy"), _occupancy),
    "roofline": _Picture(later("Roofline"), _roofline),
    FINDINGS: _Picture(later("Findings"), findings.picture),
}


def picture(moment: Moment) -> Narration:
    """The picture chosen, of a moment."""
    return PICTURES[str(moment.values.get(NAME, REQUEST))].of(moment)


def parameters(runs: bool) -> tuple[Parameter, ...]:
    """Which picture is shown, and how; what happens after faults where the kernel `runs`."""
    offers = {id: tr(one.name) for id, one in PICTURES.items()}
    after = tr(
        "After an access outside of its memory: reads give 0, writes are lost, and the counts say "
        "so. Off: the run ends there."
    )
    hint = tr("Elements in a row of the buffer's picture; 0: as the arguments suggest.")
    return (
        Parameter(NAME, tr("picture"), REQUEST, offers=offers, pictures=True),
        *((Parameter("goes_on", tr("go on after faults"), True, hint=after),) if runs else ()),
        Parameter(findings.CHOSEN, tr("fault shown"), -1, -1, _FINDINGS, hidden=True),
        Parameter("columns", tr("row length"), 0, 0, 4096, hint=hint),
    )
