"""Requests in time: when each goes out, when it is served, and the steps of a time line for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from gpuviz.draw.ease import passed
from gpuviz.memory.request import Request
from gpuviz.panels.address_map import AddressMap
from gpuviz.story.script import Act, Script, StepKind
from gpuviz.words.language import tr

_MOST_STEPS = 8  # of one request; more transactions than that are delivered several to a step


@dataclass(frozen=True)
class Pace:
    """Seconds for a request to go out, for one of its transactions, and at most for all of them."""

    send: float = 1.0
    one: float = 0.6
    most: float = 4.8


@dataclass(frozen=True, eq=False)
class RequestAct:
    """A request in the story: it goes out, then its transactions are served."""

    request: Request
    sent: Act
    served: Act

    @property
    def end(self) -> float:
        """When all is served, in seconds."""
        return self.served.end

    def map(self, t: float) -> AddressMap:
        """The address map at a time."""
        served = self.served.counted(t, self.request.count)
        return AddressMap(self.request, self.sent.share(t), served)

    def delivered(self, t: float) -> int:
        """Transactions that have been delivered."""
        return passed(self.served.counted(t, self.request.count))

    def moved(self, t: float) -> tuple[int, int]:
        """Bytes delivered: those the request uses, and the rest (`fate` says who else does)."""
        strip, done = self.request.strip, self.request.turn < self.delivered(t)
        return int(strip.used[done].sum()), int((strip.size - strip.used)[done].sum())


def act_of(script: Script, request: Request, pace: Pace, most: int = _MOST_STEPS) -> RequestAct:
    """The next act of a script: the request, then its transactions in at most so many steps."""
    did, count = request.instruction, request.count
    kind: StepKind = "store" if request.is_store else "load"
    detail = f"{did.text} · {request.counted(count)}"
    sent = script.act(pace.send, kind, tr("request"), detail, did.line)
    seconds = min(count * pace.one, pace.most)
    name = partial(_span, request)
    return RequestAct(
        request, sent, script.series(seconds, count, kind, name, detail, did.line, most)
    )


def acts_of(
    script: Script, requests: Iterable[Request], pace: Pace, most: int = _MOST_STEPS
) -> tuple[RequestAct, ...]:
    """The requests one after another."""
    return tuple(act_of(script, request, pace, most) for request in requests)


def _span(request: Request, first: int, last: int) -> str:
    """The transactions of one step."""
    if last == first:
        return request.numbered(first)
    return tr("{noun} {a} to {b}", noun=request.nouns, a=first, b=last)


def total(acts: tuple[RequestAct, ...]) -> str:
    """What all requests cost, in a few words."""
    parts = (
        tr(
            "{op} {count}",
            op=tr("store") if act.request.is_store else tr("load"),
            count=act.request.counted(act.request.count),
        )
        for act in acts
    )
    return " · ".join(parts)
