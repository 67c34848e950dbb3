"""How the lanes of an instruction's requests lie: how far from one lane to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.traces.trace import MemoryInstruction, Requests, Trace, lane_mask

_SAMPLE = 64  # requests looked at
_MOSTLY = 0.6  # of the steps are alike


@dataclass(frozen=True)
class LaneSteps:
    """Of the requests of one instruction, as far as they were recorded.

    `step` is how many bytes lie from one active lane to the next, None where that differs;
    `first` the address of the first active lane; `same` how many lanes at most want one address.
    """

    step: int | None
    first: int
    same: int


def steps_of(trace: Trace) -> dict[tuple[int, str], LaneSteps]:
    """By pc and space, for the instructions of which there are recorded requests with a lane."""
    of = trace.requests.instruction
    order = np.argsort(of, kind="stable").astype(np.int64)
    ends = np.searchsorted(of[order], np.arange(len(trace.instructions) + 1))
    found: dict[tuple[int, str], LaneSteps] = {}
    for number, instruction in enumerate(trace.instructions):
        rows = order[ends[number] : ends[number + 1]][:_SAMPLE]
        if len(rows) and key_of(instruction) not in found:
            steps = _steps(trace.requests.select(rows))
            if steps is not None:
                found[key_of(instruction)] = steps
    return found


def key_of(instruction: MemoryInstruction) -> tuple[int, str]:
    """What tells instructions apart: a copy has two sides, in two spaces."""
    return instruction.pc, instruction.space


def _steps(rows: Requests) -> LaneSteps | None:
    active = lane_mask(rows.active)
    if not active.any():
        return None
    address = rows.address.astype(np.int64)
    row = int(active.any(axis=1).argmax())
    first = int(address[row, active[row].argmax()])
    return LaneSteps(_step(address, active), first, _same(address, active))


def _step(address: I64, active: Bool) -> int | None:
    """The step that most lanes are from the one before."""
    both = active[:, 1:] & active[:, :-1]
    steps, counts = np.unique(np.diff(address, axis=1)[both], return_counts=True)
    if not len(steps) or counts.max() < _MOSTLY * counts.sum():
        return None
    return int(steps[counts.argmax()])


def _same(address: I64, active: Bool) -> int:
    """How many lanes of one request want the same address, at most."""
    return max(
        (
            int(np.unique(a[on], return_counts=True)[1].max())
            for a, on in zip(address, active, strict=True)
            if on.any()
        ),
        default=0,
    )
