"""Match the memory instructions of machine code to those of the PTX it was made from.

The compiler's line table (section .nv_debug_line_sass of the cubin) tells for each machine
instruction the PTX line it comes from; a merged access has the line of one of its members. So:

1. Loops that the assembler unrolled are unrolled in the PTX likewise (`unroll`, `shape`).
2. Within one basic block, the PTX accesses to one base and the machine instructions of their lines
   form a group. As many of the one as of the other, equally wide: nothing changed. Else the bytes
   tell who covers whom (`merge`): PTX accesses covered by another's instruction were merged into
   it, those that nobody covers were dropped, as their value was not needed or already known.
3. Guarded instructions are issued to warps without an active lane as well (`owner`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gpuviz.ptx.simt.code import ends_block
from gpuviz.ptx.simt.flow import Span, spans
from gpuviz.ptx.text.ir import Function, Instruction, Module, Vec
from gpuviz.ptx.text.stream import type_bytes
from gpuviz.sass.flow import SassBlock, sass_blocks
from gpuviz.sass.listing import Listing, SassInstruction
from gpuviz.sass.merge import Piece, Window, windows
from gpuviz.sass.owner import Owners
from gpuviz.sass.plan import Emit, Match, Plan
from gpuviz.sass.shape import chunks_of, is_memory
from gpuviz.sass.symbolic import Terms, Values
from gpuviz.sass.unroll import Chunk, Loop, Rewriter, counted_loops
from gpuviz.sass.words import differences

Shape = tuple[Loop, tuple[Chunk, ...]]


def make_plan(module: Module, listing: Listing) -> Plan:
    """The plan of one kernel: for its function and the device functions its code contains."""
    code = sass_blocks(listing)
    lines = {i.ptx_line for i in listing.instructions}
    functions: list[Function] = []
    matches: dict[int, Match] = {}
    idle: list[tuple[int, Emit]] = []
    origin: dict[int, int] = {}
    next_pc = 1 + max((i.pc for f in module.functions for i in f.body), default=0)
    for function in module.functions:
        if lines.isdisjoint(i.ptx_line for i in function.body):
            functions.append(function)
            continue
        matcher = _Matcher(function, code, next_pc + len(origin))
        functions.append(matcher.function)
        matches.update(matcher.matches())
        idle += matcher.idle
        origin.update(matcher.origin)
    new = replace(module, functions=tuple(functions))
    used = _twins(matches, listing) | {e.sass.address for _, e in idle}
    left = tuple(i for i in listing.memory if i.address not in used and not i.spill)
    plan = Plan(new, matches, origin, tuple(idle), _spills(new, listing), (), left)
    return replace(plan, differences=differences(plan))


def _spills(module: Module, listing: Listing) -> tuple[tuple[int, Emit], ...]:
    """Spills, each owned by the PTX block whose line it has."""
    found = [i for i in listing.instructions if i.spill]
    first: dict[int, int] = {}
    for function in module.functions if found else ():
        for span in () if not function.defined else spans(function, ends_block):
            for i in function.body[span.start : span.end]:
                first.setdefault(i.ptx_line, function.body[span.start].pc)
    return tuple(
        (owner, Emit(i, 0, i.memory.width, owner))
        for i in found
        if i.memory and (owner := first.get(i.ptx_line, -1)) >= 0
    )


def _twins(matches: dict[int, Match], listing: Listing) -> set[int]:
    """Addresses of the instructions in the plan, and of further copies of them."""
    known = {(e.sass.ptx_line, e.width) for m in matches.values() for e in m.emits}
    return {i.address for i in listing.memory if i.memory and (i.ptx_line, i.memory.width) in known}


@dataclass(frozen=True)
class _Access:
    """A PTX memory instruction: its block, its base, and where it lies from there."""

    instruction: Instruction
    block: int
    terms: Terms
    piece: Piece


class _Shares:
    """Divides the machine instructions of a block among groups of accesses with the same lines.

    Copies of an unrolled loop may have bases that are not known to be related: each gets the same
    number of a line's instructions, in order (all copies are alike, so their order is no matter).
    """

    def __init__(self, members: Sequence[_Access], found: Sequence[SassInstruction]) -> None:
        self._found: dict[int, list[SassInstruction]] = {}
        for instruction in found:
            self._found.setdefault(instruction.ptx_line, []).append(instruction)
        self._count = Counter(m.instruction.ptx_line for m in members)
        self._given: Counter[int] = Counter()

    def at(self, line: int) -> Sequence[SassInstruction]:
        """All instructions of a line."""
        return self._found.get(line, ())

    def of(self, group: Sequence[_Access]) -> list[SassInstruction] | None:
        """The next share of a group; None when a line cannot be divided evenly."""
        share: list[SassInstruction] = []
        for line, count in Counter(m.instruction.ptx_line for m in group).items():
            found = self._found.get(line, [])
            size, rest = divmod(len(found) * count, self._count[line])
            if rest:
                return None
            start = self._given[line]
            self._given[line] += size
            share += found[start : start + size]
        return sorted(share, key=lambda i: i.address)


class _Matcher:
    """Matches one function."""

    def __init__(self, function: Function, code: Sequence[SassBlock], next_pc: int) -> None:
        self._code = code
        shapes = _shapes(function, code)
        rewriter = Rewriter(function, next_pc)
        self.function = rewriter.unrolled(shapes) if shapes else function
        self.origin = rewriter.origin
        self.idle: list[tuple[int, Emit]] = []
        self._chunk_of = rewriter.chunk_of
        self._tests = rewriter.tests
        self._taken = {
            i.pc: {(c.block, c.guard) for c in chunks}
            for loop, chunks in shapes
            for i in function.body[loop.start : loop.end]
        }
        self._blocks = spans(self.function, ends_block)
        self._owners = Owners(self.function, self._blocks, code, set(rewriter.tests.values()))

    def matches(self) -> dict[int, Match]:
        """A match for each memory instruction of the function."""
        values = Values(self.function, self._blocks)
        units: dict[object, list[_Access]] = {}
        for number, span in enumerate(self._blocks):
            for access in _accesses(self.function, span, number, values):
                chunk = self._chunk_of.get(access.instruction.pc)
                units.setdefault(chunk or (number,), []).append(access)
        return {m.pc: m for unit in units.values() for m in self._unit(unit)}

    def _unit(self, members: Sequence[_Access]) -> Iterable[Match]:
        """Accesses of one block, or of all copies of a loop's body in one block of code."""
        chunk = self._chunk_of.get(members[0].instruction.pc)
        lines = {m.instruction.ptx_line: m.instruction for m in members}
        taken = self._taken.get(members[0].instruction.pc, set())

        def fits(place: int, sass: SassInstruction) -> bool:
            if sass.ptx_line not in lines or not _same_kind(lines[sass.ptx_line], sass):
                return False
            if chunk is not None:
                return place == chunk.block and chunk.guard in ("", sass.guard)
            return (place, "") not in taken and (place, sass.guard) not in taken

        versions = {
            n: found
            for n, block in enumerate(self._code)
            if (found := [i for i in block.instructions if fits(n, i)])
        }
        self._set_aside(members, versions)
        shares = {n: _Shares(members, found) for n, found in versions.items()}
        for same_base in _by_base(members):
            yield from self._same_base(same_base, shares)

    def _set_aside(
        self, members: Sequence[_Access], versions: dict[int, list[SassInstruction]]
    ) -> None:
        """Take out the instructions whose guard never holds."""
        for place, found in versions.items():
            for instruction in [i for i in found if i.guard == "!PT"]:
                found.remove(instruction)
                access = next(m for m in members if m.instruction.ptx_line == instruction.ptx_line)
                self.idle.append(
                    (access.instruction.pc, self._emit(instruction, place, access, 0, 4))
                )

    def _same_base(self, members: Sequence[_Access], shares: dict[int, _Shares]) -> list[Match]:
        """The first version of a group stands for the others, which are copies of it."""
        if members[0].instruction.opcode.name in ("atom", "red"):
            return [_atomic(m, shares) for m in members]
        mine = {n: share for n, known in shares.items() if (share := known.of(members)) != []}
        if not mine and members[0].instruction.pc in self._taken:
            return _unmatched(members)  # a loop that was unrolled as a whole: there is no rest
        if not mine:
            return [Match(m.instruction.pc, "dropped") for m in members]
        if None in mine.values():
            return _unmatched(members)
        solved = [
            self._plain(members, n, own) or self._solved(members, n, own)
            for n, own in mine.items()
            if own is not None
        ]
        if all(_alike(s, solved[0]) for s in solved):
            return solved[0]
        joined = [i for own in mine.values() for i in own or ()]
        return self._plain(members, min(mine), joined) or self._solved(members, min(mine), joined)

    def _plain(
        self, members: Sequence[_Access], place: int, found: Sequence[SassInstruction]
    ) -> list[Match] | None:
        """One machine instruction for each access, equally wide; None when it is not so."""
        waiting: dict[int, list[SassInstruction]] = {}
        for instruction in found:
            waiting.setdefault(instruction.ptx_line, []).append(instruction)
        out: list[Match] = []
        for access in members:
            own = waiting.get(access.instruction.ptx_line)
            if not own or own[0].memory is None or own[0].memory.width != access.piece.width:
                return None
            out.append(
                Match(
                    access.instruction.pc,
                    "same",
                    (self._emit(own.pop(0), place, access, 0, access.piece.width),),
                )
            )
        return None if any(waiting.values()) else out

    def _emit(
        self, sass: SassInstruction, place: int, access: _Access, shift: int, width: int
    ) -> Emit:
        owner = -1
        memory = sass.memory
        if (
            sass.guard
            and memory is not None
            and memory.space == "shared"
            and (memory.op in ("load", "store"))
        ):
            owner = self._owner(sass, place, access)
        return Emit(sass, shift, width, owner)

    def _owner(self, sass: SassInstruction, place: int, access: _Access) -> int:
        """The pc that tells how often a guarded instruction is issued."""
        pc = access.instruction.pc
        chunk = self._chunk_of.get(pc)
        if pc in self._tests and (not self._code_loops(place) if chunk is None else chunk.guard):
            return self._tests[pc]
        block = self._owners.owner(place, access.block)
        return self.function.body[self._blocks[block].start].pc

    def _code_loops(self, place: int) -> bool:
        return place in self._code[place].next

    def _solved(
        self, members: Sequence[_Access], place: int, found: Sequence[SassInstruction]
    ) -> list[Match]:
        """By bytes; every access is "unmatched" when that does not work out."""
        placed = windows([m.piece for m in members], found)
        if not placed:
            return _unmatched(members)
        return [self._of_windows(m, place, placed) for m in members]

    def _of_windows(self, access: _Access, place: int, placed: Sequence[Window]) -> Match:
        piece = access.piece
        led = [w for w in placed if w.leader == piece]
        emits = tuple(
            self._emit(w.sass, place, access, w.start - piece.offset, w.width) for w in led
        )
        if not emits:
            into = next((w.leader.pc for w in placed if w.covers(piece)), -1)
            return Match(piece.pc, "merged" if into >= 0 else "dropped", (), into)
        if len(emits) > 1:
            return Match(piece.pc, "split", emits)
        plain = emits[0].width == piece.width and emits[0].shift == 0
        return Match(piece.pc, "same" if plain else "widened", emits)


def _atomic(access: _Access, shares: Mapping[int, _Shares]) -> Match:
    """An atomic stays one: the counter knows what loops and votes the assembler makes of it."""
    found = [i for share in shares.values() for i in share.at(access.instruction.ptx_line)]
    emits = tuple(Emit(i, 0, i.memory.width) for i in found if i.memory is not None)
    return Match(access.instruction.pc, "same" if emits else "dropped", emits)


def _same_kind(instruction: Instruction, sass: SassInstruction) -> bool:
    """Whether machine code on the line of a PTX instruction may be its access."""
    if sass.memory is None or sass.spill:
        return False
    name, op = instruction.opcode.name, sass.memory.op
    wanted = {"ld": "load", "ldu": "load", "st": "store"}.get(name, op)
    spaces = {m.partition("::")[0] for m in instruction.opcode.mods}
    known = sass.memory.space if sass.memory.space in ("global", "shared", "local") else ""
    return op == wanted and (
        not known
        or known in spaces
        or name in ("atom", "red", "cp")
        or spaces.isdisjoint(("global", "shared", "local", "const"))
    )


def _unmatched(members: Sequence[_Access]) -> list[Match]:
    return [Match(m.instruction.pc, "unmatched") for m in members]


def _alike(one: Sequence[Match], other: Sequence[Match]) -> bool:
    """Whether two versions of a group do the same."""
    return [(m.kind, m.into, [(e.shift, e.width) for e in m.emits]) for m in one] == [
        (m.kind, m.into, [(e.shift, e.width) for e in m.emits]) for m in other
    ]


def _shapes(function: Function, code: Sequence[SassBlock]) -> list[Shape]:
    found = [(loop, chunks_of(function, loop, code)) for loop in counted_loops(function)]
    return [(loop, chunks) for loop, chunks in found if chunks and _descend(chunks)]


def _descend(chunks: Sequence[Chunk]) -> bool:
    """Whether chunks come in the known order: peeled ones, then fewer and fewer copies."""
    many = [c.copies for c in chunks if c.copies > 1]
    peeled = all(c.copies == 1 for c in chunks[: len(chunks) - len(many)])
    return peeled and many == sorted(set(many), reverse=True)


def _accesses(function: Function, span: Span, block: int, values: Values) -> list[_Access]:
    forms = values.addresses(block)
    return [
        _Access(
            i, block, forms[i.pc].terms, Piece(i.pc, i.ptx_line, forms[i.pc].constant, width_of(i))
        )
        for i in function.body[span.start : span.end]
        if is_memory(i) and i.pc in forms
    ]


def width_of(instruction: Instruction) -> int:
    """Bytes per lane of a PTX memory instruction."""
    name, mods = instruction.opcode.name, instruction.opcode.mods
    if name == "cp":
        size = instruction.operands[2]
        return int(getattr(size, "value", 4))
    value = instruction.operands[1 if name in ("st", "red") else 0]
    count = len(value.items) if isinstance(value, Vec) else 1
    return count * (16 if mods[-1] == "b128" else type_bytes(mods[-1]))


def _by_base(members: Sequence[_Access]) -> list[list[_Access]]:
    """Accesses of one kind to one base in one block, in program order."""
    found: dict[tuple[object, ...], list[_Access]] = {}
    for member in members:
        opcode = member.instruction.opcode
        key = (
            member.block,
            member.terms,
            opcode.name,
            "shared" in opcode.text,
            "local" in opcode.text,
        )
        found.setdefault(key, []).append(member)
    return list(found.values())
