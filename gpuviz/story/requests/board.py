"""What requests come to: counters that tick, and a bar of bytes for each request."""

from __future__ import annotations

import numpy as np

from gpuviz.memory.request import Request
from gpuviz.memory.transaction_names import in_bytes
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import First, first, rows
from gpuviz.panels.shares import Share, Shares
from gpuviz.story.requests.acts import RequestAct
from gpuviz.words.language import tr, trn

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
    if request.is_store:
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
    if request.is_store:
        return tr("store {name}", name=request.name)
    return tr("load {name}", name=request.name)


def _used(request: Request) -> str:
    """What the solid part of a bar says."""
    count = in_bytes(request.used)
    if request.is_store:
        return tr("{bytes} written", bytes=count)
    return tr("{bytes} used", bytes=count)


def _lost(request: Request, waste: int) -> str:
    """What the hatched part of a bar says."""
    count = in_bytes(waste)
    if request.is_store:
        return tr("{bytes} it does not write", bytes=count)
    return tr("{bytes} it does not use", bytes=count)
