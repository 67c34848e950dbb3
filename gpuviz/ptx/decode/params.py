"""Parameters: of kernels (constant for all threads) and of device functions (registers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuviz.arrays import Array
from gpuviz.ptx.decode.memory import load_step
from gpuviz.ptx.decode.operands import Reader, reader, unsupported, writers
from gpuviz.ptx.simt.code import FunctionCode, Slot, Step, param_accesses
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import container
from gpuviz.ptx.text.ir import Addr, Instruction, Sym, Vec


def slot_reader(code: FunctionCode, slot: Slot) -> Reader:
    """The value of a part of a parameter, put together from smaller parts where need be."""
    if slot in code.slots:
        index = code.slots[slot]
        return lambda g: g.regs[index]
    name, offset, size = slot
    found = {o: (n, i) for (v, o, n), i in code.slots.items() if v == name}
    dtype = container(f"b{8 * size}")
    pieces = [
        (o - offset, n, i) for o, (n, i) in found.items() if o < offset + size and o + n > offset
    ]

    def read(g: Group) -> Array:
        value: Array = np.zeros(1, np.uint64)
        for at, _, index in pieces:
            part = g.regs[index].astype(np.uint64)
            value = value | (part << np.uint64(8 * at) if at >= 0 else part >> np.uint64(-8 * at))
        return value.astype(dtype)

    return read


def param_load(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """`ld.param`."""
    target, address = instruction.operands[:2]
    assert isinstance(address, Addr)
    if code.function.entry and (
        not isinstance(address.base, Sym) or address.base.name in program.parameter_offset
    ):
        return _kernel_param(instruction, code, program)
    if not isinstance(address.base, Sym):
        raise unsupported(instruction, "the address of a function's parameter")
    slots = param_accesses(instruction)
    readers = [slot_reader(code, slot) for slot in slots]
    puts = writers(target, (instruction.opcode.mods[-1],) * len(slots), instruction)

    def step(g: Group) -> None:
        for put, read in zip(puts, readers, strict=True):
            put(g, read(g))

    return step


def _kernel_param(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """Parameters of the kernel are the same for all threads: read when decoded."""
    target, address = instruction.operands[:2]
    assert isinstance(address, Addr)
    if not isinstance(address.base, Sym):
        return load_step(instruction, code, program)
    kind = instruction.opcode.mods[-1]
    dtype = container(kind)
    start = program.parameter_offset[address.base.name] + address.offset
    count = len(target.items) if isinstance(target, Vec) else 1
    content = program.parameters.cells.bytes.tobytes()
    values = [np.frombuffer(content, dtype, 1, start + i * dtype.itemsize) for i in range(count)]
    puts = writers(target, (kind,) * count, instruction)

    def step(g: Group) -> None:
        for put, value in zip(puts, values, strict=True):
            put(g, value)

    return step


def param_store(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """`st.param`: an argument of a call, or a return value."""
    source = instruction.operands[1]
    kind = instruction.opcode.mods[-1]
    items = source.items if isinstance(source, Vec) else (source,)
    readers = [reader(o, kind, instruction, code, program) for o in items]
    targets = [_slot_indices(code, slot) for slot in param_accesses(instruction)]

    def step(g: Group) -> None:
        for read, parts in zip(readers, targets, strict=True):
            value = read(g)
            for index, shift, dtype in parts:
                part = value if shift is None else (value >> shift).astype(dtype)
                g.write(index, part)

    return step


def _slot_indices(code: FunctionCode, slot: Slot) -> list[tuple[int, Any, Any]]:
    """Where a stored value goes: its own slot, or the byte slots it covers."""
    if slot in code.slots:
        return [(code.slots[slot], None, None)]
    name, offset, size = slot
    dtype = container(f"b{8 * size}")
    return [(code.slots[name, offset + i, 1], dtype.type(8 * i), np.uint8) for i in range(size)]
