"""The page of a lesson, and its files of pictures: one for each point, which is values of its
parameters, and shape of screen, in both themes.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from gpuviz.base import resources
from gpuviz.base.errors import Error, InputError
from gpuviz.base.waiting import Cancel, go_on
from gpuviz.course import COURSE
from gpuviz.draw.palette import LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.export.export import Options
from gpuviz.export.page import body, html
from gpuviz.export.page_data import Playback, Pool, as_text, packed, pieces, playback
from gpuviz.files import writing as files
from gpuviz.lectures.answer import Answer, answer, shown
from gpuviz.lectures.cues import asked_at
from gpuviz.lectures.desk_question import desk_question
from gpuviz.lectures.lecture import Question
from gpuviz.results.rows import totals
from gpuviz.site import frame
from gpuviz.site.frame import Place, spoken, words
from gpuviz.site.two_themes import picture
from gpuviz.story.lesson import Lesson, Parameter, Value, Values, check_values
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import timed, view_of
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

_COMMON = ("parts", "tips")
GROUND = '<rect class="ground" width="100%" height="100%"/>'


@dataclass(frozen=True)
class Shape:
    """How pictures are drawn for a kind of screen: pixels, and how many a second."""

    name: str
    width: int
    height: int
    fps: int

    @property
    def stage(self) -> Stage:
        """What they are drawn on."""
        return Stage(self.width, self.height, LIGHT)


WIDE = Shape("wide", 1200, 700, 3)
TALL = Shape("tall", 560, 760, 1)
SHAPES = (WIDE, TALL)


def told(view: View, shape: Shape, known: Pool, cancel: Cancel = go_on) -> Playback:
    """The story of a view for a page; what `known` holds is not told again."""
    made = replace(view.provenance, width=shape.width, height=shape.height, theme="light")
    sized, stage = replace(view, provenance=made), shape.stage

    def draw(stage: Stage, t: float) -> Any:
        return view.story.frame(t, stage)

    had = len(known.parts.known)
    found = playback(
        sized,
        Options(fps=shape.fps),
        lambda t: picture(lambda palette: draw(palette, t), stage),
        known,
        cancel=cancel,
    )
    asked = _asked(sized, stage, known)
    data = {
        **found.data,
        **asked,
        "parts": list(known.parts.known)[had:],
        "size": [shape.width, shape.height],
        "title": view.story.title,
        "words": made.words(),
        "counts": html(totals(view.runs)),
        "patterns": found.patterns,
    }
    return replace(found, data=data)


def _asked(view: View, stage: Stage, known: Pool) -> dict[str, Any]:
    """What a reader can be asked before it is told: the question, and its picture."""
    question = desk_question(view.runs, view.story)
    if question is None:
        return {}
    try:
        right = answer(question, view.runs, {})
    except Error:  # the counts have no single answer
        return {}
    asking = replace(stage, question=question.ask)
    drawn = picture(lambda one: view.story.frame(asked_at(question, view.story), one), asking)
    parts = known.parts.numbers(p for element in drawn.elements for p in pieces(element))
    return {"question": {**said(question, right), "picture": parts}}


def said(question: Question, right: Answer) -> dict[str, Any]:
    """A question and its answer in words."""
    return {
        "ask": question.ask,
        "choices": [shown(choice) for choice in question.choices],
        "right": right.right,
        "answer": f"{shown(right.value)} {right.unit}",
    }


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
    return resources.table("site/points.toml")


def write(
    lesson: Lesson,
    root: Path,
    done: Callable[[int, int], None] = lambda count, of: None,
    cancel: Cancel = go_on,
) -> None:
    """The pages of a lesson in all languages, with their pictures.

    Each point is run once for all of them. `done` is told how many of how many points are.

    Raises
    ------
    Cancelled : when `cancel` says so; files that are there are whole
    """
    every = points(lesson)
    base = {shape.name: Pool() for shape in SHAPES}
    for number, values in enumerate(every):
        known = base if number == 0 else {name: one.copy() for name, one in base.items()}
        made: dict[tuple[str, str], Playback] = {}
        views: dict[Place, View] = {}
        for place in spoken(root):
            views[place] = view = _view(lesson, values)
            for shape in SHAPES:
                made[shape.name, place.language] = told(view, shape, known[shape.name], cancel)
        files_of = {shape.name: _both(made, shape.name) for shape in SHAPES}
        for name, content in files_of.items():
            if number == 0 and name == WIDE.name:
                _write_pages(lesson, every, views, made, content)
            else:
                file = root / "data" / lesson.id / f"{number}.{name}.js"
                call = f'gpuvizData("{number}.{name}","{content}");\n'
                files.write(file, call, parents=True, durable=False)
        done(number + 1, len(every))


def _both(made: Mapping[tuple[str, str], Playback], shape: str) -> str:
    """What all languages say of a point, packed: most of its pictures is the same in all."""
    every = {spoken: one.data for (name, spoken), one in made.items() if name == shape}
    common = {key: [item for data in every.values() for item in data.pop(key)] for key in _COMMON}
    return packed(as_text({**common, "told": every}))


def _write_pages(
    lesson: Lesson,
    every: Sequence[Values],
    views: Mapping[Place, View],
    made: Mapping[tuple[str, str], Playback],
    content: str,
) -> None:
    """The page in each language, and its picture for lists of lessons."""
    root = next(iter(views)).root
    for place in spoken(root):
        first = made[WIDE.name, place.language]
        page = _page(lesson, every, views[place], first, content, place)
        files.write(place.folder / f"{lesson.id}.html", page, parents=True)
        _still(lesson, views[place], place)


def _view(lesson: Lesson, values: Values) -> View:
    asked = Provenance(lesson.id, values, "sm_90", width=WIDE.width, height=WIDE.height)
    view = view_of(asked)
    return timed(view, 0.0, view.story.duration)


def _still(lesson: Lesson, view: View, place: Place) -> None:
    """A small picture of the lesson, for lists of lessons."""
    stage = Stage(560, 350, LIGHT)
    drawn = picture(lambda one: view.story.frame(view.story.duration / 2, one), stage)
    text = (
        '<svg viewBox="0 0 560 350" aria-hidden="true">'
        f"<defs>{''.join(drawn.patterns.values())}</defs>{''.join(drawn.elements)}</svg>"
    )
    files.write(place.still(lesson.id), text, parents=True, durable=False)


def _page(
    lesson: Lesson, every: Sequence[Values], view: View, made: Playback, content: str, place: Place
) -> str:
    """The page itself: the first point is part of it, and is there at once."""
    here = next(i for i, one in enumerate(COURSE) if one.id == lesson.id)
    said = words()
    parts = {
        "before": _link(here - 1, "before"),
        "after": _link(here + 1, "after"),
        "chapter": escape(tr(lesson.chapter)),
        "title": escape(tr(lesson.title)),
        "look_for": escape(tr(lesson.look_for)),
        "values_there": escape(said["values_there"].format(count=len(every))),
        "player": body(view, made, GROUND),
        "lesson": _embedded({**_described(lesson, every), "words": said, "up": place.up}),
        "data": content,
    }
    return frame.page("lesson.html", parts, place, f"{lesson.id}.html")


def _link(at: int, way: str) -> str:
    """To another lesson of the course, where there is one."""
    if not 0 <= at < len(COURSE):
        return ""
    title, said = escape(tr(COURSE[at].title)), escape(words()[way])
    arrow = f"← {title}" if way == "before" else f"{title} →"
    return f'<a title="{said}" href="{COURSE[at].id}.html">{arrow}</a>'


def _embedded(data: Mapping[str, Any]) -> str:
    """Data as an element of a page holds it."""
    return as_text(data).replace("<", "\\u003c")


def _described(lesson: Lesson, every: Sequence[Values]) -> dict[str, Any]:
    """What the script of a page knows of the lesson."""
    there = varied(lesson, every)
    knobs = [_knob(p, there[p.id]) for p in lesson.parameters if p.id in there]
    names = [knob["id"] for knob in knobs]
    rows = [[values[name] for name in names] for values in every]
    presets = [
        {"label": tr(preset.label), "point": rows.index(row)}
        for preset in lesson.presets
        if (row := _row(lesson, preset.values, names)) in rows
    ]
    return {"id": lesson.id, "parameters": knobs, "points": rows, "presets": presets}


def _row(lesson: Lesson, values: Values, names: Sequence[str]) -> list[Value]:
    complete = {**lesson.defaults(), **values}
    return [complete[name] for name in names]


def _knob(parameter: Parameter, values: Sequence[Value]) -> dict[str, Any]:
    labels = {choice.value: tr(choice.label) for choice in parameter.choices}
    named = any(isinstance(value, str | bool) for value in values)
    return {
        "id": parameter.id,
        "label": tr(parameter.label),
        "hint": tr(parameter.hint) if parameter.hint else "",
        "kind": "choice" if named else "listed",
        "choices": [{"value": value, "label": _said(value, labels)} for value in values],
    }


def _said(value: Value, labels: Mapping[Value, str]) -> str:
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return labels.get(value, str(value))
