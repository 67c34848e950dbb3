"""Shared atomics: what the banks make of read-modify-write, by the way it is carried out.

The ways, as the assembler chooses them (read from its code for 7.5 to 12.0), with the wavefronts an
H200 counted for single warps (l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom):

increment  ATOMS.POPC.INC, from 8.0 on, for adding the constant 1 without using the result: lanes at
           one address are counted together, so words collide as in a load
unit       ATOMS.ADD, .MIN, .AND, .EXCH ...: lanes take turns at a bank, also at the same address
compare    ATOMS.CAS: as a unit, and each turn takes two wavefronts
loop       all that the unit lacks (float and 64-bit adds ...): a load, then ATOMS.CAST.SPIN, until
           all lanes have had their turn; each turn serves the lowest waiting lane of every bank,
           and a lane whose word another lane has just changed goes round again
lock       before 5.0 each atomic locks its word, which is not modelled: it counts as one access

Not modelled: turns lost to other warps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arch.facts import Atomics
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.banks import Wavefronts, wavefronts
from gpuviz.memory.lanes import any_active, busiest, grouped, lower_alike, summed

Way = Literal["increment", "unit", "compare", "loop", "lock"]
_BANKS = 32
_UNIT_OPS = frozenset({"add", "inc", "dec", "min", "max", "and", "or", "xor", "exch"})
_INTEGERS = frozenset({"u32", "s32", "b32"})


@dataclass(frozen=True, eq=False)
class Turns:
    """What N atomic requests become; all arrays (N,) int64.

    `requests` and `wavefronts` of the atomic instruction itself, `ideal` without collisions;
    `load_requests` and `load_wavefronts` of the loads in front of it in a loop.
    """

    requests: I64
    wavefronts: I64
    ideal: I64
    load_requests: I64
    load_wavefronts: I64


def way_of(form: str, arch: Architecture) -> Way:
    """How an atomic is carried out; `form` is its PTX operation and type ("add.u32").

    "increment.u32" is an add of the constant 1 (or inc without limit) whose result nobody uses.
    What is not known ("") counts as a unit.
    """
    today = _today(form)
    return _WAYS[arch.atomics].get(today, today)


def _today(form: str) -> Way:
    """The way of the newest architectures."""
    operation, _, kind = form.partition(".")
    if operation == "increment":
        return "increment"
    if operation == "cas":
        return "compare"
    if operation in ("", "exch") or (operation in _UNIT_OPS and kind in _INTEGERS):
        return "unit"
    return "loop"


# What architectures do in place of the ways of the newest.
_WAYS: dict[Atomics, dict[Way, Way]] = {
    "locked": {"increment": "lock", "unit": "lock", "compare": "lock", "loop": "lock"},
    "unit": {"increment": "unit"},
    "counted": {},
}


def serves_at_once(form: str, arch: Architecture) -> bool:
    """Whether lanes that want the same word are served together, as by a load."""
    return _COSTS[way_of(form, arch)] is _as_load


def turns(arch: Architecture, form: str, address: U64, active: Bool, width: int) -> Turns:
    """What N shared atomics cost: (N, 32) addresses and active lanes, `width` bytes a lane."""
    return _COSTS[way_of(form, arch)](arch, address, active, width)


def _as_load(arch: Architecture, address: U64, active: Bool, width: int) -> Turns:
    return _without_loads(active, wavefronts(arch, address, active, width, "atomic"))


def _in_unit(arch: Architecture, address: U64, active: Bool, width: int) -> Turns:
    return _without_loads(active, _unit(address, active, width, 1))


def _compare(arch: Architecture, address: U64, active: Bool, width: int) -> Turns:
    return _without_loads(active, _unit(address, active, width, 2))


def _without_loads(active: Bool, served: Wavefronts) -> Turns:
    requests = any_active(active)
    nothing = np.zeros_like(requests)
    return Turns(requests, served.count, served.ideal, nothing, nothing)


def _groups(width: int) -> int:
    return max(1, width // 4)


def _unit(address: U64, active: Bool, width: int, each: int) -> Wavefronts:
    """Lanes take turns at a bank: as many as want the busiest one, in each group."""
    parts = _groups(width)
    bank, banks = _bank(address, width)
    crowd = busiest(grouped(bank, parts), grouped(active, parts), banks)
    return Wavefronts(each * summed(crowd, parts), each * any_active(active, parts))


def _bank(address: U64, width: int) -> tuple[I64, int]:
    """(N, 32) bank of each lane; 64-bit accesses take pairs of banks."""
    banks = _BANKS // _groups(width)
    return (address // np.uint64(max(width, 4))).astype(np.int64) % banks, banks


def _loop(arch: Architecture, address: U64, active: Bool, width: int) -> Turns:
    """Round after round: load, try, and drop the lanes that succeeded."""
    parts = _groups(width)
    bank, banks = _bank(address, width)
    waiting = active.copy()
    rounds = np.zeros(len(address), np.int64)
    tries, loads = rounds.copy(), rounds.copy()
    ideal = 2 * any_active(active, parts)
    while waiting.any():
        rounds += waiting.any(axis=1)
        tries += 2 * any_active(waiting, parts)
        loads += wavefronts(arch, address, waiting, width, "load").count
        waiting &= ~_winners(address, bank, waiting, parts, banks)
    return Turns(rounds, tries, ideal, rounds, loads)


def _winners(address: U64, bank: I64, waiting: Bool, parts: int, banks: int) -> Bool:
    """(N, 32): the lowest waiting lane of every bank in each group, unless an earlier group's
    winner has just changed its word."""
    group = np.arange(32) // (32 // parts)
    winner = waiting & (lower_alike(bank + group * banks, waiting) == 0)
    return np.asarray(winner & (lower_alike(address, winner) == 0))


_COSTS: dict[Way, Callable[[Architecture, U64, Bool, int], Turns]] = {
    "increment": _as_load,
    "unit": _in_unit,
    "compare": _compare,
    "loop": _loop,
    "lock": _as_load,
}
