"""What the instructions of a kernel are for: data, sums, addresses, or the loop they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from gpuviz.ptx.text.ir import Addr, Function, Instruction, Operand, Reg, Sym
from gpuviz.ptx.text.isa import ACCESSES, kind_of, registers_read, registers_written

Purpose = Literal["memory", "arithmetic", "address", "loop", "other"]
_FLOATS = frozenset({"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"})
_ENDS = ("branch", "leave")


def purposes(function: Function) -> Mapping[int, Purpose]:
    """What each instruction is for, by its pc.

    Arithmetic on floats is `arithmetic`. What ends up in an address is for the address, what ends
    up in a branch and in no address for the loop; the rest is `other`.
    """
    body = function.body
    bases = (_base(o) for at in body for o in at.operands)
    addresses = _flowing_into(body, {reg for reg in bases if reg is not None})
    guards = (at.guard for at in body if kind_of(at) in _ENDS)
    branches = _flowing_into(body, {_register(g) for g in guards if g is not None})

    def purpose(at: Instruction) -> Purpose:
        if kind_of(at) in ACCESSES:
            return "memory"
        if _FLOATS & set(at.opcode.mods):
            return "arithmetic"
        written = set(_written(at))
        if written & addresses:
            return "address"
        return "loop" if kind_of(at) in _ENDS or written & branches else "other"

    return {at.pc: purpose(at) for at in body}


def inner_loop(function: Function) -> tuple[Instruction, ...]:
    """The loop without a loop in it that has most arithmetic; nothing where there is no loop."""
    ends = [(i, _target(function, at)) for i, at in enumerate(function.body)]
    spans = [(to, i + 1) for i, to in ends if 0 <= to <= i]
    inner = [a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans)]
    known = purposes(function)

    def much(span: tuple[int, int]) -> int:
        return sum(known[at.pc] == "arithmetic" for at in function.body[slice(*span)])

    return function.body[slice(*max(inner, key=much))] if inner else ()


def _target(function: Function, at: Instruction) -> int:
    """Where a branch goes, by its place in the body; -1 for what is none."""
    name = at.operands[0] if at.opcode.name == "bra" and at.operands else None
    return function.labels.get(name.name, -1) if isinstance(name, Sym) else -1


def _flowing_into(body: Iterable[Instruction], wanted: set[int]) -> frozenset[int]:
    """Registers whose values end up in the wanted ones, these among them."""
    steps = [(set(_written(at)), at) for at in body if kind_of(at) not in ACCESSES]
    found, more = set(wanted), True
    while more:
        read = {r for written, at in steps if written & found for r in _read(at)}
        more, found = not read <= found, found | read
    return frozenset(found)


def _read(at: Instruction) -> Iterable[int]:
    return (r.index for r in registers_read(at))


def _written(at: Instruction) -> Iterable[int]:
    return (r.index for r in registers_written(at))


def _base(operand: Operand) -> int | None:
    base = operand.base if isinstance(operand, Addr) else None
    return base.index if isinstance(base, Reg) else None


def _register(guard: object) -> int:
    return int(getattr(guard, "reg", guard).index)  # type: ignore[attr-defined]
