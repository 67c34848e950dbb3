"""Instructions in which the lanes of a warp exchange values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuviz.arrays import Array, Bool
from gpuviz.ptx.decode.operands import Reader, reader, writers
from gpuviz.ptx.simt import warp_ops
from gpuviz.ptx.simt.code import FunctionCode, Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.text.ir import Instruction
from gpuviz.trace import LANES, lane_mask

Results = tuple[Array, ...]
Compute = Callable[[Group, Bool], Results]


def warp_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step | None:
    """The step of a warp-wide instruction, None for any other."""
    build = _BUILDERS.get(instruction.opcode.name)
    return None if build is None else build(instruction, code, program)


def active_rows(g: Group) -> Bool:
    """(N, 32): which lanes of the view's warps are in the group."""
    view = g.view
    if g.mask is not None:
        return view.warp_rows(view.full(g.mask))
    present = view.present
    return np.ones((view.size // 32, 32), bool) if present is None else present


def member_reader(instruction: Instruction, code: FunctionCode, program: Program) -> Reader | None:
    """The member mask of a synchronised instruction, as u32; None for the old forms without."""
    operands = instruction.operands
    if instruction.opcode.name in ("bar", "barrier"):
        return reader(operands[0], "u32", instruction, code, program)
    if "sync" not in instruction.opcode.mods:
        return None
    return reader(operands[-1], "u32", instruction, code, program)


def members_here(instruction: Instruction, code: FunctionCode, program: Program) -> Any:
    """A check that no running lane named by a member mask of the group is elsewhere."""
    member = member_reader(instruction, code, program)
    assert member is not None

    def check(g: Group) -> bool:
        active = active_rows(g)
        bits = np.where(active, _rows(g, member(g)), np.uint32(0))
        wanted = lane_mask(np.bitwise_or.reduce(bits, axis=1))
        return not (wanted & g.machine.running_rows(g.view) & ~active).any()

    return check


def _rows(g: Group, value: Array) -> Array:
    return g.view.warp_rows(g.view.full(value))


def parties(g: Group, member: Reader | None) -> Iterator[Bool]:
    """(N, 32) masks of the lanes that exchange values: lanes of a warp with one member mask."""
    left = active_rows(g)
    masks = None if member is None else member(g)
    if masks is None or masks.size == 1:
        yield left
        return
    rows = _rows(g, masks)
    while left.any():
        leader = np.take_along_axis(rows, left.argmax(axis=1, keepdims=True), axis=1)
        party = left & (rows == leader)
        yield party
        left = left & ~party


def _joined(party: Bool, found: Results, others: Results) -> Results:
    return tuple(np.where(party, new, old) for new, old in zip(found, others, strict=True))


def _collective(
    instruction: Instruction,
    code: FunctionCode,
    program: Program,
    kinds: tuple[str, ...],
    compute: Compute,
) -> Step:
    """A step that computes results, each (N, 32) or (N, 1), for each party of each warp."""
    member = member_reader(instruction, code, program)
    puts = writers(instruction.operands[0], kinds, instruction)

    def step(g: Group) -> None:
        results: Results = ()
        for party in parties(g, member):
            found = compute(g, party)
            results = _joined(party, found, results) if results else found
        for put, rows in zip(puts, results, strict=False):
            put(g, g.view.from_warp_rows(np.broadcast_to(rows, (len(rows), LANES))))

    return step


def _shfl(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    mode = next(m for m in instruction.opcode.mods if m in ("up", "down", "bfly", "idx"))
    target, *sources = instruction.operands
    readers = [reader(o, "b32", instruction, code, program) for o in sources[:3]]
    puts = writers(target, ("b32", "pred"), instruction)

    def step(g: Group) -> None:
        value, b, c = (_rows(g, read(g)) for read in readers)
        results = warp_ops.shfl(mode, value, b, c, active_rows(g))
        for put, rows in zip(puts, results, strict=False):
            put(g, g.view.from_warp_rows(rows))

    return step


def _vote(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    mode = next(m for m in instruction.opcode.mods if m in ("all", "any", "uni", "ballot"))
    read = reader(instruction.operands[1], "pred", instruction, code, program)
    return _collective(
        instruction,
        code,
        program,
        ("b32" if mode == "ballot" else "pred",),
        lambda g, party: (warp_ops.vote(mode, _rows(g, read(g)), party),),
    )


def _match(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    mods = instruction.opcode.mods
    read = reader(instruction.operands[1], mods[-1], instruction, code, program)

    def compute(g: Group, party: Bool) -> tuple[Array, ...]:
        rows = _rows(g, read(g))
        return (
            (warp_ops.match_any(rows, party),) if "any" in mods else warp_ops.match_all(rows, party)
        )

    return _collective(instruction, code, program, ("b32", "pred"), compute)


def _redux(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    operation, *flags, kind = (m for m in instruction.opcode.mods if m != "sync")
    read = reader(instruction.operands[1], kind, instruction, code, program)
    return _collective(
        instruction,
        code,
        program,
        (kind,),
        lambda g, party: (warp_ops.redux(operation, kind, _rows(g, read(g)), party, tuple(flags)),),
    )


def _activemask(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    return _collective(
        instruction, code, program, ("b32",), lambda g, party: (warp_ops.activemask(party),)
    )


def _elect(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    return _collective(
        instruction, code, program, ("b32", "pred"), lambda g, party: warp_ops.elect(party)
    )


_BUILDERS = {
    "shfl": _shfl,
    "vote": _vote,
    "match": _match,
    "redux": _redux,
    "activemask": _activemask,
    "elect": _elect,
}
