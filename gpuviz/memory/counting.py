"""Counts of a launch, summed up while it runs: requests, sectors, lines and wavefronts.

Keys are `<space>_<op>_<quantity>` ("global_load_sectors"); `KEYS` lists them all. On architectures
before 5.0 "sectors" are the architecture's own transactions (see `coalescing`). A load through the
read-only path counts in global_load_* and in texture_load_*, as it does on the hardware. cp.async
counts in global_load_* too, beside its own `global_copy_*` and `shared_copy_*`. A reduction in
shared memory counts as an atomic there; one that is carried out in a loop counts the loads of the
loop in shared_load_* (see `atomics`). Requests without an active lane count nothing, as in Nsight
Compute's l1tex counters (smsp__inst_executed counts them). The tag counter of Nsight Compute that
ignores requests whose lane 0 is predicated off is not imitated. Cache hits are not modelled:
l2_load_sectors_least and _most bound the sectors that loads ask of L2; they agree when nothing is
loaded twice (`footprint`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import I64, U64, Bool
from gpuviz.memory.atomics import turns
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.coalescing import transactions
from gpuviz.memory.constant import passes
from gpuviz.memory.copies import copy_wavefronts
from gpuviz.memory.footprint import Footprint
from gpuviz.memory.lanes import bytes_asked
from gpuviz.memory.local import local_transactions
from gpuviz.memory.patterns import Patterns, representatives
from gpuviz.trace import Access, MemoryInstruction, Op

Quantities = tuple[str, ...]
_SECTORS: Quantities = ("requests", "sectors", "lines", "sectors_ideal", "bytes")
_BANKS: Quantities = ("requests", "wavefronts", "wavefronts_ideal")
_CONSTANT: Quantities = ("requests", "wavefronts")

_TABLE: dict[str, tuple[tuple[str, ...], Quantities]] = {
    "global": (("load", "store", "atomic", "reduction", "copy"), _SECTORS),
    "texture": (("load",), _SECTORS),
    "local": (("load", "store"), _SECTORS),
    "shared": (("load", "store", "atomic", "copy"), _BANKS),
    "constant": (("load",), _CONSTANT),
}
_NOTHING: I64 = np.zeros(0, np.int64)
KEYS = (
    *(f"{s}_{op}_{q}" for s, (ops, qs) in _TABLE.items() for op in ops for q in qs),
    "l2_load_sectors_least",
    "l2_load_sectors_most",
)


@dataclass(frozen=True)
class CountRow:
    """What one memory instruction counted in the whole launch; only the keys it can count."""

    instruction: MemoryInstruction
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Counts:
    """What a launch counted, one row for each memory instruction executed, in program order."""

    rows: tuple[CountRow, ...] = ()
    distinct_load_sectors: int = 0

    @property
    def totals(self) -> dict[str, int]:
        """Sums over all instructions; every key of `KEYS`, 0 where the launch did nothing such."""
        totals = dict.fromkeys(KEYS, 0)
        for row in self.rows:
            for key, value in row.counts.items():
                totals[key] += value
        totals["l2_load_sectors_least"] = self.distinct_load_sectors
        totals["l2_load_sectors_most"] = totals["global_load_sectors"]
        return totals

    @property
    def streams(self) -> bool:
        """Whether no sector is loaded twice, so that L2 is asked for exactly these sectors."""
        totals = self.totals
        return totals["l2_load_sectors_least"] == totals["l2_load_sectors_most"]


def _everything(instruction: MemoryInstruction) -> bool:
    return True


class Counter:
    """Counts every access of a launch for one architecture; a `gpuviz.trace.Sink`.

    `keep` chooses the instructions that count. Rows that look alike are counted once (see
    `gpuviz.memory.patterns`), so that regular kernels cost microseconds a call. Not thread-safe.
    """

    def __init__(
        self, arch: Architecture, keep: Callable[[MemoryInstruction], bool] = _everything
    ) -> None:
        self.arch = arch
        self._keep = keep
        self._sums: dict[MemoryInstruction, I64] = {}
        self._known = Patterns()
        self._footprint = Footprint()
        self._last: dict[MemoryInstruction, tuple[Access, I64]] = {}

    def access(self, access: Access) -> None:
        """Count the N requests of one access, each `access.repeat` times."""
        instruction = access.instruction
        if len(access.address) and self._keep(instruction):
            last, found = self._last.get(instruction, (None, _NOTHING))
            if last is not access:  # a loop that reads the same addresses hands in the same record
                found = self._found(access) * access.repeat
                self._last[instruction] = access, found
                if instruction.space == "global" and instruction.op in ("load", "copy"):
                    self._footprint.mark(access)
            known = self._sums.get(instruction)
            self._sums[instruction] = found if known is None else known + found

    def result(self) -> Counts:
        """The counts so far; counting may go on afterwards."""
        ordered = sorted(self._sums, key=lambda i: (i.pc, i.function, i.space))
        rows = tuple(CountRow(i, _named(i, self._sums[i])) for i in ordered)
        return Counts(rows, self._footprint.sectors)

    def _found(self, access: Access) -> I64:
        if access.source is not None:
            found = copy_wavefronts(
                access.address, access.source, access.active, access.instruction.width
            )
            return np.asarray(found.sum(axis=0), dtype=np.int64)
        return self._tally(access.instruction, access.address, access.active)

    def _tally(self, instruction: MemoryInstruction, address: U64, active: Bool | None) -> I64:
        """(Q,) sums over all rows of each quantity."""
        rows = representatives(address, active, _PERIOD[instruction.space])
        kind = (
            instruction.space,
            instruction.op,
            instruction.width,
            instruction.path,
            instruction.form,
        )
        counts = self._known.recall(
            kind, rows, lambda: measure(self.arch, instruction, rows.address, rows.active)
        )
        return np.asarray(rows.weight @ counts, dtype=np.int64)


# Counts stay the same when all addresses move by this many bytes, on every architecture: a line;
# 64 words, as banks are told apart over at most that (3.x); the widest constant; a local word.
_PERIOD = {"global": 128, "shared": 256, "constant": 16, "local": 4}


def measure(arch: Architecture, instruction: MemoryInstruction, address: U64, active: Bool) -> I64:
    """(N, Q) quantities of each of N requests, in the order of the instruction's space."""
    width = instruction.width
    requests = active.any(axis=1).astype(np.int64)
    if instruction.space == "shared" and instruction.op in ("atomic", "reduction"):
        found = turns(arch, instruction.form, address, active, width)
        return np.stack(
            [
                found.requests,
                found.wavefronts,
                found.ideal,
                found.load_requests,
                found.load_wavefronts,
            ],
            axis=1,
        )
    if instruction.space == "shared":
        served = wavefronts(arch, address, active, width, instruction.op)
        return np.stack([requests, served.count, served.ideal], axis=1)
    if instruction.space == "constant":
        return np.stack([requests, passes(arch, address, active, width)], axis=1)
    if instruction.space == "local":
        requests *= max(1, width // 4)  # each 32-bit word is one: measured on an H200
        moved = local_transactions(arch, address, active, width, instruction.op)
    else:
        moved = transactions(arch, address, active, width, instruction.op, instruction.path)
    asked = bytes_asked(active, width)
    return np.stack([requests, moved.count, moved.lines, moved.ideal, asked], axis=1)


def _named(instruction: MemoryInstruction, sums: I64) -> dict[str, int]:
    """The sums of one instruction under their keys."""
    _, quantities = _TABLE[instruction.space]
    values = [int(v) for v in sums]
    named = {
        f"{prefix}_{q}": v
        for prefix in _prefixes(instruction)
        for q, v in zip(quantities, values, strict=False)
    }
    if len(values) > len(quantities) and values[-1]:  # the loads of an atomic's loop
        named |= dict(zip(_LOADS_OF_LOOP, values[len(quantities) :], strict=True))
    return named


_LOADS_OF_LOOP = ("shared_load_requests", "shared_load_wavefronts")
_ALSO = {"global_copy": "global_load"}


def _prefixes(instruction: MemoryInstruction) -> tuple[str, ...]:
    """The space and op an instruction counts under; two for the read-only path."""
    op: Op = instruction.op
    if instruction.space == "shared" and op == "reduction":
        op = "atomic"
    own = f"{instruction.space}_{op}"
    if own == "global_load" and instruction.path == "nc":
        return own, "texture_load"
    return (own, _ALSO[own]) if own in _ALSO else (own,)
