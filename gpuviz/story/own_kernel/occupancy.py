"""The picture of occupancy: what a block takes of a multiprocessor, and where cliffs lie."""

from __future__ import annotations

from functools import lru_cache

from gpuviz.arch import Architecture
from gpuviz.arch.occupancy_fit import Demand, Fit, Sweep, fit_of, reason, sweeps_of
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import at_least, first, rows, share
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.occupancy_cliffs import cliffs
from gpuviz.panels.occupancy_slots import slots_of, title_of
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.words.language import grouped, tr, trn


def picture(moment: Moment) -> Narration:
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
