"""What all blocks of all classes did, summed up and told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.ptx.classes.launch import Class, Moves
from gpuviz.ptx.classes.requests import PERIOD, Pattern, Requests
from gpuviz.ptx.classes.visits import NOWHERE, addresses_in, merged, shifted
from gpuviz.traces.observe import Access, Listeners, Many, Place, Sums, Transfer
from gpuviz.traces.trace import Branch, Launch, MemoryInstruction, Stretch

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

    def add(self, one: Class) -> None:
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
