"""A launch counted from some of its blocks, and what sinks hear of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpuviz.ptx.classes.launch import Classes
from gpuviz.ptx.classes.sample import sample
from gpuviz.ptx.classes.shift import Unproved
from gpuviz.ptx.classes.telling import Totals
from gpuviz.ptx.interpreter import interpret
from gpuviz.ptx.options import Options
from gpuviz.ptx.prepare import PreparedLaunch
from gpuviz.ptx.recorders import BlockRecorder, Findings
from gpuviz.traces.observe import Sink, Sums
from gpuviz.traces.trace import Coverage

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
        raise Unproved(f"{launch.blocks} blocks are few")
    run = set[int]()
    for one in Classes(launched, options).find(seconds):
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
