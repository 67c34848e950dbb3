"""Find and replace over the words of a lecture: titles, words, notes, questions and choices."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from gpuviz.lectures.lecture import Lecture, Question, Slide


def replaced(lecture: Lecture, find: str, by: str, case: bool = False) -> tuple[Lecture, int]:
    """The lecture with one text in place of another, and how often it was found.

    Without `case` large letters are found as small ones. Nothing is found of an empty text.
    """
    if not find:
        return lecture, 0
    pattern = re.compile(re.escape(find), 0 if case else re.IGNORECASE)
    count = 0

    def put(text: str) -> str:
        nonlocal count
        made, found = pattern.subn(lambda _: by, text)
        count += found
        return made

    slides = tuple(_slide(slide, put) for slide in lecture.slides)
    made = replace(lecture, title=put(lecture.title), slides=slides)
    return (made, count) if count else (lecture, 0)


def _slide(slide: Slide, put: Callable[[str], str]) -> Slide:
    asked = slide.question
    return replace(
        slide,
        title=put(slide.title),
        words=put(slide.words),
        notes=put(slide.notes),
        question=None if asked is None else _question(asked, put),
    )


def _question(asked: Question, put: Callable[[str], str]) -> Question:
    choices = tuple(put(one) if isinstance(one, str) else one for one in asked.choices)
    return replace(asked, ask=put(asked.ask), choices=choices)
