"""The lines that cost most, for people and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuviz.memory.counts import by_name
from gpuviz.memory.line_costs import AccessCost, LineCost

_HEAD = (
    "lines by what their accesses cost (a wavefront counts as one cycle of a multiprocessor, a "
    "sector as half; caches are not modelled)"
)


def as_json(costs: Sequence[LineCost]) -> list[dict[str, Any]]:
    """The ranking as plain values."""
    return [
        {
            "line": cost.line,
            "text": cost.text,
            "share": cost.share,
            "cycles": cost.cycles,
            "accesses": [_access(access) for access in cost.accesses],
        }
        for cost in costs
    ]


def _access(access: AccessCost) -> dict[str, Any]:
    at, operand = access.instruction, access.operand
    return {
        "operand": operand.text if operand else None,
        "column": operand.column if operand else None,
        "text": at.text,
        "op": at.op,
        "space": at.space,
        "width": at.width,
        "pc": at.pc,
        "ptx_line": at.ptx_line,
        "requests": access.requests,
        "unit": access.unit,
        "cost": access.cost,
        "ideal": access.ideal,
        "kind": access.reason.kind,
        "reason": access.reason.said,
        "lesson": access.reason.lesson or None,
    } | by_name(access.counts)


def as_text(costs: Sequence[LineCost], about: str = "") -> str:
    """A paragraph for each line, the most expensive first; `about` stands before its numbers."""
    if not costs:
        return "no line accesses memory"
    return "\n\n".join(
        [_HEAD, *(_line(number, cost, about) for number, cost in enumerate(costs, 1))]
    )


def _line(number: int, cost: LineCost, about: str) -> str:
    where = f"line {cost.line}" if cost.line else "a line that nobody knows"
    head = f"{number}. {where}, {about}{cost.share:.0%}" + (f": {cost.text}" if cost.text else "")
    return "\n".join([head, *(_told(access, about) for access in cost.accesses)])


def _told(access: AccessCost, about: str) -> str:
    """Its numbers, and on a line of its own what is wrong, if anything is."""
    at, why = access.instruction, access.reason
    name = " ".join(filter(None, (at.op, access.operand.text if access.operand else "", at.text)))
    said = (
        f"   {name}: {about}{access.requests:,} requests, {about}{access.cost:,} {access.unit}, "
        f"ideal {about}{access.ideal:,}"
    )
    if why.kind == "fine":
        return said
    return f"{said}\n      {why.said} (lesson {why.lesson})"
