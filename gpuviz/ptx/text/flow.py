"""Control flow of a function: basic blocks, and the order in which a warp's lanes meet again.

Lanes that part at a branch are run lowest block first, in a *weak topological order* (F.
Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993): blocks come after all
their predecessors but for loops, and a whole loop comes before whatever follows it. Lanes therefore
wait for each other at the first block that all of them must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gpuviz.errors import FormatError
from gpuviz.ptx.text.ir import Function, Instruction, Sym

_ENDS = frozenset({"bra", "brx", "ret", "exit", "trap", "call", "bar", "barrier", "brkpt"})
_DEEPEST = 100  # loops within each other
Successors = Callable[[int], Iterable[int]]


@dataclass(frozen=True)
class Span:
    """A basic block: instructions [start, end) of a body, and the blocks that may follow."""

    start: int
    end: int
    next: tuple[int, ...]


def ends_block(instruction: Instruction) -> bool:
    """Branches, calls, returns and block-wide barriers; not `bar.warp.sync`."""
    opcode = instruction.opcode
    return opcode.name in _ENDS and "warp" not in opcode.mods


def spans(function: Function) -> tuple[Span, ...]:
    """Cut a body into basic blocks."""
    body = function.body
    starts = {0, *function.labels.values()}
    starts |= {i + 1 for i, instruction in enumerate(body) if ends_block(instruction)}
    cuts = sorted(s for s in starts if s < len(body))
    index = {start: n for n, start in enumerate(cuts)}
    ends = [*cuts[1:], len(body)]
    return tuple(
        Span(start, end, _followers(function, body[end - 1], end, index))
        for start, end in zip(cuts, ends, strict=True)
    )


def _followers(
    function: Function, last: Instruction, end: int, index: dict[int, int]
) -> tuple[int, ...]:
    name = last.opcode.name
    targets = [
        index[function.labels[t]]
        for t in branch_targets(function, last)
        if function.labels[t] in index
    ]
    falls = name not in ("bra", "brx", "ret", "exit", "trap") or last.guard is not None
    if falls and end in index:
        targets.append(index[end])
    return tuple(dict.fromkeys(targets))


def branch_targets(function: Function, instruction: Instruction) -> tuple[str, ...]:
    """Labels an instruction may jump to."""
    if instruction.opcode.name == "bra":
        return tuple(o.name for o in instruction.operands if isinstance(o, Sym))
    if instruction.opcode.name == "brx":
        table = instruction.operands[1]
        return function.tables[table.name] if isinstance(table, Sym) else ()
    return ()


def visiting_order(blocks: tuple[Span, ...]) -> list[int]:
    """Rank of each block in the weak topological order (0 runs first).

    Raises
    ------
    FormatError : more loops within loops than anybody writes
    """
    order = _ordered(set(range(len(blocks))), 0, lambda n: blocks[n].next) if blocks else []
    rank = {n: i for i, n in enumerate(order)}
    return [rank.setdefault(n, len(rank)) for n in range(len(blocks))]


def _ordered(nodes: set[int], entry: int, successors: Successors, depth: int = 0) -> list[int]:
    """Nodes reachable from entry, loops kept together: header, then its body, ordered likewise."""
    if depth > _DEEPEST:
        raise FormatError(f"the PTX has more than {_DEEPEST} loops within each other")
    order: list[int] = []
    for component in _components(nodes, entry, successors):
        if len(component) == 1:
            order += component
            continue
        header = component[-1]  # the node of the loop that was reached first
        rest = set(component) - {header}
        order.append(header)
        entries = [s for s in successors(header) if s in rest]
        order += _ordered_many(rest, entries, successors, depth + 1)
    return order


def _ordered_many(
    nodes: set[int], entries: list[int], successors: Successors, depth: int
) -> list[int]:
    """As `_ordered`, from several entries: through a source that leads to all of them."""
    source = -1

    def following(node: int) -> Iterable[int]:
        return entries if node == source else successors(node)

    order = _ordered(nodes | {source}, source, following, depth)
    return [n for n in order if n != source]


def _components(nodes: set[int], entry: int, successors: Successors) -> list[list[int]]:
    """Strongly connected components in topological order (Tarjan, without recursion).

    The last node of a component is the one through which it was entered. Later successors are
    visited first, so that earlier ones come earlier in the result.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    found: list[list[int]] = []
    work: list[tuple[int, list[int]]] = []

    def enter(node: int) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        waiting.add(node)
        work.append((node, sorted(s for s in successors(node) if s in nodes)))

    enter(entry)
    while work:
        node, left = work[-1]
        if left:
            following = left.pop()
            if following not in number:
                enter(following)
            elif following in waiting:
                low[node] = min(low[node], number[following])
            continue
        work.pop()
        if work:
            low[work[-1][0]] = min(low[work[-1][0]], low[node])
        if low[node] == number[node]:
            at = stack.index(node)
            component = stack[at:][::-1]
            del stack[at:]
            waiting.difference_update(component)
            found.append(component)
    return found[::-1]
