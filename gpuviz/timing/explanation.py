"""Why a launch takes the time it takes: what limits, what warps wait for, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.errors import Cancelled
from gpuviz.timing.bounds import Limits, limits, mended
from gpuviz.timing.prediction import Prediction
from gpuviz.timing.schedule import Kind
from gpuviz.timing.timeline import Timeline, timeline_of
from gpuviz.timing.warp_states import FAR, WAITS, State

_LEAST = 0.15  # of the cycles that a resource works, for it to be mended
_GAIN = 0.98  # of the cycles that are left, for a mending to be told


@dataclass(frozen=True)
class WhatIf:
    """What a launch would take without what a resource costs (see `bounds.mended`), and the
    `limiter` then, "" where no resource works most of the time.
    """

    resource: str
    cycles: float
    microseconds: float
    limiter: str


@dataclass(frozen=True, eq=False)
class Explanation:
    """A launch's prediction with its reasons.

    Attributes
    ----------
    limits : the cycles that each resource works; all its cycles are of `timeline`
    what_ifs : simulated anew, the one that gains most first
    timeline : of the multiprocessor that takes longest
    start : the timeline from its beginning, where `timeline` shows a later stretch: waits are its
    """

    prediction: Prediction
    limits: Limits
    what_ifs: tuple[WhatIf, ...]
    timeline: Timeline
    start: Timeline | None = None

    @property
    def waits(self) -> dict[State, float]:
        """The part of its time that a resident warp spends in each state, 0 to 1, largest first."""
        return _waits(self._start)

    @property
    def reason(self) -> State | None:
        """What warps wait for most, where no resource works most of the time."""
        return _reason(self.limits, self._start)

    @property
    def line(self) -> int:
        """The line of the source that most of what limits is for: of the resource's work, or of
        the waits; 0 where that is not told.
        """
        return self.limits.line if self.reason is None else self._line_of(self.reason)

    def _line_of(self, state: State) -> int:
        """The line most of a wait is for: of what is waited for, else of what is held back, or came
        last.
        """
        made = self._start
        spans = made.spans
        rows = np.flatnonzero(np.isin(spans.state, FAR if state in FAR else (state,)))
        about = np.where(spans.cause[rows] >= 0, spans.cause[rows], spans.event[rows])
        lines = np.array([one.line for one in made.code])[made.events.instruction[about]]
        return int(np.bincount(lines, spans.end[rows] - spans.start[rows]).argmax())

    @property
    def counted(self) -> dict[str, float]:
        """What hardware counters count of it, too, by their names: nanoseconds, and sectors."""
        made = self.prediction
        return {
            "duration_ns": made.microseconds * 1e3,
            "l2_to_l1_sectors": made.l2_to_l1,
            "dram_read_sectors": made.dram_read,
        }

    def since(self, cycle: float) -> Explanation:
        """The same with the timeline from a cycle on; InputError when all is over before."""
        if cycle == self.timeline.since:
            return self
        return replace(self, timeline=timeline_of(self.prediction, cycle), start=self._start)

    @property
    def _start(self) -> Timeline:
        return self.start or self.timeline

    @property
    def tail(self) -> float:
        """The cycles at the end in which places stay empty: no more blocks come."""
        if not self.timeline.whole:
            return 0.0
        last = np.sort(self.timeline.ended)[-self.timeline.slots :]
        return float(last[-1] - last[0])


def explained(
    prediction: Prediction,
    progress: Callable[[float], None] = lambda share: None,
    cancel: Callable[[], bool] = lambda: False,
) -> Explanation:
    """Explain a prediction; each what-if simulates the multiprocessor once more.

    Raises
    ------
    Cancelled : `cancel` said so
    """
    found = limits(prediction)
    large = (b.resource for b in found.bounds if b.cycles >= _LEAST * found.cycles)
    tried = [name for name in large if name != "issue"]
    tried += [name for name in ("latency", "barrier") if _waits_for(prediction, name)]
    what_ifs = []
    for number, resource in enumerate(tried):
        if cancel():
            raise Cancelled("stopped")
        progress(number / (len(tried) + 1))
        after = mended(prediction, resource)
        if after.outcome.cycles < _GAIN * found.cycles:
            what_ifs.append(_what_if(resource, after))
    what_ifs.sort(key=lambda one: one.cycles)
    if cancel():
        raise Cancelled("stopped")
    timeline = timeline_of(prediction)
    progress(1.0)
    return Explanation(prediction, found, tuple(what_ifs), timeline)


def _what_if(resource: str, after: Prediction) -> WhatIf:
    """What limits then: where results are there at once, and no resource works most of the time,
    what is left to wait for are instructions and others of the block, and none of it limits.
    """
    then = limits(after, resource)
    left = resource == "latency" and then.limiter in ("latency", "barrier")
    return WhatIf(resource, after.cycles, after.microseconds, "" if left else then.limiter)


def _reason(found: Limits, timeline: Timeline) -> State | None:
    """What warps wait for most, where no resource works most of the time. Results of global memory
    are one thing to wait for, wherever they come from.
    """
    if found.limiter == found.bounds[0].resource:
        return None
    shares = _waits(timeline)
    far = [state for state in shares if state in FAR]
    most = next((state for state in shares if state in WAITS), None)
    if most is None:
        return None
    return most if shares[most] > sum(shares[state] for state in far) else far[0]


def _waits(timeline: Timeline) -> dict[State, float]:
    """Shares of the time of a resident warp, the largest first."""
    taken = timeline.spans.time_in(timeline.since, timeline.recorded)
    shares = taken / max(float(taken.sum()), 1.0)
    return {State(n): float(shares[n]) for n in np.argsort(-shares) if shares[n] > 0}


def _waits_for(prediction: Prediction, name: str) -> bool:
    """Whether warps wait for results, or for each other."""
    waited = prediction.outcome.waited
    barrier = prediction.work.code.kind == Kind.BARRIER
    return bool(waited[barrier if name == "barrier" else ~barrier].sum())
