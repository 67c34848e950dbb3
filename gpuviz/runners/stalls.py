"""What warps wait for: as modelled, beside the reasons for stalls that counters tell."""

from __future__ import annotations

from collections.abc import Mapping

from gpuviz.machine.timeline import Timeline
from gpuviz.machine.warp_states import State

# By kind of wait: counters (smsp__average_warps_issue_stalled_*), and states of the model.
KINDS: Mapping[str, tuple[tuple[str, ...], tuple[State, ...]]] = {
    "memory": (("long_scoreboard",), (State.L1, State.L2, State.MEMORY, State.ATOMIC)),
    "queue": (("lg_throttle", "mio_throttle"), (State.QUEUE,)),
    "shared": (("short_scoreboard",), (State.SHARED, State.UNIT)),
    "barrier": (("barrier",), (State.BARRIER,)),
    "dependence": (("wait", "dispatch_stall"), (State.DEPENDENCE,)),
    "unit": (("math_pipe_throttle",), (State.PIPE,)),
    "not_chosen": (("not_selected",), (State.NOT_CHOSEN,)),
    "fetch": (("no_instruction", "branch_resolving", "imc_miss"), (State.FETCH,)),
}
Stalls = Mapping[str, tuple[float, float]]  # by kind: predicted and counted, shares of all


def stalls_of(timeline: Timeline, counted: Mapping[str, float | None]) -> Stalls:
    """Shares of all waits, predicted and counted; empty where nothing was counted."""
    taken = timeline.spans.time_in(0.0, timeline.recorded)
    predicted = {kind: sum(float(taken[s]) for s in states) for kind, (_, states) in KINDS.items()}
    measured = {
        kind: sum(counted.get(n) or 0.0 for n in names) for kind, (names, _) in KINDS.items()
    }
    all_of, all_counted = sum(predicted.values()), sum(measured.values())
    if not (all_of and all_counted):
        return {}
    return {kind: (predicted[kind] / all_of, measured[kind] / all_counted) for kind in KINDS}


def agreement(rows: list[Stalls]) -> tuple[int, int, int]:
    """Of how many rows the largest kind counted is the largest predicted; is among the two largest;
    and how many rows there are.
    """
    first = second = 0
    for stalls in rows:
        counted = max(stalls, key=lambda kind: stalls[kind][1])
        ordered = sorted(stalls, key=lambda kind: -stalls[kind][0])
        first += counted == ordered[0]
        second += counted in ordered[:2]
    return first, second, len(rows)
