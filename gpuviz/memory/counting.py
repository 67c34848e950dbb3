"""Counts of a launch, summed up while it runs: requests, sectors, lines and wavefronts.

Requests without an active lane count nothing, as in Nsight Compute's l1tex counters
(smsp__inst_executed counts them). The tag counter of Nsight Compute that ignores requests whose
lane 0 is predicated off is not imitated. Cache hits are not modelled: l2_load_sectors_least and
_most bound the sectors that loads ask of L2; they agree when nothing is loaded twice (`Footprint`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.counts import Count, kind_of, requests_of
from gpuviz.memory.request_counts import LOADS_OF_LOOP, columns, copied, counted, measure
from gpuviz.traces.observe import Access, Report, Sums, relative_to_first
from gpuviz.traces.trace import LANES, Launch, MemoryInstruction

SECTOR_BITS = 5
_PAGE_BITS = 20  # sectors of one page: 32 MiB of memory
_PAGES = 1024  # more are of addresses that are astray


class Footprint:
    """A bit for each sector loaded so far, in pages that appear when first touched.

    Every sector a request loads is looked up in L1. What L1 holds already is not asked of L2; how
    much that is depends on when blocks run and where: cache hits are not modelled. But two numbers
    bound it. At least every distinct sector comes from L2 once; at most every sector of every
    request does. Where both agree the launch *streams* (nothing is loaded twice) and the number of
    sectors requested from L2 is exact (l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld on the
    hardware).
    """

    def __init__(self) -> None:
        self._pages: dict[int, Bool] = {}

    def mark(self, access: Access) -> None:
        """Note the sectors of a global load; accesses are aligned, so each touches one sector."""
        address = access.address if access.active is None else access.address[access.active]
        sector = (address.reshape(-1) >> np.uint64(SECTOR_BITS)).astype(np.int64)
        if not sector.size:
            return
        first, last = int(sector.min()) >> _PAGE_BITS, int(sector.max()) >> _PAGE_BITS
        page = None if first == last else sector >> _PAGE_BITS
        for number in (first,) if page is None else np.unique(page).tolist():
            if number not in self._pages:
                if len(self._pages) == _PAGES:
                    continue
                self._pages[number] = np.zeros(1 << _PAGE_BITS, bool)
            mine = sector if page is None else sector[page == number]
            self._pages[number][mine & (1 << _PAGE_BITS) - 1] = True

    def copy(self) -> Footprint:
        """A footprint with the same sectors."""
        other = Footprint()
        other._pages = {number: page.copy() for number, page in self._pages.items()}
        return other

    @property
    def sectors(self) -> int:
        """Number of distinct sectors loaded."""
        return sum(int(np.count_nonzero(page)) for page in self._pages.values())

    @property
    def pairs(self) -> int:
        """Number of distinct pairs of sectors loaded: memory is read 64 bytes at a time (H200)."""
        pages = self._pages.values()
        return sum(int(np.count_nonzero(page[::2] | page[1::2])) for page in pages)


# --- requests that look alike --------------------------------------------------------------------
#
# They are counted once. Two look alike when their lanes are equally active, their addresses differ
# by a constant, and the constant is a multiple of a period over which nothing that is counted
# changes. Alike is exact: rows are compared, hashes only find candidates.

_MIX = np.random.default_rng(2).integers(1, 2**63, LANES + 2, dtype=np.uint64) * 2 + 1
_FULL = np.ones((1, LANES), dtype=bool)


@dataclass(frozen=True, eq=False)
class Rows:
    """R different requests, each standing for `weight` alike ones."""

    address: U64
    active: Bool
    weight: I64


def representatives(address: U64, active: Bool | None, period: int) -> Rows:
    """The different ones among (N, 32) requests; `period` bytes is a power of two."""
    base, relative = relative_to_first(address, active)
    phase = base & np.uint64(period - 1)
    if _all_alike(relative, active):
        phases, weight = np.unique(phase, return_counts=True)
        rows = relative[:1] + phases[:, None]
        return Rows(rows, np.repeat(_mask(active, [0]), len(rows), axis=0), weight)
    index, weight = _different(relative, active, phase)
    return Rows(relative[index] + phase[index, None], _mask(active, index), weight)


def _mask(active: Bool | None, index: I64 | list[int]) -> Bool:
    """Active lanes of the rows picked."""
    return np.repeat(_FULL, len(index), axis=0) if active is None else active[index]


def _all_alike(relative: U64, active: Bool | None) -> bool:
    """Whether all rows equal the first."""
    same = active is None or bool((active == active[0]).all())
    return same and bool((relative == relative[0]).all())


def _different(relative: U64, active: Bool | None, phase: U64) -> tuple[I64, I64]:
    """Indices of one row of each kind, and how many there are of it."""
    mixed = relative @ _MIX[:LANES] + phase * _MIX[LANES]
    if active is not None:
        mixed += np.packbits(active, axis=1).view(np.uint32)[:, 0] * _MIX[LANES + 1]
    _, index, kind, weight = np.unique(
        mixed, return_index=True, return_inverse=True, return_counts=True
    )
    alike = index[kind]
    exact = (relative == relative[alike]).all() and (phase == phase[alike]).all()
    if exact and (active is None or (active == active[alike]).all()):
        return index, weight
    every = np.arange(len(relative))  # a hash collision: count each row by itself
    return every, np.ones_like(every)


class Patterns:
    """Remembers the counts of small sets of requests it has seen."""

    rows = 64
    entries = 4096

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], I64] = {}

    def recall(self, kind: tuple[object, ...], rows: Rows, count: Callable[[], I64]) -> I64:
        """(R, Q) counts of the rows: remembered, or counted now."""
        if len(rows.address) > self.rows:
            return count()
        key = (kind, rows.address.tobytes(), rows.active.tobytes())
        if key not in self._known:
            if len(self._known) >= self.entries:
                self._known.clear()
            self._known[key] = count()
        return self._known[key]


_NOTHING: I64 = np.zeros(0, np.int64)


@dataclass(frozen=True)
class CountRow:
    """What one memory instruction counted in the whole launch; only the keys it can count.

    `silent` of its requests no lane took part in: a machine instruction under a guard is issued to
    every warp that comes by, and the hardware counts it.
    """

    instruction: MemoryInstruction
    counts: Mapping[Count, int]
    silent: int = 0

    @property
    def made(self) -> int:
        """Requests that some lane took part in: what an average is of."""
        return self.counts.get(requests_of(self.instruction), 0) - self.silent


@dataclass(frozen=True)
class Counts:
    """What a launch counted, one row for each memory instruction executed, in program order.

    Of global memory it loaded so many distinct sectors, which lie in so many pairs. `others` are
    counts of the launch that belong to no request.
    """

    rows: tuple[CountRow, ...] = ()
    distinct_load_sectors: int = 0
    distinct_load_pairs: int = 0
    others: Mapping[Count, int] = field(default_factory=dict)

    @property
    def silent(self) -> dict[Count, int]:
        """Requests that no lane took part in, where there are any."""
        found: dict[Count, int] = {}
        for row in self.rows:
            if row.silent:
                key = requests_of(row.instruction)
                found[key] = found.get(key, 0) + row.silent
        return found

    @property
    def totals(self) -> dict[Count, int]:
        """Sums over all instructions; every `Count`, 0 where the launch did nothing such."""
        totals = dict.fromkeys(Count, 0) | dict(self.others)
        for row in self.rows:
            for key, value in row.counts.items():
                totals[key] += value
        totals[Count.L2_LOAD_SECTORS_LEAST] = self.distinct_load_sectors
        totals[Count.L2_LOAD_SECTORS_MOST] = totals[Count.GLOBAL_LOAD_SECTORS]
        return totals


def _everything(instruction: MemoryInstruction) -> bool:
    return True


class Counter(Sums):
    """Counts every access of a launch for one architecture; a `gpuviz.traces.observe.Sums`.

    `keep` chooses the instructions that count. Rows that look alike are counted once (see
    `gpuviz.memory.counting`), so that regular kernels cost microseconds a call. Not thread-safe.
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
        self._visited: U64 | None = None
        self._before: tuple[dict[MemoryInstruction, I64], Footprint] = {}, Footprint()

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Remember what was counted before."""
        self._before = dict(self._sums), self._footprint.copy()

    def start_over(self) -> None:
        """Back to what was counted before the launch."""
        self._sums, self._footprint = dict(self._before[0]), self._before[1].copy()
        self._last.clear()
        self._visited = None

    def access(self, access: Access) -> None:
        """Count the N requests of one access, each `access.repeat` times."""
        instruction = access.instruction
        if not access.repeat:
            self._visit(access)
        elif len(access.address) and self._keep(instruction):
            last, found = self._last.get(instruction, (None, _NOTHING))
            if last is not access:  # a loop that reads the same addresses hands in the same record
                found = self._found(access) * access.repeat
                self._last[instruction] = access, found
                self._visit(access)
            known = self._sums.get(instruction)
            self._sums[instruction] = found if known is None else known + found

    def _visit(self, access: Access) -> None:
        """Note where a load goes."""
        at = access.instruction
        loads = at.space == "global" and at.op in ("load", "copy")
        if loads and access.placed and access.address is not self._visited and self._keep(at):
            self._visited = access.address
            self._footprint.mark(access)

    def result(self) -> Counts:
        """The counts so far; counting may go on afterwards."""
        ordered = sorted(self._sums, key=lambda i: (i.pc, i.function, i.space))
        rows = tuple(CountRow(i, _named(i, self._sums[i])) for i in ordered)
        return Counts(rows, self._footprint.sectors, self._footprint.pairs)

    def _found(self, access: Access) -> I64:
        """(K,) what all requests of an access count, by the keys of `counted`."""
        instruction, address, active = access.instruction, access.address, access.active
        if access.source is not None:
            moved = copied(instruction, address, access.source, active)
            return np.asarray(columns(instruction, moved).sum(axis=0), dtype=np.int64)
        rows = representatives(address, active, _PERIOD[instruction.space])
        kind = (*kind_of(instruction), instruction.width, instruction.path, instruction.form)
        counts = self._known.recall(
            kind,
            rows,
            lambda: columns(
                instruction, measure(self.arch, instruction, rows.address, rows.active)
            ),
        )
        return np.asarray(rows.weight @ counts, dtype=np.int64)


# Counts stay the same when all addresses move by this many bytes, on every architecture: a line;
# 64 words, as banks are told apart over at most that (3.x); the widest constant; a local word.
_PERIOD = {"global": 128, "shared": 256, "constant": 16, "local": 4}


def _named(instruction: MemoryInstruction, sums: I64) -> dict[Count, int]:
    """The sums of one instruction under their keys; an atomic without a loop loads nothing."""
    named = dict(zip(counted(instruction), sums.tolist(), strict=True))
    loop = LOADS_OF_LOOP if kind_of(instruction) == ("shared", "atomic") else ()
    return {key: n for key, n in named.items() if n or key not in loop}
