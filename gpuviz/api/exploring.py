"""`gpuviz.explore`: a lesson or a launch in a notebook, with a knob for each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpuviz.base.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from gpuviz.notebook.explorer import Explorer
    from gpuviz.story.lesson import Parameter
    from gpuviz.views.lesson_view import View


def explore(launch: str | Callable[..., Any], **values: Any) -> Explorer:
    """A widget (anywidget) whose knobs run the launch anew, and whose picture follows.

    Of a lesson's id its parameters are the knobs, and `values` what they begin with. Else `launch`
    is a function that gives a run, and `values` are those each of its arguments may take: a range
    becomes a slider, as in `explore(of_stride, stride=range(1, 33))`.

    Raises
    ------
    UnavailableError : anywidget is not installed
    InputError : there is no such lesson, parameter or value; nothing can be varied
    """
    try:
        from gpuviz.notebook import explorer
    except ImportError:
        raise UnavailableError("anywidget is not installed: pip install anywidget") from None
    if callable(launch):
        if not values or not all(isinstance(v, Sequence) and len(v) for v in values.values()):
            raise InputError("give values to take for each argument, as in stride=range(1, 33)")
        return explorer.of_launch(launch, values)
    from gpuviz.course import lesson
    from gpuviz.story.check import check_values

    chosen = lesson(launch)
    begun = check_values(chosen, values)
    return explorer.Explorer(
        [_knob(one, begun[one.id]) for one in chosen.parameters], lambda now: _view(launch, now)
    )


def _view(lesson: str, values: Mapping[str, Any]) -> View:
    from gpuviz.api.lessons import lessons

    return lessons[lesson](**values)._view


def _knob(parameter: Parameter, value: object) -> dict[str, Any]:
    made = {"id": parameter.id, "label": parameter.label, "value": value}
    if parameter.choices:
        choices = [{"value": one.value, "label": one.label} for one in parameter.choices]
        return made | {"kind": "choice", "choices": choices}
    if isinstance(parameter.default, bool):
        choices = [{"value": True, "label": "yes"}, {"value": False, "label": "no"}]
        return made | {"kind": "choice", "choices": choices}
    if parameter.typed:
        return made | {"kind": "text"}
    ends = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    return made | {"kind": "range", **ends}
