"""Two stories side by side, A | B, or A above B on what is higher than wide: one clock, one scale,
same letters, each in its half.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby

import numpy as np

from gpuviz.draw.axis import Scales, wider
from gpuviz.draw.heading import question
from gpuviz.draw.layout import elide, fit_size
from gpuviz.draw.marks import Frame, Lines, Mark, Texts
from gpuviz.draw.stage import Stage
from gpuviz.draw.transform import shifted
from gpuviz.story.lesson import Lesson, Preset, Search, Story, Values
from gpuviz.story.script import LongSteps, Step, joined
from gpuviz.words.language import tr

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


SIDES = ("A", "B")
_SMALL = 13.0  # letters of a name that is long
_LABEL, _BAND = 16.0, 36.0  # letters of the line that names a side, and its height, at scale 1
_MANY = 400  # steps: stories with more are not held against each other step by step


def beside(a: Story, b: Story, name_a: str, name_b: str) -> Story:
    """Both stories at the same moment of what they tell (see `shared_clock`), on the same scales.

    Of stories with more steps than that is told of, the one that is over first waits at its end.
    A click sets the values of the side it is on. What is looked for is found in A.
    """
    many = max(len(a.steps), len(b.steps)) > _MANY
    clock = Clock(()) if many else clock_of(a.steps, b.steps)
    steps = joined(a.steps, b.steps, SIDES) if many else clock.steps(a.steps, b.steps, SIDES)
    pair = _Pair((a, b), (name_a, name_b), clock)
    return Story(
        f"{name_a} | {name_b}",
        "",
        steps if isinstance(steps, LongSteps) else tuple(steps),
        pair.frame,
        _both(a.expected, b.expected),
        pair.pick,
        search=_search(a, clock),
    )


def _search(a: Story, clock: Clock) -> Search | None:
    """What finds moments of A, at the times of the clock."""
    own = a.search
    if own is None:
        return None
    find = own.find
    return Search(own.hint, lambda text: np.array([clock.when(0, t) for t in find(text).tolist()]))


def _both(a: str, b: str) -> str:
    """What to expect of either side, named only where they differ."""
    if a == b:
        return a
    return "\n".join(f"{side}: {text}" for side, text in zip(SIDES, (a, b), strict=True) if text)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two stories, what they are called, and where each of them is at a time."""

    stories: tuple[Story, Story]
    names: tuple[str, str]
    clock: Clock

    @cached_property
    def scales(self) -> Scales:
        """How far the scales of both reach: bars of one length mean the same number in both."""
        a, b = self.stories
        return wider(a.scales, b.scales)

    def frame(self, t: float, stage: Stage) -> Frame:
        """Each story in its half, below its name."""
        part, band = self._part(stage)
        dx, dy = _apart(stage, part, band)
        names_y = 0.0
        marks: list[Mark] = []
        if stage.asks:
            asked, names_y = question(stage.roomy())
            marks += asked
        for number, (story, name) in enumerate(zip(self.stories, self.names, strict=True)):
            inner = story.frame(self.clock.time(number, t), part)
            marks += shifted(inner.marks, number * dx, band + number * dy)
            y = names_y + band * 0.62 if dx or not number else dy + band * 0.62
            marks.append(_label(number, name, number * dx, y, part))
        line = (
            [[dx, names_y + band / 2], [dx, stage.height - band / 2]]
            if dx
            else [[part.margin, dy], [stage.width - part.margin, dy]]
        )
        marks.append(Lines(np.array([line], np.float32), stage.palette.border))
        return stage.frame(*marks)

    def pick(self, t: float, stage: Stage, x: float, y: float) -> Values | None:
        """What a click sets in the story it is on."""
        part, band = self._part(stage)
        dx, dy = _apart(stage, part, band)
        number = int(x >= dx if dx else y >= dy)
        own = self.clock.time(number, t)
        return self.stories[number].pick(own, part, x - number * dx, y - number * dy - band)

    def _part(self, stage: Stage) -> tuple[Stage, float]:
        """The stage of one side, and the height of the band above it.

        A question stands above both sides; they keep free, in place of their headings, its room.
        """
        band = _BAND * stage.scale
        room = question(stage.roomy())[1] if stage.question else 0.0
        width, height = stage.width / 2, stage.height - band
        if stage.height > stage.width:  # a phone, or a screen on its side
            width, height = stage.width, stage.height / 2 - band
        scales = self.scales
        return replace(stage, width=width, height=height, headed=room, scales=scales), band


def _apart(stage: Stage, part: Stage, band: float) -> tuple[float, float]:
    """How far B is to the right of A, or below it."""
    return (part.width, 0.0) if part.width < stage.width else (0.0, part.height + band)


def _label(number: int, name: str, x: float, y: float, stage: Stage) -> Texts:
    """The name of a side, within its half."""
    margin, text = stage.roomy().margin, f"{SIDES[number]} · {name}"
    room = stage.width - 2 * margin
    size = fit_size(text, room, stage.text(_LABEL), stage.text(_SMALL), bold=True)
    said = elide(text, room, size, bold=True)
    at = np.array([[x + margin, y]], np.float32)
    return Texts(at, (said,), stage.palette.ink, size, bold=True)


def name_of(lesson: Lesson, values: Values, other: Values) -> str:
    """What a side is called: the preset it is, or where it differs from the other side; of many
    differences, that these are the values that the lesson begins with.
    """
    for preset in lesson.presets:
        if _is(preset, values) and not _is(preset, other):
            return tr(preset.label)
    differs = [p for p in lesson.parameters if values.get(p.id) != other.get(p.id)]
    if len(differs) > 1 and dict(values) == lesson.defaults():
        return tr("as the lesson begins")
    said = (f"{tr(p.label)} {p.shown(values[p.id])}" for p in differs if p.id in values)
    return ", ".join(said) or tr(lesson.title)


def titles_of(a: Lesson, b: Lesson) -> tuple[str, str]:
    """What sides of two lessons are called; launches of the same kernel by what they differ in."""
    titles = tr(a.title), tr(b.title)
    if titles[0] != titles[1]:
        return titles
    keys = [key for key in {**a.launch, **b.launch} if a.launch.get(key) != b.launch.get(key)]
    told = (", ".join(f"{key} {one.launch.get(key, '')}" for key in keys) for one in (a, b))
    first, second = (said or titles[0] for said in told)
    return first, second


def _is(preset: Preset, values: Values) -> bool:
    """Whether values are those of a preset, as far as it says."""
    return all(values.get(key) == value for key, value in preset.values.items())
