"""The differences between PTX and machine code, in words."""

from __future__ import annotations

from gpuviz.ptx.text.ir import Instruction
from gpuviz.ptx.text.isa import kind_of
from gpuviz.sass.plan import Difference, Match, Plan


def differences(plan: Plan) -> tuple[Difference, ...]:
    """One sentence for each PTX memory instruction that did not stay what it was."""
    by_pc = {i.pc: i for f in plan.module.functions for i in f.body}
    found: dict[tuple[int, str], Difference] = {}
    for match in plan.matches.values():
        at = by_pc[match.pc]
        text = _text(match, at, plan)
        if text:
            kind = match.kind if match.kind != "same" else "issued"
            found.setdefault((at.ptx_line, text), Difference(at.line, at.ptx_line, kind, text))
    for _, emit in plan.spills:
        sass = emit.sass
        text = (
            f"the compiler added {sass.opcode}: registers are short, one is spilled (counted "
            "as if all lanes of the warps were active)"
        )
        found.setdefault((sass.ptx_line, text), Difference(sass.line, sass.ptx_line, "spill", text))
    return tuple(sorted(found.values(), key=lambda d: d.ptx_line))


def _text(match: Match, at: Instruction, plan: Plan) -> str:
    kind = kind_of(at)
    name = kind if kind in ("load", "store") else "access"
    if match.kind == "widened":
        members = 1 + sum(m.into == match.pc for m in plan.matches.values())
        return (
            f"the compiler merged {members} {name}s into one {match.emits[0].width}-byte {name}"
            if members > 1
            else f"the compiler made this {name} {match.emits[0].width} bytes wide"
        )
    if match.kind == "merged":
        return f"the compiler merged this {name} into a neighbour's"
    if match.kind == "dropped":
        if "const" in at.opcode.mods:
            return "the constant is an operand of the instructions that use it: no request"
        why = "its value is not used, or known already" if name == "load" else "nobody reads it"
        return f"the compiler removed this {name}: {why}"
    if match.kind == "split":
        return f"the compiler split this {name} into {len(match.emits)}"
    if match.kind == "unmatched":
        return f"no machine instruction could be matched to this {name}: counted as in the PTX"
    if any(e.owner >= 0 for e in match.emits):
        return (
            f"the compiler replaced the branch around this {name} by a guard: it is issued "
            "to every warp that comes by"
        )
    return ""
