"""One load or store as its memory serves it, whatever the space: in passes, wavefronts, sectors."""

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory import banks, coalescing
from gpuviz.memory.other_spaces import constant_passes, constant_schedule
from gpuviz.memory.units import counted, noun_of
from gpuviz.traces.trace import LANES, MemoryInstruction, Requests, Trace


@dataclass(frozen=True, eq=False)
class ServedRequest:
    """A request, and the turns that its lanes are served in."""

    instruction: MemoryInstruction  # what was executed
    # address, active: (32,) where the lanes ask, and those that take part.
    address: I64
    active: Bool
    turns: tuple[I64, ...]  # lanes served by each pass, wavefront or transaction, in order
    ideal: int  # how few turns there could be
    noun: str  # what they are called, a word of `units`

    @property
    def count(self) -> int:
        """Turns."""
        return len(self.turns)

    @property
    def turn(self) -> I64:
        """(32,) the turn that serves each lane, the last one where these are several."""
        found = np.zeros(LANES, np.int64)
        for number, lanes in enumerate(self.turns):
            found[lanes] = number
        return found

    @property
    def counted(self) -> str:
        """`4 sectors`."""
        return counted(self.noun, self.count)


def served(trace: Trace, arch: Architecture, rows: Requests, row: int) -> ServedRequest:
    """One row of recorded requests."""
    did, address = trace.instructions[rows.instruction[row]], rows.address[row]
    active = rows.lanes(row)
    return ServedRequest(
        did,
        address.astype(np.int64),
        active,
        _turns(arch, did, address, active),
        _ideal(arch, did, address, active),
        noun_of(arch, did.space),
    )


def _turns(
    arch: Architecture, did: MemoryInstruction, address: U64, active: Bool
) -> tuple[I64, ...]:
    """The lanes that are served together, in order."""
    if did.space == "shared":
        return banks.schedule(arch, address, active, did.width, did.op)
    if did.space == "constant":
        return constant_schedule(arch, address, active, did.width)
    parts = coalescing.segments(arch, address, active, did.width, did.op, did.path)
    return tuple(part.lanes for part in parts)


def _ideal(arch: Architecture, did: MemoryInstruction, address: U64, active: Bool) -> int:
    """Turns if the lanes asked for the same word (constant), or for words side by side."""
    one = address[None], active[None], did.width
    if did.space == "shared":
        return int(banks.wavefronts(arch, *one, did.op).ideal[0])
    if did.space == "constant":
        return int(constant_passes(arch, np.zeros_like(one[0]), *one[1:])[0])
    return int(coalescing.transactions(arch, *one, did.op, did.path).ideal[0])
