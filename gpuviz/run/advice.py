"""What to change of a launch: what is wrong with it, and what it would take without that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpuviz.base.arrays import I32, Bool
from gpuviz.launch.job import Job
from gpuviz.memory.line_costs import AccessCost, line_costs
from gpuviz.memory.operands import operands_of
from gpuviz.run.run import Run
from gpuviz.timing.explanation import Advice, Explanation, mended, simulated
from gpuviz.timing.multiprocessor import Work
from gpuviz.timing.schedule import Kind
from gpuviz.timing.warp_states import State
from gpuviz.words.language import fine_percent, percent, tr, trn

_MOST = 4  # accesses that are tried
_GAIN = 0.95  # of the cycles that are left: less is not worth a word
_IDLE = 0.1  # of the lanes
_ALONE = 2  # lanes of a warp that is split
_WAIT = 0.15  # of a warp's time, at barriers
_FEW = 8  # warps of a multiprocessor
_SECTORS = 4  # of a line
_SPILLED = 0.02  # of all instructions
_FREE = ("spilled", "local", "again")  # what would not be asked for at all


def advice(e: Explanation, run: Run, job: Job) -> tuple[Advice, ...]:
    """Findings of a launch that was explained, `run` being a run of it in which some blocks were
    recorded with their paths: too small a launch first, then what gains most.
    """
    groups: dict[tuple[str, str, int], list[AccessCost]] = {}
    for access in _wrong(run, job):
        name = access.operand.array if access.operand else access.instruction.op
        groups.setdefault((access.reason.kind, name, access.instruction.line), []).append(access)
    dearest = sorted(groups.values(), key=lambda group: -sum(one.cycles for one in group))[:_MOST]
    found = [_of_accesses(e, group) for group in dearest]
    found += [one for one in (_barrier(e), _divergence(e, run), _spilled(e)) if one]
    found.sort(key=lambda one: one.cycles if one.cycles is not None else e.limits.cycles)
    worth = [one for one in found if one.cycles is None or one.cycles < _GAIN * e.limits.cycles]
    few = None if "grid" in job.guesses else _few(e, run)  # a proposal is nobody's grid
    return (*((few,) if few else ()), *(worth or found[:1]))


def _wrong(run: Run, job: Job) -> Iterator[AccessCost]:
    for line in line_costs(run.trace, run.counts, operands_of(job.program)):
        yield from (one for one in line.accesses if one.wasteful)


def _of_accesses(e: Explanation, group: Sequence[AccessCost]) -> Advice:
    """Accesses of one array in one line, and the launch with their bytes side by side."""
    worst, work = max(group, key=lambda one: one.cost), e.prediction.work
    for one in group:
        rows = {copy.instruction.ptx_line for copy in one.copies or (one,)}
        work = _mended(work, rows, one)
    names = dict.fromkeys(
        one.operand.text if one.operand else one.instruction.text for one in group
    )
    after = simulated(e.prediction, work).cycles if work is not e.prediction.work else None
    why, line = worst.reason, worst.instruction.line
    return Advice(why.kind, line, ", ".join(names), why.said, why.lesson, after)


def _mended(work: Work, ptx_lines: set[int], one: AccessCost) -> Work:
    """The work with some instructions' requests as they could be.

    All lines that they ask for are asked for still, as far as so many are needed: in order, and by
    each request as few as its bytes fill.
    """
    traffic, asks = work.traffic, np.isin(work.code.ptx_line, list(ptx_lines))
    mine = _requests(work, asks & (work.code.asks == 1))
    if not len(mine):
        return work
    shared = one.instruction.space == "shared"
    wide = max(round(one.ideal / max(one.requests, 1) / (1 if shared else _SECTORS)), 1)
    turns = traffic.turns.copy()
    turns[mine] = np.minimum(turns[mine], wide)
    if shared or one.reason.kind == "atomic":
        return replace(work, traffic=replace(traffic, turns=turns))
    many = np.diff(traffic.first)
    every = np.concatenate([np.arange(*traffic.first[q : q + 2]) for q in mine.tolist()])
    known, where = np.unique(traffic.line[every], return_index=True)
    kept = np.full(len(mine), 0 if one.reason.kind in _FREE else wide)
    many[mine] = kept
    first = np.concatenate([[0], np.cumsum(many)])
    row = np.repeat(traffic.first[:-1] - first[:-1], many) + np.arange(first[-1])
    places = np.concatenate([np.arange(first[q], first[q + 1]) for q in mine.tolist()])
    row[places] = every[where[np.arange(len(places)) * len(known) // max(len(places), 1)]]
    mask, partial = traffic.mask[row], traffic.partial[row]
    mask[places], partial[places] = 2**_SECTORS - 1, 0
    lines: dict[str, Any] = {"first": first.astype(np.int64), "line": traffic.line[row]}
    return replace(work, traffic=replace(traffic, turns=turns, mask=mask, partial=partial, **lines))


def _requests(work: Work, wanted: Bool) -> I32:
    """The requests that some instructions make, in order."""
    streams, traffic, asks = work.streams, work.traffic, work.code.asks == 1
    found = [np.zeros(0, np.int32)]
    for key, stream in streams.of.items():
        code = streams.code[streams.start[stream] : streams.start[stream + 1]]
        code = code[asks[code]]
        made = traffic.made[traffic.start[key] : traffic.start[key] + len(code)]
        found.append(made[wanted[code] & (made >= 0)])
    return np.unique(np.concatenate(found))


def _few(e: Explanation, run: Run) -> Advice | None:
    """Too few blocks for the device, or too few warps to hide what each waits for."""
    launch, places = run.trace.launch, e.prediction.device.multiprocessors
    blocks = min(e.prediction.circumstances.resident, -(-launch.blocks // places))
    warps = blocks * launch.warps_per_block
    if launch.blocks < places:
        said = trn(
            "{n} block occupies one of {places} multiprocessors: make it more blocks.",
            "{n} blocks occupy {n} of {places} multiprocessors: make them more blocks.",
            launch.blocks,
            places=places,
        )
        return Advice("small", 0, "", said, "chip")
    if warps > _FEW or e.reason is None:
        return None
    said = trn(
        "{n} warp at a time on a multiprocessor: while it waits, nothing else is there to do.",
        "{n} warps at a time on a multiprocessor: while all wait, nothing else is there to do.",
        warps,
    )
    return Advice("few", 0, "", said, "occupancy")


def _barrier(e: Explanation) -> Advice | None:
    share = e.waits.get(State.BARRIER, 0.0)
    if share < _WAIT:
        return None
    said = tr("Warps wait for others at barriers, {share} of their time.", share=percent(share))
    code = e.prediction.work.code
    waited = np.where(code.kind == Kind.BARRIER, e.prediction.outcome.waited, 0.0)
    line = int(code.line[int(waited.argmax())])
    after = mended(e.prediction, "barrier").cycles
    return Advice("barrier", line, "", said, "matmul-barrier", after)


def _divergence(e: Explanation, run: Run) -> Advice | None:
    """Lanes for which instructions are issued though they take no part, at the worst branch."""
    path, stretches = run.trace.path, run.trace.stretches
    parted = [one for one in run.trace.branches if one.divergent]
    if path is None or not parted or not len(path.stretch):
        return None
    count = np.array([one.count for one in stretches])[path.stretch]
    active = np.bitwise_count(path.active).astype(np.int64)
    whole = np.minimum(32, run.trace.launch.threads_per_block - 32 * path.warp)
    idle = float(((whole - active) * count).sum() / (whole * count).sum())
    worst = max(parted, key=lambda one: one.divergent)
    if idle < _IDLE:
        return None
    parts = (active < whole) & (active > 0)
    alone = float(np.average(active[parts], weights=count[parts])) if parts.any() else 32.0
    if alone < _ALONE:
        said = tr(
            "One lane works while the others of its warp wait, {idle} of all lanes issued for: "
            "share the work among them.",
            idle=percent(idle),
        )
        return Advice("divergence", worst.line, "", said, "divergence")
    said = tr(
        "Lanes of a warp go both ways, in {share} of its passes: {idle} of all lanes issued for "
        "do nothing. Let whole warps decide alike.",
        share=fine_percent(worst.divergent / worst.warps),
        idle=percent(idle),
    )
    return Advice("divergence", worst.line, "", said, "divergence")


def _spilled(e: Explanation) -> Advice | None:
    """Registers that were short, where that is more than a little of what is issued."""
    issued = np.where([one.spill for one in e.prediction.code], e.prediction.outcome.issued, 0.0)
    share = float(issued.sum() / max(float(e.prediction.outcome.issued.sum()), 1.0))
    if share < _SPILLED:
        return None
    said = tr(
        "Registers are short: {share} of all instructions put values into local memory and back.",
        share=percent(share),
    )
    line = e.prediction.code[int(issued.argmax())].line
    return Advice("spilled", line, "", said, "occupancy")
