"""How the assembler unrolled the loops of a function, read from the lines of its machine code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpuviz.ptx.ir import Function, Instruction
from gpuviz.sass.flow import SassBlock, name_of
from gpuviz.sass.unroll import Chunk, Loop

_ARITHMETIC = frozenset({"FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "HADD2", "HMUL2", "HFMA2"})
_DATA = ("f16", "f16x2", "bf16", "f32", "f64")


def chunks_of(function: Function, loop: Loop, code: Sequence[SassBlock]) -> tuple[Chunk, ...]:
    """The blocks of machine code that hold several copies of a loop's body, in address order."""
    lines = {i.ptx_line for i in function.body[loop.start:loop.end] if is_data(i)}
    found = []
    for number, block in enumerate(code):
        copies = _copies(block, lines)
        if copies > 1:
            found.append(Chunk(copies, number in block.next, number))
    return tuple(found)


def is_data(instruction: Instruction) -> bool:
    """Memory and floating-point instructions: one machine instruction for each, as a rule."""
    return is_memory(instruction) or instruction.opcode.mods[-1:] != () and (
        instruction.opcode.mods[-1] in _DATA and instruction.opcode.name in ("add", "mul", "fma"))


def is_memory(instruction: Instruction) -> bool:
    """Loads, stores, atomics and copies outside parameter space."""
    opcode = instruction.opcode
    if opcode.name == "cp":
        return "async" in opcode.mods and "global" in opcode.mods
    spaces = {m.partition("::")[0] for m in opcode.mods}
    return opcode.name in ("ld", "ldu", "st", "atom", "red") and "param" not in spaces


def _copies(block: SassBlock, lines: set[int]) -> int:
    """How often most of the lines occur in a block; the larger number in case of doubt."""
    counts = Counter(i.ptx_line for i in block.instructions if i.ptx_line in lines
                     and (i.memory is not None or name_of(i) in _ARITHMETIC))
    often = Counter(counts.values())
    return max(often, key=lambda n: (often[n], n), default=0)
