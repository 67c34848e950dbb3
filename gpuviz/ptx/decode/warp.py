"""Instructions in which the lanes of a warp exchange values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpuviz.ptx import warp_ops
from gpuviz.ptx.code import FunctionCode, Step
from gpuviz.ptx.group import Group
from gpuviz.ptx.ir import Instruction, Operand
from gpuviz.ptx.operands import Reader, reader, writers
from gpuviz.ptx.program import Program
from gpuviz.trace import lane_mask

Array = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]


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


def member_reader(instruction: Instruction, code: FunctionCode, program: Program) -> Reader:
    """The member mask operand of a synchronised instruction, as u32."""
    operands = instruction.operands
    last = operands[0] if instruction.opcode.name in ("bar", "barrier") else operands[-1]
    return reader(last, "u32", instruction, code, program)


def members_here(instruction: Instruction, code: FunctionCode, program: Program) -> Any:
    """A check that no running lane named by the member mask is elsewhere."""
    member = member_reader(instruction, code, program)

    def check(g: Group) -> bool:
        active = active_rows(g)
        bits = g.view.warp_rows(g.view.full(member(g)))
        first = active.argmax(axis=1)
        wanted = lane_mask(bits[np.arange(len(bits)), first].astype(np.uint32))
        some = active.any(axis=1)
        running = g.machine.running_rows(g.view)
        missing = wanted & running & ~active & some[:, None]
        return not missing.any()

    return check


def _rows(g: Group, value: Array) -> Array:
    return g.view.warp_rows(g.view.full(value))


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
    target, source = instruction.operands[:2]
    read = reader(source, "pred", instruction, code, program)
    puts = writers(target, ("b32" if mode == "ballot" else "pred",), instruction)

    def step(g: Group) -> None:
        rows = warp_ops.vote(mode, _rows(g, read(g)), active_rows(g))
        puts[0](g, g.view.from_warp_rows(np.broadcast_to(
            rows if rows.ndim == 2 else rows[:, None], (len(rows), 32))))

    return step


def _match(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    mods = instruction.opcode.mods
    target, source = instruction.operands[:2]
    read = reader(source, mods[-1], instruction, code, program)
    puts = writers(target, ("b32", "pred"), instruction)

    def step(g: Group) -> None:
        rows, active = _rows(g, read(g)), active_rows(g)
        results = (warp_ops.match_any(rows, active),) if "any" in mods else warp_ops.match_all(
            rows, active)
        for put, value in zip(puts, results, strict=False):
            wide = value if value.ndim == 2 else value[:, None]
            put(g, g.view.from_warp_rows(np.broadcast_to(wide, (len(wide), 32))))

    return step


def _redux(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    operation, *flags, kind = (m for m in instruction.opcode.mods if m != "sync")
    target, source = instruction.operands[:2]
    read = reader(source, kind, instruction, code, program)
    puts = writers(target, (kind,), instruction)

    def step(g: Group) -> None:
        rows = warp_ops.redux(operation, kind, _rows(g, read(g)), active_rows(g), tuple(flags))
        wide = rows if rows.ndim == 2 else rows[:, None]
        puts[0](g, g.view.from_warp_rows(np.broadcast_to(wide, (len(wide), 32))))

    return step


def _activemask(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    puts = writers(instruction.operands[0], ("b32",), instruction)

    def step(g: Group) -> None:
        rows = warp_ops.activemask(active_rows(g))
        wide = rows if rows.ndim == 2 else rows[:, None]
        puts[0](g, g.view.from_warp_rows(np.broadcast_to(wide, (len(wide), 32))))

    return step


def _elect(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    target: Operand = instruction.operands[0]
    puts = writers(target, ("b32", "pred"), instruction)

    def step(g: Group) -> None:
        results = warp_ops.elect(active_rows(g))
        for put, rows in zip(puts, results, strict=False):
            wide = rows if rows.ndim == 2 else rows[:, None]
            put(g, g.view.from_warp_rows(np.broadcast_to(wide, (len(wide), 32))))

    return step


_BUILDERS = {"shfl": _shfl, "vote": _vote, "match": _match, "redux": _redux,
             "activemask": _activemask, "elect": _elect}
