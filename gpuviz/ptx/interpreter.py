"""The NumPy engine: a launch, batch by batch of blocks that run in step.

It defines what every other engine has to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuviz.base.errors import KernelFault
from gpuviz.ptx.batches import blocks_per_batch, chosen_blocks
from gpuviz.ptx.decode.decoder import Decoder
from gpuviz.ptx.launching import Ready
from gpuviz.ptx.options import Options
from gpuviz.ptx.simt.execution import Execution
from gpuviz.ptx.simt.machine import Machine
from gpuviz.traces.observe import Listeners, Sink
from gpuviz.traces.trace import Finding


@dataclass(frozen=True)
class Done:
    """What was printed, and what ended the run before its time."""

    printed: str
    ended: Finding | None = None


def interpret(
    launched: Ready,
    sinks: Sequence[Sink],
    options: Options,
    blocks: Sequence[tuple[int, int]] | None = None,
    decoder: Decoder | None = None,
    to_the_fault: bool = False,
) -> Done:
    """Run every batch of a launch, or of some ranges of blocks.

    `decoder` makes steps of instructions, where more is wanted of them than what they do. Up
    `to_the_fault`: what a check would report ends a run that goes on, and is a finding of it.

    Raises
    ------
    UnsupportedError, KernelFault, Cancelled : see `simt.machine` and `decode.decoder`
    """
    execution = _execution(launched, sinks, options, decoder or Decoder(launched.program))
    told = execution.told
    for begin in told.launch_begin:
        begin(execution.launch, told.report)
    ranges = blocks or chosen_blocks(
        execution.launch.blocks, options.max_blocks, execution.program.cluster.run
    )
    size = blocks_per_batch(execution.program, execution.kernel, options.memory)
    done, total, fault = 0, sum(count for _, count in ranges), None
    try:
        for first, count in ranges:
            for start in range(first, first + count, size):
                part = min(size, first + count - start)
                Machine(execution, start, part).run()
                done += part
                execution.limits.progress(done / total)
    except KernelFault as error:
        if not (options.goes_on and to_the_fault and isinstance(error.finding, Finding)):
            raise
        fault = error.finding
        told.report(fault)
    for end in told.launch_end:
        end()
    return Done(execution.printed.text, fault)


def _execution(
    launched: Ready, sinks: Sequence[Sink], options: Options, decoder: Decoder
) -> Execution:
    return Execution(
        launched.program,
        launched.launch,
        decoder.code(launched.program.kernel),
        decoder.codes,
        Listeners(sinks),
        launched.heap,
        options.limits(),
        options.goes_on,
    )
