"""Requests in time: when each goes out, when it is served, and the steps of a time line for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.draw.ease import passed
from gpuviz.language import tr
from gpuviz.memory.request import Request
from gpuviz.panels.script import Step, StepKind

_MOST_STEPS = 8  # of one request; more transactions than that are delivered several to a step


@dataclass(frozen=True)
class Pace:
    """Seconds for a request to go out, for one of its transactions, and at most for all of them."""

    send: float = 1.0
    one: float = 0.6
    most: float = 4.8


@dataclass(frozen=True, eq=False)
class Act:
    """A request in the story: it goes out from `start` on, and is served from `served` to `end`."""

    request: Request
    start: float
    served: float
    end: float

    def sent_at(self, t: float) -> float:
        """How far the request has gone out, 0 to 1."""
        return min(max((t - self.start) / (self.served - self.start), 0.0), 1.0)

    def served_at(self, t: float) -> float:
        """Transactions delivered, the fraction being the one under way."""
        share = (t - self.served) / (self.end - self.served)
        return min(max(share, 0.0), 1.0) * self.request.count

    def delivered(self, t: float) -> int:
        """Transactions that have been delivered."""
        return passed(self.served_at(t))


def acts_of(requests: tuple[Request, ...], pace: Pace, start: float = 0.0) -> tuple[Act, ...]:
    """The requests one after another."""
    acts, t = [], start
    for request in requests:
        served = t + pace.send
        end = served + min(request.count * pace.one, pace.most)
        acts.append(Act(request, t, served, end))
        t = end
    return tuple(acts)


def steps_of(act: Act, role: str, most: int = _MOST_STEPS) -> list[Step]:
    """The request, then its transactions, in at most so many steps."""
    request, did = act.request, act.request.instruction
    kind: StepKind = "store" if request.is_store else "load"
    detail = f"{did.text} · {request.counted(request.count)}"
    edges = np.linspace(0, request.count, min(request.count, most) + 1).round().astype(int)
    times = act.served + (act.end - act.served) * edges / request.count
    steps = [Step(act.start, act.served, kind, tr("request"), detail, did.line, role)]
    for first, last, start, end in zip(edges, edges[1:], times, times[1:], strict=False):
        name = _span(request, int(first), int(last))
        steps.append(Step(float(start), float(end), kind, name, detail, did.line, role))
    return steps


def _span(request: Request, first: int, last: int) -> str:
    """The transactions of one step, from first to before last."""
    if last == first + 1:
        return request.numbered(first)
    return tr("{noun} {a} to {b}", noun=request.nouns, a=first, b=last - 1)


def total(acts: tuple[Act, ...]) -> str:
    """What all requests cost, in a few words."""
    parts = (
        tr(
            "{op} {count}",
            op=tr("store") if a.request.is_store else tr("load"),
            count=a.request.counted(a.request.count),
        )
        for a in acts
    )
    return " · ".join(parts)
