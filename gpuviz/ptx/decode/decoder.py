"""A function's PTX to its `FunctionCode`: which decoder takes which instruction."""

from __future__ import annotations

import numpy as np

from gpuviz.errors import UnsupportedError
from gpuviz.ptx.decode.address import address_step
from gpuviz.ptx.decode.arithmetic import arithmetic_step
from gpuviz.ptx.decode.atomics import atomic_step
from gpuviz.ptx.decode.calls import call_end
from gpuviz.ptx.decode.control import control_end, guard_reader
from gpuviz.ptx.decode.memory import copy_step, load_step, space_named, store_step
from gpuviz.ptx.decode.operands import Unsupported, unsupported
from gpuviz.ptx.decode.params import param_load, param_store
from gpuviz.ptx.decode.warp import members_here, warp_step
from gpuviz.ptx.simt.code import Block, End, FunctionCode, Step, is_control, is_synchronised, layout
from gpuviz.ptx.simt.flow import Span
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.text.ir import Function, Instruction

# Instructions that only order or hint: one launch, executed in step, has nothing to wait for.
_NOTHING = frozenset(
    {"membar", "fence", "prefetch", "prefetchu", "nanosleep", "discard", "applypriority", "pmevent"}
)


def decode(function: Function, index: int, program: Program) -> FunctionCode:
    """Decode every instruction of a function once.

    Raises
    ------
    UnsupportedError : an instruction the emulator does not execute
    """
    code, cut = layout(function, index)
    code.blocks = [_block(code, span, number, program) for number, span in enumerate(cut)]
    return code


def _block(code: FunctionCode, span: Span, number: int, program: Program) -> Block:
    body = code.function.body[span.start : span.end]
    members = members_here(body[0], code, program) if is_synchronised(body[0]) else None
    decoded = [decode_step(i, code, program, number + 1) for i in body]
    end: End | None = None
    if is_control(body[-1]):
        end = decoded.pop()
    elif number + 1 == len(code.rank):  # the text of a function may end without a `ret`
        end = _implied_return
    steps = tuple(step for step in decoded if step is not None)
    lines = tuple(dict.fromkeys(i.line for i in body if i.line))
    return Block(steps, end, len(body), body[0], members, lines)


def _implied_return(g: Group) -> None:
    if g.stack:
        g.machine.return_from(g)
    else:
        g.machine.exit(g)


def _end(instruction: Instruction, code: FunctionCode, program: Program, following: int) -> End:
    if instruction.opcode.name == "call":
        end = call_end(instruction, code, program, following)
        return end if instruction.guard is None else _guarded_end(end, instruction, following)
    end = control_end(instruction, code, program, following)
    if instruction.guard is None or instruction.opcode.name in ("bra", "ret", "exit"):
        return end
    return _guarded_end(end, instruction, following)


def _guarded_end(end: End, instruction: Instruction, following: int) -> End:
    """A guarded call, barrier or trap: the lanes whose guard is off go past it."""
    assert instruction.guard is not None
    predicate = guard_reader(instruction.guard)

    def guarded(g: Group) -> None:
        chosen = g.view.full(predicate(g))
        chosen = np.asarray(chosen if g.mask is None else chosen & g.mask)
        inside = g.view.count(chosen)
        if inside and inside < g.threads:
            other = g.fork(chosen)
            g.set_mask(~chosen if g.mask is None else g.mask & ~chosen)
            g.machine.add(other)
            end(other)
            g.move(following)
        elif inside:
            end(g)
        else:
            g.move(following)

    return guarded


def decode_step(
    instruction: Instruction, code: FunctionCode, program: Program, following: int
) -> Step | None:
    """What an instruction does, None when it does nothing; `following` is the next block.

    Raises
    ------
    Unsupported : the emulator does not execute it; names the opcode, the PTX and the CUDA line
    """
    try:
        if is_control(instruction):
            return _end(instruction, code, program, following)
        return _step(instruction, code, program)
    except Unsupported:
        raise
    except UnsupportedError as error:
        raise unsupported(instruction, f"this instruction ({error})") from error
    except (LookupError, ValueError, TypeError, StopIteration, AssertionError) as error:
        raise unsupported(instruction, "this form of the instruction") from error


def _step(instruction: Instruction, code: FunctionCode, program: Program) -> Step | None:
    step = _plain_step(instruction, code, program)
    if step is None or instruction.guard is None:
        return step
    return _guarded(step, instruction)


def _guarded(step: Step, instruction: Instruction) -> Step:
    """Execute a step for the lanes whose guard holds."""
    assert instruction.guard is not None
    predicate = guard_reader(instruction.guard)

    def guarded(g: Group) -> None:
        value, mask = predicate(g), g.mask
        if value.size == 1:
            if value.reshape(-1)[0]:
                step(g)
            return
        chosen = value if mask is None else value & mask
        if chosen.any():
            step(g.fork(chosen))

    return guarded


def _plain_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step | None:
    opcode = instruction.opcode
    name, mods = opcode.name, opcode.mods
    if name in _NOTHING:
        return _yield_step if name == "nanosleep" else None
    if name in ("ld", "ldu"):
        if space_named(mods) == "param":
            return param_load(instruction, code, program)
        return load_step(instruction, code, program)
    if name == "st":
        if space_named(mods) == "param":
            return param_store(instruction, code, program)
        return store_step(instruction, code, program)
    if name in ("atom", "red"):
        return atomic_step(instruction, code, program)
    if name == "cp":
        return _copy(instruction, code, program)
    if name in ("bar", "barrier"):  # bar.warp.sync: the wait is at the start of its block
        return None
    found = warp_step(instruction, code, program) or address_step(instruction, code, program)
    if found is None:
        found = arithmetic_step(instruction, code, program)
    if found is None:
        raise unsupported(instruction, "this instruction")
    return found


def _yield_step(g: Group) -> None:
    g.machine.polled = True


def _copy(instruction: Instruction, code: FunctionCode, program: Program) -> Step | None:
    mods = instruction.opcode.mods
    if mods[:1] != ("async",) or "bulk" in mods or "mbarrier" in mods:
        raise unsupported(instruction, "this copy")
    if mods[1] in ("commit_group", "wait_group", "wait_all"):
        return None
    return copy_step(instruction, code, program)
