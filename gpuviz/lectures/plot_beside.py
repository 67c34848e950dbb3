"""A plot beside the lesson of a slide: a count over one of its parameters, the value shown marked.

It is a lesson of its own, which launches the first one's kernel once for each value.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gpuviz.base.errors import InputError
from gpuviz.draw.axis import Axis, short
from gpuviz.lectures.answer import Runs, answer_of, label, shown
from gpuviz.lectures.lecture import PlotSpec, Question, Slide
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Curve, Note, Plot, Stairs
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Plan, Story, Value, Values, value_of
from gpuviz.story.script import Script
from gpuviz.sweeps.axis import parse
from gpuviz.views.make_view import lesson_for
from gpuviz.words.language import tr

_MOST = 32  # values: more bars cannot be told apart from the back row
_STEPS = (1.0, 2.0, 5.0, 10.0)
_TICKS = 4  # at the y axis, about
_TOLD = 8  # bars, at most, that all have their numbers


def plot_of(slide: Slide) -> Lesson | None:
    """What stands beside the lesson of a slide as a plot; None where nothing, or a variant, does.

    Raises
    ------
    InputError : there is no such parameter or value, or the slide shows no lesson of the course
    """
    if slide.plot is None or slide.view is None or slide.view.compared:
        return None
    if slide.view.launch:
        raise InputError("a plot beside a slide is of a lesson of the course, not of a file")
    lesson = lesson_for(slide.view)
    if slide.run and slide.run not in (plan.role for plan in lesson.plan(slide.view.values)):
        raise InputError(f"{lesson.id} has no launch {slide.run!r}")
    return plotted(lesson, slide.plot, slide.run)


def plotted(lesson: Lesson, plot: PlotSpec, role: str = "") -> Lesson:
    """The plot of a lesson's launch of that role ("": the first) as a lesson.

    Raises
    ------
    InputError : it has no such parameter, or that is none of its values; or there are too many
    """
    axis = parse(plot.vary)
    parameter = next((p for p in lesson.parameters if p.id == axis.name), None)
    if parameter is None:
        there = ", ".join(p.id for p in lesson.parameters)
        raise InputError(f"{lesson.id} has no parameter {axis.name!r} to vary; it has: {there}")
    if not 2 <= len(axis.values) <= _MOST:
        raise InputError(
            f"a plot beside a slide has 2 to {_MOST} values, not {len(axis.values)}: {plot.vary}"
        )
    values = tuple(value_of(parameter, value) for value in axis.values)
    names = {str(choice.value): tr(choice.label) for choice in parameter.choices}
    what = tr("{count} by {name}", count=label(plot.count), name=tr(parameter.label))
    return replace(
        lesson,
        id=f"{lesson.id}, plotted",
        title=what,
        presets=(),
        swept=(),
        plan=partial(_plan, lesson, axis.name, values, role),
        narrate=partial(_narrate, axis.name, tr(parameter.label), names, plot),
    )


def _plan(
    lesson: Lesson, name: str, varied: tuple[Value, ...], role: str, values: Values
) -> tuple[Plan, ...]:
    """A launch for each value that makes sense with the others; the one shown is among them."""
    now = values[name]
    every = varied if now in varied else _among(varied, now)
    made = []
    for value in every:
        given = {**values, name: value}
        if not lesson.problem(given):
            plans = lesson.plan(given)
            chosen = next((plan for plan in plans if plan.role == role), plans[0])
            made.append(replace(chosen, role=str(value), timeline="", explained=False))
    return tuple(made)


def _among(varied: tuple[Value, ...], now: Value) -> tuple[Value, ...]:
    """The values with one more, numbers in their order."""
    numbers = [one for one in (*varied, now) if isinstance(one, int)]
    return tuple(sorted(numbers)) if len(numbers) > len(varied) else (*varied, now)


def _narrate(
    name: str, called: str, names: Mapping[str, str], plot: PlotSpec, values: Values, runs: Runs
) -> Story:
    roles, now = list(runs), str(values[name])
    at = roles.index(now) if now in roles else 0
    asked = Question("", (), plot.count, plot.per)
    value, unit = answer_of(asked, runs[roles[at]])
    heights = [_height(asked, run) for run in runs.values()]
    labels = tuple(names.get(role, role) for role in roles)
    step = _step(max(*heights, 1.0))
    ticks = tuple(step * n for n in range(math.ceil(max(heights) * 1.15 / step) + 1))
    x = Axis((called,), -0.6, len(roles) - 0.4, tuple(map(float, range(len(roles)))), labels)
    y = Axis((label(plot.count),), 0, ticks[-1], ticks, tuple(map(short, ticks)))
    bars = [
        Stairs((n - 0.4, n + 0.4), (height,), "warn" if n == at else "accent", answers=True)
        for n, height in enumerate(heights)
    ]
    told = range(len(roles)) if len(roles) <= _TOLD else (at,)
    notes = [
        Note(n, heights[n], shown(heights[n]), "ink" if n == at else "muted", answers=True)
        for n in told
    ]
    here = Curve((at - 0.4, at + 0.4), (0.0, 0.0), "warn", 8.0)
    picture = Picture(
        tr("{name} {value}: {n} {unit}", name=called, value=labels[at], n=shown(value), unit=unit),
        tr("A launch for each value, as modelled; the one shown is marked."),
        rows(Plot(x, y, (*bars, here, *notes), answering=True)),
    )
    return Story.of(Script(), lambda t: picture)


def _height(asked: Question, run: Run) -> float:
    """0 of a launch that makes no such request."""
    try:
        return answer_of(asked, run)[0]
    except InputError:
        return 0.0


def _step(top: float) -> float:
    """A round number, about a quarter of the largest."""
    power = 10.0 ** math.floor(math.log10(top / _TICKS))
    return max(next(one for one in _STEPS if one * power >= top / _TICKS) * power, 1.0)
