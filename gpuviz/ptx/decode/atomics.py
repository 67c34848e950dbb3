"""Atomic operations and reductions on memory."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import I64, Array
from gpuviz.ptx.decode.memory import Locator, Place, Shape, generic_step, space_named
from gpuviz.ptx.decode.operands import reader, unsupported, writers
from gpuviz.ptx.simt import atomic
from gpuviz.ptx.simt.code import FunctionCode, Step, polls
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.text.ir import Imm, Instruction, Operand, Reg, Vec
from gpuviz.ptx.text.stream import type_bytes


def atomic_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """`atom` and `red`: lanes take their turn in lane order."""
    opcode = instruction.opcode
    returns = opcode.name == "atom"
    operands = list(instruction.operands)
    target = operands.pop(0) if returns else None
    name, kind = _atomic_name(instruction)
    values = operands[1:]
    vector = values[0].items if isinstance(values[0], Vec) else None
    unit = type_bytes(kind)
    if unit > 8:
        raise unsupported(instruction, "a 128-bit atomic")
    shape = Shape(space_named(opcode.mods), kind, unit, len(vector) if vector else 1)
    used = _is_used(target, instruction, code)  # if not, the assembler makes a reduction of it
    locate = Locator(
        instruction,
        operands[0],
        shape,
        "atomic" if used else "reduction",
        code,
        program,
        _form(name, kind, used, values[0]),
    )
    sources = [reader(o, kind, instruction, code, program) for o in (vector or values)]
    puts = writers(target, (kind,) * shape.count, instruction) if target is not None else ()
    polled = name in ("cas", "exch") or polls(instruction)

    def step(g: Group) -> None:
        place = locate(g)
        if vector:
            for i, read in enumerate(sources):
                old = _atomic(g, place, place.index + i, name, kind, read(g), None)
                if puts:
                    puts[i](g, old)
        else:
            operand = sources[1](g) if len(sources) > 1 else None
            old = _atomic(g, place, place.index, name, kind, sources[0](g), operand)
            for put in puts:
                put(g, old)
        if polled:
            g.machine.poll(instruction, place.base)

    return step if shape.space else generic_step(step, locate)


def _form(name: str, kind: str, used: bool, value: Operand) -> str:
    """Operation and type, with the increments the assembler has an instruction of its own for."""
    step = {"add": 1, "inc": 0xFFFFFFFF}.get(name)
    plain = kind in ("u32", "s32") and not used
    if plain and isinstance(value, Imm) and value.value & 0xFFFFFFFF == step:
        return f"increment.{kind}"
    return f"{name}.{kind}"


def _is_used(target: Operand | None, instruction: Instruction, code: FunctionCode) -> bool:
    """Whether any other instruction of the function reads a result."""
    if not isinstance(target, Reg):
        return False
    return any(target in _read(other) for other in code.function.body if other is not instruction)


_NO_TARGET = frozenset({"st", "red", "bra", "brx", "call", "bar", "barrier", "prefetch", "cp"})


def _read(instruction: Instruction) -> list[Operand | None]:
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


_ATOMIC_OPS = ("add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas")


def _atomic_name(instruction: Instruction) -> tuple[str, str]:
    mods = instruction.opcode.mods
    name = next((m for m in mods if m in _ATOMIC_OPS), None)
    try:
        atomic.step_of(name or "", mods[-1])
    except KeyError:
        raise unsupported(instruction, "this atomic operation") from None
    return name or "", mods[-1]


def _atomic(
    g: Group, place: Place, index: I64, name: str, kind: str, b: Array, c: Array | None
) -> Array:
    """Apply to the active lanes; old values in the view's full shape."""
    view = g.view
    keep = slice(None) if g.mask is None else np.flatnonzero(view.full(g.mask))

    def picked(value: Array) -> Array:
        return np.ascontiguousarray(view.full(value).reshape(-1)[keep])

    cells = g.machine.cells(place.space, type_bytes(kind))
    where = picked(index)
    old = atomic.apply(name, kind, cells, where, picked(b), None if c is None else picked(c))
    if (cells[where] != old).any():
        g.machine.idle = 0
    if place.space == "shared":
        g.machine.shared.mark_written(where, type_bytes(kind))
    out = np.zeros(view.size, old.dtype)
    out[keep] = old
    return out.reshape(view.shape)
