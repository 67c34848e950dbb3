"""Loops of a PTX function that count towards a bound: those an assembler unrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuviz.ptx.text.flow import Span, branch_targets, spans
from gpuviz.ptx.text.ir import Function, Instruction, Not, Operand, Reg
from gpuviz.sass.flow import loops
from gpuviz.sass.symbolic import Form, Values

_INTEGER = frozenset({"s32", "u32", "b32", "s64", "u64", "b64"})


@dataclass(frozen=True)
class Loop:
    """A loop with one way back, contiguous in the text: instructions [start, end) of a body.

    The last instruction jumps back to `start` while `counter` (advanced by `step` in each
    iteration, and off by `ahead` from its value at the start when tested) compares to `bound`.
    """

    start: int
    end: int
    blocks: frozenset[int]
    counter: Reg
    step: int
    ahead: int
    test: Instruction


def counted_loops(function: Function) -> tuple[Loop, ...]:
    """The innermost loops that count towards a bound, in the order of the text."""
    blocks = spans(function)
    found = loops([b.next for b in blocks])
    values = Values(function, blocks)
    inner = [
        (h, body)
        for h, body in found.items()
        if not any(other != h and other in body for other in found)
    ]
    known = (_counted(function, blocks, header, body, values) for header, body in sorted(inner))
    return tuple(loop for loop in known if loop is not None)


def _counted(
    function: Function, blocks: Sequence[Span], header: int, body: frozenset[int], values: Values
) -> Loop | None:
    last = max(body)
    back = [b for b in body if header in blocks[b].next]
    if back != [last] or len(body) != last - header + 1:
        return None
    start, end = blocks[header].start, blocks[last].end
    jump = function.body[end - 1]
    if jump.guard is None or not _jumps_to(function, jump, start):
        return None
    test = _definition(function.body[blocks[last].start : end - 1], jump.guard)
    if test is None or test.opcode.name != "setp" or test.opcode.mods[-1] not in _INTEGER:
        return None
    counted = _counter(function.body[start:end], test, values.end(last))
    if (
        counted is None
        or len(test.opcode.mods) != 2
        or len(body) > 1
        and len({b for b in body if _writes(function, blocks[b], counted[0])} - {last})
    ):
        return None
    return Loop(start, end, body, *counted, test)


def _jumps_to(function: Function, jump: Instruction, start: int) -> bool:
    return [function.labels[name] for name in branch_targets(function, jump)] == [start]


def _definition(body: Sequence[Instruction], guard: Reg | Not) -> Instruction | None:
    """The last instruction that sets a plain (not negated) predicate."""
    if isinstance(guard, Not):
        return None
    return next((i for i in reversed(body) if i.operands[:1] == (guard,)), None)


def _counter(
    body: Sequence[Instruction], test: Instruction, end: dict[int, Form]
) -> tuple[Reg, int, int] | None:
    """The register that counts, its step, and its lead when tested."""
    tested, bound = test.operands[1:3]
    if not isinstance(tested, Reg) or _written(body, bound):
        return None
    form = end.get(tested.index)
    for instruction in body:
        for operand in instruction.operands[1:]:
            if (
                form is not None
                and isinstance(operand, Reg)
                and len(form.terms) == 1
                and (form.terms[0][0].partition("@")[0] == operand.name)
                and form.terms[0][1] == 1
            ):
                after = end.get(operand.index)
                if after is not None and after.terms == form.terms and after.constant:
                    return operand, after.constant, form.constant
    return None


def _written(body: Sequence[Instruction], bound: Operand) -> bool:
    return isinstance(bound, Reg) and any(i.operands[:1] == (bound,) for i in body)


def _writes(function: Function, span: Span, register: Reg) -> bool:
    return any(i.operands[:1] == (register,) for i in function.body[span.start : span.end])
