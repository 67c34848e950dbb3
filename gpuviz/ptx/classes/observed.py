"""A launch counted from classes of its blocks, and what sinks hear of it."""

from __future__ import annotations

from collections.abc import Sequence

from gpuviz.observe import Listeners, Sink, Sums
from gpuviz.ptx.classes.launch import Classes
from gpuviz.ptx.classes.shift import Unproved
from gpuviz.ptx.classes.telling import Totals
from gpuviz.ptx.interpreter import interpret
from gpuviz.ptx.launching import Ready
from gpuviz.ptx.options import Options
from gpuviz.ptx.recorders import OfBlocks
from gpuviz.ptx.totals import Findings
from gpuviz.trace import Coverage

_FEW = 4  # blocks: run them


def observe(launched: Ready, sinks: Sequence[Sink], options: Options, seconds: float) -> Coverage:
    """Run a block of each class, and those that are to be kept.

    Nothing is told before all blocks are known to be of a class; memory is that of the blocks run.

    Raises
    ------
    Unproved : why it has to be run otherwise; it would take more than `seconds`, for instance
    Cancelled : the caller asked to stop
    """
    sums = [sink for sink in sinks if isinstance(sink, Sums)]
    kept = [sink for sink in sinks if isinstance(sink, OfBlocks | Findings)]
    if other := [sink for sink in sinks if not isinstance(sink, Sums | OfBlocks | Findings)]:
        raise Unproved(f"{type(other[0]).__name__} wants to hear every event")
    launch, totals = launched.launch, Totals()
    if launch.blocks <= _FEW:
        raise Unproved(f"{launch.blocks} blocks are few")
    run = set[int]()
    for one in Classes(launched, options).find(seconds):
        totals.add(one)
        run.add(one.block)
        options.progress(totals.blocks / launch.blocks)
    told = Listeners(sums)
    for begin in told.launch_begin:
        begin(launch, told.report)
    totals.tell(told)
    for end in told.launch_end:
        end()
    wanted = {int(b) for sink in kept if isinstance(sink, OfBlocks) for b in sink.blocks}
    wanted = {block for block in wanted if 0 <= block < launch.blocks}
    if wanted:  # addresses do not depend on what memory holds: it need not be as it was
        interpret(launched, kept, options, [(block, 1) for block in sorted(wanted)])
    return Coverage("classes", len(run | wanted), launch.blocks, len(run))
