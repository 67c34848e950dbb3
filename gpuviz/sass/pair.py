"""PTX accesses to one base, and the machine instructions that stand for them.

As many of the one as of the other, equally wide: nothing changed. Else the bytes tell who covers
whom (`windows`). Who issues a guarded instruction is no matter here (`match`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuviz.ptx.text.flow import Span
from gpuviz.ptx.text.ir import Function, Instruction, items
from gpuviz.ptx.text.isa import MATRIX_ROWS, kind_of, value_of
from gpuviz.ptx.text.stream import type_bytes
from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.plan import Emit, Match
from gpuviz.sass.symbolic import Terms, Values
from gpuviz.sass.unroll import is_memory

# --- by the bytes --------------------------------------------------------------------------------
#
# All PTX accesses of a group have the same base and known offsets; all machine instructions come
# from their lines and have offsets from a register whose distance to that base is not known. The
# distance is the one with which the machine instructions cover most PTX accesses.


@dataclass(frozen=True)
class Piece:
    """A PTX access: bytes [offset, offset + width) from the base."""

    pc: int
    ptx_line: int
    offset: int
    width: int

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.offset + self.width


@dataclass(frozen=True)
class Window:
    """What one machine instruction covers: bytes [start, start + width) from the PTX base."""

    sass: SassInstruction
    start: int
    width: int
    leader: Piece

    def covers(self, piece: Piece) -> bool:
        """Whether a PTX access lies within."""
        return self.overlap(piece) == piece.width

    def overlap(self, piece: Piece) -> int:
        """Bytes of a PTX access that lie within."""
        return max(0, min(piece.end, self.start + self.width) - max(piece.offset, self.start))


def windows(pieces: Sequence[Piece], found: Sequence[SassInstruction]) -> tuple[Window, ...]:
    """Place machine instructions over the PTX accesses of their lines; () when none fits."""
    groups: dict[str, list[SassInstruction]] = {}
    for instruction in found:
        if instruction.memory is not None:
            groups.setdefault(instruction.memory.base, []).append(instruction)
    site = _Site(pieces)
    placed: list[Window] = []
    for group in sorted(groups.values(), key=len, reverse=True):
        fresh = site.place(group)
        if not fresh:
            fresh = [w for one in group for w in site.place([one])]
        placed += fresh
    return tuple(placed) if len(placed) == len(found) else ()


class _Site:
    """PTX accesses by their place, and those that are covered already."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._starts: dict[int, list[Piece]] = {}
        self._lines: dict[int, list[Piece]] = {}
        self._taken: set[int] = set()
        self._widest = max((p.width for p in pieces), default=1)
        for piece in pieces:
            self._starts.setdefault(piece.offset, []).append(piece)
            self._lines.setdefault(piece.ptx_line, []).append(piece)

    def place(self, group: Sequence[SassInstruction]) -> list[Window]:
        """Windows for instructions with one base register; those that cover most."""
        best: list[Window] = []
        best_score = (0, 0, 0)
        for distance in sorted(set(self._distances(group[0])), key=lambda d: (abs(d), d)):
            placed = [w for i in group if (w := self._window(i, distance)) is not None]
            if len(placed) == len(group) and (score := self._score(placed)) > best_score:
                best, best_score = placed, score
        self._taken |= {p.pc for w in best for p in self._near(w.start, w.width)}
        return best

    def _near(self, start: int, width: int) -> list[Piece]:
        """The accesses that overlap some bytes."""
        return [
            p
            for at in range(start - self._widest + 1, start + width)
            for p in self._starts.get(at, ())
            if p.end > start
        ]

    def _score(self, placed: Sequence[Window]) -> tuple[int, int, int]:
        """Accesses covered whole, bytes covered, instructions that cover their own line's."""
        near = [
            (w, p) for w in placed for p in self._near(w.start, w.width) if p.pc not in self._taken
        ]
        return (
            len({p.pc for w, p in near if w.covers(p)}),
            sum(w.overlap(p) for w, p in near),
            sum(w.covers(w.leader) for w in placed),
        )

    def _distances(self, instruction: SassInstruction) -> Iterable[int]:
        """Distances between the bases with which it overlaps an access of its line."""
        memory = instruction.memory
        assert memory is not None
        for piece in self._lines.get(instruction.ptx_line, ()):
            for start in range(piece.offset - 16 + piece.width, piece.end, min(piece.width, 4)):
                yield memory.offset - start

    def _window(self, instruction: SassInstruction, distance: int) -> Window | None:
        """The window at a distance, led by the nearest PTX access of the instruction's line."""
        memory = instruction.memory
        assert memory is not None
        start = memory.offset - distance
        if not self._near(start, memory.width):
            return None
        near = [
            p
            for p in self._lines.get(instruction.ptx_line, ())
            if p.end > start - 16 and p.offset < start + memory.width + 16
        ]
        if not near:
            return None
        return Window(
            instruction, start, memory.width, min(near, key=lambda p: abs(p.offset - start))
        )


# --- accesses ------------------------------------------------------------------------------------
#
# PTX memory instructions: a base nobody knows, an offset from it, bytes a lane.

_SPACES = ("global", "shared", "local")


@dataclass(frozen=True)
class Access:
    """A PTX memory instruction: its block, its base, and where it lies from there."""

    instruction: Instruction
    block: int
    terms: Terms
    piece: Piece

    @property
    def pc(self) -> int:
        """The place of the instruction in the program."""
        return self.instruction.pc

    @property
    def line(self) -> int:
        """The line of the PTX text it stands in."""
        return self.instruction.ptx_line


def accesses_of(function: Function, span: Span, block: int, values: Values) -> list[Access]:
    """The accesses of one basic block, in program order."""
    forms = values.addresses(block)
    return [
        Access(
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
    if name in MATRIX_ROWS:
        return 16  # a lane names a row; what it gets is of other lanes' rows
    value = value_of(instruction)
    count = len(items(value))
    return count * (16 if mods[-1] == "b128" else type_bytes(mods[-1]))


def by_base(members: Sequence[Access]) -> list[list[Access]]:
    """Accesses of one kind to one base in one block, in program order."""
    found: dict[tuple[object, ...], list[Access]] = {}
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


def may_be(sass: SassInstruction, instruction: Instruction) -> bool:
    """Whether machine code on the line of a PTX instruction may be its access."""
    if sass.memory is None or sass.spill:
        return False
    kind = kind_of(instruction)
    spaces = {m.partition("::")[0] for m in instruction.opcode.mods}
    known = sass.memory.space if sass.memory.space in _SPACES else ""
    if kind in ("load", "store") and kind != sass.memory.op:
        return False
    return (
        not known
        or known in spaces
        or kind not in ("load", "store")
        or spaces.isdisjoint((*_SPACES, "const"))
    )


class Shares:
    """Divides the machine instructions of a block among groups of accesses with the same lines.

    Copies of an unrolled loop may have bases that are not known to be related: each gets the same
    number of a line's instructions, in order (all copies are alike, so their order is no matter).
    """

    def __init__(self, members: Sequence[Access], found: Sequence[SassInstruction]) -> None:
        self._found = by_line(found)
        self._count = Counter(m.line for m in members)
        self._given: Counter[int] = Counter()

    def at(self, line: int) -> Sequence[SassInstruction]:
        """All instructions of a line."""
        return self._found.get(line, ())

    def of(self, group: Sequence[Access]) -> list[SassInstruction] | None:
        """The next share of a group; None when a line cannot be divided evenly."""
        share: list[SassInstruction] = []
        for line, count in Counter(m.line for m in group).items():
            found = self._found.get(line, [])
            size, rest = divmod(len(found) * count, self._count[line])
            if rest:
                return None
            start = self._given[line]
            self._given[line] += size
            share += found[start : start + size]
        return sorted(share, key=lambda i: i.address)


def by_line(found: Sequence[SassInstruction]) -> dict[int, list[SassInstruction]]:
    """Machine instructions by the PTX line they come from, in order."""
    lines: dict[int, list[SassInstruction]] = {}
    for instruction in found:
        lines.setdefault(instruction.ptx_line, []).append(instruction)
    return lines


def pair(members: Sequence[Access], found: Sequence[SassInstruction]) -> list[Match]:
    """What becomes of each access; all are "unmatched" when that does not work out."""
    return _one_by_one(members, found) or _by_bytes(members, found)


def _one_by_one(members: Sequence[Access], found: Sequence[SassInstruction]) -> list[Match] | None:
    """One machine instruction for each access, equally wide; None when it is not so."""
    waiting = by_line(found)
    out: list[Match] = []
    for access in members:
        own, width = waiting.get(access.line), access.piece.width
        if not own or own[0].memory is None or own[0].memory.width != width:
            return None
        out.append(Match(access.pc, "same", (Emit(own.pop(0), 0, width),)))
    return None if any(waiting.values()) else out


def _by_bytes(members: Sequence[Access], found: Sequence[SassInstruction]) -> list[Match]:
    placed = windows([m.piece for m in members], found)
    return [_of_windows(m, placed) for m in members] if placed else unmatched(members)


def _of_windows(access: Access, placed: Sequence[Window]) -> Match:
    piece = access.piece
    emits = tuple(
        Emit(w.sass, w.start - piece.offset, w.width) for w in placed if w.leader == piece
    )
    if not emits:
        into = next((w.leader.pc for w in placed if w.covers(piece)), -1)
        return Match(piece.pc, "merged" if into >= 0 else "dropped", (), into)
    if len(emits) > 1:
        return Match(piece.pc, "split", emits)
    plain = emits[0].width == piece.width and emits[0].shift == 0
    return Match(piece.pc, "same" if plain else "widened", emits)


def atomic(access: Access, shares: Iterable[Shares], led: frozenset[int]) -> Match:
    """An atomic stays one: the counter knows what loops and votes the assembler makes of it.

    `led` are the addresses of those that one lane makes for its warp.
    """
    found = [i for share in shares for i in share.at(access.line)]
    emits = tuple(Emit(i, 0, i.memory.width) for i in found if i.memory is not None)
    if emits and led.issuperset(e.sass.address for e in emits):
        return Match(access.pc, "summed", emits)
    return Match(access.pc, "same" if emits else "dropped", emits)


def dropped(members: Sequence[Access]) -> list[Match]:
    """Accesses that the assembler took out."""
    return [Match(m.pc, "dropped") for m in members]


def unmatched(members: Sequence[Access]) -> list[Match]:
    """Accesses of which nobody knows what became."""
    return [Match(m.pc, "unmatched") for m in members]


def alike(one: Sequence[Match], other: Sequence[Match]) -> bool:
    """Whether two versions of a group do the same."""
    return _shape(one) == _shape(other)


def _shape(matches: Sequence[Match]) -> list[object]:
    return [(m.kind, m.into, [(e.shift, e.width) for e in m.emits]) for m in matches]
