"""The blocks of a launch in classes: those that do the same, shown by running one and watching it.

From what was seen of a block follows which others do the same: execute the same instructions, with
addresses that differ by one shift an instruction. Then the next block is run that is of no class
yet, until all are.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.compiled.graph import graph_of
from gpuviz.ptx.compiled.writer import Bailout
from gpuviz.ptx.equivalence.analysis import BlockShifts, ShiftAnalysis
from gpuviz.ptx.equivalence.probes import ProbeDecoder
from gpuviz.ptx.equivalence.request_patterns import PERIOD, PatternCounter, Requests
from gpuviz.ptx.equivalence.shift import (
    NONE,
    Condition,
    Multiple,
    NoProof,
    OtherBlocks,
    Shift,
    Within,
    nothing,
)
from gpuviz.ptx.interpreter import interpret
from gpuviz.ptx.options import Options
from gpuviz.ptx.prepare import PreparedLaunch
from gpuviz.ptx.recorders import BranchTotals, Tally
from gpuviz.traces.observe import Transfer
from gpuviz.traces.trace import Launch, MemoryInstruction

MOST_BLOCKS = 1 << 26
_TOGETHER = 1 << 20  # blocks that are looked at at once
_BEFORE = 4  # classes, before it is asked how many there may be


@dataclass(eq=False)
class Moves:
    """By how much the addresses of an instruction move in the blocks of a class.

    `residues` counts blocks by it modulo `PERIOD`; `all` are the different ones, of loads.
    """

    residues: I64
    all: I64 | None = None


@dataclass(frozen=True, eq=False)
class BlockClass:
    """Blocks that do the same: the one that was run, how many there are, and what it did.

    `moves` are those of the instructions whose addresses move; others stay. `transfers` are known
    of blocks that stand for others in a sample: of no other is anything asynchronous shown.
    """

    block: int
    blocks: int
    made: Mapping[MemoryInstruction, Requests]
    moves: Mapping[MemoryInstruction, Moves]
    tally: Tally
    branches: BranchTotals
    transfers: tuple[Transfer, ...] = ()


class BlockClasses:
    """Finds the classes of a launch."""

    def __init__(self, launched: PreparedLaunch, options: Options) -> None:
        """Read the kernel.

        Raises
        ------
        NoProof : nothing can be shown of its blocks
        """
        self._launched, self._program = launched, launched.program
        self._options = replace(options, progress=lambda fraction: None, max_blocks=None)
        try:
            self._graph = graph_of(self._program)
        except Bailout as reason:
            raise NoProof(str(reason)) from None
        if launched.launch.blocks > MOST_BLOCKS:
            raise NoProof(f"there are more than {MOST_BLOCKS:,} blocks")
        hope = ShiftAnalysis(self._graph, self._program)
        hope.read()
        self._decoder = ProbeDecoder(self._program, hope.asked)
        self._probes = hope.asked

    def find(self, seconds: float) -> Iterator[BlockClass]:
        """Run blocks until all are of a class.

        Raises
        ------
        NoProof : it would take longer, or a block cannot be run by itself
        Cancelled : the caller asked to stop
        """
        launch, began = self._launched.launch, time.monotonic()
        left: I64 = np.arange(launch.blocks)
        middle = launch.grid[0] // 2 + launch.grid[0] * (
            launch.grid[1] // 2 + launch.grid[1] * (launch.grid[2] // 2)
        )
        found = 0
        try:
            while len(left):
                one, left = self._class_of(int(left[len(left) // 2]) if found else middle, left)
                yield one
                found += 1
                spent, done = time.monotonic() - began, 1 - len(left) / launch.blocks
                if found >= _BEFORE and spent / done > seconds:
                    raise NoProof(f"{found} blocks, each of a class of its own, are {done:.1%}")
        except NoProof as reason:
            reason.ran = True
            raise

    def _class_of(self, block: int, left: I64) -> tuple[BlockClass, I64]:
        """The class of a block, and the blocks that are of none yet."""
        folding, tally, branches = PatternCounter(self._program), Tally(), BranchTotals()
        self._decoder.seen.clear()
        try:
            sinks = (folding, tally, branches)
            interpret(self._launched, sinks, self._options, [(block, 1)], self._decoder)
        except KernelFault as fault:
            raise NoProof(f"block {block} run by itself ends so: {fault}") from None
        seen = self._decoder.seen
        reader = ShiftAnalysis(self._graph, self._program, seen, tally.executed, self._probes)
        needs, shifts = _wanted(reader.read(), folding.made)
        count, moves, others = _members(self._launched.launch, block, left, needs, shifts)
        return BlockClass(block, count, folding.made, moves, tally, branches), others


def _wanted(
    reading: BlockShifts, made: Mapping[MemoryInstruction, Requests]
) -> tuple[set[Condition], dict[MemoryInstruction, Shift]]:
    """What has to hold for a block to do the same, and how addresses move then."""
    needs, shifts = set(reading.needs), dict[MemoryInstruction, Shift]()
    for at, requests in made.items():
        address, source = NONE, NONE
        if at.pc not in reading.sites:
            raise NoProof(f"where {at.text} (PTX line {at.ptx_line}) goes is not read")
        for number, site in enumerate(reading.sites[at.pc]):
            if site is None:
                raise NoProof(f"an address (PTX line {at.ptx_line}) depends on what memory holds")
            if not number:
                address, source = site.address, site.source
            needs |= site.needs | nothing(site.address - address) | nothing(site.source - source)
        if at.op == "copy" and at.space == "shared":
            needs |= nothing(address)
            shifts[at] = source
            continue
        shift = source if at.op == "copy" else address
        if not shift:
            continue
        if at.space in ("global", "shared"):
            needs |= {Within(shift, requests.low, requests.high), Multiple(shift, at.width)}
            shifts[at] = shift
        else:
            needs |= nothing(shift)
    return needs, shifts


def _members(
    launch: Launch,
    block: int,
    left: I64,
    needs: set[Condition],
    shifts: Mapping[MemoryInstruction, Shift],
) -> tuple[int, dict[MemoryInstruction, Moves], I64]:
    """How many blocks are of the class, how their addresses move, and the blocks that are not."""
    x, y, _ = launch.grid
    here = block % x, block // x % y, block // (x * y)
    found = {shift: Moves(np.zeros(PERIOD, np.int64)) for shift in shifts.values()}
    for at, shift in shifts.items():
        if at.space == "global" and at.op in ("load", "copy"):
            found[shift].all = left[:0]
    rest, count = [], 0
    for start in range(0, len(left), _TOGETHER):
        part = left[start : start + _TOGETHER]
        others = OtherBlocks(
            (part % x - here[0], part // x % y - here[1], part // (x * y) - here[2])
        )
        own = others.hold(needs) | (part == block)
        rest.append(part[~own])
        count += int(own.sum())
        for shift, moves in found.items():
            by = others.by(shift)[own]
            moves.residues += np.bincount(by % PERIOD, minlength=PERIOD)
            if moves.all is not None:
                moves.all = np.union1d(moves.all, by)
    return count, {at: found[shift] for at, shift in shifts.items()}, np.concatenate(rest)
