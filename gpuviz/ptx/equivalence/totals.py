"""What all blocks of all classes did, summed up and told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import I64, U64
from gpuviz.ptx.equivalence.block_classes import BlockClass, Moves
from gpuviz.ptx.equivalence.request_patterns import PERIOD, Pattern, Requests
from gpuviz.traces.observe import Access, Listeners, Many, Place, Sums, Transfer
from gpuviz.traces.trace import LANES, Branch, Launch, MemoryInstruction, Stretch

# --- sectors -------------------------------------------------------------------------------------
#
# Which of global memory many blocks load from, given where one does and how others shift. They are
# kept as spans, (S, 2) first and one after the last, ascending, with gaps between them.

SECTOR = 32  # bytes
PAGE = 1 << 20  # sectors that are told together
_MOST = 1 << 22  # spans that are looked at together
NOWHERE: I64 = np.zeros((0, 2), np.int64)


def merged(spans: I64) -> I64:
    """Spans in any order as they are kept."""
    if not len(spans):
        return NOWHERE
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reach = np.maximum.accumulate(spans[:, 1])
    opens = np.flatnonzero(np.append(True, spans[1:, 0] > reach[:-1]))
    return np.stack([spans[opens, 0], reach[np.append(opens[1:] - 1, len(spans) - 1)]], axis=1)


def sectors_of(addresses: I64) -> I64:
    """The spans of some ascending addresses."""
    sectors = np.unique(addresses // SECTOR)
    return merged(np.stack([sectors, sectors + 1], axis=1))


def shifted(addresses: I64, shifts: I64) -> I64:
    """Where addresses go that are shifted by each of some different numbers of bytes."""
    found = [NOWHERE]
    for rest in np.unique(shifts % SECTOR).tolist():
        own = sectors_of(addresses + rest)
        by = shifts[shifts % SECTOR == rest] // SECTOR
        step = max(1, _MOST // max(1, len(own)))
        for start in range(0, len(by), step):
            every = own[None] + by[start : start + step, None, None]
            found = [merged(np.concatenate([*found, every.reshape(-1, 2)]))]
    return found[0]


def addresses_in(spans: I64) -> Iterator[U64]:
    """(N, 32) an address in each sector, of a page at a time; the last row is filled up."""
    for page in range(*_pages(spans)):
        low, high = page * PAGE, (page + 1) * PAGE
        near = spans[np.searchsorted(spans[:, 1], low, "right") :]
        near = near[: np.searchsorted(near[:, 0], high)].clip(low, high)
        if not len(near):
            continue
        sizes = near[:, 1] - near[:, 0]
        before = np.cumsum(sizes) - sizes
        sectors = np.repeat(near[:, 0] - before, sizes) + np.arange(sizes.sum())
        rows = np.full(-(-len(sectors) // LANES) * LANES, sectors[0])
        rows[: len(sectors)] = sectors
        yield (rows.reshape(-1, LANES) * SECTOR).astype(np.uint64)


def _pages(spans: I64) -> tuple[int, int]:
    if not len(spans):
        return 0, 0
    return int(spans[0, 0]) // PAGE, int(spans[-1, 1] - 1) // PAGE + 1


_FAR = 1 << 40  # a multiple of every period: what is relative may be negative


class Totals:
    """Sums over the classes of a launch."""

    def __init__(self) -> None:
        self.blocks = 0
        self._starts: dict[MemoryInstruction, dict[Pattern, I64]] = defaultdict(dict)
        self._visits: dict[MemoryInstruction, I64] = {}
        self._executed: dict[Stretch, tuple[int, int]] = {}
        self._branches: dict[Place, tuple[int, int, int, int]] = {}
        self._transfers: list[Transfer] = []

    @property
    def executed(self) -> dict[int, int]:
        """How often warps executed each stretch, by the pc of its first instruction."""
        return {stretch.pc: warps for stretch, (_, warps) in self._executed.items()}

    def add(self, one: BlockClass) -> None:
        """Count what all blocks of a class did."""
        self.blocks += one.blocks
        for at, made in one.made.items():
            self._add_requests(at, made, one.moves.get(at), one.blocks)
        for stretch, threads in one.tally.threads.items():
            a, b = self._executed.get(stretch, (0, 0))
            warps = one.tally.executed[stretch.pc]
            self._executed[stretch] = a + threads * one.blocks, b + warps * one.blocks
        for branch in one.branches.branches():
            self._add_branch(branch, one.blocks)
        self._transfers += [replace(t, repeat=t.repeat * one.blocks) for t in one.transfers]

    def _add_branch(self, branch: Branch, blocks: int) -> None:
        at = Place(branch.pc, branch.line, branch.ptx_line)
        before = self._branches.get(at, (0, 0, 0, 0))
        own = branch.warps, branch.divergent, branch.taken, branch.not_taken
        a, b, c, d = (n + blocks * more for n, more in zip(before, own, strict=True))
        self._branches[at] = a, b, c, d

    def _add_requests(
        self, at: MemoryInstruction, made: Requests, moves: Moves | None, blocks: int
    ) -> None:
        totals = self._starts[at]
        for pattern, starts in made.starts.items():
            moved = starts * blocks if moves is None else _spread(starts, moves.residues)
            totals[pattern] = totals.get(pattern, 0) + moved
        if len(made.visited):
            by = np.zeros(1, np.int64) if moves is None or moves.all is None else moves.all
            spans = self._visits.get(at, NOWHERE), shifted(made.visited, by)
            self._visits[at] = merged(np.concatenate(spans))

    def announce(self, launch: Launch, sinks: Sequence[Sums]) -> None:
        """Tell sinks that only sum up all there is."""
        told = Listeners(sinks)
        for begin in told.launch_begin:
            begin(launch, told.report)
        self._tell(told)
        for end in told.launch_end:
            end()

    def _tell(self, told: Listeners) -> None:
        for hear_begin in told.blocks_begin:
            hear_begin(0, self.blocks)
        for access in self._accesses() if told.access else ():
            for hear in told.access:
                hear(access)
        for stretch, (threads, warps) in self._executed.items():
            for hear_instructions in told.instructions:
                hear_instructions(stretch, Many(threads, warps))
        for at, numbers in self._branches.items():
            for hear_branch in told.branch:
                hear_branch(at, *numbers)
        for transfer in self._transfers if told.transfer else ():
            for hear_transfer in told.transfer:
                hear_transfer(transfer)
        for hear_end in told.blocks_end:
            hear_end(0, self.blocks)

    def _accesses(self) -> Iterator[Access]:
        for at, patterns in self._starts.items():
            for pattern, starts in patterns.items():
                for repeat in np.unique(starts[starts > 0]).tolist():
                    rows, active, into = pattern.rows(_FAR + np.flatnonzero(starts == repeat))
                    if into is None:
                        yield Access(at, rows, active, repeat, placed=False)
                    else:
                        yield Access(at, into, active, repeat, rows, placed=False)
            for rows in addresses_in(self._visits.get(at, NOWHERE)):
                yield Access(at, rows, None, 0)


def _spread(starts: I64, residues: I64) -> I64:
    """How many requests start where, when those of blocks are moved by residues."""
    found = np.zeros(PERIOD, np.int64)
    for residue in np.flatnonzero(residues).tolist():
        found += np.roll(starts, residue) * residues[residue]
    return found
