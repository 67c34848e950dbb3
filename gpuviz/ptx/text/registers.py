"""Which registers an instruction reads."""

from __future__ import annotations

from gpuviz.ptx.text.ir import Instruction, Operand

_NO_TARGET = frozenset(
    {"st", "red", "bra", "brx", "call", "bar", "barrier", "prefetch", "cp", "sust"}
)


def registers_read(instruction: Instruction) -> list[Operand | None]:
    """Registers an instruction reads; all but its first operand, which it writes."""
    found: list[Operand | None] = [getattr(instruction.guard, "reg", instruction.guard)]
    writes = instruction.opcode.name not in _NO_TARGET
    left = list(instruction.operands[1 if writes else 0 :])
    while left:
        operand = left.pop()
        left += getattr(operand, "items", ()) or [
            o for o in (getattr(operand, "first", None), getattr(operand, "second", None)) if o
        ]
        found.append(getattr(operand, "base", getattr(operand, "reg", operand)))
    return found
