"""Which accesses are to blame for a count, and how the lanes of a warp lie there."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.memory.counts import Kind, kind_of
from gpuviz.memory.line_costs import AccessCost, LineCost, key_of, line_costs
from gpuviz.memory.operands import Operands
from gpuviz.run.run import Run
from gpuviz.traces.trace import MemoryInstruction, Trace, lane_mask

_MOST = 3  # places that are told
_SHOWN = 4  # lanes, before the last


@dataclass(frozen=True)
class Place:
    """A place of the source in words; `panel` is the picture that shows it, "" where none does."""

    line: int
    text: str
    panel: str


def places(
    run: Run, kinds: Collection[Kind], line: int = 0, operands: Operands | None = None
) -> tuple[Place, ...]:
    """The accesses of some kinds, of one line or of all, that are furthest beyond their ideal."""
    found = [
        (access.excess, of, access)
        for of in line_costs(run.trace, run.counts, operands)
        for access in of.accesses
        if kind_of(access.instruction) in kinds and line in (0, of.line) and access.excess > 0
    ]
    found.sort(key=lambda one: -one[0])
    arch = architecture(run.arch)
    return tuple(_place(run.trace, of, access, arch) for _, of, access in found[:_MOST])


def _place(trace: Trace, of: LineCost, access: AccessCost, arch: Architecture) -> Place:
    at = access.instruction
    name = access.operand.text if access.operand else at.text
    told = [
        f"line {of.line}: {of.text}",
        f"   {at.op} {name}: {access.requests:,} requests, {access.cost:,} {access.unit}, ideal "
        f"{access.ideal:,}",
        f"   {access.reason.said}",
        *lanes(trace, at, arch),
    ]
    return Place(of.line, "\n".join(told), "banks" if at.space == "shared" else "coalescing")


def lanes(trace: Trace, at: MemoryInstruction, arch: Architecture) -> list[str]:
    """Where the lanes of the first recorded request of an instruction lie."""
    same = [n for n, one in enumerate(trace.instructions) if key_of(one) == key_of(at)]
    rows = np.flatnonzero(np.isin(trace.requests.instruction, same) & (trace.requests.active != 0))
    if not len(rows):
        return []
    row = rows[0]
    on = np.flatnonzero(lane_mask(trace.requests.active[row : row + 1])[0])
    address = trace.requests.address[row, on].astype(np.int64)
    told = f"   lanes {_some(on)} at bytes {_some(address - address.min())}"
    if at.space == "shared":
        told += f", banks {_some(address // arch.bank_widths[0] % arch.banks)}"
    return [told]


def _some(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    """`0, 128, 256, 384, … 3,968`."""
    said = [f"{n:,}" for n in values]
    return ", ".join(said if len(said) <= _SHOWN + 2 else [*said[:_SHOWN], f"… {said[-1]}"])
