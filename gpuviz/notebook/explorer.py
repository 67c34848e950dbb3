"""A story with sliders: a widget for Jupyter, VS Code and marimo (anywidget).

What plays in it is what plays in exported pages (resources/page).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from gpuviz.api.picture import of_run, page_of
from gpuviz.api.run import Run
from gpuviz.base import resources
from gpuviz.base.errors import Error
from gpuviz.views.lesson_view import View

Told = Callable[[Mapping[str, Any]], View]


class Explorer(anywidget.AnyWidget):  # type: ignore[misc]
    """What a launch does for values that are chosen beside it; it is told anew for each choice.

    `parameters` are its knobs as plain data; `values` what is chosen, from either side; `problem`
    is why it cannot be told for these, "" when it could.
    """

    _esm = "".join(resources.text(f"page/{name}.js") for name in ("page", "knob", "widget"))
    parameters: Any = traitlets.List().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    body = traitlets.Unicode().tag(sync=True)
    css = traitlets.Unicode().tag(sync=True)  # "style" is a widget of its own in Jupyter
    data = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)

    def __init__(self, parameters: Sequence[Mapping[str, Any]], told: Told) -> None:
        """`told` gives the view for values by the `id` of each parameter."""
        values = {one["id"]: one["value"] for one in parameters}
        super().__init__(parameters=[dict(one) for one in parameters], values=values)
        self._told = told
        self._tell()
        self.observe(lambda change: self._tell(), "values")

    def _tell(self) -> None:
        """Run, and show what came of it."""
        try:
            page = page_of(self._told(self.values))
        except Error as error:
            self.problem = str(error)
            return
        with self.hold_sync():
            self.problem, self.body, self.css, self.data = "", page.body, page.style, page.data


def of_launch(launch: Callable[..., Any], varied: Mapping[str, Sequence[Any]]) -> Explorer:
    """A function of the varied values that gives a run; a range becomes a slider."""

    def told(values: Mapping[str, Any]) -> View:
        found = launch(**values)
        return of_run(found._run)._view if isinstance(found, Run) else found._view

    return Explorer([_knob(name, values) for name, values in varied.items()], told)


def _knob(name: str, values: Sequence[Any]) -> dict[str, Any]:
    made = {"id": name, "label": name, "value": values[0]}
    if isinstance(values, range):
        low, high = sorted((values[0], values[-1]))
        return made | {"kind": "range", "minimum": low, "maximum": high, "step": abs(values.step)}
    choices = [{"value": value, "label": str(value)} for value in values]
    return made | {"kind": "choice", "choices": choices}
