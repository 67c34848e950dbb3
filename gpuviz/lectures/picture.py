"""The pictures of a slide: the story's own, with question, answer and counts around it.

`frame(shown, cue, t, stage)` is pure, as a story's is: the same call serves the screen, the
speaker's preview and the export.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.transform import fitted
from gpuviz.lectures import band
from gpuviz.lectures.answer import Answer, Figure, named
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.hands import Hands
from gpuviz.lectures.lecture import Slide
from gpuviz.lectures.markdown.blocks import Paragraph, Span, blocks, lines
from gpuviz.lectures.markdown.setting import set_words
from gpuviz.lectures.prediction import Prediction
from gpuviz.story.lesson import Story

_CLOSE = 1e-6
_TITLE = 0.12  # of the height, in which a title stands
_LARGE = 1000  # pixels from which on a screen is a large one


@dataclass(frozen=True, eq=False)
class SlideState:
    """A slide with all that its pictures need; no story while it is being run, or of words.

    `trouble` says why there is no story, or no answer. `hands` are those that the class has raised;
    `prediction` is where it drags to what it predicts, None where nobody can, as on paper.
    """

    slide: Slide
    story: Story | None = None
    answer: Answer | None = None
    figures: tuple[Figure, ...] = ()
    trouble: str = ""
    hands: Hands | None = None
    prediction: Prediction | None = None


def letters(height: float, compared: bool) -> float:
    """How far letters are enlarged on a screen of that height, to be read from the back row.

    It is as far as every lesson stands without leaving something out (tests/course, back row). Two
    variants beside each other have less room each, and letters that grow more.
    """
    large = height >= _LARGE
    if compared:
        return 1.7 if large else 1.5
    return 1.3 if large else 1.15


def frame(shown: SlideState, cue: Cue, t: float, stage: Stage) -> Frame:
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


def inked(shown: SlideState, cue: Cue, t: float, stage: Stage) -> Frame:
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


def line_of(shown: SlideState, cue: Cue, stage: Stage) -> Rect | None:
    """Where a number is predicted by dragging, None while the class is asked for none."""
    if shown.prediction is None or not cue.asks or shown.story is None:
        return None
    return band.line_area(_for_band(shown, stage), _row(shown, stage))


def _row(shown: SlideState, whole: Stage) -> Rect:
    """Where the choices of a question stand."""
    stage = _for_band(shown, whole)
    room = band.height(stage, bool(shown.slide.numbers), True)
    margin = stage.roomy().margin
    high = band.CHOICES * stage.roomy().scale
    return Rect(margin, stage.height - room, stage.width - 2 * margin, high)


def _for_band(shown: SlideState, stage: Stage) -> Stage:
    """The stage with letters for the whole width, not for a half of it."""
    if not shown.slide.halved:
        return stage
    share = letters(stage.height, False) / letters(stage.height, True)
    return replace(stage, scale=stage.scale * share)


def _band(shown: SlideState, cue: Cue, t: float, stage: Stage, room: float) -> tuple[Mark, ...]:
    stage = _for_band(shown, stage)
    margin = stage.roomy().margin
    area = Rect(margin, stage.height - room, stage.width - 2 * margin, room - margin * 0.6)
    marks: tuple[Mark, ...] = ()
    if (question := shown.slide.question) is not None:
        row, area = area.above(band.CHOICES * stage.roomy().scale)
        out = shown.answer if answered(cue, t) else None
        said = named(question)
        marks = band.choices(stage, row, said, out, shown.hands, shown.prediction)
    if shown.slide.numbers and not cue.asks:
        marks += band.figures(stage, area, shown.figures)
    return marks


def _words(shown: SlideState, given: Stage) -> Frame:
    """A slide of words, or what is said while there is no story."""
    stage, slide = given.roomy(), shown.slide
    if not slide.words:
        head, _ = heading(stage, slide.name, shown.trouble)
        return stage.frame(*head)
    area = Rect(0, 0, stage.width, stage.height).inset(stage.width * 0.08, stage.height * 0.03)
    title = (Paragraph(spans=(Span(slide.title),), level=1),) if slide.title else ()
    told = blocks(slide.words) if slide.markdown else lines(slide.words)
    return stage.frame(*set_words((*title, *told), area, stage, dict(slide.pictures)))
