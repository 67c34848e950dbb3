"""The pictures there are of a run: the same moments, each shown in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuviz.story.lesson import Choice, Parameter
from gpuviz.story.own_kernel import buffers, findings, lanes, occupancy, phases, requests, roofline
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.words.language import later, tr

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
    "occupancy": _Picture(later("Occupancy"), occupancy.picture),
    "roofline": _Picture(later("Roofline"), roofline.picture),
    FINDINGS: _Picture(later("Findings"), findings.picture),
}


def picture(moment: Moment) -> Narration:
    """The picture chosen, of a moment."""
    return PICTURES[str(moment.values.get(NAME, REQUEST))].of(moment)


def parameters(runs: bool) -> tuple[Parameter, ...]:
    """Which picture is shown, and how; what happens after faults where the kernel `runs`."""
    choices = tuple(Choice(id, tr(one.name)) for id, one in PICTURES.items())
    after = tr(
        "After an access outside of its memory: reads give 0, writes are lost, and the counts say "
        "so. Off: the run ends there."
    )
    hint = tr("Elements in a row of the buffer's picture; 0: as the arguments suggest.")
    return (
        Parameter(NAME, tr("picture"), REQUEST, choices=choices, pictures=True),
        *((Parameter("goes_on", tr("go on after faults"), True, hint=after),) if runs else ()),
        Parameter(findings.CHOSEN, tr("fault shown"), -1, -1, _FINDINGS, hidden=True),
        Parameter("columns", tr("row length"), 0, 0, 4096, hint=hint),
    )
