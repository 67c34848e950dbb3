"""Steps by the million: where each lies is an array; a step is made when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import get_args, overload

import numpy as np

from gpuviz.base.arrays import F64, I8, I32, Array
from gpuviz.story.script import Step, StepKind

KINDS: tuple[StepKind, ...] = get_args(StepKind)
_KEPT = 256  # steps made last


@dataclass(frozen=True, eq=False)
class LongSteps(Sequence[Step]):
    """A sequence of steps that follow each other without a gap.

    Attributes
    ----------
    edges : (N + 1,) when each begins, and when the last one ends
    stops : (N,) when each shows all that it has: where a story waits that is stepped through
    kinds : (N,) index into `KINDS`
    lines : (N,) line of the CUDA source, 0 for none
    make : the step of a number
    names, what : (N,) number of the instruction that each is about, among names; -1 for none
    """

    edges: F64
    stops: F64
    kinds: I8
    lines: I32
    make: Callable[[int], Step]
    names: tuple[str, ...]
    what: I32

    def __len__(self) -> int:
        """How many there are."""
        return len(self.kinds)

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        """One of them (the same object while it is among those looked at last), or some."""
        if isinstance(index, slice):
            return tuple(self._made(i) for i in range(*index.indices(len(self))))
        number = range(len(self))[index]
        return self._made(number)

    @cached_property
    def _made(self) -> Callable[[int], Step]:
        return lru_cache(maxsize=_KEPT)(self.make)


def edges_of(steps: Sequence[Step]) -> F64:
    """(N + 1,) when each step begins, and when the last one ends; (1,) zero without steps."""
    if isinstance(steps, LongSteps):
        return steps.edges
    if not steps:
        return np.zeros(1)
    return np.array([*(step.start for step in steps), steps[-1].end])


def bounds_of(steps: Sequence[Step]) -> F64:
    """Where a story waits that is stepped through: its beginning, its end, and what is between."""
    if isinstance(steps, LongSteps) and len(steps):
        return np.unique(np.concatenate([steps.edges[:1], steps.stops, steps.edges[-1:]]))
    return edges_of(steps)


def step_at(steps: Sequence[Step], t: float) -> int:
    """Number of the step under way (the last one at and after the end); -1 without steps."""
    ends = edges_of(steps)[1:] if isinstance(steps, LongSteps) else [s.end for s in steps]
    return min(int(np.searchsorted(ends, t, side="right")), len(steps) - 1)


def joined(a: Sequence[Step], b: Sequence[Step], sides: tuple[str, str]) -> LongSteps:
    """The steps of A and, where A is over, those of B still to come; their roles name the sides."""
    one, two = _long(a), _long(b)
    end = float(one.edges[-1])
    late = step_at(b, end) if end < two.edges[-1] else len(b)
    first = len(a)

    def make(number: int) -> Step:
        if number < first:
            return replace(a[number], role=f"{sides[0]} {a[number].role}".strip())
        step = b[late + number - first]
        return replace(step, start=max(step.start, end), role=f"{sides[1]} {step.role}".strip())

    def both(own: Array, other: Array) -> Array:
        return np.concatenate([own, other[late:]])

    return LongSteps(
        np.concatenate([one.edges, two.edges[late + 1 :]]),
        both(one.stops, two.stops),
        both(one.kinds, two.kinds),
        both(one.lines, two.lines),
        make,
        one.names,
        both(one.what, np.full(len(two), -1, np.int32)),
    )


def _long(steps: Sequence[Step]) -> LongSteps:
    """Steps that are all there already, as those that are made when they are looked at."""
    if isinstance(steps, LongSteps):
        return steps
    return LongSteps(
        edges_of(steps),
        np.array([step.end for step in steps]),
        np.array([KINDS.index(step.kind) for step in steps], np.int8),
        np.array([step.line for step in steps], np.int32),
        steps.__getitem__,
        (),
        np.full(len(steps), -1, np.int32),
    )


def moments_on(
    steps: Sequence[Step], line: int, roles: Sequence[str], kind: str = "", instruction: str = ""
) -> F64:
    """(M,) moments of the steps about a line of one of some runs: of those of one kind, or that
    name an instruction, if there are any.
    """
    if not isinstance(steps, LongSteps):
        mine = [s for s in steps if s.line == line and s.role in roles]
        named = [s for s in mine if s.kind == kind or (instruction and instruction in s.detail)]
        return np.array([s.start for s in named or mine])
    found = steps.lines == line
    alike = np.zeros(len(steps), bool)
    if kind in KINDS:
        alike |= steps.kinds == KINDS.index(kind)
    if instruction:
        names = np.array([instruction in name for name in (*steps.names, "")], bool)
        alike |= names[steps.what]
    some = np.flatnonzero(found & alike if (found & alike).any() else found)
    if len(some) and steps[int(some[0])].role not in roles:
        some = np.array([i for i in some.tolist() if steps[i].role in roles], np.int64)
    return np.asarray(steps.stops[some])
