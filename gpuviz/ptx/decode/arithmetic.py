"""Instructions that compute registers from registers: everything in the opcode table, and mov."""

from __future__ import annotations

from typing import Any

from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.arithmetic.row import Operation
from gpuviz.ptx.decode.operands import Reader, reader, unsupported, writer, writers
from gpuviz.ptx.simt.code import FunctionCode, Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import adapter, blend, container
from gpuviz.ptx.text.ir import Instruction, Operand, Pair, Reg, Vec

CARRY = "#carry"  # the condition code register of add.cc and its like


def arithmetic_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step | None:
    """The step of an instruction of the opcode table, None when the table lacks it."""
    if instruction.opcode.name == "mov":
        return _mov_step(instruction, code, program)
    if not instruction.operands:
        return None
    targets, sources = _targets(instruction.operands[0]), list(instruction.operands[1:])
    op = operation(instruction.opcode, len(targets))
    if op is None:
        return None
    if len(op.sources) == len(sources) + 1 and op.sources[-1] == "pred":
        sources.append(_carry(code))
    if (
        len(op.results) == len(targets) + 1
        and op.results[-1] == "pred"
        and _writes_carry(instruction)
    ):
        targets.append(_carry(code))
    if len(sources) != len(op.sources):
        raise unsupported(instruction, f"{len(sources)} source operands")
    plain = _plain_step(op, targets, sources)
    if plain is not None:
        return plain
    readers = [
        reader(o, k, instruction, code, program) for o, k in zip(sources, op.sources, strict=True)
    ]
    if len(op.results) == 1:
        return _single(op, readers, targets[0], instruction)
    return _several(op, readers, targets, instruction)


def _targets(operand: Operand) -> list[Operand]:
    if isinstance(operand, Pair):
        return [operand.first, operand.second]
    return list(operand.items) if isinstance(operand, Vec) else [operand]


def _writes_carry(instruction: Instruction) -> bool:
    return "cc" in instruction.opcode.mods


def _carry(code: FunctionCode) -> Reg:
    """The function's condition code, as a register of its own."""
    if (CARRY, 0, 1) not in code.slots:
        code.slots[CARRY, 0, 1] = len(code.registers)
        code.registers.append("pred")
    return Reg(code.slots[CARRY, 0, 1], "pred", CARRY)


def _plain_step(op: Operation, targets: list[Operand], sources: list[Operand]) -> Step | None:
    """The short path: one result, all operands registers of just the right width."""
    if len(op.results) != 1 or not isinstance(targets[0], Reg):
        return None
    if adapter(op.results[0], targets[0].type) is not None:
        return None
    indices = []
    for source, kind in zip(sources, op.sources, strict=True):
        if not isinstance(source, Reg) or adapter(source.type, kind) is not None:
            return None
        indices.append(source.index)
    return (
        _REGISTERS_ONLY[len(indices)](op.function, targets[0].index, *indices)
        if len(indices) in _REGISTERS_ONLY
        else None
    )


def _one(function: Any, target: int, a: int) -> Step:
    def step(g: Group) -> None:
        r, mask = g.regs, g.mask
        value = function(r[a])
        r[target] = value if mask is None else blend(mask, value, r[target])

    return step


def _two(function: Any, target: int, a: int, b: int) -> Step:
    def step(g: Group) -> None:
        r, mask = g.regs, g.mask
        value = function(r[a], r[b])
        r[target] = value if mask is None else blend(mask, value, r[target])

    return step


def _three(function: Any, target: int, a: int, b: int, c: int) -> Step:
    def step(g: Group) -> None:
        r, mask = g.regs, g.mask
        value = function(r[a], r[b], r[c])
        r[target] = value if mask is None else blend(mask, value, r[target])

    return step


_REGISTERS_ONLY: dict[int, Any] = {1: _one, 2: _two, 3: _three}


def _single(
    op: Operation, readers: list[Reader], target: Operand, instruction: Instruction
) -> Step:
    function, write = op.function, writer(target, op.results[0], instruction)
    if len(readers) == 2:
        first, second = readers
        return lambda g: write(g, function(first(g), second(g)))
    return lambda g: write(g, function(*[read(g) for read in readers]))


def _several(
    op: Operation, readers: list[Reader], targets: list[Operand], instruction: Instruction
) -> Step:
    function = op.function
    if len(targets) == 1:  # setp with one destination: the second result is not wanted
        write = writer(targets[0], op.results[0], instruction)
        return lambda g: write(g, function(*[read(g) for read in readers])[0])
    puts = writers(Vec(tuple(targets)), op.results, instruction)

    def step(g: Group) -> None:
        results = function(*[read(g) for read in readers])
        for put, value in zip(puts, results, strict=False):
            put(g, value)

    return step


# ------------------------------------------------------------------------------------------ mov


def _mov_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    kind = instruction.opcode.mods[-1]
    target, source = instruction.operands
    if kind == "b128" or (isinstance(target, Vec) and isinstance(source, Vec)):
        return _mov_list(instruction, code, program)
    if isinstance(target, Vec):
        return _unpack(instruction, target, source, kind, code, program)
    if isinstance(source, Vec):
        return _pack(instruction, target, source, kind, code, program)
    read, write = (
        reader(source, kind, instruction, code, program),
        writer(target, kind, instruction),
    )
    return lambda g: write(g, read(g))


def _mov_list(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """Lists on both sides: element by element (b128 is two b64)."""
    target, source = instruction.operands
    if not (isinstance(target, Vec) and isinstance(source, Vec)):
        raise unsupported(instruction, "a 128-bit register")
    part = {"b128": "b64"}.get(instruction.opcode.mods[-1], instruction.opcode.mods[-1])
    moves = [
        (reader(s, part, instruction, code, program), writer(t, part, instruction))
        for t, s in zip(target.items, source.items, strict=True)
    ]

    def step(g: Group) -> None:
        values = [read(g) for read, _ in moves]
        for (_, write), value in zip(moves, values, strict=True):
            write(g, value)

    return step


def _part_kind(kind: str, count: int) -> str:
    return f"b{8 * container(kind).itemsize // count}"


def _unpack(
    instruction: Instruction,
    target: Vec,
    source: Operand,
    kind: str,
    code: FunctionCode,
    program: Program,
) -> Step:
    """`mov.b64 {lo, hi}, wide`: low part first."""
    part = _part_kind(kind, len(target.items))
    dtype = container(part)
    width = container(kind).type(8 * dtype.itemsize)
    read = reader(source, kind, instruction, code, program)
    puts = writers(target, (part,) * len(target.items), instruction)

    def step(g: Group) -> None:
        value = read(g)
        for i, put in enumerate(puts):
            put(g, (value >> (width * width.dtype.type(i))).astype(dtype))

    return step


def _pack(
    instruction: Instruction,
    target: Operand,
    source: Vec,
    kind: str,
    code: FunctionCode,
    program: Program,
) -> Step:
    """`mov.b64 wide, {lo, hi}`: low part first."""
    part = _part_kind(kind, len(source.items))
    dtype = container(kind)
    width = dtype.type(8 * container(part).itemsize)
    readers = [reader(o, part, instruction, code, program) for o in source.items]
    write = writer(target, kind, instruction)

    def step(g: Group) -> None:
        value = readers[0](g).astype(dtype)
        for i, read in enumerate(readers[1:], 1):
            value = value | (read(g).astype(dtype) << (width * width.dtype.type(i)))
        write(g, value)

    return step
