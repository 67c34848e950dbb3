"""What each request counts, by `gpuviz.memory.counts`.

On architectures before 5.0 "sectors" are the architecture's own transactions (see `coalescing`). A
load through the read-only path counts in global_load_* and in texture_load_*, as it does on the
hardware. cp.async counts in global_load_* too, beside its own `global_copy_*` and `shared_copy_*`.
Past L1 (cp.async.cg) what it does there depends on both sides (see `other_spaces`).
A reduction in shared memory counts as an atomic there; one that is carried out in a loop counts the
loads of the loop in shared_load_* (see `atomics`).
"""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.atomics import turns
from gpuviz.memory.banks import Wavefronts, matrix_wavefronts, wavefronts
from gpuviz.memory.coalescing import Transactions, transactions
from gpuviz.memory.counts import PART_OF, Count, Kind, Quantity, counts_of, kind_of, of_kind
from gpuviz.memory.lanes import any_active, bytes_asked
from gpuviz.memory.other_spaces import constant_passes, copy_wavefronts, local_transactions, past_l1
from gpuviz.traces.trace import MATRICES, MemoryInstruction, Space

_PAST_L1: tuple[Count, ...] = (Count.GLOBAL_LOAD_SECTORS, Count.GLOBAL_LOAD_LINES)
LOADS_OF_LOOP: tuple[Count, ...] = (Count.SHARED_LOAD_REQUESTS, Count.SHARED_LOAD_WAVEFRONTS)


def _also(kind: Kind, path: str) -> tuple[Kind, ...]:
    """Other kinds that accesses of a kind count in: what they are part of, the read-only path."""
    whole = (PART_OF[kind],) if kind in PART_OF else ()
    return (*whole, ("texture", "load")) if path == "nc" and kind == ("global", "load") else whole


def counted(instruction: MemoryInstruction) -> tuple[Count, ...]:
    """What an instruction counts, its own first."""
    return _counted(kind_of(instruction), instruction.path)


@cache
def _counted(kind: Kind, path: str) -> tuple[Count, ...]:
    also = (count for other in _also(kind, path) for count in counts_of(other))
    if path == "cg":  # where they go matters, too: the side that knows it counts them
        also = (count for count in also if count not in _PAST_L1)
        return (*counts_of(kind), *also, *(_PAST_L1 if kind[0] == "shared" else ()))
    loop = LOADS_OF_LOOP if kind == ("shared", "atomic") else ()
    return (*counts_of(kind), *also, *loop)


def columns(instruction: MemoryInstruction, found: Mapping[Count, I64]) -> I64:
    """(N, K) the counts of N requests in the order of `counted`."""
    return np.stack([found[key] for key in counted(instruction)], axis=1)


def measure(
    arch: Architecture, instruction: MemoryInstruction, address: U64, active: Bool
) -> dict[Count, I64]:
    """(N,) what each of N requests counts under every key of `counted`."""
    kind = kind_of(instruction)
    if kind == ("shared", "atomic"):
        return _of_atomics(arch, instruction, address, active)
    found = _MEASURES[instruction.space](arch, instruction, address, active)
    return of_kind(kind, found) | {
        count: n
        for other in _also(kind, instruction.path)
        for count, n in of_kind(other, found).items()
    }


Found = dict[Quantity, I64]


def _of_global(
    arch: Architecture, instruction: MemoryInstruction, address: U64, active: Bool
) -> Found:
    width, op, path = instruction.width, instruction.op, instruction.path
    moved = transactions(arch, address, active, width, op, path)
    return _of_transactions(any_active(active), moved, active, width)


def _of_local(
    arch: Architecture, instruction: MemoryInstruction, address: U64, active: Bool
) -> Found:
    width = instruction.width
    requests = any_active(active) * max(1, width // 4)  # a word is one: measured on an H200
    moved = local_transactions(arch, address, active, width, instruction.op)
    return _of_transactions(requests, moved, active, width)


def _of_transactions(requests: I64, moved: Transactions, active: Bool, width: int) -> Found:
    return {
        "requests": requests,
        "sectors": moved.count,
        "lines": moved.lines,
        "sectors_ideal": moved.ideal,
        "bytes": bytes_asked(active, width),
    }


def _of_banks(
    arch: Architecture, instruction: MemoryInstruction, address: U64, active: Bool
) -> Found:
    if instruction.form == MATRICES:
        return _of_wavefronts(active, matrix_wavefronts(arch, address, active))
    served = wavefronts(arch, address, active, instruction.width, instruction.op)
    return _of_wavefronts(active, served)


def _of_wavefronts(active: Bool, served: Wavefronts) -> Found:
    return {
        "requests": any_active(active),
        "wavefronts": served.count,
        "wavefronts_ideal": served.ideal,
    }


def _of_constants(
    arch: Architecture, instruction: MemoryInstruction, address: U64, active: Bool
) -> Found:
    requests = any_active(active)
    turns = constant_passes(arch, address, active, instruction.width)
    return {"requests": requests, "wavefronts": turns, "replays": turns - requests}


_MEASURES: dict[Space, Callable[[Architecture, MemoryInstruction, U64, Bool], Found]] = {
    "global": _of_global,
    "local": _of_local,
    "shared": _of_banks,
    "constant": _of_constants,
}


def _of_atomics(
    arch: Architecture, instruction: MemoryInstruction, address: U64, active: Bool
) -> dict[Count, I64]:
    """Shared atomics, and the loads of those that are carried out in a loop."""
    found = turns(arch, instruction.form, address, active, instruction.width)
    return {
        Count.SHARED_ATOMIC_REQUESTS: found.requests,
        Count.SHARED_ATOMIC_WAVEFRONTS: found.wavefronts,
        Count.SHARED_ATOMIC_WAVEFRONTS_IDEAL: found.ideal,
        Count.SHARED_LOAD_REQUESTS: found.load_requests,
        Count.SHARED_LOAD_WAVEFRONTS: found.load_wavefronts,
    }


def copied(
    instruction: MemoryInstruction, target: U64, source: U64, active: Bool | None
) -> dict[Count, I64]:
    """(N,) what each of N copies into shared memory counts there, and past L1."""
    on, width = np.ones(target.shape, bool) if active is None else active, instruction.width
    found = of_kind(
        ("shared", "copy"), _of_wavefronts(on, copy_wavefronts(target, source, on, width))
    )
    if instruction.path == "cg":
        found |= zip(_PAST_L1, past_l1(target, source, on), strict=True)
    return found
