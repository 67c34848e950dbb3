"""The pictures there are of a run: the same moments, each shown in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuviz.language import later, tr
from gpuviz.scenes.base import Choice, Parameter
from gpuviz.scenes.own_kernel import buffers, lanes, phases, requests
from gpuviz.scenes.own_kernel.moment import Moment, Told

REQUEST = "request"
NAME = "picture"  # of the parameter


class _Picture(NamedTuple):
    name: str
    of: Callable[[Moment], Told]


PICTURES = {
    REQUEST: _Picture(later("Request"), requests.picture),
    "lanes": _Picture(later("Lanes"), lanes.picture),
    "phases": _Picture(later("Phases"), phases.picture),
    "buffer": _Picture(later("Buffer"), buffers.picture),
}


def picture(moment: Moment) -> Told:
    """The picture chosen, of a moment."""
    return PICTURES[str(moment.values.get(NAME, REQUEST))].of(moment)


def parameters() -> tuple[Parameter, ...]:
    """Which picture is shown, and how."""
    choices = tuple(Choice(id, tr(one.name)) for id, one in PICTURES.items())
    hint = tr("Elements in a row of the buffer's picture; 0: as the arguments suggest.")
    return (
        Parameter(NAME, tr("picture"), REQUEST, choices=choices, pictures=True),
        Parameter("columns", tr("row length"), 0, 0, 4096, hint=hint),
    )
