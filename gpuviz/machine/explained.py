"""Why a launch takes the time it takes: what limits, what warps wait for, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.errors import Cancelled
from gpuviz.machine.bounds import Limits, limits, mended
from gpuviz.machine.prediction import Prediction
from gpuviz.machine.schedule import Kind
from gpuviz.machine.timeline import Timeline, timeline_of
from gpuviz.machine.warp_states import FAR, WAITS, State

_LEAST = 0.15  # of the cycles that a resource works, for it to be mended
_GAIN = 0.98  # of the cycles that are left, for a mending to be told


@dataclass(frozen=True)
class WhatIf:
    """What a launch would take without what a resource costs (see `bounds.mended`), and the
    `limiter` then.
    """

    resource: str
    cycles: float
    microseconds: float
    limiter: str


@dataclass(frozen=True, eq=False)
class Explained:
    """A launch's prediction with its reasons.

    Attributes
    ----------
    limits : the cycles that each resource works; all its cycles are of `timeline`
    what_ifs : simulated anew, the one that gains most first
    timeline : of the multiprocessor that takes longest
    """

    prediction: Prediction
    limits: Limits
    what_ifs: tuple[WhatIf, ...]
    timeline: Timeline

    @property
    def waits(self) -> dict[State, float]:
        """The part of its time that a resident warp spends in each state, 0 to 1, largest first."""
        taken = self.timeline.spans.time_in(self.timeline.since, self.timeline.recorded)
        shares = taken / max(float(taken.sum()), 1.0)
        return {State(n): float(shares[n]) for n in np.argsort(-shares) if shares[n] > 0}

    @property
    def reason(self) -> State | None:
        """What warps wait for most, where no resource works most of the time. Results of global
        memory are one thing to wait for, wherever they come from.
        """
        if self.limits.limiter == self.limits.bounds[0].resource:
            return None
        shares = self.waits
        far = sum(shares.get(state, 0.0) for state in FAR)
        most = next(state for state in shares if state in WAITS)
        return most if shares[most] > far else next(state for state in shares if state in FAR)

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
        spans, made = self.timeline.spans, self.timeline
        rows = np.flatnonzero(spans.state == state)
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

    def since(self, cycle: float) -> Explained:
        """The same with the timeline from a cycle on; InputError when all is over before."""
        if cycle == self.timeline.since:
            return self
        return replace(self, timeline=timeline_of(self.prediction, cycle))

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
) -> Explained:
    """Explain a prediction; each what-if simulates the multiprocessor once more.

    Raises
    ------
    Cancelled : `cancel` said so
    """
    found = limits(prediction)
    large = (b.resource for b in found.bounds if b.cycles >= _LEAST * found.cycles)
    tried = [name for name in large if name != "issue"]
    tried += [name for name in ("latency", "barrier") if _waits(prediction, name)]
    what_ifs = []
    for number, resource in enumerate(tried):
        if cancel():
            raise Cancelled("stopped")
        progress(number / (len(tried) + 1))
        after = mended(prediction, resource)
        if after.outcome.cycles < _GAIN * found.cycles:
            then = limits(after, resource).limiter
            what_ifs.append(WhatIf(resource, after.cycles, after.microseconds, then))
    what_ifs.sort(key=lambda one: one.cycles)
    if cancel():
        raise Cancelled("stopped")
    timeline = timeline_of(prediction)
    progress(1.0)
    return Explained(prediction, found, tuple(what_ifs), timeline)


def _waits(prediction: Prediction, name: str) -> bool:
    """Whether warps wait for results, or for each other."""
    waited = prediction.outcome.waited
    barrier = prediction.work.code.kind == Kind.BARRIER
    return bool(waited[barrier if name == "barrier" else ~barrier].sum())
