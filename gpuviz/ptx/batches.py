"""Which blocks of a grid are emulated, and how many of them at once."""

from __future__ import annotations

import numpy as np

from gpuviz.base.errors import LaunchError
from gpuviz.ptx.decode.memory import polls
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.program import Program, reachable
from gpuviz.ptx.text.ir import Function, Instruction, Module

BATCH_THREADS = 32768  # threads in step: enough to hide Python, few enough for the cache
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
