"""A launch of a lesson as a slide shows it over time: its timeline fills up, then what limits."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.lectures.lecture import Slide
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Plan, Story, Values
from gpuviz.story.measured import no_time
from gpuviz.story.script import Script
from gpuviz.views.make_view import lesson_for
from gpuviz.words.language import tr

_STILL = 2.0  # seconds


def lesson_of(slide: Slide) -> Lesson:
    """What a slide shows: its lesson, or one of the lesson's launches over time.

    Raises
    ------
    InputError : there is no such lesson, or it makes no such launch
    """
    assert slide.view is not None
    lesson = lesson_for(slide.view)
    return over_time(lesson, slide.run, slide.view.values) if slide.show else lesson


def over_time(lesson: Lesson, role: str, values: Values) -> Lesson:
    """The lesson with this launch alone ("": the first), and a story of where its time goes.

    Raises
    ------
    InputError : with these values the lesson makes no such launch
    """
    roles = [plan.role for plan in lesson.plan(values)]
    if not roles or role not in ("", *roles):
        there = ", ".join(map(repr, roles)) or "none"
        raise InputError(f"{lesson.id} has no launch {role!r}; there are: {there}")
    return replace(lesson, plan=partial(_plan, lesson, role), narrate=_narrate, swept=())


def _plan(lesson: Lesson, role: str, values: Values) -> tuple[Plan, ...]:
    """A companion stands for itself here: it is the size that people run."""
    plans = lesson.plan(values)
    chosen = next((plan for plan in plans if plan.role == role), plans[0])
    return (replace(chosen, companion_of="", explained=True, timeline="", optional=False),)


def _narrate(values: Values, runs: Mapping[str, Run]) -> Story:
    run = next(iter(runs.values()))
    launch, arch = run.trace.launch, architecture(run.arch)
    if run.explained is not None:
        from gpuviz.views.lesson_view import Subject
        from gpuviz.views.time_view import time_story  # the model of time, where it is told

        return time_story(Subject(run.explained, launch.kernel, "", arch.sm))  # titles stay short
    script = Script()
    script.act(_STILL, "result", tr("timeline"))
    title = tr("Where the time goes: {kernel}", kernel=launch.kernel)
    picture = Picture(title, no_time(arch), rows())
    return Story.of(script, lambda t: picture)
