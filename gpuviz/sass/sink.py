"""Loads that the assembler moved to where their value is used, under the guard of its users.

    ld.shared %r1, [s];            @!P1 EXIT;
    @%p st.global [out], %r1;      LDS R5, [s];
                                   STG [out], R5;

Machine code that branches around a guarded instruction has a block of its own for it, which only
lanes of the guard enter. Loads that lie there as well are theirs alone: the PTX is rewritten so,
and emulating it gives the requests of the code that runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpuviz.ptx.text.flow import branch_targets, ends_block
from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.ptx.text.isa import WRITES, kind_of, registers_in
from gpuviz.sass.flow import SassBlock


def sunk(function: Function, code: Sequence[SassBlock]) -> Function:
    """The function with such loads guarded, and moved to the first of their users."""
    places = places_of(code)
    for load in [i for i in function.body if plain_load(i) and places.get(i.ptx_line)]:
        function = _moved(function, load, places) or function
    return function


def places_of(code: Sequence[SassBlock]) -> dict[int, frozenset[int]]:
    """By PTX line, the blocks that hold memory instructions of it; none where one is guarded."""
    found: dict[int, set[int]] = {}
    guarded: set[int] = set()
    for number, block in enumerate(code):
        for i in block.instructions:
            if i.memory is not None:
                found.setdefault(i.ptx_line, set()).add(number)
                guarded |= {i.ptx_line} if i.guard else set()
    return {line: frozenset(n) for line, n in found.items() if line not in guarded}


def plain_load(i: Instruction) -> bool:
    """Whether it is a load without a guard."""
    return i.opcode.name == "ld" and i.guard is None and "param" not in i.opcode.mods


def _moved(
    function: Function, load: Instruction, places: Mapping[int, frozenset[int]]
) -> Function | None:
    """The load before the first of its users, if these share a guard that it can have, too."""
    start, values = function.body.index(load), set(registers_in(load.operands[:1]))
    users = [
        n
        for n, i in enumerate(function.body)
        if n != start and not values.isdisjoint(registers_in(i.operands))
    ]
    if not users or not start < users[0] <= users[-1] < _straight(function, start):
        return None
    guards = {function.body[n].guard for n in users}
    theirs = {places.get(function.body[n].ptx_line, frozenset()) for n in users}
    guard = guards.pop()
    if guards or guard is None or len(theirs) != 1 or not places[load.ptx_line] <= theirs.pop():
        return None
    return moved(function, start, users[0], replace(load, guard=guard))


def _straight(function: Function, start: int) -> int:
    """Where straight code ends: at what ends a block, is jumped to, or stores without a guard."""
    targets = {function.labels[t] for i in function.body for t in branch_targets(function, i)}
    for n in range(start + 1, len(function.body)):
        i = function.body[n]
        stores = kind_of(i) in WRITES and i.guard is None
        if n in targets or ends_block(i) or stores:
            return n
    return len(function.body)


def moved(function: Function, start: int, to: int, load: Instruction) -> Function:
    """The instruction at `start` before the one at `to`, changed to `load`; a label at `to` stays
    there where it moves down, and is passed by where it moves up.
    """
    rest = (*function.body[:start], *function.body[start + 1 :])
    place = to - (start < to)
    labels = {
        name: at - (start < at <= to) + (to <= at <= start) for name, at in function.labels.items()
    }
    return replace(function, body=(*rest[:place], load, *rest[place:]), labels=labels)
