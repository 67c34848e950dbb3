"""What limits a launch: the time that each resource alone would take, and what-ifs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuviz.base.arrays import F64, I32
from gpuviz.timing import multiprocessor as sm
from gpuviz.timing.facts import busy, facts
from gpuviz.timing.native import native
from gpuviz.timing.prediction import Prediction
from gpuviz.timing.schedule import Kind, Pipe
from gpuviz.timing.simulation import simulate
from gpuviz.timing.traffic import Traffic

BUSY = 0.6  # of the time: a resource that works less is not what is waited for
_UNITS = {"alu": Pipe.ALU, "fp64": Pipe.DOUBLE, "special": Pipe.SPECIAL, "tensor": Pipe.TENSOR}
UNITS = {name: (pipe,) for name, pipe in _UNITS.items()} | {"fma": (Pipe.FMA, Pipe.HEAVY)}
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
    kept = issued * busy(prediction.device, code) / sm.PARTS
    shared = code.kind == Kind.SHARED
    multiply = np.where(code.pipe == Pipe.HEAVY, kept / 2, np.where(code.pipe == Pipe.FMA, kept, 0))
    heavy = np.where(code.pipe == Pipe.HEAVY, kept, 0.0)
    far = np.where(shared, 0.0, outcome.served)
    found = {
        "issue": issued / sm.PARTS,
        "fma": multiply if multiply.sum() > heavy.sum() else heavy,
        **{name: np.where(code.pipe == pipe, kept, 0.0) for name, pipe in _UNITS.items()},
        "wavefronts" if outcome.served[shared].sum() > far.sum() else "lines": outcome.served,
    }
    bounds = [Bound(n, float(of.sum()), _line(prediction, of)) for n, of in found.items()]
    for name, place in (
        ("l2", sm.L2_CYCLES),
        ("dram", sm.DRAM_CYCLES),
        ("atomics", sm.ATOMIC_CYCLES),
    ):
        bounds.append(Bound(name, float(sums[place]), _line(prediction, far)))
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
    known = facts(device, prediction.circumstances, work.code)
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
    free: dict[str, Any] = dict.fromkeys(_FREE.get(resource, ()), 0.0)
    outcome = sm.run(work, replace(known, **free), prediction.near, native(simulate))
    cycles = outcome.cycles * prediction.scale
    return replace(
        prediction,
        work=work,
        outcome=outcome,
        cycles=cycles,
        microseconds=cycles / device.clock_ghz / 1e3 + device.launch_us,
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


# What costs nothing where a resource has no limit.
_FREE = {
    "l2": ("l2_read", "l2_request", "l2_fill", "l2_write", "l2_partial"),
    "dram": ("dram_share", "dram_write"),
    "atomics": ("atomic_sector", "atomic_packet"),
    "launch": ("block_interval", "block_again", "warp_start"),
    "latency": (
        *("l1_latency", "l2_latency", "l2_spread", "dram_latency", "dram_spread"),
        *("shared_latency", "constant_latency", "line_latency", "dram_line_latency"),
    ),
}
