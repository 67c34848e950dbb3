"""Instructions that compute registers from registers: everything in the opcode table."""

from __future__ import annotations

from typing import Any

from gpuviz.ptx.arithmetic.ops import Operation, operation
from gpuviz.ptx.decode.operands import Reader, Site
from gpuviz.ptx.simt.code import FunctionCode, Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.values import adapter, blend
from gpuviz.ptx.text.ir import Operand, Reg, Vec
from gpuviz.ptx.text.isa import targets as targets_of

CARRY = "#carry"  # the condition code register of add.cc and its like


def arithmetic_step(site: Site) -> Step | None:
    """The step of an instruction of the opcode table, None when the table lacks it."""
    if not site.operands:
        return None
    targets, sources = list(targets_of(site.instruction)), list(site.operands[1:])
    op = operation(site.instruction.opcode, len(targets))
    if op is None:
        return None
    if len(op.sources) == len(sources) + 1 and op.sources[-1] == "pred":
        sources.append(_carry(site.code))
    if len(op.results) == len(targets) + 1 and "cc" in site.mods:
        targets.append(_carry(site.code))
    if len(sources) != len(op.sources):
        raise site.unsupported(f"{len(sources)} source operands")
    plain = _plain_step(op, targets, sources)
    if plain is not None:
        return plain
    readers = [site.reader(o, k) for o, k in zip(sources, op.sources, strict=True)]
    if len(op.results) == 1:
        return _single(op, readers, targets[0], site)
    return _several(op, readers, targets, site)


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


def _single(op: Operation, readers: list[Reader], target: Operand, site: Site) -> Step:
    function, write = op.function, site.writer(target, op.results[0])
    if len(readers) == 2:
        first, second = readers
        return lambda g: write(g, function(first(g), second(g)))
    return lambda g: write(g, function(*[read(g) for read in readers]))


def _several(op: Operation, readers: list[Reader], targets: list[Operand], site: Site) -> Step:
    function = op.function
    if len(targets) == 1:  # setp with one destination: the second result is not wanted
        write = site.writer(targets[0], op.results[0])
        return lambda g: write(g, function(*[read(g) for read in readers])[0])
    puts = site.writers(Vec(tuple(targets)), op.results)

    def step(g: Group) -> None:
        results = function(*[read(g) for read in readers])
        for put, value in zip(puts, results, strict=False):
            put(g, value)

    return step
