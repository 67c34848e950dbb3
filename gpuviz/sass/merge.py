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
    placed: list[Window] = []
    for group in groups.values():
        placed += _place(pieces, group) or [
            w for one in group for w in _place(pieces, [one])]
    return tuple(placed) if len(placed) == len(found) else ()


def _place(pieces: Sequence[Piece], group: Sequence[SassInstruction]) -> list[Window]:
    best: list[Window] = []
    best_score = (0, 0, 0)
    for distance in sorted(set(_distances(pieces, group)), key=lambda d: (abs(d), d)):
        placed = [w for i in group if (w := _window(pieces, i, distance)) is not None]
        covered = sum(any(w.covers(p) for w in placed) for p in pieces)
        score = (covered, sum(w.overlap(p) for w in placed for p in pieces),
                 sum(w.covers(w.leader) for w in placed))
        if len(placed) == len(group) and score > best_score:
            best, best_score = placed, score
    return best


def _distances(pieces: Sequence[Piece], group: Iterable[SassInstruction]) -> Iterable[int]:
    """Distances between the two bases with which an instruction overlaps an access of its line."""
    for instruction in group:
        memory = instruction.memory
        assert memory is not None
        for piece in pieces:
            if piece.ptx_line == instruction.ptx_line:
                for start in range(piece.offset - 16 + piece.width, piece.end, min(piece.width, 4)):
                    yield memory.offset - start


def _window(pieces: Sequence[Piece], instruction: SassInstruction, distance: int) -> Window | None:
    """The window at a distance, led by the nearest PTX access of the instruction's line."""
    memory = instruction.memory
    assert memory is not None
    start = memory.offset - distance
    end = start + memory.width
    if not any(p.offset < end and start < p.end for p in pieces):
        return None
    own = [p for p in pieces if p.ptx_line == instruction.ptx_line]
    near = [p for p in own if p.end > start - 16 and p.offset < end + 16]
    if not near:
        return None
    return Window(instruction, start, memory.width,
                  min(near, key=lambda p: abs(p.offset - start)))
