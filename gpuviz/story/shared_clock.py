"""One clock for two stories: what both of them tell begins in both at the same time.

A section of a story is a row of steps of one kind: its loads, a barrier, the result. Sections that
both stories have begin together, and who is done with one earlier waits for the other; what only
one of them has is told while the other waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby

from gpuviz.story.script import Step

_JUST = 1e-6  # seconds before a section's end: at its end the next one would have begun


@dataclass(frozen=True)
class Span:
    """A stretch of one story, in its own seconds."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """How long it is."""
        return self.end - self.start


@dataclass(frozen=True)
class Stretch:
    """From `start` of the shared clock on, both stories are in these spans of theirs."""

    start: float
    spans: tuple[Span, Span]

    @property
    def end(self) -> float:
        """When both are through."""
        return self.start + max(span.length for span in self.spans)


@dataclass(frozen=True)
class Clock:
    """The stretches, one after another."""

    stretches: tuple[Stretch, ...]

    def time(self, side: int, t: float) -> float:
        """Where a story (0 or 1) is at a time of the clock."""
        if not self.stretches:
            return t
        last = self.stretches[-1]
        stretch = next((one for one in self.stretches if t < one.end), last)
        span = stretch.spans[side]
        here = max(span.start + t - stretch.start, 0.0)
        if stretch is last:
            return min(here, span.end)
        return min(here, max(span.end - _JUST, 0.0))

    def when(self, side: int, t: float) -> float:
        """When a story is at a time of its own."""
        spans = ((one.start, one.spans[side]) for one in self.stretches)
        found = (start + t - span.start for start, span in spans if span.start <= t < span.end)
        return next(found, t)

    def steps(self, a: Sequence[Step], b: Sequence[Step], names: tuple[str, str]) -> list[Step]:
        """The steps of the first story and, where it waits, those of the second; roles by side."""
        made: list[Step] = []
        for stretch in self.stretches:
            for steps, span, name in zip((a, b), stretch.spans, names, strict=True):
                shift = stretch.start - span.start
                begun = made[-1].end if made else 0.0
                for step in steps:
                    inside = span.start - _JUST < step.start and step.end < span.end + _JUST
                    if inside and step.end + shift > begun + _JUST:
                        start = max(step.start + shift, begun)
                        role = f"{name} {step.role}".strip()
                        made.append(replace(step, start=start, end=step.end + shift, role=role))
        return made


def clock_of(a: Sequence[Step], b: Sequence[Step]) -> Clock:
    """The clock of two stories with these steps."""
    sections = _sections(a), _sections(b)
    if [(s.start, s.end) for s in a] == [(s.start, s.end) for s in b]:
        spans = [(Span(0.0, a[-1].end), Span(0.0, b[-1].end))] if a else []
    else:
        spans = list(_met(*sections))
    made: list[Stretch] = []
    for pair in spans:
        made.append(Stretch(made[-1].end if made else 0.0, pair))
    return Clock(tuple(made))


def _sections(steps: Sequence[Step]) -> list[tuple[str, Span]]:
    """The kinds of steps in their order, and from when to when."""
    rows = [(kind, list(row)) for kind, row in groupby(steps, key=lambda step: step.kind)]
    return [(kind, Span(row[0].start, row[-1].end)) for kind, row in rows]


def _met(a: list[tuple[str, Span]], b: list[tuple[str, Span]]) -> list[tuple[Span, Span]]:
    """Sections of both side by side; between them what only one of the stories has."""
    kinds = [kind for kind, _ in a], [kind for kind, _ in b]
    made: list[tuple[Span, Span]] = []
    done = [0.0, 0.0]

    def add(span: Span, other: Span) -> None:
        if span.length > 0 or other.length > 0:
            made.append((span, other))
        done[:] = span.end, other.end

    for i, j, count in SequenceMatcher(None, *kinds, autojunk=False).get_matching_blocks():
        ends = [
            sections[k][1].start if k < len(sections) else sections[-1][1].end if sections else 0.0
            for sections, k in ((a, i), (b, j))
        ]
        add(Span(done[0], ends[0]), Span(done[1], ends[1]))
        for k in range(count):
            add(a[i + k][1], b[j + k][1])
    return made
