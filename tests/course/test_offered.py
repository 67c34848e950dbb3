"""Whatever a lesson offers, and the ends of what can be typed, is launched or told why not by the
lesson: no launch of it is one that a device refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations

import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course import SCENES, lesson
from gpuviz.launch.job import Job, check_limits
from gpuviz.story.lesson import Lesson, Parameter, Plan, Value, Values, check_values
from gpuviz.story.perform import job_of

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
SM = "sm_90"


@pytest.mark.parametrize("one", SCENES, ids=lambda one: one.id)
def test_launches_of_what_is_offered_are_within_what_a_device_takes(one: Lesson) -> None:
    shapes = {(plan.grid, plan.block, plan.dynamic_shared) for plan in _launches(one)}
    assert shapes
    for grid, block, shared in shapes:
        _check(replace(some_job(), grid=grid, block=block, dynamic_shared=shared))


@pytest.mark.slow
@pytest.mark.parametrize("one", SCENES, ids=lambda one: one.id)
def test_compiled_they_need_no_more_than_it_has(one: Lesson) -> None:
    """Registers and shared memory, too."""
    seen = set()
    for plan in _launches(one):
        program = plan.kernel, plan.entry, tuple(plan.defines), plan.block, plan.dynamic_shared
        if program not in seen:
            seen.add(program)
            _check(job_of(plan, SM))
    assert seen


def test_each_choice_of_the_chip_is_taken_from_where_it_begins() -> None:
    """Half of them were refused: there was no block of the number that is shown."""
    one = lesson("chip")
    for parameter in one.parameters:
        for value in _ends(parameter):
            assert not one.problem({**one.defaults(), parameter.id: value})


@cache
def some_job() -> Job:
    """A launch that asks for nothing."""
    (plan,) = lesson("chip").plan(lesson("chip").defaults())
    return job_of(plan, SM)


def _check(job: Job) -> None:
    check_limits(job, architecture(SM))


def _launches(one: Lesson) -> Iterator[Plan]:
    """Of all presets, and of each two ends beside what else it begins with, where that makes sense:
    in place of what a device may refuse what is launched there, and nothing that is left out.
    """
    for given in (*(preset.values for preset in one.presets), *_given(one)):
        try:
            values = check_values(one, given)
        except InputError as told:
            assert str(told)[-1] == "."  # the lesson's own sentence
            continue
        for plan in one.plan(values):
            if not (plan.optional or plan.companion_of):
                yield plan.otherwise or plan


def _given(one: Lesson) -> Iterator[Values]:
    for a, b in combinations(one.parameters, 2):
        for value in _ends(a):
            yield from ({a.id: value, b.id: other} for other in _ends(b))


def _ends(parameter: Parameter) -> tuple[Value, ...]:
    """All that it offers, or the first and the last of what can be typed."""
    if parameter.choices:
        return tuple(choice.value for choice in parameter.choices)
    if isinstance(parameter.default, bool):
        return False, True
    return (parameter.default,) if parameter.typed else (parameter.minimum, parameter.maximum)
