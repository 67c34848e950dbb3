"""Which engine suits a launch: what making machine code costs has to come back.

The work of a launch is guessed from its text and its arguments alone, so that the same launch
always goes the same way.
"""

from __future__ import annotations

from gpuviz.ptx.prepare import PreparedLaunch
from gpuviz.ptx.simt.program import reachable
from gpuviz.ptx.text.flow import spans, visiting_order
from gpuviz.ptx.text.ir import Function

LEAST_WORK = 60_000_000  # thread instructions NumPy executes while LLVM is loaded and begins,
WORK_FOR_EACH = 1_000_000  # and while it makes the code of one instruction
_NUMPY_RATE, _COMPILED_RATE = 1e8, 2e9  # thread instructions a second, roughly, of one core
_USUAL_TURNS, _MOST_TURNS = 16, 65_536


def worth_compiling(launched: PreparedLaunch) -> bool:
    """Whether a launch is likely to be done sooner, the making of its code included."""
    functions = reachable(launched.program.module, launched.program.kernel)
    size = sum(len(function.body) for function in functions)
    return estimated_work(launched) >= LEAST_WORK + WORK_FOR_EACH * size


def estimated_work(launched: PreparedLaunch) -> int:
    """Thread instructions, roughly: each loop takes as many turns as the arguments suggest."""
    launch = launched.launch
    threads = launch.blocks * launch.threads_per_block
    elements = max((buffer.count for buffer in launch.buffers), default=0)
    sizes = [int(v) for _, v in launch.scalars if isinstance(v, int) and 1 < v <= _MOST_TURNS]
    turns = max([_USUAL_TURNS, *sizes, elements // threads])
    straight = looped = 0
    for function in reachable(launched.program.module, launched.program.kernel):
        straight += len(function.body)
        looped += _in_loops(function)
    return threads * (straight + turns * looped)


def estimated_seconds(launched: PreparedLaunch) -> float:
    """How long a whole launch may take, very roughly."""
    work = estimated_work(launched)
    return 0.5 + work / (_COMPILED_RATE if worth_compiling(launched) else _NUMPY_RATE)


def _in_loops(function: Function) -> int:
    """Instructions between the head of a loop and the last jump back to it."""
    blocks = spans(function)
    rank = visiting_order(blocks)
    inside = set()
    for number, block in enumerate(blocks):
        for follower in block.next:
            if rank[follower] <= rank[number]:
                first, last = rank[follower], rank[number]
                inside |= {n for n, r in enumerate(rank) if first <= r <= last}
    return sum(blocks[n].end - blocks[n].start for n in inside)
