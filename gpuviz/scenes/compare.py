"""Two stories side by side, A | B: same clock, same letters, each in its half of the stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpuviz.draw.beside import shifted
from gpuviz.draw.marks import Frame, Lines, Mark, Texts
from gpuviz.draw.question import question
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.scenes.base import Lesson, Pick, Preset, Story, Values

SIDES = ("A", "B")
_LABEL, _BAND = 16.0, 36.0  # letters of the line that names a side, and its height, at scale 1


def beside(a: Story, b: Story, name_a: str, name_b: str) -> Story:
    """Both stories on one clock; the one that is over first waits at its end.

    The steps are those of A and then, where A is over, those of B that are still to come. A click
    sets the values of the side it is on.
    """
    return Story(
        f"{name_a} | {name_b}",
        "",
        _steps(a, b),
        _picture((a, b), (name_a, name_b)),
        _both(a.expected, b.expected),
        _pick((a, b)),
    )


def _both(a: str, b: str) -> str:
    """What to expect of either side, named only where they differ."""
    if a == b:
        return a
    return "\n".join(f"{side}: {text}" for side, text in zip(SIDES, (a, b), strict=True) if text)


def _steps(a: Story, b: Story) -> tuple[Step, ...]:
    own = tuple(replace(step, role=f"A {step.role}".strip()) for step in a.steps)
    late = [step for step in b.steps if step.end > a.duration]
    return own + tuple(
        replace(step, start=max(step.start, a.duration), role=f"B {step.role}".strip())
        for step in late
    )


def _picture(
    stories: tuple[Story, Story], names: tuple[str, str]
) -> Callable[[float, Stage], Frame]:
    def frame(t: float, stage: Stage) -> Frame:
        part, band = _part(stage)
        half, names_y = part.width, 0.0
        marks: list[Mark] = []
        if stage.asks:
            asked, names_y = question(stage.roomy())
            marks += asked
        for number, (story, name) in enumerate(zip(stories, names, strict=True)):
            inner = story.frame(min(t, story.duration), part)
            marks += shifted(inner.marks, number * half, band)
            marks.append(_label(number, name, half, names_y + band * 0.62, part))
        line = [[half, names_y + band / 2], [half, stage.height - band / 2]]
        marks.append(Lines(np.array([line], np.float32), stage.palette.border))
        return stage.frame(*marks)

    return frame


def _part(stage: Stage) -> tuple[Stage, float]:
    """The stage of one side, and the height of the band above it.

    A question stands above both sides; they keep free, in place of their headings, what it takes.
    """
    band = _BAND * stage.scale
    room = question(stage.roomy())[1] if stage.question else 0.0
    return replace(stage, width=stage.width / 2, height=stage.height - band, headed=room), band


def _pick(stories: tuple[Story, Story]) -> Pick:
    def pick(t: float, stage: Stage, x: float, y: float) -> Values | None:
        part, band = _part(stage)
        number = int(x >= part.width)
        story = stories[number]
        return story.pick(min(t, story.duration), part, x - number * part.width, y - band)

    return pick


def _label(number: int, name: str, half: float, y: float, stage: Stage) -> Texts:
    at = np.array([[number * half + stage.roomy().margin, y]], np.float32)
    return Texts(
        at, (f"{SIDES[number]} · {name}",), stage.palette.ink, stage.text(_LABEL), bold=True
    )


def name_of(lesson: Lesson, values: Values, other: Values) -> str:
    """What a side is called: the preset it is, or where it differs from the other side."""
    for preset in lesson.presets:
        if _is(preset, values) and not _is(preset, other):
            return tr(preset.label)
    labels = {p.id: tr(p.label) for p in lesson.parameters}
    differs = [f"{labels[key]} {value}" for key, value in values.items() if other.get(key) != value]
    return ", ".join(differs) or tr(lesson.title)


def _is(preset: Preset, values: Values) -> bool:
    """Whether values are those of a preset, as far as it says."""
    return all(values.get(key) == value for key, value in preset.values.items())
