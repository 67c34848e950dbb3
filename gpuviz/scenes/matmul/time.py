"""The time line of a tiled matrix product: phases, their parts, and what is over at each moment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from gpuviz.scenes.matmul.reads import Sizes

PartName = Literal["load M", "load N", "loaded", "multiply", "multiplied", "store", "result"]

_SECONDS: dict[PartName, float] = {
    "load M": 1.3,
    "load N": 1.3,
    "loaded": 0.7,
    "multiply": 1.0,
    "multiplied": 0.7,
    "store": 1.2,
    "result": 2.0,
}
_SHORTEST, _LONGEST = 8.5, 24.0  # seconds; stories are told slower or faster to last so long


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

    @property
    def seen(self) -> int:
        """Steps of the naive kernel that are over or under way."""
        return self.naive + (self.step >= 0)

    def share(self, t: float) -> float:
        """How much of it is over, 0 to 1."""
        return min(max((t - self.start) / (self.end - self.start), 0.0), 1.0)


def moments(sizes: Sizes, phases: int | None = None) -> tuple[Moment, ...]:
    """All of the tiled kernel, in order, with as many phases as it makes (default: all)."""
    return _timed(sizes, tuple(_parts(sizes, sizes.phases if phases is None else phases)))


def naive_moments(sizes: Sizes) -> tuple[Moment, ...]:
    """All of the naive kernel, which makes the same steps without phases."""
    last, tile = sizes.phases - 1, sizes.tile
    steps = [_Part("multiply", k // tile, k % tile, k) for k in range(sizes.inner)]
    end = (_Part("store", last, tile, sizes.inner), _Part("result", last, tile, sizes.inner + 1))
    return _timed(sizes, (*steps, *end))


class _Part(NamedTuple):
    """A part of a phase, at one k, with its number on the track."""

    name: PartName
    phase: int
    k: int
    track: int


def _timed(sizes: Sizes, parts: tuple[_Part, ...]) -> tuple[Moment, ...]:
    """The parts one after another, in 8.5 to 24 seconds."""
    usual = sum(_SECONDS[part.name] for part in parts)
    pace = min(max(usual, _SHORTEST), _LONGEST) / usual
    made, t = [], 0.0
    for part in parts:
        end = t + _SECONDS[part.name] * pace
        made.append(Moment(t, end, part.name, part.phase, part.k, part.track, sizes))
        t = end
    return tuple(made)


def _parts(sizes: Sizes, phases: int) -> Iterator[_Part]:
    """The tiled kernel, phase by phase."""
    for phase in range(phases):
        first = 4 * phase
        yield _Part("load M", phase, 0, first)
        yield _Part("load N", phase, 0, first)
        yield _Part("loaded", phase, 0, first + 1)
        for k in range(sizes.tile):
            yield _Part("multiply", phase, k, first + 2)
        yield _Part("multiplied", phase, sizes.tile, first + 3)
    yield _Part("store", phases - 1, sizes.tile, 4 * phases)
    yield _Part("result", phases - 1, sizes.tile, 4 * phases + 1)


def at(line: tuple[Moment, ...], t: float) -> int:
    """Number of the moment at time t; the last one from the end on."""
    return min(bisect_right([m.end for m in line], t), len(line) - 1)
