"""Loads that the assembler took out of a loop, as each turn would load the same.

    loop:                          LDS R2, [s];
    ld.shared %r1, [s];            loop:
    ...  @%p bra loop;             ...  @P0 BRA loop;

The PTX is rewritten so: the load lies before the loop, where only lanes come by that enter it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set

from gpuviz.ptx.text.flow import Span, spans
from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.ptx.text.isa import registers_in, registers_read, registers_written
from gpuviz.sass.flow import SassBlock, loops
from gpuviz.sass.sink import moved, places_of, plain_load

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
