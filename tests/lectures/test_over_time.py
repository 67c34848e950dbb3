"""A slide that shows a launch over time, and asks what limits it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.lectures.answer import answer, named
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.over_time import lesson_of
from gpuviz.lectures.reading import parse
from gpuviz.lectures.writing import text_of
from gpuviz.story.perform import perform

TEXT = """gpuviz-lecture = 1

[[slide]]
title = "Where its time goes"
lesson = "transpose"
values = { variant = "naive", size = 64 }
show = "timeline"
run = "naive"
stops = [0, 8, 11]

[slide.question]
ask = "What limits it?"
choices = ["dram", "latency", "wavefronts"]
count = "limiter"
"""


def lecture(text: str = TEXT) -> Lecture:
    return parse(text, Path())


def test_it_is_read_and_written() -> None:
    one = lecture()
    assert one.all_problems == ()
    assert (one.slides[0].show, one.slides[0].run) == ("timeline", "naive")
    assert text_of(one, Path()) == TEXT


@pytest.mark.machine_code
def test_the_launch_of_its_role_is_explained_and_its_limit_is_the_answer() -> None:
    if not nvrtc.libraries():
        pytest.skip("NVRTC is not installed")
    slide = lecture().slides[0]
    assert slide.view is not None and slide.question is not None
    told = perform(lesson_of(slide), slide.view.values)
    assert [plan.role for plan in told.plans] == ["naive"]
    assert [step.label for step in told.story.steps] == ["timeline", "what limits"]
    assert told.story.duration == 11
    explained = told.runs["naive"].explained
    assert explained is not None and explained.limits.limiter == "latency"
    found = answer(slide.question, told.runs, {})
    assert (found.value, found.right) == ("latency", 1)
    assert named(slide.question) == ("memory", "latency", "wavefronts")


def test_an_architecture_without_a_model_says_so() -> None:
    if not nvrtc.libraries():
        pytest.skip("NVRTC is not installed")
    slide = lecture(TEXT.replace("stops", 'arch = "sm_75"\nstops')).slides[0]
    assert slide.view is not None and slide.question is not None
    told = perform(lesson_of(slide), slide.view.values, arch="sm_75")
    assert "No time is modelled" in told.story.sentence
    with pytest.raises(InputError, match="no limit is told"):
        answer(slide.question, told.runs, {})


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (('show = "timeline"', 'show = "film"'), 'show can be "timeline"'),
        (('run = "naive"', 'run = "tiled"'), "no launch 'tiled'; there are: 'naive'"),
        (('show = "timeline"', ""), "what limits is told of a slide with show"),
        (('"dram", ', '"cache", '), "no resource 'cache'; there are: issue"),
    ],
)
def test_what_is_wrong_is_told(written: tuple[str, str], said: str) -> None:
    problems = lecture(TEXT.replace(*written)).all_problems
    assert any(said in problem.text for problem in problems), problems
