"""A launch counted from some of its blocks, and what sinks hear of it."""

import itertools
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gpuviz.base.arrays import I64, U64
from gpuviz.ptx.equivalence.block_classes import BlockClass, BlockClasses, Moves
from gpuviz.ptx.equivalence.request_patterns import PERIOD, Pattern, PatternCounter, Requests
from gpuviz.ptx.equivalence.shift import NoProof
from gpuviz.ptx.interpreter import interpret, record
from gpuviz.ptx.options import Options, OutOfTime
from gpuviz.ptx.prepare import PreparedLaunch
from gpuviz.ptx.recorders import BranchTotals, Tally
from gpuviz.traces.geometry import Triple
from gpuviz.traces.observe import Access, Listeners, Many, Place, Sink, Sums, Transfer
from gpuviz.traces.trace import LANES, Coverage, Launch, MemoryInstruction, Stretch

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
        self._branches = BranchTotals()
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
            self._branches.add(branch, one.blocks)
        self._transfers += [replace(t, repeat=t.repeat * one.blocks) for t in one.transfers]

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
        for one in self._branches.branches() if told.branch else ():
            at = Place(one.pc, one.line, one.ptx_line)
            for hear_branch in told.branch:
                hear_branch(at, one.warps, one.divergent, one.taken, one.not_taken)
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


# --- a sample ------------------------------------------------------------------------------------
#
# Some of the corners of a grid, its edges, faces and inside, at random. What is found of a block
# stands for others of its part of the grid. Nothing is proved by it.

MOST = 64  # blocks of the whole grid
_EACH = 4  # of a part, unless it is the largest


class _Transfers(Sink):
    """Keeps all transfers of a block."""

    def __init__(self) -> None:
        self.all: list[Transfer] = []

    def transfer(self, transfer: Transfer) -> None:
        """Another one."""
        self.all.append(transfer)


@dataclass(eq=False)
class _Part:
    """Blocks that lie alike in the grid: a range along each axis; those of them that were run."""

    ranges: tuple[range, range, range]
    run: list[BlockClass] = field(default_factory=list)

    @property
    def blocks(self) -> int:
        return len(self.ranges[0]) * len(self.ranges[1]) * len(self.ranges[2])

    def chosen(self, grid: Triple, most: int) -> Iterator[int]:
        """Different blocks of it, always the same ones."""
        pick = random.Random(0)
        for number in pick.sample(range(self.blocks), min(self.blocks, most)):
            x = self.ranges[0][number % len(self.ranges[0])]
            y = self.ranges[1][number // len(self.ranges[0]) % len(self.ranges[1])]
            z = self.ranges[2][number // (len(self.ranges[0]) * len(self.ranges[1]))]
            yield x + grid[0] * (y + grid[1] * z)


def _parts(grid: Triple) -> list[_Part]:
    """First, last and what is in between along each axis; the largest part comes first."""
    axes = [[range(1, n - 1), range(1), range(n - 1, n)] if n > 1 else [range(1)] for n in grid]
    parts = [_Part((x, y, z)) for x, y, z in itertools.product(*axes)]
    return sorted((part for part in parts if part.blocks), key=lambda part: -part.blocks)


def sample(launched: PreparedLaunch, options: Options) -> list[BlockClass]:
    """Run blocks for as long as there is time; each with the number of blocks it stands for.

    Raises
    ------
    OutOfTime : there is not enough for a single block
    KernelFault, Cancelled : as of a whole launch
    """
    began, grid = time.monotonic(), launched.launch.grid
    parts = _parts(grid)
    left = [part.chosen(grid, _EACH if n else MOST) for n, part in enumerate(parts)]
    pairs = ([(part, block) for block in of] for part, of in zip(parts, left, strict=True))
    turns = filter(None, itertools.chain.from_iterable(itertools.zip_longest(*pairs)))
    longest = 0.0
    for run, (part, block) in enumerate(turns):
        start = time.monotonic()
        rest = options.seconds - (start - began)
        if run and (run >= MOST or rest < longest):
            break
        try:
            part.run.append(_run(launched, block, replace(options, seconds=max(rest, 0.01))))
        except OutOfTime:
            if not run:
                raise
            break
        longest = max(longest, time.monotonic() - start)
        options.progress(min(1.0, max((run + 1) / MOST, 1 - rest / options.seconds)))
    return _weighed(parts)


def _run(launched: PreparedLaunch, block: int, options: Options) -> BlockClass:
    """One block, by itself."""
    folding, tally, branches = PatternCounter(launched.program), Tally(), BranchTotals()
    quiet, heard = replace(options, progress=lambda fraction: None, patient=True), _Transfers()
    interpret(launched, (folding, tally, branches, heard), quiet, [(block, 1)])
    return BlockClass(block, 1, folding.made, {}, tally, branches, tuple(heard.all))


def _weighed(parts: Sequence[_Part]) -> list[BlockClass]:
    """The blocks that were run, standing for all; the largest part also for those without any."""
    without = sum(part.blocks for part in parts if not part.run)
    found = []
    for number, part in enumerate(parts):
        blocks = part.blocks + (0 if number else without)
        for index, one in enumerate(part.run):
            size, more = divmod(blocks, len(part.run))
            found.append(replace(one, blocks=size + (index < more)))
    return found


_FEW = 4  # blocks: run them


def observe(
    launched: PreparedLaunch, sinks: Sequence[Sink], options: Options, seconds: float
) -> Coverage:
    """Run a block of each class, and those that are to be kept.

    Nothing is told before all blocks are known to be of a class; memory is that of the blocks run.

    Raises
    ------
    NoProof : why it has to be run otherwise; it would take more than `seconds`, for instance
    Cancelled : the caller asked to stop
    """
    launch, totals = launched.launch, Totals()
    if launch.blocks <= _FEW:
        raise NoProof(f"{launch.blocks} blocks are few")
    run = set[int]()
    for one in BlockClasses(launched, options).find(seconds):
        totals.add(one)
        run.add(one.block)
        options.progress(totals.blocks / launch.blocks)
    _tell(launched, totals, sinks)
    # Memory has changed; addresses do not depend on it.
    more = record(launched, sinks, options, [(0, launch.blocks)])
    return Coverage("classes", len(run | more), launch.blocks, len(run))


def from_sample(
    launched: PreparedLaunch, sinks: Sequence[Sink], options: Options
) -> tuple[Coverage, tuple[Totals, ...]]:
    """Run a sample of the blocks, and those that are to be kept; what each of the sample did.

    Raises
    ------
    KernelFault, Cancelled : see `sample`
    """
    more = record(launched, sinks, options, [(0, launched.launch.blocks)])
    found = sample(launched, options)
    run, totals, each = {one.block for one in found}, Totals(), []
    for one in found:
        totals.add(one)
        each.append(Totals())
        each[-1].add(replace(one, blocks=1))
    _tell(launched, totals, sinks)
    return Coverage("sample", len(run | more), launched.launch.blocks), tuple(each)


def _tell(launched: PreparedLaunch, totals: Totals, sinks: Sequence[Sink]) -> None:
    """Tell the sinks that sum up."""
    totals.announce(launched.launch, [sink for sink in sinks if isinstance(sink, Sums)])
