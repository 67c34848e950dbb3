"""Which PTX accesses a group of machine instructions stands for, by their bytes.

All PTX accesses of a group have the same base and known offsets; all machine instructions come from
their lines and have offsets from a register whose distance to that base is not known. The distance
is the one with which the machine instructions cover most PTX accesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuviz.sass.listing import SassInstruction


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
