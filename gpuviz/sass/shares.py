"""Machine instructions of one block of code, divided among the PTX accesses of their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpuviz.sass.accesses import Access
from gpuviz.sass.listing import SassInstruction


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
