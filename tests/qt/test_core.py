"""The course as it is listed, and the lessons as they are."""

from __future__ import annotations

import pytest

from gpuviz.base.errors import InputError
from gpuviz.course import COURSE, SCENES, lesson
from gpuviz.story.lesson import Lesson


def listed(one: Lesson) -> tuple[str, str, str]:
    return one.id, one.title, one.chapter


def test_the_table_says_what_the_lessons_say() -> None:
    assert [(one.id, one.title, one.chapter) for one in COURSE] == list(map(listed, SCENES))


def test_a_lesson_is_one_object_however_it_is_found() -> None:
    assert [one.open() for one in COURSE] == [lesson(one.id) for one in COURSE] == list(SCENES)


def test_a_lesson_there_is_not_is_told_with_those_there_are() -> None:
    with pytest.raises(InputError, match="no lesson 'base'.*hierarchy, chip, launch-limits"):
        lesson("base")
