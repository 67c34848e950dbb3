"""Loads that the assembler moved.

To where their value is used, under the guard of its users (`sunk`):

    ld.shared %r1, [s];            @!P1 EXIT;
    @%p st.global [out], %r1;      LDS R5, [s];
                                   STG [out], R5;

Machine code that branches around a guarded instruction has a block of its own for it, which only
lanes of the guard enter. Loads that lie there as well are theirs alone: the PTX is rewritten so,
and emulating it gives the requests of the code that runs.

Or out of a loop, as each turn would load the same (`hoisted`):

    loop:                          LDS R2, [s];
    ld.shared %r1, [s];            loop:
    ...  @%p bra loop;             ...  @P0 BRA loop;

The load lies before the loop, where only lanes come by that enter it.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace

from gpuviz.ptx.text.flow import Span, branch_targets, ends_block, spans
from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.ptx.text.isa import WRITES, kind_of, registers_in, registers_read, registers_written
from gpuviz.sass.flow import SassBlock, loops


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


_Graph = tuple[Sequence[Span], Mapping[int, frozenset[int]]]


def hoisted(function: Function, code: Sequence[SassBlock]) -> Function:
    """The function with such loads before the innermost of the loops that they lie in."""
    places, turns = places_of(code), loops([block.next for block in code]) if code else {}
    if not turns:
        return function
    graph = _graph(function)
    for load in [
        i for i in function.body if plain_load(i) and len(places.get(i.ptx_line, ())) == 1
    ]:
        changed = _before(function, graph, load, places, turns.values(), code)
        if changed is not None:
            function, graph = changed, _graph(changed)
    return function


def _graph(function: Function) -> _Graph:
    """Its blocks, and its loops by their first blocks."""
    blocks = spans(function)
    return blocks, loops([b.next for b in blocks])


def _before(
    function: Function,
    graph: _Graph,
    load: Instruction,
    places: Mapping[int, frozenset[int]],
    turns: Collection[frozenset[int]],
    code: Sequence[SassBlock],
) -> Function | None:
    """The load before its loop, where that can be and the machine code has it there."""
    place, blocks = function.body.index(load), graph[0]
    found = _innermost(graph, place)
    if found is None:
        return None
    header, inside = found
    outside = [b for n, b in enumerate(blocks) if header in b.next and n not in inside]
    start = blocks[header].start
    if len(outside) != 1 or outside[0].end != start:
        return None
    body = [n for b in inside for n in range(blocks[b].start, blocks[b].end)]
    back = {function.body[blocks[b].end - 1].ptx_line for b in inside if header in blocks[b].next}
    if not _same_each_turn(function, load, body) or not _left(
        places[load.ptx_line], back, turns, code
    ):
        return None
    return moved(function, place, start, load)


def _innermost(graph: _Graph, place: int) -> tuple[int, frozenset[int]] | None:
    """The smallest loop around an instruction: its first block, and all of them."""
    blocks, turns = graph
    own = next(n for n, b in enumerate(blocks) if b.start <= place < b.end)
    around = [(len(b), h, b) for h, b in turns.items() if own in b]
    return min(around, key=lambda one: one[:2])[1:] if around else None


def _same_each_turn(function: Function, load: Instruction, body: Sequence[int]) -> bool:
    """Whether nothing else in the loop writes address or value, and nothing reads the value of an
    earlier turn.
    """
    place = function.body.index(load)
    values, address = set(registers_written(load)), set(registers_in(load.operands[1:]))
    for n in body:
        one = function.body[n]
        if n != place and not (values | address).isdisjoint(registers_written(one)):
            return False
        if n < place and not values.isdisjoint(registers_read(one)):
            return False
    return values.isdisjoint(address)


def _left(
    places: frozenset[int],
    back: Set[int],
    turns: Collection[frozenset[int]],
    code: Sequence[SassBlock],
) -> bool:
    """Whether the machine code has the loop, and the load before it and in none of its turns."""
    own = [
        turn
        for turn in turns
        if any(i.ptx_line in back for block in turn for i in code[block].instructions)
    ]
    return bool(own) and all(not places & turn and max(places) < min(turn) for turn in own)
