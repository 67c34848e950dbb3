"""Which registers an instruction names, and which it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuviz.ptx.text.ir import Addr, Instruction, Not, Operand, Pair, Reg, Vec

_NO_TARGET = frozenset(
    {"st", "red", "bra", "brx", "call", "bar", "barrier", "prefetch", "cp", "sust"}
)


def registers_in(operands: Iterable[Operand | None]) -> Iterator[Reg]:
    """The registers in operands, those of addresses too."""
    for one in operands:
        match one:
            case Reg():
                yield one
            case Not():
                yield one.reg
            case Addr(base=Reg() as base):
                yield base
            case Vec():
                yield from registers_in(one.items)
            case Pair():
                yield from registers_in((one.first, one.second))


def registers_written(instruction: Instruction) -> list[Reg]:
    """Registers an instruction writes: its first operand's, unless that is an address."""
    if instruction.opcode.name in _NO_TARGET:
        return []
    return list(registers_in(o for o in instruction.operands[:1] if not isinstance(o, Addr)))


def registers_read(instruction: Instruction) -> list[Reg]:
    """Registers an instruction reads; all but its first operand, which it writes."""
    writes = instruction.opcode.name not in _NO_TARGET
    return list(registers_in((instruction.guard, *instruction.operands[1 if writes else 0 :])))
