"""PTX accesses to one base, and the machine instructions that stand for them.

As many of the one as of the other, equally wide: nothing changed. Else the bytes tell who covers
whom (`merge`). Who issues a guarded instruction is no matter here (`match`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gpuviz.sass.accesses import Access
from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.merge import Window, windows
from gpuviz.sass.plan import Emit, Match


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


def atomic(access: Access, shares: Iterable[Shares]) -> Match:
    """An atomic stays one: the counter knows what loops and votes the assembler makes of it."""
    found = [i for share in shares for i in share.at(access.line)]
    emits = tuple(Emit(i, 0, i.memory.width) for i in found if i.memory is not None)
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
