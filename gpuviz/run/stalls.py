"""What warps wait for, cycles for each instruction issued: as modelled, and as counters tell."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from gpuviz.base.arrays import Bool
from gpuviz.recordings.stall_reasons import ALL
from gpuviz.timing.explanation import Explanation
from gpuviz.timing.timeline import Timeline
from gpuviz.timing.warp_states import FAR, State

_STATES: Mapping[str, tuple[State, ...]] = {
    "waits_memory": FAR,
    "waits_shared": (State.SHARED, State.UNIT),
    "waits_barrier": (State.BARRIER,),
    "waits_dependence": (State.DEPENDENCE, State.TENSOR),
    "waits_issue": (State.NOT_CHOSEN,),
    "waits_fetch": (State.FETCH, State.STARTS),
}
"""States of the model by kind of wait (`stall_reasons.KEYS`). Warps whose last stores are under way
("drain") are none of its states, and where a warp has ended counters see none.
"""
# What waits for a queue or a unit is of the kind of the instruction that is held back.
_HELD = {State.QUEUE: "waits_memory", State.PIPE: "waits_issue"}
_SHARED = re.compile(
    r"(LDS|STS|ATOMS|LDSM|STSM|SHFL|MUFU|S2R|LDC|I2F|F2I|F2F|I2I|FRND|POPC|FLO|BREV)(\.|$)"
)
Stalls = Mapping[str, tuple[float, float]]  # by key: predicted and counted


def modelled(e: Explanation) -> dict[str, float]:
    """What is modelled of a launch that counters of a GPU tell, too, by their keys."""
    return e.counted | predicted_waits(e.timeline)


def predicted_waits(timeline: Timeline) -> dict[str, float]:
    """Cycles for each instruction issued by `waits_*`, of the part that was recorded."""
    spans = timeline.spans
    taken = spans.time_in(0.0, timeline.recorded)
    found = {key: sum(float(taken[s]) for s in states) for key, states in _STATES.items()}
    shared = _of_shared(timeline)
    for state, key in _HELD.items():
        rows = np.flatnonzero(spans.state == state)
        lasts = np.minimum(spans.end[rows], timeline.recorded) - spans.start[rows]
        apart = float(lasts[shared[rows]].sum())
        found["waits_shared"] += apart
        found[key] += float(lasts.sum()) - apart
    issued = max(float(taken[State.ISSUE]), 1.0)
    apart = _at_mbarriers(timeline)
    found["waits_barrier"] -= apart
    found["waits_memory"] += apart
    each = {key: cycles / issued for key, cycles in found.items()}
    return each | {ALL: 1.0 + sum(each.values())}


def _at_mbarriers(timeline: Timeline) -> float:
    """Cycles of waits for arrivals at mbarriers: counters call them long scoreboard."""
    spans = timeline.spans
    rows = np.flatnonzero((spans.state == State.BARRIER) & (spans.cause >= 0))
    names = np.array([one.name.startswith("SYNCS") for one in timeline.code])
    mine = rows[names[timeline.events.instruction[spans.cause[rows]]]]
    lasts = np.minimum(spans.end[mine], timeline.recorded) - spans.start[mine]
    return float(lasts.sum())


def _of_shared(timeline: Timeline) -> Bool:
    """(S,) whether what a span waits for, or what is held back, goes the way of shared memory."""
    spans = timeline.spans
    about = np.where(spans.cause >= 0, spans.cause, spans.event)
    names = np.array([bool(_SHARED.match(one.name)) for one in timeline.code])
    return np.asarray(names[timeline.events.instruction[about]])


def stalls_of(predicted: Mapping[str, float], counted: Mapping[str, float]) -> Stalls:
    """Both by kind, where both are known."""
    return {key: (cycles, counted[key]) for key, cycles in predicted.items() if key in counted}


def agreement(rows: Sequence[Stalls]) -> tuple[int, int, int]:
    """Of how many rows the largest kind counted is the largest predicted; is among the two largest;
    and how many rows there are.
    """
    first = second = 0
    for stalls in rows:
        ordered = sorted(stalls.keys() - {ALL}, key=lambda key: -stalls[key][0])
        first += largest(stalls) == ordered[0]
        second += largest(stalls) in ordered[:2]
    return first, second, len(rows)


def largest(stalls: Stalls) -> str:
    """The kind that most is counted of."""
    return max((key for key in stalls if key != ALL), key=lambda key: stalls[key][1])


def errors(rows: Sequence[Stalls], key: str) -> list[float]:
    """Predicted over counted, less 1, of a kind in each row."""
    return [row[key][0] / row[key][1] - 1.0 for row in rows if row[key][1]]
