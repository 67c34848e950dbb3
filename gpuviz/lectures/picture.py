"""The pictures of a slide: the story's own, with question, answer and counts around it.

`frame(shown, cue, t, stage)` is pure, as a story's is: the same call serves the screen, the
speaker's preview and the export.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gpuviz.draw.heading import heading, label
from gpuviz.draw.layout import Rect, fit_size, wrap
from gpuviz.draw.marks import Frame, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.scaled import fitted
from gpuviz.draw.stage import Stage
from gpuviz.lectures import band
from gpuviz.lectures.answer import Answer, Figure, named
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.hands import Hands
from gpuviz.lectures.lecture import Slide
from gpuviz.scenes.base import Story

_CLOSE = 1e-6
_TITLE = 0.12  # of the height, in which a title stands
_LARGE = 1000  # pixels from which on a screen is a large one
_LINE = 1.5  # from one line of words to the next, in their size
_SIZES = (24, 21, 18, 16, 14, 12)  # of words, at scale 1; the first in which all fit


@dataclass(frozen=True, eq=False)
class Shown:
    """A slide with all that its pictures need; no story while it is being run, or of words.

    `trouble` says why there is no story, or no answer. `hands` are those that the class has raised.
    """

    slide: Slide
    story: Story | None = None
    answer: Answer | None = None
    figures: tuple[Figure, ...] = ()
    trouble: str = ""
    hands: Hands | None = None


def letters(height: float, compared: bool) -> float:
    """How far letters are enlarged on a screen of that height, to be read from the back row.

    It is as far as every lesson stands without leaving something out (tests/scenes, back row). Two
    variants beside each other have less room each, and letters that grow more.
    """
    large = height >= _LARGE
    if compared:
        return 1.7 if large else 1.5
    return 1.3 if large else 1.15


def frame(shown: Shown, cue: Cue, t: float, stage: Stage) -> Frame:
    """The picture of a slide at a moment of its story."""
    if shown.story is None:
        return _words(shown, stage)
    question = shown.slide.question
    room = band.height(_for_band(shown, stage), bool(shown.slide.numbers), question is not None)
    part = replace(stage, height=stage.height - room)
    if question is not None:
        part = replace(part, question=question.ask, revealed=not cue.asks)
    inner = shown.story.frame(t, part)
    return stage.frame(*inner.marks, *_band(shown, cue, t, stage, room))


def inked(shown: Shown, cue: Cue, t: float, stage: Stage) -> Frame:
    """As `frame`, with the ink that is kept with the slide, on the stage that it was drawn on."""
    ink = shown.slide.ink
    if ink is None:
        return frame(shown, cue, t, stage)
    drawn = frame(shown, cue, t, ink.stage(stage.palette))
    marks = (*drawn.marks, *ink.marks(stage.palette))
    return fitted(replace(drawn, marks=marks), stage.width, stage.height)


def titled(drawn: Frame, x: float, y: float) -> bool:
    """Whether a point is on the title: the bold line that a picture begins with."""
    title = next((m for m in drawn.marks if isinstance(m, Texts) and m.bold), None)
    if title is None or title.at[0, 1] > drawn.height * _TITLE:
        return False
    left, middle = title.at[0].tolist()
    wide = text_width(title.strings[0], title.size, True)
    return bool(left <= x <= left + wide and abs(y - middle) <= title.size * 0.7)


def answered(cue: Cue, t: float) -> bool:
    """Whether the answer is out: the reveal has been played, or a later part is."""
    return not cue.asks and not (cue.reveals and t < cue.end - _CLOSE)


def _for_band(shown: Shown, stage: Stage) -> Stage:
    """The stage with letters for the whole width, not for a half of it."""
    view = shown.slide.view
    if view is None or not view.compared:
        return stage
    share = letters(stage.height, False) / letters(stage.height, True)
    return replace(stage, scale=stage.scale * share)


def _band(shown: Shown, cue: Cue, t: float, stage: Stage, room: float) -> tuple[Mark, ...]:
    stage = _for_band(shown, stage)
    margin = stage.roomy().margin
    area = Rect(margin, stage.height - room, stage.width - 2 * margin, room - margin * 0.6)
    marks: tuple[Mark, ...] = ()
    if (question := shown.slide.question) is not None:
        row, area = area.above(band.CHOICES * stage.roomy().scale)
        out = shown.answer if answered(cue, t) else None
        marks = band.choices(stage, row, named(question), out, shown.hands)
    if shown.slide.numbers and not cue.asks:
        marks += band.figures(stage, area, shown.figures)
    return marks


@dataclass(frozen=True)
class _Text:
    """Words in lines: a title in `large` letters, then lines of `size`."""

    title: tuple[str, ...]
    lines: tuple[str, ...]
    large: float
    size: float

    @property
    def gap(self) -> float:
        """Between title and lines."""
        return self.large * 0.6 if self.title else 0.0

    @property
    def height(self) -> float:
        """Of all together."""
        return (len(self.title) * self.large + len(self.lines) * self.size) * _LINE + self.gap

    def cut(self, height: float) -> _Text:
        """As many of the lines as there is room for; an ellipsis says that there are more."""
        over = math.ceil((self.height - height) / (self.size * _LINE))
        return replace(self, lines=(*self.lines[: -over - 1], "…")) if over > 0 else self


def _set(slide: Slide, width: float, stage: Stage, wanted: int) -> _Text:
    """The words of a slide in letters of a size."""
    size = stage.text(wanted)
    large = fit_size(slide.title, width, size * 1.6, size, bold=True)
    lines = tuple(
        line
        for paragraph in slide.words.split("\n")
        for line in wrap(paragraph, width, size) or ("",)
    )
    return _Text(wrap(slide.title, width, large, bold=True), lines, large, size)


def _words(shown: Shown, given: Stage) -> Frame:
    """A slide of words, or what is said while there is no story."""
    stage = given.roomy()
    if not shown.slide.words:
        head, _ = heading(stage, shown.slide.name, shown.trouble)
        return stage.frame(*head)
    margin = stage.width * 0.08
    width = stage.width - 2 * margin
    sized = [_set(shown.slide, width, stage, size) for size in _SIZES]
    most = stage.height * 0.94
    text = next((one for one in sized if one.height <= most), sized[-1].cut(most))
    y, ink = max((stage.height - text.height) / 2, text.size), stage.palette.ink
    marks: list[Mark] = []
    for line in text.title:
        marks.append(label(margin, y + text.large * _LINE / 2, line, ink, text.large, True))
        y += text.large * _LINE
    for number, line in enumerate(text.lines, 1):
        middle = y + text.gap + (number - 0.5) * text.size * _LINE
        marks.append(label(margin, middle, line, ink, text.size))
    return stage.frame(*marks)
