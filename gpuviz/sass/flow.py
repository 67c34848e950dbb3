"""Control flow of machine code: basic blocks, loops; and dominators, for any graph of blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuviz.sass.listing import Listing, SassInstruction

_LEAVES = frozenset({"EXIT", "RET", "BRX", "JMX", "BRXU", "KILL"})
_JUMPS = frozenset({"BRA", "JMP", "BRX", "JMX", "EXIT", "RET", "CALL", "KILL"})


@dataclass(frozen=True)
class SassBlock:
    """A basic block: its instructions and the blocks that may follow."""

    instructions: tuple[SassInstruction, ...]
    next: tuple[int, ...]


def name_of(instruction: SassInstruction) -> str:
    """The opcode without its suffixes."""
    return instruction.opcode.partition(".")[0]


def sass_blocks(listing: Listing) -> tuple[SassBlock, ...]:
    """Cut a kernel into basic blocks, in address order. A call falls through."""
    code = listing.instructions
    starts = {code[0].address} if code else set()
    for here, after in zip(code, code[1:], strict=False):
        if name_of(here) in _JUMPS:
            starts.add(after.address)
            if here.target >= 0 and name_of(here) != "CALL":
                starts.add(here.target)
    index = {address: n for n, address in enumerate(sorted(starts))}
    parts: list[list[SassInstruction]] = [[] for _ in index]
    for instruction in code:
        if instruction.address in index:
            current = parts[index[instruction.address]]
        current.append(instruction)
    return tuple(
        SassBlock(tuple(part), _followers(part, n, index, len(parts)))
        for n, part in enumerate(parts)
    )


def _followers(
    part: Sequence[SassInstruction], number: int, index: Mapping[int, int], count: int
) -> tuple[int, ...]:
    last = part[-1]
    name = name_of(last)
    found = [index[last.target]] if name in ("BRA", "JMP") and last.target in index else []
    ends = name in _LEAVES or name in ("BRA", "JMP")
    falls = not ends or bool(last.guard) or _conditional(last)
    if falls and number + 1 < count:
        found.append(number + 1)
    return tuple(dict.fromkeys(found))


def _conditional(last: SassInstruction) -> bool:
    """Whether a jump has a condition among its operands: `BRA P1, ...`, `BRA.DIV UR4, ...`."""
    return "," in last.operands.replace(", `", ",`") and not last.operands.startswith("`")


def dominators(following: Sequence[Sequence[int]], entry: int = 0) -> dict[int, int]:
    """Immediate dominator of each block that can be reached; the entry is its own.

    Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm", 2001.
    """
    order = _postorder(following, entry)
    rank = {node: n for n, node in enumerate(order)}
    before: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for after in following[node]:
            before[after].append(node)
    found = {entry: entry}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [b for b in before[node] if b in found]
            new = known[0]
            for other in known[1:]:
                new = _common(new, other, found, rank)
            changed |= found.get(node) != new
            found[node] = new
    return found


def _common(a: int, b: int, found: Mapping[int, int], rank: Mapping[int, int]) -> int:
    while a != b:
        while rank[a] < rank[b]:
            a = found[a]
        while rank[b] < rank[a]:
            b = found[b]
    return a


def _postorder(following: Sequence[Sequence[int]], entry: int) -> list[int]:
    order: list[int] = []
    seen = {entry}
    work = [(entry, iter(following[entry]))]
    while work:
        node, rest = work[-1]
        after = next((s for s in rest if s not in seen), None)
        if after is None:
            order.append(node)
            work.pop()
        else:
            seen.add(after)
            work.append((after, iter(following[after])))
    return order


def loops(following: Sequence[Sequence[int]], entry: int = 0) -> dict[int, frozenset[int]]:
    """Natural loops: header to the blocks of its loop, the header included."""
    above = dominators(following, entry)
    found: dict[int, set[int]] = {}
    for node in above:
        for header in following[node]:
            if dominates(header, node, above):
                found.setdefault(header, {header}).update(_body(header, node, following, above))
    return {header: frozenset(body) for header, body in found.items()}


def dominates(a: int, b: int, above: Mapping[int, int]) -> bool:
    """Whether every way to `b` passes `a`."""
    while b != a and above[b] != b:
        b = above[b]
    return a == b


def _body(
    header: int, end: int, following: Sequence[Sequence[int]], above: Mapping[int, int]
) -> set[int]:
    """The blocks from which `end` is reached without passing the header."""
    body = {header, end}
    work = [end]
    while work:
        node = work.pop()
        for b in above:
            if node != header and node in following[b] and b not in body:
                body.add(b)
                work.append(b)
    return body
