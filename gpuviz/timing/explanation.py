"""Why a launch takes the time it takes: what limits, what warps wait for, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuviz.base.arrays import F64, I32
from gpuviz.base.errors import Cancelled
from gpuviz.timing.facts import Facts, busy, facts
from gpuviz.timing.interval import interval
from gpuviz.timing.multiprocessor import PARTS, Sum, Work, run
from gpuviz.timing.native import native
from gpuviz.timing.prediction import Prediction
from gpuviz.timing.schedule import Kind, Pipe
from gpuviz.timing.simulation import simulate
from gpuviz.timing.timeline import Timeline, timeline_of
from gpuviz.timing.traffic import Traffic
from gpuviz.timing.warp_states import FAR, WAITS, State

BUSY = 0.6  # of the time: a resource that works less is not what is waited for
_UNITS = {"alu": Pipe.ALU, "fp64": Pipe.DOUBLE, "special": Pipe.SPECIAL, "tensor": Pipe.TENSOR}
UNITS = {name: (pipe,) for name, pipe in _UNITS.items()} | {"fma": (Pipe.FMA, Pipe.HEAVY)}
# What costs nothing where a resource has no limit: of a device, and of a multiprocessor's share.
_FREE = {
    "launch": ("block_interval", "block_again", "warp_start"),
    "latency": (
        *("l1_latency", "l2_latency", "l2_spread", "dram_latency", "dram_spread"),
        *("shared_latency", "constant_latency", "line_latency", "dram_line_latency"),
    ),
}
_FREE_SHARES = {
    "l2": ("l2_read", "l2_request", "l2_fill", "l2_write", "l2_partial"),
    "dram": ("dram_share", "dram_write"),
    "atomics": ("atomic_sector", "atomic_packet"),
}
_LEAST = 0.15  # of the cycles that a resource works, for it to be mended
_GAIN = 0.98  # of the cycles that are left, for a mending to be told
LASTING = ("lines", "wavefronts")  # of which something is left when they are mended


@dataclass(frozen=True)
class Bound:
    """The cycles that one resource works for a launch, whatever else happens.

    `resource` is one of issue, alu, fma, fp64, tensor, special (functions and conversions); lines
    or wavefronts: what L1 and shared memory, which are one, serve in all, by the larger part of it;
    l2, dram, atomics, launch (of blocks). `line` of the source asks most of it (0: none does).
    """

    resource: str
    cycles: float
    line: int = 0


@dataclass(frozen=True)
class Limits:
    """All bounds, the largest first, beside the `cycles` that the launch takes.

    `limiter` is the resource of the largest where it works most of the time. Else warps wait:
    for each other ("barrier"), or for results ("latency"), most before the source's `line`.
    """

    cycles: float
    bounds: tuple[Bound, ...]
    limiter: str
    line: int


def limits(prediction: Prediction, free: str = "") -> Limits:
    """What limits a launch, from its prediction; a resource that is `free` does not."""
    found = (b for b in _bounds(prediction) if b.resource != free or free in LASTING)
    bounds = tuple(sorted(found, key=lambda b: -b.cycles))
    largest, cycles = bounds[0], prediction.outcome.cycles
    if largest.cycles >= BUSY * cycles:
        return Limits(cycles, bounds, largest.resource, largest.line)
    waited = prediction.outcome.waited
    at_barriers = float(waited[prediction.work.code.kind == Kind.BARRIER].sum())
    waits = "barrier" if 2 * at_barriers > float(waited.sum()) else "latency"
    return Limits(cycles, bounds, waits, _line(prediction, waited))


def _bounds(prediction: Prediction) -> list[Bound]:
    outcome, code = prediction.outcome, prediction.work.code
    sums, issued = outcome.sums, outcome.issued
    kept = issued * busy(prediction.device, code) / PARTS
    shared = code.kind == Kind.SHARED
    multiply = np.where(code.pipe == Pipe.HEAVY, kept / 2, np.where(code.pipe == Pipe.FMA, kept, 0))
    heavy = np.where(code.pipe == Pipe.HEAVY, kept, 0.0)
    far = np.where(shared, 0.0, outcome.served)
    found = {
        "issue": issued / PARTS,
        "fma": multiply if multiply.sum() > heavy.sum() else heavy,
        **{name: np.where(code.pipe == pipe, kept, 0.0) for name, pipe in _UNITS.items()},
        "wavefronts" if outcome.served[shared].sum() > far.sum() else "lines": outcome.served,
    }
    bounds = [Bound(n, float(of.sum()), _line(prediction, of)) for n, of in found.items()]
    shared_by_all = {"l2": Sum.L2_CYCLES, "dram": Sum.DRAM_CYCLES, "atomics": Sum.ATOMIC_CYCLES}
    atomic = code.kind == Kind.ATOMIC
    lines = dict.fromkeys(("l2", "dram"), _line(prediction, np.where(atomic, 0.0, far)))
    lines["atomics"] = _line(prediction, np.where(atomic, issued, 0.0))
    bounds += [Bound(n, float(sums[place]), lines[n]) for n, place in shared_by_all.items()]
    blocks = len(prediction.work.blocks)
    return [*bounds, Bound("launch", (blocks - 1) * prediction.device.block_interval)]


def _line(prediction: Prediction, amount: F64) -> int:
    """The line of the source to which most of an amount belongs, 0 for none."""
    if not len(amount) or not amount.any():
        return 0
    sums = np.bincount(prediction.work.code.line, weights=amount)
    return int(sums.argmax())


def mended(prediction: Prediction, resource: str) -> Prediction:
    """What it would take if a resource were free, or waits had no reason; simulated anew.

    "wavefronts": no bank conflicts, "lines": each request touches one line, "dram": all is in L2,
    "latency": results are there at once, "barrier": nobody waits for others; a unit takes a warp
    each cycle; the others have no limit. Issue is never free: what would be left of a kernel?
    """
    work, device = prediction.work, prediction.device
    free: dict[str, Any] = dict.fromkeys(_FREE.get(resource, ()), 0.0)
    known = facts(replace(device, **free), prediction.circumstances, work.code)
    if resource == "wavefronts":
        shared = np.diff(work.traffic.first) == 0
        turns = np.where(shared, np.minimum(work.traffic.turns, 1), work.traffic.turns)
        traffic = replace(work.traffic, turns=turns.astype(np.int32))
        work = replace(work, traffic=traffic)
    elif resource == "lines":
        work = replace(work, traffic=_single_lines(work.traffic, work.mbarriers.request))
    elif resource in UNITS:
        mine = np.isin(work.code.pipe, UNITS[resource])
        known = replace(known, busy=np.where(mine, np.minimum(known.busy, 1.0), known.busy))
    elif resource == "barrier":
        kind = np.where(work.code.kind == Kind.BARRIER, Kind.COMPUTE, work.code.kind)
        work = replace(work, code=replace(work.code, kind=kind.astype(np.int32)))
    elif resource == "latency":
        known = replace(known, latency=np.minimum(known.latency, 1.0))
    free = dict.fromkeys(_FREE_SHARES.get(resource, ()), 0.0)
    return simulated(prediction, work, replace(known, **free))


def simulated(prediction: Prediction, work: Work, known: Facts | None = None) -> Prediction:
    """A prediction for other work, or other facts."""
    device = prediction.device
    known = known or facts(device, prediction.circumstances, work.code)
    outcome = run(work, known, prediction.near, native(simulate))
    cycles = outcome.cycles * prediction.scale
    return replace(
        prediction,
        work=work,
        outcome=outcome,
        cycles=cycles,
        microseconds=device.microseconds(cycles),
    )


def _single_lines(traffic: Traffic, copies: I32) -> Traffic:
    """Of each request the first line only; bulk copies are as they were."""
    lines = np.diff(traffic.first)
    many = np.minimum(lines, 1)
    many[copies[copies >= 0]] = lines[copies[copies >= 0]]
    index = np.repeat(traffic.first[:-1] - np.cumsum(many) + many, many) + np.arange(many.sum())
    return replace(
        traffic,
        first=np.concatenate([[0], np.cumsum(many)]).astype(np.int64),
        line=traffic.line[index],
        mask=traffic.mask[index],
        partial=traffic.partial[index],
        turns=np.where(many > 0, 1, traffic.turns).astype(np.int32),
    )


@dataclass(frozen=True)
class WhatIf:
    """What a launch would take without what a resource costs (see `bounds.mended`), and the
    `limiter` then, "" where no resource works most of the time.
    """

    resource: str
    cycles: float
    microseconds: float
    limiter: str


@dataclass(frozen=True)
class Advice:
    """What to change: a `kind` of finding, where (line 0: of the launch), in a sentence, the lesson
    that shows it, and the `cycles` without it, None where that is not modelled.
    """

    kind: str
    line: int
    expression: str
    said: str
    lesson: str
    cycles: float | None = None


@dataclass(frozen=True, eq=False)
class Explanation:
    """A launch's prediction with its reasons."""

    prediction: Prediction
    limits: Limits  # the cycles that each resource works; all its cycles are of `timeline`
    what_ifs: tuple[WhatIf, ...]  # simulated anew, the one that gains most first
    timeline: Timeline  # of the multiprocessor that takes longest
    start: Timeline | None = None  # from its beginning, where `timeline` shows a later stretch
    advice: tuple[Advice, ...] = ()  # what to change, the first thing first
    fault: str = ""  # that a GPU would have ended the launch by: this is past it, or up to it

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
    def interval(self) -> tuple[float, float]:
        """Microseconds between which eight of ten measured launches of its class would lie."""
        return interval(self.prediction, self.limits.limiter)

    @property
    def counted(self) -> dict[str, float]:
        """What hardware counters count of it, too, by their names: nanoseconds (with the interval
        that they lie in), and sectors.
        """
        made = self.prediction
        low, high = self.interval
        return {
            "duration_ns": made.microseconds * 1e3,
            "duration_low_ns": low * 1e3,
            "duration_high_ns": high * 1e3,
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
