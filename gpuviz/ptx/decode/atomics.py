"""Atomic operations and reductions on memory."""

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.ptx.decode.locate import Location, Locator, Shape, generic, space_named
from gpuviz.ptx.decode.memory import polls
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt import atomic
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Function, Imm, Instruction, Operand, Vec
from gpuviz.ptx.text.isa import registers_read, registers_written
from gpuviz.ptx.text.stream import type_bytes


def _atomic_step(site: Site) -> Step:
    """`atom` and `red`: lanes take their turn in lane order."""
    operands = list(site.operands)
    target = operands.pop(0) if site.name == "atom" else None
    address, *values = operands
    name, kind, unit = _operation(site), site.kind, type_bytes(site.kind)
    if unit > 8:
        raise site.unsupported("a 128-bit atomic")
    vector = values[0].items if isinstance(values[0], Vec) else None
    shape = Shape(space_named(site.mods), kind, unit, len(vector) if vector else 1)
    used = stays_atomic(site.instruction, site.code.function)
    locate = Locator(
        site, address, shape, "atomic" if used else "reduction", _form(name, kind, used, values[0])
    )
    sources = [site.reader(o, kind) for o in (vector or values)]
    puts = site.writers(target, (kind,) * shape.count) if target is not None else ()
    if len(puts) not in (0, shape.count) or (name == "cas" and (vector or len(sources) < 2)):
        raise site.unsupported("this number of operands")
    instruction = site.instruction
    polled = name in ("cas", "exch") or polls(instruction)

    def step(g: Group) -> None:
        place = locate(g)
        if vector:
            for i, read in enumerate(sources):
                old = _apply(g, place, place.index + i, name, kind, read(g), None)
                if puts:
                    puts[i](g, old)
        else:
            operand = sources[1](g) if len(sources) > 1 else None
            old = _apply(g, place, place.index, name, kind, sources[0](g), operand)
            for put in puts:
                put(g, old)
        if polled:
            g.machine.polling.read(instruction, place.base)

    return step if shape.space else generic(step, locate)


def _form(name: str, kind: str, used: bool, value: Operand) -> str:
    """Operation and type, with the increments the assembler has an instruction of its own for."""
    step = {"add": 1, "inc": 0xFFFFFFFF}.get(name)
    plain = kind in ("u32", "s32") and not used
    if plain and isinstance(value, Imm) and value.value & 0xFFFFFFFF == step:
        return f"increment.{kind}"
    return f"{name}.{kind}"


def stays_atomic(at: Instruction, function: Function) -> bool:
    """Whether its result is needed; else the assembler makes a reduction of it.

    An instruction reads it, or it acquires: what comes later waits for it, and a reduction says
    nothing (so in machine code for sm_75 to sm_100, and read on an H200).
    """
    made = registers_written(at)
    if not made:
        return False
    if "shared" not in at.opcode.mods and {"acquire", "acq_rel"} & set(at.opcode.mods):
        return True
    others = (other for other in function.body if other is not at)
    return any(one in made for other in others for one in registers_read(other))


_OPERATIONS = ("add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas")


def _operation(site: Site) -> str:
    name = next((m for m in site.mods if m in _OPERATIONS), "")
    try:
        atomic.step_of(name, site.kind)
    except KeyError:
        raise site.unsupported("this atomic operation") from None
    return name


def _apply(
    g: Group, place: Location, index: I64, name: str, kind: str, b: Array, c: Array | None
) -> Array:
    """Apply to the active lanes; old values in the view's full shape."""
    layout = g.layout
    keep = slice(None) if g.mask is None else np.flatnonzero(layout.full(g.mask))

    def picked(value: Array) -> Array:
        return np.ascontiguousarray(layout.full(value).reshape(-1)[keep])

    cells = g.machine.memory.cells(place.space, type_bytes(kind))
    where = picked(index)
    old = atomic.apply(name, kind, cells, where, picked(b), None if c is None else picked(c))
    if (cells[where] != old).any():
        g.machine.polling.idle = 0
    out = np.zeros(layout.size, old.dtype)
    out[keep] = old
    return out.reshape(layout.shape)


STEPS: dict[str, Builder] = {"atom": _atomic_step, "red": _atomic_step}
