"""The picture of a kernel under the roof of a device: memory's slope and the flat of arithmetic."""

from __future__ import annotations

from functools import lru_cache

from gpuviz.arch.roofline import Roof
from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.launch.signature import short_name
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Values
from gpuviz.panels.roofline import Climb, Kernel, Roofline, rate
from gpuviz.recordings import lookup
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.throughput import work_of
from gpuviz.story.measured import time_of
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.words.language import tr

_FULL = 0.95  # of the bytes moved: fewer that are used are told of


class _Still(Roofline):
    """One in which there is nothing to choose."""

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """A click sets nothing."""
        return None


def picture(moment: Moment) -> Narration:
    """The whole launch: its operations by the bytes it asks for, and by the sectors they lie in."""
    run = moment.run
    work = work_of(run)
    if not work.flops or not work.asked:
        title = tr("Without floating-point operations on global memory there is no roofline")
        said = tr("It would be operations for each byte: here one of the two is 0.")
        return Narration(title, said, Lines((Line((said,), "muted"),)))
    found = run.measurement if run.measurement and run.measurement.peaks else _known(run.arch)
    peaks = found.peaks if found is not None else None
    roof = Roof(peaks.bytes_per_second, peaks.flops_per_second) if peaks is not None else None
    timed = time_of(run)
    reached = work.flops / (timed.microseconds * 1e-6) if timed is not None else None
    asked, moved = work.flops / work.asked, work.flops / max(work.moved, 1)
    name = short_name(run.trace.launch.kernel)
    beside = (Kernel(tr("by whole sectors"), moved, None),) if moved < asked * _FULL else ()
    body = _Still(
        roof,
        (),
        beside,
        Climb(name, (Kernel("", asked, reached),), 0.0, ("",), lambda number: {}),
        (tr("operations for each byte of global memory"), tr("FLOP a byte")),
        timed.badge if timed is not None else "",
        arrived=float(len(beside)),
    )
    figures = [
        Figure(tr("{n} operations a byte asked for", n=f"{asked:.3g}"), bold=True),
        Figure(tr("{n} a byte moved", n=f"{moved:.3g}"), "muted"),
    ]
    if roof is not None:
        allowed = tr("without caches {rate}", rate=rate(roof.attainable(asked)))
        figures.insert(1, Figure(allowed, "accent"))
    return Narration(
        _title(roof, asked),
        _sentence(asked, moved),
        rows(body, FigureRow(tuple(figures)), _source(found)),
    )


@lru_cache(maxsize=16)
def _known(arch: str) -> Measurement | None:
    """A recording of a device of an architecture, whatever was launched: its peaks are its own."""
    capability = arch.removeprefix("sm_").rstrip("af")
    for one in lookup.shipped().recordings:
        for entry in one.entries:
            found = entry.measurement
            if found.peaks is not None and found.device.capability.replace(".", "") == capability:
                return found
    return None


def _title(roof: Roof | None, asked: float) -> str:
    if roof is None or roof.ridge is None:
        return tr("{n} operations for each byte of global memory", n=f"{asked:.3g}")
    if asked < roof.ridge:
        return tr("Memory is the limit: {n} operations a byte", n=f"{asked:.3g}")
    return tr("Arithmetic is the limit: {n} operations a byte", n=f"{asked:.3g}")


def _sentence(asked: float, moved: float) -> str:
    if moved < asked * _FULL:
        return tr("Sectors that are not used in full move it to the left. Caches move it right.")
    return tr("Every byte counts as often as lanes ask for it; caches move it to the right.")


def _source(found: Measurement | None) -> Provenance:
    """Where the roof comes from."""
    if found is None:
        return Provenance((tr("no GPU and no recording"),), tr("unavailable"))
    return Provenance((tr("roof: {device}", device=found.device.name),), found.badge)
