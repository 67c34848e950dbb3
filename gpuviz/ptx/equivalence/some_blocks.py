"""A launch counted from some of its blocks, and what sinks hear of it."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gpuviz.ptx.equivalence.block_classes import BlockClass, BlockClasses
from gpuviz.ptx.equivalence.request_patterns import PatternCounter
from gpuviz.ptx.equivalence.shift import NoProof
from gpuviz.ptx.equivalence.totals import Totals
from gpuviz.ptx.interpreter import interpret
from gpuviz.ptx.options import Options, OutOfTime
from gpuviz.ptx.prepare import PreparedLaunch
from gpuviz.ptx.recorders import BlockRecorder, BranchTotals, Findings, Tally
from gpuviz.traces.geometry import Triple
from gpuviz.traces.observe import Sink, Sums, Transfer
from gpuviz.traces.trace import Coverage

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
    Unproved : why it has to be run otherwise; it would take more than `seconds`, for instance
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
    more = _record(launched, sinks, options)  # memory has changed, addresses do not depend on it
    return Coverage("classes", len(run | more), launch.blocks, len(run))


def from_sample(
    launched: PreparedLaunch, sinks: Sequence[Sink], options: Options
) -> tuple[Coverage, tuple[Totals, ...]]:
    """Run a sample of the blocks, and those that are to be kept; what each of the sample did.

    Raises
    ------
    KernelFault, Cancelled : see `sample`
    """
    more = _record(launched, sinks, options)
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


def _record(launched: PreparedLaunch, sinks: Sequence[Sink], options: Options) -> set[int]:
    """Run the blocks that sinks keep, for these: which they were."""
    kept = [sink for sink in sinks if isinstance(sink, BlockRecorder | Findings)]
    wanted = {int(b) for sink in kept if isinstance(sink, BlockRecorder) for b in sink.blocks}
    wanted = {block for block in wanted if 0 <= block < launched.launch.blocks}
    if wanted:
        interpret(launched, kept, options, [(block, 1) for block in sorted(wanted)])
    return wanted
