"""The NumPy engine: a launch, batch by batch of blocks that run in step.

It defines what every other engine has to do.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.errors import KernelFault, LaunchError
from gpuviz.ptx.decode.decoder import Decoder
from gpuviz.ptx.decode.memory import polls
from gpuviz.ptx.options import Options
from gpuviz.ptx.prepare import PreparedLaunch
from gpuviz.ptx.recorders import BlockRecorder, EnoughError, Findings, PathRecorder
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.machine import Machine
from gpuviz.ptx.simt.program import Execution, Program, reachable
from gpuviz.ptx.text.ir import Function, Instruction, Module
from gpuviz.traces.observe import Listeners, Sink
from gpuviz.traces.trace import Finding

BATCH_THREADS = 32768  # threads in step: enough to hide Python, few enough for the cache
STEPS = 24_000  # instructions of blocks that are recorded with their paths
RIVAL_THREADS = 2048  # where one of all succeeds in each round of a loop (compare and swap)


def chosen_blocks(total: int, limit: int | None, run: int = 1) -> list[tuple[int, int]]:
    """First block and count: all blocks as one range, or `limit` single ones spread over the grid,
    each with its cluster (`run` blocks in a row).

    Raises
    ------
    LaunchError : the limit leaves no block
    """
    if limit is None or limit >= total:
        return [(0, total)]
    if limit < 1:
        raise LaunchError(f"the number of blocks to emulate must be at least 1, not {limit}")
    chosen = np.linspace(0, total - 1, limit).astype(np.int64) // run * run
    return [(int(b), run) for b in np.unique(chosen)]


def blocks_per_batch(program: Program, kernel: FunctionCode, memory: int) -> int:
    """How many blocks run in step: as many as `memory` allows if they may wait for each other.

    Raises
    ------
    LaunchError : it does not even allow one
    """
    x, y, z = program.block
    threads = -(-x * y * z // 32) * 32
    per_thread = 8 * (len(kernel.registers) + 16) + kernel.local_size
    per_block = threads * per_thread + 2 * program.shared_size
    by_memory = memory // max(per_block, 1)
    if not by_memory:
        raise LaunchError(
            f"one block of {kernel.name} needs {per_block:,} bytes for {len(kernel.registers):,} "
            f"registers a thread, local and shared memory: the emulator has {memory:,}"
        )
    body = [i for f in reachable(program.module, program.kernel) for i in f.body]
    if any(map(_waits_for_others, body)):
        return max(1, by_memory // program.cluster.run) * program.cluster.run
    run = program.cluster.run
    if run > by_memory:
        raise LaunchError(f"{run:,} blocks of whole clusters do not fit into the emulator's memory")
    rivals = any(i.opcode.name == "atom" and "cas" in i.opcode.mods for i in body)
    size = max(1, min(by_memory, (RIVAL_THREADS if rivals else BATCH_THREADS) // threads))
    return max(1, size // run) * run


def _waits_for_others(instruction: Instruction) -> bool:
    """Whether an instruction suggests that blocks wait for each other while they run."""
    return polls(instruction) and "shared" not in instruction.opcode.mods


def transfers(program: Program) -> bool:
    """Whether a kernel moves or reads many bytes by single instructions, or waits for such."""
    return hands_over(program.module, program.kernel, "mbarrier", "wgmma")


def hands_over(module: Module, kernel: Function, *names: str) -> bool:
    """Whether a kernel has bulk copies, or instructions of these names, "mbarrier" by default."""
    wanted = names or ("mbarrier",)
    return any(
        i.opcode.name in wanted or "bulk" in i.opcode.mods
        for f in reachable(module, kernel)
        for i in f.body
    )


_WITHOUT_EFFECT = {
    "griddepcontrol": "griddepcontrol does nothing here: a launch is emulated alone, after all "
    "that came before",
    "setmaxnreg": "setmaxnreg does nothing here: every warp has all its registers",
}


def without_effect(program: Program) -> list[str]:
    """What instructions of a kernel do not do here, in sentences."""
    named = {i.opcode.name for f in reachable(program.module, program.kernel) for i in f.body}
    return [text for name, text in _WITHOUT_EFFECT.items() if name in named]


@dataclass(frozen=True)
class Done:
    """What was printed, and what ended the run before its time."""

    printed: str
    ended: Finding | None = None


def interpret(
    launched: PreparedLaunch,
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


def record(
    launched: PreparedLaunch,
    sinks: Sequence[Sink],
    options: Options,
    ranges: Sequence[tuple[int, int]],
) -> set[int]:
    """Run those blocks of some ranges that sinks keep, for these: which they were. With their
    paths they run in step, far apart in the grid as they may be, where none needs its neighbours,
    and no longer than it takes to see how they go on.
    """
    kept = [sink for sink in sinks if isinstance(sink, BlockRecorder | Findings)]
    recorders = [sink for sink in kept if isinstance(sink, BlockRecorder)]
    blocks = {tuple(sink.blocks.tolist()) for sink in recorders}
    wanted = [b for b in sorted(set().union(*blocks)) if any(f <= b < f + n for f, n in ranges)]
    if not options.path or [tuple(wanted)] != list(blocks) or not _alone(launched.program):
        if wanted:
            interpret(launched, kept, options, [(block, 1) for block in wanted])
        return set(wanted)
    program = replace(launched.program, gathered=np.array(wanted))
    paths = [sink for sink in recorders if isinstance(sink, PathRecorder)]
    for sink in recorders:
        sink.gathered = True
    for one in paths:
        one.steps = STEPS
    size = max(1, BATCH_THREADS // launched.launch.threads_per_block)
    try:
        for first in range(0, len(wanted), size):
            part = first, min(size, len(wanted) - first)
            with suppress(EnoughError):  # the rest goes on alike
                interpret(replace(launched, program=program), kept, options, [part])
    finally:
        for sink in recorders:
            sink.gathered = False
        for one in paths:
            one.steps = 0
    return set(wanted)


def _alone(program: Program) -> bool:
    """Whether no block is told apart by its neighbours: no clusters, nothing handed over."""
    body = [i for f in reachable(program.module, program.kernel) for i in f.body]
    waits = any(map(_waits_for_others, body))
    return program.cluster.size == 1 and not transfers(program) and not waits


def _execution(
    launched: PreparedLaunch, sinks: Sequence[Sink], options: Options, decoder: Decoder
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
