"""Lessons performed once for all tests that ask for them: not measured, counted by their PTX."""

from __future__ import annotations

from functools import cache

from gpuviz import language
from gpuviz.scenes import lesson
from gpuviz.scenes.base import Lesson, Value, Values
from gpuviz.scenes.check import check_values
from gpuviz.scenes.perform import Performance, perform


def performed(one: Lesson, values: Values, arch: str = "sm_90") -> Performance:
    """A lesson with these values, the others as they begin."""
    return _performed(one.id, tuple(check_values(one, values).items()), arch, language.chosen())


@cache
def _performed(
    name: str, values: tuple[tuple[str, Value], ...], arch: str, told_in: str
) -> Performance:
    """`told_in` is the language chosen: a story holds texts."""
    made = dict(values)
    return perform(lesson(name), made, arch=arch, level="ptx", measured=lambda plan: None)
