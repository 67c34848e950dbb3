"""A script: what happens when. Its acts are the steps of the time line, or arrays of millions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, get_args, overload

import numpy as np

from gpuviz.base.arrays import F64, I8, I32, Array
from gpuviz.draw.ease import progress, staggered

StepKind = Literal["load", "store", "atomic", "barrier", "compute", "shared", "intro", "result"]

_MOST = 8  # acts that a series is cut in


@dataclass(frozen=True)
class Step:
    """A stretch of a story's time line.

    `line` is the CUDA line being executed (0: none), in the kernel of the run named `role`;
    `detail` says in a few words what happens, with its count ("ld.global.f32 · 8 sectors").
    """

    start: float
    end: float
    kind: StepKind
    label: str
    detail: str = ""
    line: int = 0
    role: str = ""


@dataclass(eq=False)
class Script:
    """Acts in their order, written once while a story is told; `role` is the run they are of.

    `pace` is what the seconds of its acts are multiplied by.
    """

    role: str = ""
    pace: float = 1.0
    steps: list[Step] = field(default_factory=list)

    @property
    def end(self) -> float:
        """When the last act ends, in seconds."""
        return self.steps[-1].end if self.steps else 0.0

    def act(
        self,
        seconds: float,
        kind: StepKind,
        label: str,
        detail: str = "",
        line: int = 0,
        role: str | None = None,
    ) -> Act:
        """The next act; what it returns tells how far it is at any time."""
        step = Step(
            self.end,
            self.end + seconds * self.pace,
            kind,
            label,
            detail,
            line,
            self.role if role is None else role,
        )
        self.steps.append(step)
        return Act(step.start, step.end)

    def series(
        self,
        seconds: float,
        count: int,
        kind: StepKind,
        label: Callable[[int, int], str],
        detail: str = "",
        line: int = 0,
        most: int = _MOST,
    ) -> Act:
        """So many things one after another, several of them an act where they are many.

        `label(first, last)` says which, counted from 0.
        """
        edges = np.linspace(0, count, min(count, most) + 1).round().astype(int).tolist()
        acts = [
            self.act(seconds * (b - a) / count, kind, label(a, b - 1), detail, line)
            for a, b in pairwise(edges)
        ]
        return acts[0].until(acts[-1])

    def done(self, t: float) -> float:
        """Acts that are over, the fraction being the one under way."""
        starts = np.array([step.start for step in self.steps])
        ends = np.array([step.end for step in self.steps])
        return float(progress(t, starts, ends).sum())

    def at(self, t: float) -> tuple[int, float]:
        """Number of the act under way, and how much of it is over; the last one after the end."""
        done = self.done(t)
        number = min(int(done), len(self.steps) - 1)
        return number, done - number


def pace(seconds: Iterable[float], least: float, most: float) -> float:
    """What to multiply the seconds of acts by so that together they take `least` to `most`."""
    usual = sum(seconds)
    return min(max(usual, least), most) / usual


@dataclass(frozen=True)
class Act:
    """A stretch of time, in seconds; several in a row are one with `until`."""

    start: float
    end: float

    def share(self, t: float) -> float:
        """How much of it is over, 0 to 1."""
        return float(progress(t, self.start, self.end))

    def counted(self, t: float, count: int) -> float:
        """Of so many things that come one after another in it, those that are over."""
        return self.share(t) * count

    def staggered(self, t: float, count: int, overlap: float = 0.5) -> F64:
        """(count,) how far each of so many things is, the next beginning before one is over."""
        return staggered(self.share(t), count, overlap)

    def cut(self, seconds: float) -> tuple[Act, Act]:
        """Its first so many seconds, and the rest."""
        middle = min(self.start + seconds, self.end)
        return Act(self.start, middle), Act(middle, self.end)

    def until(self, last: Act) -> Act:
        """From the start of this to the end of a later one."""
        return Act(self.start, last.end)


def line_with(source: str, text: str) -> int:
    """The first line of a source with a text in it, by its number; 0: there is none."""
    return next((n for n, line in enumerate(source.splitlines(), 1) if text in line), 0)


KINDS: tuple[StepKind, ...] = get_args(StepKind)
_KEPT = 256  # steps made last


@dataclass(frozen=True, eq=False)
class LongSteps(Sequence[Step]):
    """A sequence of steps that follow each other without a gap."""

    edges: F64  # (N + 1,) when each begins, and when the last one ends
    stops: F64  # (N,) when each shows all that it has: where a story waits that is stepped through
    kinds: I8  # (N,) index into `KINDS`
    lines: I32  # (N,) line of the CUDA source, 0 for none
    make: Callable[[int], Step]  # the step of a number
    # names, what: (N,) number of the instruction that each is about, among names; -1 for none.
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
