"""What a launch takes on a device: one record, made from its trace and machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import F64
from gpuviz.ptx.text.ir import Module
from gpuviz.sass.flow import sass_blocks
from gpuviz.sass.listing import Listing, SassInstruction
from gpuviz.sass.plan import Plan
from gpuviz.timing.device import Device
from gpuviz.timing.facts import Circumstances, facts
from gpuviz.timing.mbarriers import mbarrier_steps
from gpuviz.timing.multiprocessor import Outcome, Sum, Work, run
from gpuviz.timing.native import native
from gpuviz.timing.sample import Sample
from gpuviz.timing.schedule import Kind, code_of
from gpuviz.timing.simulation import simulate
from gpuviz.timing.streams import streams_of
from gpuviz.timing.traffic import traffic_of, with_copies
from gpuviz.traces.trace import Trace

_STAGES = 12


@dataclass(frozen=True, eq=False)
class SampledLaunch:
    """A launch whose blocks in `sample` were recorded with their path.

    `resident` blocks fit a multiprocessor, with `shared` bytes each; of the whole launch:
    memory has to be read for `loaded` sectors (whole pairs); `written` are stored to. Of what
    the blocks do `share` was recorded, the beginning: the rest goes on alike.
    """

    trace: Trace
    module: Module
    listing: Listing
    plan: Plan | None
    arch: Architecture
    sample: Sample
    resident: int
    shared: int
    loaded: int
    written: int
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a launch takes."""

    device: Device
    cycles: float  # of one multiprocessor, mostly the one that takes longest
    microseconds: float  # with all that a launch takes
    l2_to_l1: float  # sectors, of all multiprocessors
    dram_read: float
    instructions: float  # of machine code, issued by warps of all multiprocessors
    outcome: Outcome  # of this multiprocessor, as far as it was looked at
    code: tuple[SassInstruction, ...]  # in the order of the outcome's columns
    work: Work  # what was simulated: what-ifs begin from it
    circumstances: Circumstances
    near: F64
    scale: float  # cycles of all its blocks to those of the blocks looked at

    @cached_property
    def whole(self) -> bool:
        """Whether every block of the multiprocessor was simulated."""
        return self.scale == 1.0


def predict(launched: SampledLaunch, device: Device, cold: bool = True) -> Prediction:
    """What a launch takes; `cold` when its data is in memory only."""
    return max(predict_each(launched, device, cold), key=lambda one: one.cycles)


def predict_each(launched: SampledLaunch, device: Device, cold: bool = True) -> list[Prediction]:
    """What each multiprocessor of the sample takes; sums are of all."""
    works, code = works_of(launched)
    blocks, most = launched.sample.blocks, launched.sample.most
    around = Circumstances(
        blocks,
        launched.resident,
        launched.shared,
        launched.written * _SECTOR,
        _used_bytes(launched),
        _atomic_slices(works[0]),
        1.0,
    )
    share, near = 0.0, [np.zeros(work.lines) for work in works]
    if cold:
        share, near = _in_l2(launched, works, device, around)
    lines = works[0].lines
    works[0] = _going_on(works[0], most, launched.resident)
    # What a later round touches first, others have asked for in the rounds before, or nobody.
    near[0] = np.concatenate([near[0], np.full(works[0].lines - lines, 1.0 - share)])
    around = replace(around, dram_share=share)
    ends = _outcomes(works, device, around, near)
    scales = [_longer(ends[0], launched.resident, most)] + [1.0] * (len(works) - 1)
    scales = [scale / launched.share for scale in scales]
    simulated = sum(len(work.blocks) for work in works) * launched.share
    sums = np.sum([o.sums for o in ends], axis=0) * blocks / simulated
    rest = device.dram_rest + len(code) * 16 / _SECTOR
    return [
        Prediction(
            device,
            outcome.cycles * scale,
            device.microseconds(outcome.cycles * scale),
            float(sums[Sum.MISSES]),
            launched.loaded + rest if cold else 0.0,
            float(sums[Sum.ISSUED]),
            outcome,
            code,
            work,
            around,
            known,
            scale,
        )
        for outcome, scale, work, known in zip(ends, scales, works, near, strict=True)
    ]


def _outcomes(
    works: Sequence[Work], device: Device, around: Circumstances, near: Sequence[F64]
) -> list[Outcome]:
    known, step = facts(device, around, works[0].code), native(simulate)
    return [run(work, known, one, step) for work, one in zip(works, near, strict=True)]


def _in_l2(
    launched: SampledLaunch, works: Sequence[Work], device: Device, around: Circumstances
) -> tuple[float, list[F64]]:
    """Of what multiprocessors touch first, the part that memory is read for; how probable it is
    that others have brought each line. Each is simulated as if it were alone.
    """
    alone = _outcomes(works, device, around, [np.zeros(work.lines) for work in works])
    looked_at = sum(len(work.blocks) for work in works)
    touched = sum(o.sums[Sum.TOUCHED] for o in alone) / launched.share
    share = min(1.0, launched.loaded * looked_at / max(touched * around.blocks, 1.0))
    active = min(device.multiprocessors, around.blocks)
    return share, nearness([o.touched for o in alone], device.far_latency, active)


def _going_on(work: Work, most: int, resident: int) -> Work:
    """The multiprocessor with as many more blocks as show at which pace it goes on."""
    blocks = work.blocks
    if len(blocks) < min(most, _ROUNDS * resident):
        wanted = min(most, max(_ROUNDS * resident, len(blocks)))
        blocks = (blocks * -(-wanted // len(blocks)))[:wanted]
    return replace(work, blocks=blocks)


def _longer(outcome: Outcome, resident: int, most: int) -> float:
    """Cycles of all blocks of a multiprocessor to those of the blocks simulated: the rest goes on
    at the pace of those before the last round, which ends with places empty.
    """
    count = len(outcome.ended)
    if count == most:
        return 1.0
    ended = np.sort(outcome.ended)
    if count < 2 * resident:
        return most / count
    pace = (ended[count - resident - 1] - ended[resident - 1]) / (count - 2 * resident)
    return float((outcome.cycles + (most - count) * pace) / outcome.cycles)


def works_of(launched: SampledLaunch) -> tuple[list[Work], tuple[SassInstruction, ...]]:
    """What each multiprocessor of the sample does, and the code of all."""
    trace = launched.trace
    blocks = sass_blocks(launched.listing)
    code = tuple(i for block in blocks for i in block.instructions)
    assert trace.path is not None
    streams = streams_of(launched.module, trace.stretches, trace.path, blocks)
    traffic = traffic_of(trace, streams, code, launched.plan, launched.arch)
    traffic, copies = with_copies(traffic, trace)
    steps = mbarrier_steps(trace.handovers, streams, code, copies)
    columns, warps = code_of(code), trace.launch.warps_per_block
    return [
        Work(columns, streams, traffic, blocks, warps, len(blocks), steps)
        for blocks in (_round(share, launched) for share in launched.sample.shares)
    ], code


def _round(share: tuple[int, ...], launched: SampledLaunch) -> tuple[int, ...]:
    """As many blocks as reside at once; where fewer were looked at, these once more."""
    wanted = min(launched.sample.most, launched.resident)
    if launched.sample.each >= wanted:
        return share
    return (share * -(-wanted // len(share)))[:wanted]


def _used_bytes(launched: SampledLaunch) -> int:
    """What is read or written of global memory: no more than there is of it."""
    every = sum(buffer.size for buffer in launched.trace.launch.buffers)
    written = launched.written * _SECTOR
    return max(written, min(launched.loaded * _SECTOR + written, every))


def _atomic_slices(work: Work) -> int:
    """How many slices of L2 the atomics of the blocks looked at go to: four lines side by side lie
    in one.
    """
    streams, traffic = work.streams, work.traffic
    asks, atomic = work.code.asks == 1, work.code.kind == Kind.ATOMIC
    rows = []
    for key, stream in streams.of.items():
        code = streams.code[streams.start[stream] : streams.start[stream + 1]]
        code = code[asks[code]]
        made = traffic.made[traffic.start[key] : traffic.start[key] + len(code)]
        rows.append(made[atomic[code] & (made >= 0)])
    requests = np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.int64)
    parts = [traffic.line[traffic.first[q] : traffic.first[q + 1]] for q in requests.tolist()]
    lines = np.concatenate(parts) if parts else np.zeros(0, np.int32)
    return len(np.unique(traffic.address[lines] // np.uint64(_SLICE)))


def nearness(touched: Sequence[F64], latency: float, active: int) -> list[F64]:
    """For each multiprocessor (L,): the probability that a line is in L2 when it first asks.

    A few were simulated as if each were alone. How often one of them came clearly before another,
    at each stage of a launch, says how likely it is that any of all the others did. Where all do
    the same at the same time, nobody comes before.

    `touched` (L,) are the cycles in which each first touched each line, -1 for never.
    """
    when = np.array([np.where(t < 0, np.inf, t) for t in touched])
    return [_nearness_of(when, own, latency, active) for own in range(len(when))]


def _nearness_of(when: F64, own: int, latency: float, active: int) -> F64:
    found = np.zeros(when.shape[1])
    lines = np.flatnonzero(np.isfinite(when[own]))
    if len(when) == 1 or not len(lines):
        return found
    mine = when[own][lines]
    before = (np.delete(when, own, 0)[:, lines] + latency < mine).mean(axis=0)
    order = np.argsort(mine, kind="stable")
    for stage in np.array_split(order, min(_STAGES, len(order))):
        found[lines[stage]] = 1.0 - (1.0 - before[stage].mean()) ** (active - 1)
    return found


_SECTOR = 32
_SLICE = 4  # lines
_ROUNDS = 3  # of resident blocks, to see at which pace a multiprocessor goes on
