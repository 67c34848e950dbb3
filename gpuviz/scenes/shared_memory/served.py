"""One load as its memory serves it, whatever the space: in passes, wavefronts or transactions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import I64, U64, Bool
from gpuviz.memory import constant
from gpuviz.memory.banks import schedule, wavefronts
from gpuviz.memory.coalescing import segments, transactions
from gpuviz.memory.transaction_names import counted, noun_of
from gpuviz.trace import LANES, MemoryInstruction, Requests, Trace

_WORD = 4


@dataclass(frozen=True, eq=False)
class Served:
    """A load of one word a lane.

    Attributes
    ----------
    instruction : what was executed
    word : (32,) element each lane reads, counted from where the table starts
    turn : (32,) pass, wavefront or transaction that serves it
    count, ideal : of them, and how few there could be; `counted` with its unit, `4 sectors`
    """

    instruction: MemoryInstruction
    word: I64
    turn: I64
    count: int
    ideal: int
    counted: str


def served(trace: Trace, arch: Architecture, rows: Requests, row: int) -> Served:
    """One row of recorded loads."""
    did, address, active = (
        trace.instructions[rows.instruction[row]],
        rows.address[row],
        rows.lanes(row),
    )
    waves = waves_of(arch, did, address, active)
    turn = np.zeros(LANES, np.int64)
    for number, lanes in enumerate(waves):
        turn[lanes] = number
    buffer = trace.launch.buffer_at(int(address[0])) if did.space == "global" else None
    first = buffer.address if buffer else 0
    word = (address.astype(np.int64) - first) // _WORD
    return Served(
        did,
        word,
        turn,
        len(waves),
        ideal_of(arch, did, address, active),
        counted(noun_of(arch, did.space), len(waves)),
    )


def waves_of(
    arch: Architecture, did: MemoryInstruction, address: U64, active: Bool
) -> tuple[I64, ...]:
    """The lanes that are served together, in order."""
    if did.space == "shared":
        return schedule(arch, address, active, did.width, did.op)
    if did.space == "constant":
        return constant.schedule(arch, address, active, did.width)
    return tuple(s.lanes for s in segments(arch, address, active, did.width, did.op, did.path))


def ideal_of(arch: Architecture, did: MemoryInstruction, address: U64, active: Bool) -> int:
    """Turns if the lanes asked for the same word (constant), or for words side by side."""
    one = address[None], active[None], did.width, did.op
    if did.space == "shared":
        return int(wavefronts(arch, *one).ideal[0])
    if did.space == "constant":
        return int(constant.passes(arch, np.zeros_like(one[0]), one[1], did.width)[0])
    return int(transactions(arch, *one, did.path).ideal[0])


def costs(trace: Trace, arch: Architecture, space: str) -> I64:
    """(B,) what each recorded block's load in a space takes, by block."""
    rows = trace.of(space=space, op="load", warp=0)
    rows = rows.select(np.asarray(np.argsort(rows.block, kind="stable"), np.int64))
    width = trace.instructions[rows.instruction[0]].width
    every = np.ones_like(rows.address, dtype=bool)
    count: dict[str, Callable[[], I64]] = {
        "shared": lambda: wavefronts(arch, rows.address, every, width).count,
        "constant": lambda: constant.passes(arch, rows.address, every, width),
    }
    if space in count:
        return count[space]()
    did = trace.instructions[rows.instruction[0]]
    found = [len(waves_of(arch, did, a, e)) for a, e in zip(rows.address, every, strict=True)]
    return np.array(found, np.int64)
