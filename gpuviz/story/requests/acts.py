"""Requests in time: when each goes out and is served, counters that tick, bars of their bytes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from gpuviz.draw.ease import passed
from gpuviz.memory.request import Request
from gpuviz.memory.units import OPS, in_bytes
from gpuviz.panels.address_map import AddressMap
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import First, first, rows
from gpuviz.panels.shares import Share, Shares
from gpuviz.story.script import Act, Script, StepKind
from gpuviz.words.language import tr, trn

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
            op=tr(OPS[act.request.instruction.op]),
            count=act.request.counted(act.request.count),
        )
        for act in acts
    )
    return " · ".join(parts)


_GAP = 0.2  # letters


def request_board(
    acts: tuple[RequestAct, ...], now: RequestAct, t: float, launch: tuple[Figure, ...] = ()
) -> First:
    """The request under way, its counters, those of the launch, and a bar of bytes a request; only
    its own bar where the map would else be hard to read.
    """
    above = now.map(t), _counters(now, t, launch)
    every, own = (
        Shares(tuple(_share(act, act is now, t) for act in shown)) for shown in (acts, (now,))
    )
    return first(rows(*above, every, gap=_GAP), rows(*above, own, gap=_GAP))


def _counters(act: RequestAct, t: float, launch: tuple[Figure, ...]) -> FigureRow:
    """The request, its transactions and lines so far, how few would do; then the launch."""
    request, done = act.request, act.delivered(t)
    every = request.counted(request.count)
    if request.is_update:
        moved = tr("{done} of {all} updated", done=done, all=every)
    elif request.is_store:
        moved = tr("{done} of {all} written", done=done, all=every)
    else:
        moved = tr("{done} of {all} delivered", done=done, all=every)
    touched = len(np.unique(request.line[request.turn < done]))
    lines = int(request.line.max()) + 1
    return FigureRow(
        (
            Figure(tr("1 request")),
            Figure(moved, "accent", True, shorter=(tr("{done} of {all}", done=done, all=every),)),
            Figure(trn("{done} of {n} line", "{done} of {n} lines", lines, done=touched)),
            Figure(tr("ideal {n}", n=request.ideal), "muted"),
            *launch,
        )
    )


def _share(act: RequestAct, shown: bool, t: float) -> Share:
    """Bytes used, then those it does not use, as far as they are delivered."""
    request, (used, lost) = act.request, act.moved(t)
    waste = request.moved - request.used
    return Share(
        _name(request),
        request.used,
        request.moved,
        (_used(request),),
        (_lost(request, waste), in_bytes(waste), f"{waste}"),
        used / request.used,
        shown,
        lost / waste if waste else 1.0,
        "store" if request.is_store else "accent",
    )


def _name(request: Request) -> str:
    """What a bar is called."""
    if request.is_update:
        return tr("atomic {name}", name=request.name)
    if request.is_store:
        return tr("store {name}", name=request.name)
    return tr("load {name}", name=request.name)


def _used(request: Request) -> str:
    """What the solid part of a bar says."""
    count = in_bytes(request.used)
    if request.is_update:
        return tr("{bytes} updated", bytes=count)
    if request.is_store:
        return tr("{bytes} written", bytes=count)
    return tr("{bytes} used", bytes=count)


def _lost(request: Request, waste: int) -> str:
    """What the hatched part of a bar says."""
    count = in_bytes(waste)
    if request.is_update:
        return tr("{bytes} it does not update", bytes=count)
    if request.is_store:
        return tr("{bytes} it does not write", bytes=count)
    return tr("{bytes} it does not use", bytes=count)
