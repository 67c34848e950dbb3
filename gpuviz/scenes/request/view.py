"""The address map as functions, for lessons that have no panels yet."""

from __future__ import annotations

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark
from gpuviz.draw.stage import Stage
from gpuviz.memory.request import Request
from gpuviz.panels.address_map import AddressMap


def lay_out(request: Request, stage: Stage, area: Rect) -> tuple[Request, Rect]:
    """A request and its area."""
    return request, area


def draw(stage: Stage, view: tuple[Request, Rect], sent: float, served: float) -> tuple[Mark, ...]:
    """The address map in the area."""
    request, area = view
    return tuple(AddressMap(request, sent, served).draw(stage, area))
