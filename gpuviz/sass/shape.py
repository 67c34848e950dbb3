"""How the assembler unrolled the loops of a function, read from the lines of its machine code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.ptx.text.isa import ACCESSES, kind_of
from gpuviz.sass.flow import SassBlock, name_of
from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.unroll import Chunk, Loop, Shape, counted_loops

_ARITHMETIC = frozenset({"FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "HADD2", "HMUL2", "HFMA2"})
_DATA = ("f16", "f16x2", "bf16", "f32", "f64")


def shapes_of(function: Function, code: Sequence[SassBlock]) -> list[Shape]:
    """The loops of a function that were unrolled in a known way, each with its chunks."""
    found = [(loop, chunks_of(function, loop, code)) for loop in counted_loops(function)]
    return [(loop, chunks) for loop, chunks in found if chunks and _descend(chunks)]


def _descend(chunks: Sequence[Chunk]) -> bool:
    """Whether chunks come in the known order: peeled ones, then fewer and fewer copies."""
    many = [c.copies for c in chunks if c.copies > 1]
    peeled = all(c.copies == 1 for c in chunks[: len(chunks) - len(many)])
    return peeled and many == sorted(set(many), reverse=True)


def chunks_of(function: Function, loop: Loop, code: Sequence[SassBlock]) -> tuple[Chunk, ...]:
    """The blocks of machine code that hold several copies of a loop's body, in address order.

    A single copy before them is the first iteration, peeled off.
    """
    body = function.body[loop.start : loop.end]
    lines = {i.ptx_line: is_memory(i) for i in body if is_data(i)}
    straight = len(loop.blocks) == 1
    found = [
        chunk
        for number, block in enumerate(code)
        for chunk in _chunks(number, block, lines, straight)
    ]
    last = max((n for n, chunk in enumerate(found) if chunk.copies > 1), default=-1)
    return tuple(found[: last + 1])


def _chunks(
    number: int, block: SassBlock, lines: Mapping[int, bool], straight: bool
) -> list[Chunk]:
    """The copies in one block; `lines` are those of the loop's data, and whether that is memory.

    Two additions of f16 in one instruction have the line of what they work on, not their own: on
    lines of memory accesses arithmetic does not count.

    The body of a `straight` loop has no branches; where all its instructions are guarded, the
    assembler put chunks under a guard each.
    """
    found = [
        i
        for i in block.instructions
        if (i.memory is not None or name_of(i) in _ARITHMETIC)
        and lines.get(i.ptx_line) is (i.memory is not None)
    ]
    guards = dict.fromkeys(i.guard for i in found)
    if "" in guards or not straight:
        copies = _copies(found)
        return [Chunk(copies, number in block.next, number)] if copies else []
    return [Chunk(_copies([i for i in found if i.guard == g]), False, number, g) for g in guards]


def is_data(instruction: Instruction) -> bool:
    """Memory and floating-point instructions: one machine instruction for each, as a rule."""
    return (
        is_memory(instruction)
        or instruction.opcode.mods[-1:] != ()
        and (
            instruction.opcode.mods[-1] in _DATA
            and instruction.opcode.name in ("add", "mul", "fma")
        )
    )


def is_memory(instruction: Instruction) -> bool:
    """Loads, stores, atomics and copies of lanes outside parameter space; no bulk copies."""
    opcode = instruction.opcode
    kind = kind_of(instruction)
    if kind == "copy":
        return {"async", "global"} <= set(opcode.mods) and "bulk" not in opcode.mods
    spaces = {m.partition("::")[0] for m in opcode.mods}
    return kind in ACCESSES and "param" not in spaces


def _copies(found: Sequence[SassInstruction]) -> int:
    """How often most of the lines occur; the larger number in case of doubt."""
    often = Counter(Counter(i.ptx_line for i in found).values())
    return max(often, key=lambda n: (often[n], n), default=0)
