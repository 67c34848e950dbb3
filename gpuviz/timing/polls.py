"""The way of a warp that asks an mbarrier again and again whether a phase is over: it asks once,
and is told when it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpuviz.sass.flow import SassBlock, name_of

_WAIT = re.compile(r"SYNCS\.PHASECHK\S*\s*(.*)")
_BESIDE = frozenset({"BRA", "NOP", "YIELD", "NANOSLEEP", "BSSY", "BSYNC", "BREAK", "WARPSYNC"})


@dataclass(frozen=True)
class Visit:
    """A block of machine code as a warp executes it; of the stretches it covers, `idle` are those
    that no lane takes part in (their instructions are predicated off).
    """

    block: int
    idle: frozenset[int] = frozenset()


def parts_of_others(code: Sequence[SassBlock]) -> set[int]:
    """Blocks that stand for nothing of their own: those in which a warp asks again, and those that
    lane after lane goes through for a bulk copy, where nothing but the block before leads there.
    """
    found = {number for number, block in enumerate(code) if _asks(block)[1]}
    found |= {n for asks in found for n in code[asks].next if _only_jumps(code[n])}
    return found | _lane_by_lane(code)


def _lane_by_lane(code: Sequence[SassBlock]) -> set[int]:
    before: dict[int, set[int]] = {}
    for number, block in enumerate(code):
        for after in block.next:
            before.setdefault(after, set()).add(number)
    return {
        number
        for number, block in enumerate(code)
        if number in block.next
        and any(name_of(i) == "ELECT" for i in block.instructions)
        and all(code[b].next == (number,) for b in before[number] - {number})
    }


def mended(way: Sequence[Visit], code: Sequence[SassBlock]) -> list[Visit]:
    """A warp's way without the turns in which it asks again whether a phase is over, and with the
    blocks that it goes through for bulk copies.
    """
    parts = _lane_by_lane(code)
    found: list[Visit] = []
    for visit in _without_polls(way, code):
        last = found[-1].block if found else -1
        follows = code[last].next if last >= 0 else ()
        if len(follows) == 1 and follows[0] in parts and visit.block != follows[0]:
            found.append(Visit(follows[0]))
            found += [
                Visit(n)
                for n in code[follows[0]].next
                if n not in (follows[0], visit.block) and visit.block in code[n].next
            ]
        found.append(visit)
    follows = code[found[-1].block].next if found else ()
    return [*found, *(Visit(n) for n in follows if follows == (n,) and n in parts)]


def _without_polls(way: Sequence[Visit], code: Sequence[SassBlock]) -> list[Visit]:
    found: list[Visit] = []
    asked = ""
    for visit in way:
        question, again = _asks(code[visit.block])
        jumps = _only_jumps(code[visit.block])
        if asked and ((again and question == asked) or (jumps and not question)):
            continue
        asked = question or (asked if jumps else "")
        found.append(visit)
    return found


def _asks(block: SassBlock) -> tuple[str, bool]:
    """At which mbarrier, and for which phase, a block asks last; whether it does nothing else."""
    asked = [m[1] for i in block.instructions if (m := _WAIT.match(f"{i.opcode} {i.operands}"))]
    alone = len(asked) == 1 and all(
        name_of(i) in _BESIDE or _WAIT.match(f"{i.opcode} {i.operands}") for i in block.instructions
    )
    return (asked[-1] if asked else ""), alone


def _only_jumps(block: SassBlock) -> bool:
    return all(name_of(i) in _BESIDE for i in block.instructions)
