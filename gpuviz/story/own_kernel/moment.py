"""A moment of a kernel's run in words: the event under way, and how far its request has come."""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.memory.bank_request import BankRequest
from gpuviz.memory.units import counted
from gpuviz.panels.layout import Node
from gpuviz.panels.panel import Values
from gpuviz.run.run import Run
from gpuviz.story.own_kernel.events import ALL, Events
from gpuviz.story.script import Act, LongSteps, Step
from gpuviz.words.language import tr


def label(events: Events, number: int) -> str:
    """What an event is: `load`."""
    did = events.did(number)
    if did is None:
        return tr("barrier")
    if did.op in ("atomic", "reduction"):
        return tr("atomic")
    if did.space == "shared":
        return tr("shared store") if did.op in ("store", "copy") else tr("shared load")
    return tr("store") if did.op == "store" else tr("load")


def detail(events: Events, number: int) -> str:
    """What it is in the PTX, and what becomes of it: `ld.global.f32 · 8 sectors`."""
    did = events.did(number)
    if did is None:
        return tr("the block waits for all its warps")
    made = events.request(number)
    parts = [did.text]
    if isinstance(made, BankRequest):
        parts.append(counted("wavefront", made.count))
    elif made is not None:
        parts.append(made.counted(made.count))
    if events.warp == ALL:
        parts.append(tr("warp {warp}", warp=events.warp_of(number)))
    return " · ".join(parts)


_WHOLE = 90.0  # seconds that a story takes, if its events are not too few or too many for that
_LEAST, _MOST = 0.35, 3.0  # seconds of an event
_SENT, _SERVED = 0.3, 0.8  # shares of an event: a request has gone out, it has been served
_BARRIER = 0.5  # of the time of a request


@dataclass(frozen=True, eq=False)
class Moment:
    """Event `number` of a run, its request being `sent` and then `served` so far, 0 to 1."""

    run: Run
    events: Events
    number: int
    sent: float
    served: float
    values: Values


@dataclass(frozen=True, eq=False)
class Narration:
    """What a picture of a moment says, and shows."""

    title: str
    sentence: str
    body: Node


def steps_of(events: Events, role: str) -> LongSteps:
    """The time line of events: each takes as long as any other of its kind."""
    pace = min(max(_WHOLE / max(len(events), 1), _LEAST), _MOST)
    lengths = np.where(events.row < 0, _BARRIER * pace, pace)
    edges = np.concatenate([[0.0], np.cumsum(lengths)])
    stops = edges[:-1] + lengths * (_SERVED + 1) / 2

    def make(number: int) -> Step:
        return Step(
            float(edges[number]),
            float(edges[number + 1]),
            events.kind(number),
            label(events, number),
            detail(events, number),
            int(events.lines[number]),
            role,
        )

    names = tuple(did.text for did in events.trace.instructions)
    return LongSteps(edges, stops, events.kinds, events.lines, make, names, events.instruction)


def shares(edges: F64, number: int, t: float) -> tuple[float, float]:
    """How far the request of an event has been sent, and served."""
    act = Act(float(edges[number]), float(edges[number + 1]))
    share = act.share(t)
    served = (share - _SENT) / (_SERVED - _SENT)
    return min(share / _SENT, 1.0), min(max(served, 0.0), 1.0)
