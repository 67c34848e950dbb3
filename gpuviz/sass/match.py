"""Match the memory instructions of machine code to those of the PTX it was made from.

The compiler's line table (section .nv_debug_line_sass of the cubin) tells for each machine
instruction the PTX line it comes from; a merged access has the line of one of its members. So:

1. Loops that the assembler unrolled are unrolled in the PTX likewise (`unroll`).
2. The machine instructions that come from the lines of a block's accesses are found, and divided
   among those with one base (`pair`): that is done here.
3. Such a group is paired, one by one or by the bytes (`pair`). PTX accesses covered by
   another's instruction were merged into it, those that nobody covers were dropped, as their value
   was not needed or already known.
4. Guarded instructions are issued to warps without an active lane as well (`Owners`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpuviz.ptx.text.flow import Span, spans
from gpuviz.ptx.text.ir import Function, Instruction, Module
from gpuviz.ptx.text.isa import ATOMICS, kind_of
from gpuviz.sass.flow import SassBlock, dominators, loops, name_of, sass_blocks
from gpuviz.sass.frames import framed
from gpuviz.sass.leaders import led
from gpuviz.sass.listing import Listing, SassInstruction
from gpuviz.sass.moved_loads import hoisted, sunk
from gpuviz.sass.pair import (
    Access,
    Shares,
    accesses_of,
    alike,
    atomic,
    by_base,
    dropped,
    may_be,
    pair,
    unmatched,
)
from gpuviz.sass.plan import Difference, Emit, Match, Plan
from gpuviz.sass.symbolic import Values
from gpuviz.sass.unroll import UnrolledFunction, shapes_of, unroll

_ANCHORS = frozenset(
    {"LD", "LDG", "LDS", "LDL", "ST", "STG", "STS", "STL", "ATOM", "ATOMG", "ATOMS", "RED", "REDG"}
    | {"LDGSTS", "BAR", "SHFL", "VOTE", "WARPSYNC"}
)
_TESTS = frozenset({"ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "LOP3", "R2P", "UISETP"})


class Owners:
    """Finds the PTX block that is executed as often as a guarded machine instruction is issued.

    `@P0 STS` is issued to every warp that comes by, whether a lane's P0 holds or not, and the
    counter of executed instructions counts it. In PTX the same store stood in a block of its own,
    which other warps branched around; the assembler replaced the branch by the guard. So it is
    issued as often as the block with the branch is executed.
    """

    def __init__(
        self, unrolled: UnrolledFunction, blocks: Sequence[Span], code: Sequence[SassBlock]
    ) -> None:
        following = [b.next for b in blocks]
        body, added = unrolled.function.body, set(unrolled.tests.values())
        self._unrolled = unrolled
        self._first = [body[b.start].pc for b in blocks]
        self._lines = [{i.ptx_line for i in body[b.start : b.end]} for b in blocks]
        self._code = code
        self._above = dominators(following)
        self._headers = frozenset(loops(following))
        self._tests = {n for n, pc in enumerate(self._first) if pc in added}
        seen = Counter(i.ptx_line for b in code for i in b.instructions if name_of(i) in _ANCHORS)
        # Lines of which there is one anchor, so that its block of code is issued as often.
        self._once = {line for line, count in seen.items() if count == 1}

    def issued(self, emit: Emit, access: Access, place: int) -> Emit:
        """The same with its owner, where it is guarded; `place` is its block of machine code."""
        memory = emit.sass.memory
        if not emit.sass.guard or memory is None or memory.space != "shared":
            return emit
        if memory.op not in ("load", "store"):
            return emit
        return replace(emit, owner=self._owner(access, place))

    def _owner(self, access: Access, place: int) -> int:
        """The pc that tells how often a guarded instruction is issued."""
        chunk, tests = self._unrolled.chunk_of.get(access.pc), self._unrolled.tests
        loops_by_itself = place in self._code[place].next
        if access.pc in tests and (not loops_by_itself if chunk is None else chunk.guard):
            return tests[access.pc]
        return self._first[self._block(place, access.block)]

    def _block(self, sass_block: int, block: int) -> int:
        """The PTX block that is executed whenever the machine code's block is."""
        chain = self._chain(block)
        for names in (_ANCHORS, _TESTS):
            lines = self._present(sass_block, names)
            best = next((b for b in reversed(chain) if self._lines[b] & lines), None)
            if best is not None:
                return best
        lines = self._present(sass_block, _ANCHORS) & self._once
        return next((b for b, own in enumerate(self._lines) if own & lines), block)

    def _chain(self, block: int) -> list[int]:
        """The block and those that dominate it, up to the header of its loop."""
        found = [block]
        while found[-1] not in self._headers:
            above = self._above.get(found[-1], found[-1])
            if above == found[-1] or above in self._tests:
                break
            found.append(above)
        return found

    def _present(self, sass_block: int, names: frozenset[str]) -> set[int]:
        """PTX lines of the unguarded instructions of these names in a block of code."""
        return {
            i.ptx_line
            for i in self._code[sass_block].instructions
            if not i.guard and name_of(i) in names
        }


def differences(plan: Plan) -> tuple[Difference, ...]:
    """One sentence for each PTX memory instruction that did not stay what it was."""
    by_pc = {i.pc: i for f in plan.module.functions for i in f.body}
    found: dict[tuple[int, str], Difference] = {}
    for match in plan.matches.values():
        at = by_pc[match.pc]
        text = _text(match, at, plan)
        if text:
            kind = match.kind if match.kind != "same" else "issued"
            found.setdefault((at.ptx_line, text), Difference(at.line, at.ptx_line, kind, text))
    for _, emit in plan.spills:
        sass = emit.sass
        text = (
            f"the compiler added {sass.opcode}: registers are short, one is spilled (counted "
            "as if all lanes of the warps were active)"
        )
        found.setdefault((sass.ptx_line, text), Difference(sass.line, sass.ptx_line, "spill", text))
    return tuple(sorted(found.values(), key=lambda d: d.ptx_line))


def _text(match: Match, at: Instruction, plan: Plan) -> str:
    kind = kind_of(at)
    name = kind if kind in ("load", "store") else "access"
    if match.kind == "widened":
        members = 1 + sum(m.into == match.pc for m in plan.matches.values())
        return (
            f"the compiler merged {members} {name}s into one {match.emits[0].width}-byte {name}"
            if members > 1
            else f"the compiler made this {name} {match.emits[0].width} bytes wide"
        )
    if match.kind == "merged":
        return f"the compiler merged this {name} into a neighbour's"
    if match.kind == "dropped":
        if "const" in at.opcode.mods:
            return "the constant is an operand of the instructions that use it: no request"
        why = "its value is not used, or known already" if name == "load" else "nobody reads it"
        return f"the compiler removed this {name}: {why}"
    if match.kind == "split":
        return f"the compiler split this {name} into {len(match.emits)}"
    if match.kind == "summed":
        return "the compiler sums over the lanes of the warp first: one lane makes the access"
    if match.kind == "unmatched":
        return f"no machine instruction could be matched to this {name}: counted as in the PTX"
    if any(e.owner >= 0 for e in match.emits):
        return (
            f"the compiler replaced the branch around this {name} by a guard: it is issued "
            "to every warp that comes by"
        )
    return ""


Idle = list[tuple[int, Emit]]


def make_plan(module: Module, listing: Listing) -> Plan:
    """The plan of one kernel: for its function and the device functions its code contains."""
    code, summed = sass_blocks(listing), led(listing.instructions)
    lines = {i.ptx_line for i in listing.instructions}
    functions: list[Function] = []
    matches: dict[int, Match] = {}
    idle: Idle = []
    origin: dict[int, int] = {}
    next_pc = 1 + max((i.pc for f in module.functions for i in f.body), default=0)
    for function in module.functions:
        if lines.isdisjoint(i.ptx_line for i in function.body):
            functions.append(function)
            continue
        before = len(function.body)
        function = framed(function, listing, code, next_pc + len(origin))
        next_pc += len(function.body) - before
        function = hoisted(sunk(function, code), code)
        unrolled = unroll(function, shapes_of(function, code), next_pc + len(origin))
        matching = _Matcher(unrolled, code, summed)
        functions.append(unrolled.function)
        origin.update(unrolled.origin)
        matches.update(matching.matches())
        idle += matching.idle
    new = replace(module, functions=tuple(functions))
    used = _twins(matches, listing) | {e.sass.address for _, e in idle}
    left = tuple(i for i in listing.memory if i.address not in used and not i.spill)
    alone = [i for i in left if i.guard == "!PT"]
    idle += _at_their_lines(new, alone)
    left = tuple(i for i in left if i not in alone)
    plan = Plan(new, matches, origin, tuple(idle), _spills(new, listing), (), left)
    return replace(plan, differences=differences(plan))


def _at_their_lines(module: Module, found: Sequence[SassInstruction]) -> Idle:
    """Instructions whose guard never holds and that come with no access (`fence.proxy.async`): as
    many in each copy of the PTX instruction whose line they have.
    """
    places: dict[int, list[tuple[int, int]]] = {}
    for function in module.functions if found else ():
        for span in spans(function) if function.defined else ():
            for i in function.body[span.start : span.end]:
                places.setdefault(i.ptx_line, []).append((i.pc, function.body[span.start].pc))
    made: Idle = []
    for line in dict.fromkeys(i.ptx_line for i in found):
        own = [i for i in found if i.ptx_line == line]
        copies = places.get(line, [])
        each = len(own) // len(copies) if copies else 0
        for number, (pc, owner) in enumerate(copies):
            part = own[number * each : (number + 1) * each]
            made += [(pc, Emit(i, 0, 4, owner)) for i in part]
    return made


def _spills(module: Module, listing: Listing) -> tuple[tuple[int, Emit], ...]:
    """Spills, each owned by the PTX block whose line it has."""
    found = [i for i in listing.instructions if i.spill]
    first: dict[int, int] = {}
    for function in module.functions if found else ():
        for span in () if not function.defined else spans(function):
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


class _Matcher:
    """Matches one function; `idle` are instructions whose guard never holds, found on the way."""

    def __init__(
        self, unrolled: UnrolledFunction, code: Sequence[SassBlock], led: frozenset[int]
    ) -> None:
        self.idle: Idle = []
        self._led = led
        self._unrolled = unrolled
        self._code = code
        self._blocks = spans(unrolled.function)
        self._owners = Owners(unrolled, self._blocks, code)

    def matches(self) -> dict[int, Match]:
        """A match for each memory instruction of the function."""
        return {
            match.pc: match
            for members in _units(self._unrolled, self._blocks)
            for match in self._unit(members)
        }

    def _unit(self, members: Sequence[Access]) -> list[Match]:
        versions = _versions(members, self._unrolled, self._code)
        for place, found in versions.items():
            self._set_aside(members, place, found)
        shares = {n: Shares(members, found) for n, found in versions.items()}
        return [match for group in by_base(members) for match in self._group(group, shares)]

    def _set_aside(
        self, members: Sequence[Access], place: int, found: list[SassInstruction]
    ) -> None:
        """Take out the instructions whose guard never holds."""
        for instruction in [i for i in found if i.guard == "!PT"]:
            found.remove(instruction)
            access = next(m for m in members if m.line == instruction.ptx_line)
            self.idle.append(
                (access.pc, self._owners.issued(Emit(instruction, 0, 4), access, place))
            )

    def _group(self, members: Sequence[Access], shares: Mapping[int, Shares]) -> list[Match]:
        """The first version of a group stands for the others, which are copies of it."""
        if kind_of(members[0].instruction) in ATOMICS:
            return [atomic(m, shares.values(), self._led) for m in members]
        mine = {n: share for n, known in shares.items() if (share := known.of(members)) != []}
        if not mine and members[0].pc in self._unrolled.chunks:
            return unmatched(members)  # a loop that was unrolled as a whole: there is no rest
        if not mine:
            return dropped(members)
        known = [own for own in mine.values() if own is not None]
        if len(known) < len(mine):
            return unmatched(members)
        first, *others = (pair(members, own) for own in known)
        if not all(alike(other, first) for other in others):
            first = pair(members, [i for own in known for i in own])
        return [self._issued(m, a, min(mine)) for m, a in zip(first, members, strict=True)]

    def _issued(self, match: Match, access: Access, place: int) -> Match:
        return replace(
            match, emits=tuple(self._owners.issued(e, access, place) for e in match.emits)
        )


def _units(unrolled: UnrolledFunction, blocks: Sequence[Span]) -> list[list[Access]]:
    """Accesses of one block, or of all copies of a loop's body in one block of code."""
    values = Values(unrolled.function, blocks)
    units: dict[object, list[Access]] = {}
    for number, span in enumerate(blocks):
        for access in accesses_of(unrolled.function, span, number, values):
            units.setdefault(unrolled.chunk_of.get(access.pc) or (number,), []).append(access)
    return list(units.values())


def _versions(
    members: Sequence[Access], unrolled: UnrolledFunction, code: Sequence[SassBlock]
) -> dict[int, list[SassInstruction]]:
    """By block of machine code, its instructions that may be the accesses of a unit."""
    chunk = unrolled.chunk_of.get(members[0].pc)
    lines = {m.line: m.instruction for m in members}
    taken = unrolled.chunks.get(members[0].pc, frozenset())

    def fits(place: int, sass: SassInstruction) -> bool:
        if sass.ptx_line not in lines or not may_be(sass, lines[sass.ptx_line]):
            return False
        if chunk is not None:
            return place == chunk.block and chunk.guard in ("", sass.guard)
        return (place, "") not in taken and (place, sass.guard) not in taken

    found = {n: [i for i in b.instructions if fits(n, i)] for n, b in enumerate(code)}
    return {n: instructions for n, instructions in found.items() if instructions}
