"""What warps begin and wait for besides loads and stores: bulk copies, and mbarriers.

What happened at mbarriers is known from the emulated launch (`traces.Handovers`), warp by warp in
order; so are the machine instructions that did it. An mbarrier's phase is over when all that came
to it there has come here: arrivals, and bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I32, I64, Array, Bool
from gpuviz.base.errors import UnavailableError
from gpuviz.sass.listing import SassInstruction
from gpuviz.timing.schedule import ARRIVE, BULK, WAIT, hands_of
from gpuviz.timing.streams import Streams
from gpuviz.traces.trace import HANDOVERS, Handovers

_OF_EVENTS: Mapping[str, int] = {"arrive": ARRIVE, "wait": WAIT, "load": BULK}


@dataclass(frozen=True, eq=False)
class MbarrierSteps:
    """What warps do at mbarriers, one row an instruction of `hands_of` that a warp issues.

    Warp w of block b does what is in the rows from `start[b, w]` on: at `phase` of all phases of
    its block (-1: nothing, or it need not wait), with bulk copy `request` (-1: none). `needs` says
    of each block how much has to come to each of its phases.
    """

    start: Mapping[tuple[int, int], int]
    phase: I32
    request: I32
    needs: Mapping[int, I32]

    @property
    def phases(self) -> int:
        """Of the block that has most."""
        return max((len(one) for one in self.needs.values()), default=0)


NO_STEPS = MbarrierSteps({}, np.zeros(0, np.int32), np.zeros(0, np.int32), {})


def mbarrier_steps(
    events: Handovers | None,
    streams: Streams,
    code: Sequence[SassInstruction],
    copies: Mapping[int, int],
) -> MbarrierSteps:
    """What the instructions of all warps do; `copies` is the request of each bulk copy's event.

    Raises
    ------
    UnavailableError : the instructions are not those of the events
    """
    hands = np.array(hands_of(code), np.int32)
    if events is None or not hands.any():
        return NO_STEPS
    phase, needs = _phases(events)
    starts: dict[tuple[int, int], int] = {}
    phases: list[I64] = []
    requests: list[I64] = []
    total = 0
    order = np.lexsort((np.arange(len(events)), events.warp, events.block))
    key = events.block[order] * (1 << 20) + events.warp[order]
    kinds = np.array([HANDOVERS[k] for k in events.kind.tolist()])
    for (block, warp), stream in streams.of.items():
        part = slice(streams.start[stream], streams.start[stream + 1])
        mine = hands[streams.code[part]]
        at = mine > 0
        mine, idle = mine[at], streams.idle[part][at]
        low, high = (
            np.searchsorted(key, block * (1 << 20) + warp, "left"),
            np.searchsorted(key, block * (1 << 20) + warp, "right"),
        )
        rows = order[low:high]
        own, request = _matched(mine, idle, rows, kinds[rows], phase, copies)
        starts[block, warp] = total
        total += len(own)
        phases.append(own)
        requests.append(request)
    empty = np.zeros(0, np.int64)
    at_phase, asked = (
        np.concatenate([empty, *parts]).astype(np.int32) for parts in (phases, requests)
    )
    return MbarrierSteps(starts, at_phase, asked, needs)


def _matched(
    hands: I32, idle: Bool, rows: I64, kinds: Array, phase: I64, copies: Mapping[int, int]
) -> tuple[I64, I64]:
    """Phase and request of each instruction of a warp, whose events are `rows`, kind by kind."""
    own, request = np.full(len(hands), -1), np.full(len(hands), -1)
    for kind, hand in _OF_EVENTS.items():
        some = rows[kinds == kind]
        places = np.flatnonzero(hands == hand)
        if len(places) > len(some):  # what a guard leaves out is told of whole stretches only
            places = places[~idle[places]]
        if len(places) != len(some):
            raise UnavailableError(
                f"no time is predicted: of a warp's machine code {len(places)} instructions "
                f"{kind} at mbarriers, {len(some)} did when it was emulated"
            )
        own[places] = phase[some]
        if kind == "load":
            request[places] = [copies.get(int(row), -1) for row in some]
    return own, request


def _phases(events: Handovers) -> tuple[I64, dict[int, I32]]:
    """(H,) to which phase of its block an event contributes, or for which it waits; and how much
    has to come to each.
    """
    kinds = [HANDOVERS[k] for k in events.kind.tolist()]
    counted = np.where(events.mbarrier >= 0, events.mbarrier, events.address).tolist()
    first: dict[tuple[int, int], list[int]] = {}  # the phases of an mbarrier, in order
    needs: dict[int, list[int]] = {}
    found = np.full(len(kinds), -1)
    for row, (kind, block, at) in enumerate(
        zip(kinds, events.block.tolist(), counted, strict=True)
    ):
        if kind in ("store", "reduce"):
            continue
        mine = first.setdefault((block, at), [])
        needed = needs.setdefault(block, [])
        if kind == "init":
            mine[:] = [-1, len(needed)]
            needed.append(0)
        elif not mine:
            continue
        elif kind == "over":
            mine.append(len(needed))
            needed.append(0)
        elif kind == "wait":
            found[row] = mine[-2]
        else:
            found[row] = mine[-1]
            needed[mine[-1]] += 1
    return found, {block: np.array(one, np.int32) for block, one in needs.items()}
