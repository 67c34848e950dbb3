"""The machine instructions that each warp issues, found from its way through the PTX.

No machine code is executed: a warp's way through the PTX's basic blocks (stretches) is known, and
the line table tells which PTX line each machine instruction comes from. So a basic block of machine
code *covers* stretches of PTX: once, or several times where a loop was unrolled. The way is covered
greedily, always with the block that takes most of what comes next. A warp that asks an mbarrier
again and again whether a phase is over asks once here, and is told when it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I32, I64, Bool
from gpuviz.ptx.text.ir import Instruction, Module
from gpuviz.sass.flow import SassBlock, name_of
from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.unroll import is_data
from gpuviz.timing.schedule import asks_memory
from gpuviz.traces.trace import Path, Stretch

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


def split(
    module: Module, stretches: Sequence[Stretch], code: Sequence[SassBlock]
) -> tuple[list[Stretch], dict[int, range]]:
    """The stretches, and those that several blocks of machine code stand for one after another in
    pieces: a division, say, is a block and a call. Of these the numbers of their pieces.
    """
    by_pc = {i.pc: i for f in module.functions for i in f.body}
    held: dict[int, set[int]] = {}
    for place, block in enumerate(code):
        for one in filter(_is_data, block.instructions):
            held.setdefault(one.ptx_line, set()).add(place)
    found, reach = list(stretches), reachable(code)
    pieces: dict[int, range] = {}
    for number, stretch in enumerate(stretches):
        cuts, here = [stretch.pc], set[int]()
        for i in _body(by_pc, stretch):
            there = held.get(i.ptx_line, set())
            if here and there and not here & there:
                there = {b for b in there if any(_follows(a, b, reach) for a in here)}
                cuts += [i.pc] * bool(there)
            here = (here & there or there) if there else here
        if len(cuts) == 1:
            continue
        pieces[number] = range(len(found), len(found) + len(cuts))
        ends = [*cuts[1:], stretch.pc + stretch.count]
        found += [replace(stretch, pc=a, count=b - a) for a, b in zip(cuts, ends, strict=True)]
    return found, pieces


def _follows(a: int, b: int, reach: Sequence[Set[int]]) -> bool:
    """Whether a block comes after another as often as that one is executed."""
    return b in reach[a] and (a in reach[b]) == (a in reach[a])


def reachable(code: Sequence[SassBlock]) -> list[set[int]]:
    """For each block those that may come after it, itself where it is in a loop."""
    found: list[set[int]] = []
    for block in code:
        seen: set[int] = set()
        work = list(block.next)
        while work:
            here = work.pop()
            if here not in seen:
                seen.add(here)
                work += code[here].next
        found.append(seen)
    return found


def _body(by_pc: Mapping[int, Instruction], stretch: Stretch) -> list[Instruction]:
    return [by_pc[pc] for pc in range(stretch.pc, stretch.pc + stretch.count)]


_ALIKE = frozenset({"and", "or", "xor", "shl", "shr", "add", "sub", "mul", "mad", "min", "max"})
_COUNTING = 4  # instructions at most of a stretch that only counts turns of a loop
_ARITHMETIC = frozenset({"FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "HADD2", "HMUL2", "HFMA2"})
_LEAVING = frozenset({"ret", "exit", "bra"})


@dataclass(frozen=True)
class Cover:
    """What one block of machine code covers: copies of each stretch, by its number."""

    block: int
    copies: Mapping[int, int]


class Covers:
    """Which blocks of machine code stand for which stretches of the PTX."""

    def __init__(
        self, module: Module, stretches: Sequence[Stretch], code: Sequence[SassBlock]
    ) -> None:
        by_pc = {i.pc: i for f in module.functions for i in f.body}
        every = {i.ptx_line for block in code for i in block.instructions}
        self._candidates: dict[int, list[Cover]] = {n: [] for n in range(len(stretches))}
        copies: list[dict[int, int]] = [{} for _ in code]
        self._counting: set[int] = set()
        parts = parts_of_others(code)
        for number, stretch in enumerate(stretches):
            body = _body(by_pc, stretch)
            lines = {i.ptx_line for i in body} & every
            data = {i.ptx_line for i in body if is_data(i)} & every
            if all(i.opcode.name in _LEAVING for i in body):
                continue  # the way out is part of whatever comes before
            plain = {i.ptx_line for i in body if _whole_numbers(i)} & every
            if not data and _unrolled(plain, code):
                data = lines = plain
            if not data:
                self._counting.add(number)
            for place, block in enumerate(code):
                if place in parts:
                    continue
                found = Counter(
                    i.ptx_line
                    for i in block.instructions
                    if i.ptx_line in lines and (not data or data is plain or _is_data(i))
                )
                if many := _copies(found, data or lines, bool(data)):
                    copies[place][number] = many
        for place, held in enumerate(copies):
            for number in held:
                self._candidates[number].append(Cover(place, held))
        self._links = _Links(code, {n for n, held in enumerate(copies) if held})
        self._reach = reachable(code)

    def way(self, path: Sequence[int]) -> list[Visit]:
        """The blocks of machine code that a warp executes, from the stretches it executes."""
        found: list[Visit] = []
        at = 0
        while at < len(path):
            best, end = self._best(path, at, found[-1].block if found else -1)
            if best is not None:
                idle = best.copies.keys() - set(path[at:end])
                found.append(Visit(best.block, frozenset(idle)))
            at = max(end, at + 1)
        return self._links.joined(found)

    def _best(self, path: Sequence[int], at: int, before: int) -> tuple[Cover | None, int]:
        """The block that takes most of what comes next, and where that ends."""
        following = self._links.after(before)
        best: tuple[int, int, bool, Cover] | None = None
        least: tuple[int, int, Cover] | None = None
        for cover in self._candidates[path[at]]:
            if (
                before >= 0
                and path[at] in self._counting
                and cover.block not in self._reach[before]
            ):
                continue  # it was computed before
            end, used = self._taken(cover, path, at)
            if used == cover.copies[path[at]]:
                rank = used, end, cover.block in following
                if best is None or rank > best[:3]:
                    best = *rank, cover
            elif least is None or cover.copies[path[at]] < least[0]:
                least = cover.copies[path[at]], end, cover
        if best is not None:
            return best[3], best[1]
        return (least[2], least[1]) if least else (None, at + 1)

    def _taken(self, cover: Cover, path: Sequence[int], at: int) -> tuple[int, int]:
        """Where what a block covers ends, and how many copies of the first stretch it took."""
        left, most = dict(cover.copies), max(cover.copies.values())
        left |= {n: most for n in left if n in self._counting}  # once for all turns of a loop
        first = path[at]
        had, end = left[first], at
        while end < len(path):
            here = path[end]
            if left.get(here, 0) > 0:
                left[here] -= 1
            elif self._candidates[here]:
                break
            end += 1
        return end, min(had - left[first], cover.copies[first])


class _Links:
    """The blocks between those that cover something: tests, jumps, what serves several copies."""

    def __init__(self, code: Sequence[SassBlock], covering: set[int]) -> None:
        self._code, self._covering = code, covering
        self._known: dict[tuple[int, int], list[int]] = {}
        self._next: dict[int, frozenset[int]] = {}

    def after(self, block: int) -> frozenset[int]:
        """The covering blocks that come next; block -1 is before all others."""
        if block not in self._next:
            found, seen, work = set(), set(), [0] if block < 0 else list(self._code[block].next)
            while work:
                here = work.pop()
                if here in self._covering:
                    found.add(here)
                elif here not in seen:
                    seen.add(here)
                    work += self._code[here].next
            self._next[block] = frozenset(found)
        return self._next[block]

    def joined(self, way: Sequence[Visit]) -> list[Visit]:
        """The way with the blocks in between."""
        found: list[Visit] = []
        before = -1
        for visit in way:
            found += [Visit(block) for block in self._between(before, visit.block)]
            found.append(visit)
            before = visit.block
        return found

    def _between(self, here: int, after: int) -> list[int]:
        """The shortest way that passes no covering block; none when there is no such way."""
        if (here, after) not in self._known:
            self._known[here, after] = self._search(here, after)
        return self._known[here, after]

    def _search(self, here: int, after: int) -> list[int]:
        if here < 0 and after == 0:
            return []
        first = (0,) if here < 0 else self._code[here].next
        work = [(0, [n]) for n in first]
        seen: set[int] = set()
        while work:
            work.sort()
            cost, way = work.pop(0)
            if way[-1] == after:
                return way[:-1]
            if way[-1] in seen or way[-1] in self._covering:
                continue
            seen.add(way[-1])
            block = self._code[way[-1]]
            work += [(cost + len(block.instructions), [*way, n]) for n in block.next]
        return []


def _is_data(instruction: SassInstruction) -> bool:
    """Whether it may be the one machine instruction of a PTX one that moves or computes data."""
    if instruction.memory is not None:
        return asks_memory(instruction)
    constant = instruction.operands.partition(",")[2].strip().startswith("-RZ, RZ,")
    return name_of(instruction) in _ARITHMETIC and not constant


def _copies(found: Counter[int], lines: set[int], data: bool) -> int:
    """How often a block holds a stretch: as often as most of its lines, or not at all."""
    often = Counter(found[line] for line in lines if found[line])
    if 2 * sum(often.values()) < len(lines):
        return 0
    return max(often, key=lambda n: (often[n], n)) if data else 1


def _whole_numbers(instruction: Instruction) -> bool:
    """Whether it is as a rule one machine instruction of 32 bits."""
    opcode = instruction.opcode
    return opcode.name in _ALIKE and opcode.mods[-1:] in (("b32",), ("u32",), ("s32",))


def _unrolled(lines: set[int], code: Sequence[SassBlock]) -> bool:
    """Whether a block holds several copies of a stretch that does more than count turns."""
    if len(lines) <= _COUNTING:
        return False
    held = (Counter(i.ptx_line for i in b.instructions if i.ptx_line in lines) for b in code)
    return any(_copies(found, lines, True) > 1 for found in held)


@dataclass(frozen=True, eq=False)
class Streams:
    """What warps issue: warp w of block b executes `code[start[s]:start[s + 1]]`, s = `of[b, w]`.

    `idle` is set where no lane takes part in an instruction that is issued all the same.
    """

    code: I32
    idle: Bool
    start: I64
    of: Mapping[tuple[int, int], int]


def streams_of(
    module: Module, stretches: Sequence[Stretch], path: Path, code: Sequence[SassBlock]
) -> Streams:
    """The streams of all recorded warps; warps that go the same way share one. Whoever polls an
    mbarrier asks once.
    """
    stretches, parted = split(module, stretches, code)
    covers = Covers(module, stretches, code)
    pieces = _Pieces(module, stretches, code)
    order = np.lexsort((np.arange(len(path.block)), path.warp, path.block))
    block, warp, stretch = path.block[order], path.warp[order], path.stretch[order]
    edge = np.flatnonzero((np.diff(block) != 0) | (np.diff(warp) != 0)) + 1
    edges = [0, *edge.tolist(), len(block)]
    known: dict[bytes, int] = {}
    of: dict[tuple[int, int], int] = {}
    made: list[tuple[I32, Bool]] = []
    for a, b in zip(edges, edges[1:], strict=False):
        if a == b:
            continue
        number = known.setdefault(stretch[a:b].tobytes(), len(known))
        if number == len(made):
            passed = [n for s in stretch[a:b].tolist() for n in parted.get(s, (s,))]
            way = mended(covers.way(passed), code)
            made.append(pieces.of(way))
        of[int(block[a]), int(warp[a])] = number
    start = np.cumsum([0, *(len(one) for one, _ in made)]).astype(np.int64)
    empty = np.zeros(0, np.int32), np.zeros(0, bool)
    whole, idle = (np.concatenate(column) for column in zip(empty, *made, strict=True))
    return Streams(whole, idle, start, of)


class _Pieces:
    """The instructions of visits, as numbers in the whole code."""

    def __init__(
        self, module: Module, stretches: Sequence[Stretch], code: Sequence[SassBlock]
    ) -> None:
        by_pc = {i.pc: i for f in module.functions for i in f.body}
        self._stretch_of = {
            by_pc[pc].ptx_line: n
            for n, s in enumerate(stretches)
            for pc in range(s.pc, s.pc + s.count)
        }
        self._code = code
        self._first = np.cumsum([0, *(len(b.instructions) for b in code)])
        self._known: dict[Visit, tuple[I32, Bool]] = {}

    def of(self, way: Sequence[Visit]) -> tuple[I32, Bool]:
        """All instructions of a way, and which of them are idle."""
        parts = [self._piece(visit) for visit in way]
        if not parts:
            return np.zeros(0, np.int32), np.zeros(0, bool)
        numbers, idle = zip(*parts, strict=True)
        return np.concatenate(numbers), np.concatenate(idle)

    def _piece(self, visit: Visit) -> tuple[I32, Bool]:
        if visit not in self._known:
            instructions = self._code[visit.block].instructions
            first = int(self._first[visit.block])
            numbers = np.arange(first, first + len(instructions), dtype=np.int32)
            off = [self._stretch_of.get(i.ptx_line, -1) in visit.idle for i in instructions]
            self._known[visit] = numbers, np.array(off, bool)
        return self._known[visit]
