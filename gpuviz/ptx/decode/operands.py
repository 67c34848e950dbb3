"""Operands made ready to read and write: one small function each, built when code is decoded."""

from __future__ import annotations

from collections.abc import Callable

from gpuviz.arrays import Array
from gpuviz.errors import UnsupportedError
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import adapter, blend, constant, immediate
from gpuviz.ptx.text.ir import Imm, Instruction, Not, Operand, Pair, Reg, Sym, Vec

Reader = Callable[[Group], Array]
Writer = Callable[[Group, Array], None]


class Unsupported(UnsupportedError):
    """Something that this emulator does not execute: `what`, in which instruction."""

    def __init__(self, instruction: Instruction, what: str) -> None:
        super().__init__(
            f"{what} is not supported ({instruction.where}: {instruction.opcode.text})"
        )
        self.instruction = instruction
        self.what = what


def unsupported(instruction: Instruction, what: str) -> Unsupported:
    """The error for something that this emulator does not execute."""
    return Unsupported(instruction, what)


def reader(
    operand: Operand, kind: str, instruction: Instruction, code: FunctionCode, program: Program
) -> Reader:
    """A function that gives the operand's value as the bits of `kind`."""
    if isinstance(operand, Reg):
        return _register_reader(operand, kind)
    if isinstance(operand, Not):
        index = operand.reg.index
        return lambda g: ~g.regs[index]
    if isinstance(operand, Imm):
        value = immediate(operand, kind)
        return lambda g: value
    if isinstance(operand, Sym):
        return _symbol_reader(operand, kind, instruction, code, program)
    raise unsupported(instruction, f"this operand {operand}")


def _register_reader(reg: Reg, kind: str) -> Reader:
    index, adapt = reg.index, adapter(reg.type, kind)
    if adapt is None:
        return lambda g: g.regs[index]
    return lambda g: adapt(g.regs[index])


def _symbol_reader(
    sym: Sym, kind: str, instruction: Instruction, code: FunctionCode, program: Program
) -> Reader:
    if sym.name in code.local_offset:
        offset = code.local_offset[sym.name] + sym.offset
        return lambda g: constant(g.local_base + offset, kind)
    special = program.special(sym.name)
    if special is not None:
        return lambda g: special(g, kind)
    address = program.address_of(sym.name)
    if address is None:
        raise unsupported(instruction, f"the name {sym.name}")
    value = constant(address + sym.offset, kind)
    return lambda g: value


def writer(operand: Operand, kind: str, instruction: Instruction) -> Writer:
    """A function that puts a value (bits of `kind`) into a destination, for the active lanes."""
    if isinstance(operand, Sym) and operand.name == "_":
        return lambda g, value: None
    if not isinstance(operand, Reg):
        raise unsupported(instruction, f"the destination {operand}")
    index, adapt = operand.index, adapter(kind, operand.type)

    def write(g: Group, value: Array) -> None:
        if adapt is not None:
            value = adapt(value)
        mask = g.mask
        g.regs[index] = value if mask is None else blend(mask, value, g.regs[index])

    return write


def writers(
    operand: Operand, kinds: tuple[str, ...], instruction: Instruction
) -> tuple[Writer, ...]:
    """Writers of a single destination, a pair `p|q`, or a braced list."""
    if isinstance(operand, Pair):
        targets: tuple[Operand, ...] = (operand.first, operand.second)
    elif isinstance(operand, Vec):
        targets = operand.items
    else:
        targets = (operand,)
    return tuple(writer(t, k, instruction) for t, k in zip(targets, kinds, strict=False))
