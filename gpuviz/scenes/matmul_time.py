"""The time line of a tiled matrix product: phases, their parts, and what is over at each moment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gpuviz.scenes.matmul_reads import Sizes

PartName = Literal["load M", "load N", "loaded", "multiply", "multiplied", "store", "result"]

_SECONDS: dict[PartName, float] = {
    "load M": 1.3, "load N": 1.3, "loaded": 0.7, "multiply": 1.0, "multiplied": 0.7,
    "store": 1.2, "result": 2.0,
}  # fmt: skip
_LONGEST = 24.0  # seconds; longer stories are told faster


@dataclass(frozen=True)
class Moment:
    """A stretch of the story: a part of a phase, at one k while it multiplies.

    `track` is the number of the part on the track of phases, where both loads are one.
    """

    start: float
    end: float
    part: PartName
    phase: int
    k: int
    track: int
    sizes: Sizes

    @property
    def tiles(self) -> tuple[int, int]:
        """Tiles of M and of N that have been loaded before it."""
        later = {"load M": 0, "load N": 1}.get(self.part, 2)
        return self.phase + (later > 0), self.phase + (later > 1)

    @property
    def multiplied(self) -> int:
        """Values of k of its phase that are over before it."""
        if self.part in ("load M", "load N", "loaded"):
            return 0
        return self.k if self.part == "multiply" else self.sizes.tile

    @property
    def naive(self) -> int:
        """Steps that the naive kernel has made before it when it multiplies in time with this."""
        return min(self.phase * self.sizes.tile + self.multiplied, self.sizes.inner)

    @property
    def step(self) -> int:
        """The naive kernel's step that is made now, -1 for none."""
        now = self.phase * self.sizes.tile + self.k
        return now if self.part == "multiply" and now < self.sizes.inner else -1

    def share(self, t: float) -> float:
        """How much of it is over, 0 to 1."""
        return min(max((t - self.start) / (self.end - self.start), 0.0), 1.0)


def moments(sizes: Sizes) -> tuple[Moment, ...]:
    """All of them, in order; the whole story takes at most 24 seconds."""
    parts = tuple(_parts(sizes))
    pace = min(1.0, _LONGEST / sum(_SECONDS[part] for part, *_ in parts))
    made, t = [], 0.0
    for part, phase, k, number in parts:
        end = t + _SECONDS[part] * pace
        made.append(Moment(t, end, part, phase, k, number, sizes))
        t = end
    return tuple(made)


def _parts(sizes: Sizes) -> Iterator[tuple[PartName, int, int, int]]:
    """Part, phase, k, and number on the track."""
    for phase in range(sizes.phases):
        first = 4 * phase
        yield "load M", phase, 0, first
        yield "load N", phase, 0, first
        yield "loaded", phase, 0, first + 1
        for k in range(sizes.tile):
            yield "multiply", phase, k, first + 2
        yield "multiplied", phase, sizes.tile, first + 3
    last = sizes.phases - 1
    yield "store", last, sizes.tile, 4 * sizes.phases
    yield "result", last, sizes.tile, 4 * sizes.phases + 1


def at(line: tuple[Moment, ...], t: float) -> int:
    """Number of the moment at time t; the last one from the end on."""
    return min(bisect_right([m.end for m in line], t), len(line) - 1)
