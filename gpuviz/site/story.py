"""A point of a lesson as data for a page: its pictures, in both themes, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gpuviz.base.errors import Error
from gpuviz.draw.palette import LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.export.export import Options
from gpuviz.export.page import html
from gpuviz.export.page_data import Playback, Pool, pieces, playback
from gpuviz.lectures.answer import Answer, answer, shown
from gpuviz.lectures.desk_question import desk_question
from gpuviz.lectures.lecture import Question
from gpuviz.results.rows import totals
from gpuviz.run.run import Cancel, go_on
from gpuviz.site.two_themes import picture
from gpuviz.views.lesson_view import View


@dataclass(frozen=True)
class Shape:
    """How pictures are drawn for a kind of screen: pixels, and how many a second."""

    name: str
    width: int
    height: int
    fps: int

    @property
    def stage(self) -> Stage:
        """What they are drawn on."""
        return Stage(self.width, self.height, LIGHT)


WIDE = Shape("wide", 1200, 700, 3)
TALL = Shape("tall", 560, 760, 1)
SHAPES = (WIDE, TALL)


def told(view: View, shape: Shape, known: Pool, cancel: Cancel = go_on) -> Playback:
    """The story of a view for a page; what `known` holds is not told again."""
    made = replace(view.provenance, width=shape.width, height=shape.height, theme="light")
    sized, stage = replace(view, provenance=made), shape.stage

    def draw(stage: Stage, t: float) -> Any:
        return view.story.frame(t, stage)

    had = len(known.parts.known)
    found = playback(
        sized,
        Options(fps=shape.fps),
        lambda t: picture(lambda palette: draw(palette, t), stage),
        known,
        cancel=cancel,
    )
    asked = _asked(sized, stage, known)
    data = {
        **found.data,
        **asked,
        "parts": list(known.parts.known)[had:],
        "size": [shape.width, shape.height],
        "title": view.story.title,
        "words": made.words(),
        "counts": html(totals(view.runs)),
        "patterns": found.patterns,
    }
    return replace(found, data=data)


def _asked(view: View, stage: Stage, known: Pool) -> dict[str, Any]:
    """What a reader can be asked before it is told: the question, and its picture."""
    question = desk_question(view.runs)
    if question is None:
        return {}
    try:
        right = answer(question, view.runs, {})
    except Error:  # the counts have no single answer
        return {}
    asking = replace(stage, question=question.ask)
    drawn = picture(lambda one: view.story.frame(0.0, one), asking)
    parts = known.parts.numbers(p for element in drawn.elements for p in pieces(element))
    return {"question": {**said(question, right), "picture": parts}}


def said(question: Question, right: Answer) -> dict[str, Any]:
    """A question and its answer in words."""
    return {
        "ask": question.ask,
        "choices": [str(choice) for choice in question.choices],
        "right": right.right,
        "answer": f"{shown(right.value)} {right.unit}",
    }
