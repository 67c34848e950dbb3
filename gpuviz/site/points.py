"""The points of a lesson: the values of its parameters for which a page has pictures."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from gpuviz.base import resources
from gpuviz.base.errors import InputError
from gpuviz.story.check import check_values
from gpuviz.story.lesson import Lesson, Value, Values


def points(lesson: Lesson) -> tuple[Values, ...]:
    """Values of all parameters, those that the lesson begins with first, none twice."""
    found: dict[tuple[tuple[str, Value], ...], Values] = {}
    for values in _every(lesson):
        try:
            checked = check_values(lesson, values)
        except InputError:  # a product has corners that make no sense
            continue
        found.setdefault(tuple(checked.items()), checked)
    return tuple(found.values())


def varied(lesson: Lesson, every: Sequence[Values]) -> dict[str, tuple[Value, ...]]:
    """The values that each parameter has at some point, in its order; those that never change are
    left out.
    """
    found = {}
    for parameter in lesson.parameters:
        there = {values[parameter.id] for values in every}
        order = [choice.value for choice in parameter.choices]
        ranked = sorted(there, key=lambda v, o=order: o.index(v) if o else v)  # type: ignore[misc]
        if len(ranked) > 1:
            found[parameter.id] = tuple(ranked)
    return found


def _every(lesson: Lesson) -> Iterator[Values]:
    begins = lesson.defaults()
    yield begins
    for preset in lesson.presets:
        yield {**begins, **preset.values}
    for row in _table().get(lesson.id, {}).get("grid", ()):
        for values in itertools.product(*row.values()):
            yield {**begins, **dict(zip(row, values, strict=True))}


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(resources.text("site/points.toml"))
