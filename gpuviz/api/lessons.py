"""Lessons from Python: `gpuviz.lessons["banks"](stride=8)`, and `gpuviz.explore`: with knobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.results.table import Table

if TYPE_CHECKING:
    from gpuviz.api.picture import Picture
    from gpuviz.api.run import Run
    from gpuviz.api.tables import Counts
    from gpuviz.story import lesson as base
    from gpuviz.story.lesson import Value
    from gpuviz.views.lesson_view import View


class Told:
    """A lesson told with certain values: its runs by role, and its story to look at."""

    def __init__(self, view: View) -> None:
        """Call a lesson to have one."""
        self._view = view

    @property
    def values(self) -> Mapping[str, Value]:
        """All parameters, those left out too."""
        return self._view.provenance.values

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """The launches of the lesson by their roles."""
        from gpuviz.api.run import Run

        return {role: Run(run) for role, run in self._view.runs.items()}

    @property
    def counts(self) -> Counts:
        """Those of the first run."""
        return next(iter(self.runs.values())).counts

    def picture(self, time: float | None = None) -> Picture:
        """The picture at a time in seconds; at the end without one."""
        from gpuviz.api.picture import Picture

        made = Picture(self._view)
        return made.at(made.duration if time is None else time)

    def __repr__(self) -> str:
        told = ", ".join(f"{key}={value}" for key, value in self.values.items())
        return "\n".join(
            [f"{self._view.provenance.lesson}({told}): {self._view.story.title}"]
            + [
                f"  {role}: {line}"
                for role, run in self.runs.items()
                for line in run.counts.brief()
            ]
        )

    def _repr_html_(self) -> str:
        return self.picture(0.0).html()


class Lesson:
    """A lesson; called with values for its parameters it is told."""

    def __init__(self, id: str) -> None:
        """The lesson of an id; InputError when there is none."""
        from gpuviz.course import lesson

        self._lesson: base.Lesson = lesson(id)

    @property
    def title(self) -> str:
        """What it is called."""
        return self._lesson.title

    @property
    def parameters(self) -> Table:
        """What can be set: name, meaning, default, and what it may be."""
        rows = [(p.id, p.label, str(p.default), _offered(p)) for p in self._lesson.parameters]
        return Table(("parameter", "meaning", "default", "values"), rows)

    @property
    def presets(self) -> Mapping[str, Mapping[str, Value]]:
        """Values worth showing, by their names."""
        return {preset.label: preset.values for preset in self._lesson.presets}

    def __call__(
        self,
        *,
        arch: str = "sm_90",
        level: str = "sass",
        theme: str = "light",
        size: tuple[int, int] = (1120, 630),
        **values: Any,
    ) -> Told:
        """The lesson with these values; those left out are the defaults.

        Raises
        ------
        InputError : a parameter or a value that it does not have
        """
        from gpuviz.views.make_view import view_of
        from gpuviz.views.provenance import Provenance

        wanted = Provenance(
            self._lesson.id,
            cast("Mapping[str, Value]", values),
            arch,
            level,
            theme=theme,
            width=size[0],
            height=size[1],
        )
        return Told(view_of(wanted))

    def __repr__(self) -> str:
        return f"{self.title}: {self._lesson.look_for}\n{self.parameters!r}"


class Lessons(Mapping[str, Lesson]):
    """The lessons by their ids, in the order of the course."""

    def __getitem__(self, id: str) -> Lesson:
        from gpuviz.course import COURSE

        if id not in (one.id for one in COURSE):
            raise KeyError(f"there is no lesson {id!r}; there are: {', '.join(self)}")
        return Lesson(id)

    def __iter__(self) -> Iterator[str]:
        from gpuviz.course import COURSE

        return (one.id for one in COURSE)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        from gpuviz.course import COURSE

        return repr(Table(("lesson", "title"), [(one.id, one.title) for one in COURSE]))


lessons = Lessons()


def _offered(parameter: base.Parameter) -> str:
    if parameter.choices:
        return ", ".join(str(choice.value) for choice in parameter.choices)
    if isinstance(parameter.default, bool):
        return "True or False"
    if parameter.typed:
        return parameter.hint
    return f"{parameter.minimum} to {parameter.maximum}"


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
    from gpuviz.story.lesson import check_values

    chosen = lesson(launch)
    begun = check_values(chosen, values)
    return explorer.Explorer(
        [_knob(one, begun[one.id]) for one in chosen.parameters], lambda now: _view(launch, now)
    )


def _view(lesson: str, values: Mapping[str, Any]) -> View:
    pass

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
