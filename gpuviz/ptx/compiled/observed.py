"""A launch on the compiled engine, and what sinks hear of it.

Sums are told in the end, folded. Sinks that keep what some blocks do hear these blocks run on the
NumPy engine, from the memory that the launch began with.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from gpuviz.base.arrays import Array
from gpuviz.ptx.batches import chosen_blocks
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.launch import Outcome, execute, put_back
from gpuviz.ptx.compiled.replay import tell, tell_rows
from gpuviz.ptx.compiled.writer import Bailout
from gpuviz.ptx.interpreter import interpret
from gpuviz.ptx.launching import Ready
from gpuviz.ptx.options import Options
from gpuviz.ptx.recorders import OfBlocks
from gpuviz.ptx.totals import Findings
from gpuviz.traces.observe import Listeners, Sink, Sums


def observe(launched: Ready, sinks: Sequence[Sink], options: Options) -> None:
    """Run a launch.

    Raises
    ------
    NotTaken : it is left to the NumPy engine; memory is as it was, and nothing has been told
    Cancelled : the caller asked to stop
    """
    sums = [sink for sink in sinks if isinstance(sink, Sums)]
    kept = [sink for sink in sinks if isinstance(sink, OfBlocks | Findings)]
    other = next((sink for sink in sinks if not isinstance(sink, Sums | OfBlocks | Findings)), None)
    if other is not None:
        raise Bailout(f"{type(other).__name__} wants to hear every event in order")
    told, launch = Listeners(sums), launched.launch
    ranges = chosen_blocks(launch.blocks, options.max_blocks)
    for begin in told.launch_begin:
        begin(launch, told.report)

    def hear(kernel: Kernel, numbers: Array, masks: Array, addresses: Array) -> None:
        tell_rows(told, kernel, numbers, masks, addresses)

    def again() -> None:
        for sink in sums:
            sink.start_over()

    try:
        limits = options.limits()
        workers = options.threads or os.cpu_count() or 1
        done = execute(launched.program, launch.buffers, ranges, hear, again, limits, workers)
    except Bailout:
        again()
        raise
    except (LookupError, ValueError, TypeError, AssertionError, AttributeError, OSError) as error:
        again()  # nothing is lost but time
        raise Bailout(f"a mistake of its own, {type(error).__name__}: {error}") from error
    except RuntimeError as error:  # of LLVM
        again()
        raise Bailout(f"LLVM says {str(error).splitlines()[0]}") from error
    for first, count in ranges:
        for blocks_begin in told.blocks_begin:
            blocks_begin(first, count)
    tell(told, done)
    for first, count in ranges:
        for blocks_end in told.blocks_end:
            blocks_end(first, count)
    for end in told.launch_end:
        end()
    _record(launched, kept, done, ranges, options)


def _record(
    launched: Ready,
    kept: Sequence[Sink],
    done: Outcome,
    ranges: Sequence[tuple[int, int]],
    options: Options,
) -> None:
    """Run the blocks that are to be kept once more, on the NumPy engine."""
    wanted = sorted({int(b) for sink in kept if isinstance(sink, OfBlocks) for b in sink.blocks})
    inside = [(b, 1) for b in wanted if any(f <= b < f + n for f, n in ranges)]
    if not inside:
        return
    after = put_back(launched.program, done.before)
    try:
        interpret(launched, kept, options, inside)
    finally:
        put_back(launched.program, after)
