"""A script: what happens when. Its acts become the steps of the time line, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from gpuviz.base.arrays import F64
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
