"""Conversions between addresses of a state space and generic ones."""

from __future__ import annotations

import numpy as np

from gpuviz.ptx.decode.memory import space_named
from gpuviz.ptx.decode.operands import reader, writer
from gpuviz.ptx.simt.code import FunctionCode, Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import constant
from gpuviz.ptx.simt.windows import BASES, WINDOW
from gpuviz.ptx.text.ir import Instruction


def address_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step | None:
    """The step of `cvta`, `isspacep` or `mapa`, None for any other."""
    build = {"cvta": _cvta, "isspacep": _isspacep, "mapa": _mapa}.get(instruction.opcode.name)
    return None if build is None else build(instruction, code, program)


def _cvta(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    mods = instruction.opcode.mods
    kind = mods[-1]
    base = constant(BASES[space_named(mods)], kind)
    target, source = instruction.operands[:2]
    read = reader(source, kind, instruction, code, program)
    write = writer(target, kind, instruction)
    if not int(base[0]):
        return lambda g: write(g, read(g))
    if "to" in mods:
        return lambda g: write(g, read(g) - base)
    return lambda g: write(g, read(g) + base)


def _isspacep(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    space = space_named(instruction.opcode.mods)
    target, source = instruction.operands
    read = reader(source, "u64", instruction, code, program)
    write = writer(target, "pred", instruction)
    low = np.uint64(BASES[space] or BASES["param"] + WINDOW)
    high = np.uint64(BASES[space] + WINDOW if BASES[space] else (1 << 64) - 1)

    def step(g: Group) -> None:
        address = read(g)
        write(g, (address >= low) & (address < high))

    return step


def _mapa(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """A cluster holds one block here, so every address maps to itself."""
    kind = instruction.opcode.mods[-1]
    read = reader(instruction.operands[1], kind, instruction, code, program)
    write = writer(instruction.operands[0], kind, instruction)
    return lambda g: write(g, read(g))
