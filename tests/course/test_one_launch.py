"""One launch: the one named on screen is the one counted, and the one measured.

Every launch of a lesson is given a time of its own, and every time in its pictures has to be one of
them: a number that comes from another launch is found, wherever it was taken from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np
import pytest

from gpuviz.arguments import BufferSpec, TensorMapSpec, parse
from gpuviz.compile import demangled
from gpuviz.course import SCENES
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Peaks, Timing
from gpuviz.recordings.recording import key_of
from gpuviz.story.exhibit import Variant, showing, with_measurements
from gpuviz.story.lesson import Lesson, Plan, Values, check_values
from gpuviz.story.measured import time_of
from gpuviz.story.perform import Performance, job_of
from gpuviz.words.language import THIN
from tests.course.performed import performed

DEVICE = DeviceFacts(0, "NVIDIA Contract", "9.0", "", "", 132, 0, 0)
FEW = 300_000  # threads of all launches: what quick tests run
STAGE = Stage(1600, 1000, DARK)
_TIME = re.compile(r"(?<![\d.])(\d[\d.]*)\s?(µs|ms)\b")

# What is recorded in them comes from files of their own: calls of the runtime, a sweep, and times
# of kernels beside those of cuBLAS.
OWN_RECORDS = {"launch-limits", "block-shape", "ladder"}


def cases() -> Iterator[object]:
    for lesson in SCENES:
        for number, given in enumerate(({}, *(preset.values for preset in lesson.presets))):
            values = check_values(lesson, given)
            threads = sum(
                math.prod(p.grid) * math.prod(p.block)
                for p in lesson.plan(values)
                if not p.companion_of
            )
            slow = [pytest.mark.slow] if number or threads > FEW else []
            yield pytest.param(lesson, values, id=f"{lesson.id}-{number}", marks=slow)


@pytest.mark.parametrize(("lesson", "values"), list(cases()))
def test_the_launch_counted_and_the_one_given_to_a_gpu_are_the_one_planned(
    lesson: Lesson, values: Values
) -> None:
    made = performed(lesson, values)
    for plan in made.plans:
        job = job_of(plan, "sm_90", prebuilt=True)
        assert (job.grid, job.block, job.dynamic_shared) == (
            plan.grid,
            plan.block,
            plan.dynamic_shared,
        )
        assert job.arguments == tuple(map(parse, plan.arguments)) and job.size == plan.size
        if plan.companion_of:
            assert plan.role not in made.runs and _same_kernel(plan, made)
            continue
        run = made.runs[plan.role]
        launch = run.trace.launch
        assert demangled(launch.kernel).split("(")[0] == demangled(job.entry).split("(")[0]
        assert (launch.grid, launch.block, launch.dynamic_shared) == (
            plan.grid,
            plan.block,
            plan.dynamic_shared,
        )
        assert run.trace.blocks_emulated == launch.blocks, "counted whole"
        assert sorted(buffer.count for buffer in launch.buffers) == sorted(
            spec.count for spec in job.arguments if isinstance(spec, BufferSpec | TensorMapSpec)
        )
        assert run.size_words == plan.size_words


def _same_kernel(plan: Plan, made: Performance) -> bool:
    """Whether a companion runs the very kernel that is drawn beside it."""
    drawn = next(one for one in made.plans if one.role == plan.companion_of)
    return (plan.kernel, plan.entry) == (drawn.kernel, drawn.entry)


@pytest.mark.parametrize("lesson", SCENES, ids=lambda one: one.id)
def test_a_launch_says_in_words_how_big_it_is(lesson: Lesson) -> None:
    for given in ({}, *(preset.values for preset in lesson.presets)):
        for plan in lesson.plan(check_values(lesson, given)):
            assert plan.size, f"{plan.role} of {dict(given)}"


@pytest.mark.parametrize("lesson", SCENES, ids=lambda one: one.id)
def test_launches_that_differ_are_told_apart(lesson: Lesson) -> None:
    """A measurement is found by its launch: two roles of one key would be one number."""
    for given in ({}, *(preset.values for preset in lesson.presets)):
        plans = lesson.plan(check_values(lesson, given))
        keys = [key_of(plan) for plan in plans]
        assert len({plan.role for plan in plans}) == len(plans)
        for plan, key in zip(plans, keys, strict=True):
            assert key.defines == tuple(sorted(plan.defines)) and key.grid == plan.grid


@pytest.mark.parametrize(("lesson", "values"), list(cases()))
def test_a_time_in_the_picture_is_that_of_a_launch_of_the_lesson(
    lesson: Lesson, values: Values
) -> None:
    made = performed(lesson, values)
    if not made.plans:
        pytest.skip("launches nothing")
    plain = showing((Variant(lesson, values, "sm_90", "ptx"),), (made,))
    unmeasured = _texts(plain.story)
    before = {text for text in unmeasured if _TIME.search(text)}
    assert "live" not in unmeasured, "nothing was measured"
    assert "recorded" not in unmeasured or lesson.id in OWN_RECORDS
    found = {plan.role: _measurement(111.0 + 13 * number) for number, plan in enumerate(made.plans)}
    told = with_measurements(plain, found)
    timed = {role: time_of(run) for role, run in told.runs.items()}
    own = {time.text.replace(THIN, " ") for time in timed.values() if time is not None}
    texts, pictures = _texts(told.story), _pictures(told.story)
    for text in texts - before:
        for number, unit in _TIME.findall(text):
            assert f"{number} {unit}" in own, f"{text!r} is of no launch of this lesson"
    for time in timed.values():
        shown = time is not None and any(time.text in text for text in texts)
        if time is not None and shown and time.size:
            size = _plain(time.size)
            assert any(size in picture for picture in pictures), f"{time.text} without its size"


def _measurement(microseconds: float) -> Measurement:
    timing = Timing(np.array([microseconds]))
    return Measurement("live", "2026-01-01", DEVICE, timing=timing, peaks=Peaks(4e12, 6e13, 2.0))


def _plain(text: str) -> str:
    return text.replace("\u202f", " ")


def _written(story: object) -> list[list[str]]:
    """The lines in the pictures of a story, at each of its steps and at its end."""
    moments = [*(step.start for step in story.steps), story.duration]  # type: ignore[attr-defined]
    return [
        [
            _plain(text)
            for mark in story.frame(t, STAGE).marks  # type: ignore[attr-defined]
            if isinstance(mark, Texts) and not _ticks(mark)
            for text in mark.strings
        ]
        for t in moments
    ]


def _ticks(mark: Texts) -> bool:
    """Whether it is the numbers along an axis of time: round ones, that are no launch's."""
    plain = [_plain(text) for text in mark.strings]
    return len(plain) > 1 and all(text == "0" or _TIME.fullmatch(text) for text in plain)


def _texts(story: object) -> set[str]:
    """Every line in any of the pictures."""
    return {text for lines in _written(story) for text in lines}


def _pictures(story: object) -> list[str]:
    """All lines of each picture, one after the other: what was wrapped is whole again."""
    return [" ".join(lines) for lines in _written(story)]
