"""Control flow of a function: basic blocks, and the order in which a warp's lanes meet again.

Lanes that part at a branch are run lowest block first, in a *weak topological order* (F.
Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993): blocks come after all
their predecessors but for loops, and a whole loop comes before whatever follows it. Lanes therefore
wait for each other at the first block that all of them must pass.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gpuviz.base.errors import FormatError
from gpuviz.ptx.text.ir import Function, Instruction, Sym
from gpuviz.ptx.text.isa import kind_of

_ENDS = ("branch", "leave", "call", "barrier")
_SOURCE = -1  # a node before all others
_DEEPEST = 100  # loops within each other
_WORK = 1_000_000  # nodes and edges looked at, which takes seconds
Successors = Callable[[int], Iterable[int]]


@dataclass(frozen=True)
class Span:
    """A basic block: instructions [start, end) of a body, and the blocks that may follow."""

    start: int
    end: int
    next: tuple[int, ...]


def ends_block(instruction: Instruction) -> bool:
    """Branches, calls, returns and block-wide barriers; not `bar.warp.sync`."""
    return kind_of(instruction) in _ENDS and "warp" not in instruction.opcode.mods


def goes_on(end: Instruction) -> bool:
    """Whether lanes may go on past what ends a block, and not only where it says."""
    return end.guard is not None or kind_of(end) not in ("branch", "leave")


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
    targets = [
        index[function.labels[t]]
        for t in branch_targets(function, last)
        if function.labels[t] in index
    ]
    if goes_on(last) and end in index:
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
    FormatError : loops within each other as no compiler makes them, which would take hours
    """
    order = _Order(lambda n: blocks[n].next).of(set(range(len(blocks))), 0) if blocks else []
    rank = {n: i for i, n in enumerate(order)}
    return [rank.setdefault(n, len(rank)) for n in range(len(blocks))]


def _entangled() -> FormatError:
    return FormatError(
        f"the PTX has more than {_DEEPEST} loops within each other, or branches as no compiler "
        "makes them"
    )


class _Order:
    """Finds the order; `left` is how many nodes and edges it may still look at."""

    def __init__(self, successors: Successors) -> None:
        self._successors = successors
        self._left = _WORK

    def of(self, nodes: set[int], entry: int, depth: int = 0) -> list[int]:
        """Nodes reachable from entry, loops kept together: header, then its body, likewise."""
        if depth == _DEEPEST:
            raise _entangled()
        order: list[int] = []
        for component in self._components(nodes, entry):
            if len(component) == 1:
                order += component
                continue
            header = component[-1]  # the node of the loop that was reached first
            rest = set(component) - {header}
            order.append(header)
            order += self._of_many(rest, [s for s in self._next(header) if s in rest], depth + 1)
        return order

    def _of_many(self, nodes: set[int], entries: list[int], depth: int) -> list[int]:
        """As `of`, from several entries: through a source that leads to all of them."""
        self._entries = entries
        return [n for n in self.of(nodes | {_SOURCE}, _SOURCE, depth) if n != _SOURCE]

    def _next(self, node: int) -> Iterable[int]:
        return self._entries if node == _SOURCE else self._successors(node)

    def _components(self, nodes: set[int], entry: int) -> list[list[int]]:
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
            following = sorted(s for s in self._next(node) if s in nodes)
            work.append((node, following))
            self._left -= 1 + len(following)
            if self._left < 0:
                raise _entangled()

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
                component = [stack.pop()]
                while component[-1] != node:
                    component.append(stack.pop())
                waiting.difference_update(component)
                found.append(component)
        return found[::-1]
