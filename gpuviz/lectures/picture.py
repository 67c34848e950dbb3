"""The pictures of a slide: the story's own, with question, answer and counts around it.

`frame(shown, cue, t, stage)` is pure, as a story's is: the same call serves the screen, the
speaker's preview and the export.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuviz.draw.heading import heading, label
from gpuviz.draw.layout import Rect, wrap
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.lectures import band
from gpuviz.lectures.answer import Answer, Figure
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.lecture import Slide
from gpuviz.scenes.base import Story

_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class Shown:
    """A slide with all that its pictures need; no story while it is being run, or of words.

    `trouble` says why there is no story, or no answer.
    """

    slide: Slide
    story: Story | None = None
    answer: Answer | None = None
    figures: tuple[Figure, ...] = ()
    trouble: str = ""


def frame(shown: Shown, cue: Cue, t: float, stage: Stage) -> Frame:
    """The picture of a slide at a moment of its story."""
    if shown.story is None:
        return _words(shown, stage)
    question = shown.slide.question
    room = band.height(stage, bool(shown.slide.numbers), question is not None)
    part = replace(stage, height=stage.height - room)
    if question is not None:
        part = replace(part, question=question.ask, revealed=not cue.asks)
    inner = shown.story.frame(t, part)
    return stage.frame(*inner.marks, *_band(shown, cue, t, stage, room))


def answered(cue: Cue, t: float) -> bool:
    """Whether the answer is out: the reveal has been played, or a later part is."""
    return not cue.asks and not (cue.reveals and t < cue.end - _CLOSE)


def _band(shown: Shown, cue: Cue, t: float, stage: Stage, room: float) -> tuple[Mark, ...]:
    margin = stage.roomy().margin
    area = Rect(margin, stage.height - room, stage.width - 2 * margin, room - margin * 0.6)
    marks: tuple[Mark, ...] = ()
    if (question := shown.slide.question) is not None:
        row, area = area.above(band.CHOICES * stage.roomy().scale)
        out = shown.answer if answered(cue, t) else None
        marks = band.choices(stage, row, question.choices, out)
    if shown.slide.numbers and not cue.asks:
        marks += band.figures(stage, area, shown.figures)
    return marks


def _words(shown: Shown, given: Stage) -> Frame:
    """A slide of words, or what is said while there is no story."""
    stage, slide = given.roomy(), shown.slide
    size = stage.text(24)
    head, area = heading(stage, slide.name, shown.trouble)
    marks: list[Mark] = [*head]
    y = area.y + size
    for paragraph in slide.words.split("\n"):
        for line in wrap(paragraph, area.width * 0.9, size) or ("",):
            marks.append(label(area.x, y, line, stage.palette.ink, size))
            y += size * 1.45
        y += size * 0.35
    return stage.frame(*marks)
