"""The launches of a lecture that are none of the course: of kernels that its file brings."""

from __future__ import annotations

from collections.abc import Iterator

from gpuviz.base.errors import Error
from gpuviz.lectures.lecture import Lecture
from gpuviz.story import traced
from gpuviz.story.check import check_values
from gpuviz.story.lesson import Plan
from gpuviz.views.performed import lesson_for


def plans_of(lecture: Lecture) -> Iterator[Plan]:
    """What the slides launch of such kernels; a slide that cannot be shown launches nothing."""
    for slide in lecture.slides:
        if slide.view is None or not slide.view.launch or traced.FILE in slide.view.launch:
            continue
        try:
            lesson = lesson_for(slide.view)
            yield from lesson.plan(check_values(lesson, slide.view.values))
        except Error:
            continue
