"""A trace of unrolled PTX, told in terms of the PTX as it was written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpuviz.ptx.text.ir import Instruction
from gpuviz.sass.plan import Plan
from gpuviz.traces.trace import Branch, Trace


def original(trace: Trace, plan: Plan) -> Trace:
    """The trace with the pc of each unrolled copy replaced by that of its original.

    Tests that unrolling put before its chunks are no branches of the program, and are left out.
    """
    if not plan.origin:
        return trace
    origin = plan.origin
    return replace(
        trace,
        instructions=tuple(replace(i, pc=origin.get(i.pc, i.pc)) for i in trace.instructions),
        branches=tuple(_branches(trace.branches, plan)),
        stretches=tuple(replace(s, pc=origin.get(s.pc, s.pc)) for s in trace.stretches),
    )


def _branches(branches: Iterable[Branch], plan: Plan) -> Iterable[Branch]:
    """The branches of the PTX, those of copies added to them."""
    by_pc: dict[int, Instruction] = {i.pc: i for f in plan.module.functions for i in f.body}
    found: dict[int, Branch] = {}
    for one in branches:
        pc = plan.origin.get(one.pc, one.pc)
        if pc != one.pc and by_pc[pc].opcode.name != "bra":
            continue
        have = found.get(pc, Branch(pc, one.line, one.ptx_line, 0, 0, 0, 0))
        found[pc] = Branch(
            pc,
            one.line,
            one.ptx_line,
            have.warps + one.warps,
            have.divergent + one.divergent,
            have.taken + one.taken,
            have.not_taken + one.not_taken,
        )
    return found.values()
