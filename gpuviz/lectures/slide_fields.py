"""Slides as plain values, as TOML holds them, and back; what does not fit is told by its key."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from gpuviz.arch import architecture
from gpuviz.base import records
from gpuviz.base.errors import Elsewhere, Error, FormatError, InputError
from gpuviz.course import lesson as lesson_named
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.ink import ink_of, plain_ink
from gpuviz.lectures.lecture import (
    CONFLICTS,
    LIMITER,
    PHASES,
    TIME,
    PlotSpec,
    Question,
    Show,
    Slide,
)
from gpuviz.lectures.markdown.files import find as find_pictures
from gpuviz.lectures.over_time import lesson_of
from gpuviz.lectures.own_files import KERNEL, TRACE, launch_in, plain_values, told
from gpuviz.lectures.plot_beside import plot_of
from gpuviz.memory.counts import DERIVED, Count, find, parts
from gpuviz.memory.units import SPACES
from gpuviz.panels.limit_words import RESOURCES
from gpuviz.story.lesson import check_values
from gpuviz.views.make_view import lesson_for
from gpuviz.views.provenance import Provenance

ARCH, LEVEL, STEPS = "sm_90", "sass", "steps"
TIMELINE: Show = "timeline"
Plain = Mapping[str, Any]

Seconds = Annotated[float, Meta(ge=0, lt=1e9)]


class _SlideKeys(TypedDict):
    """Every key of a slide, and what its value has to be."""

    title: str
    lesson: str
    values: dict[str, Any]
    arch: str
    level: str
    compare: dict[str, Any]
    compare_arch: str
    beside: dict[str, Any]
    kernel: dict[str, Any]
    trace: str
    show: str
    run: str
    stops: list[Any] | str
    question: dict[str, Any]
    numbers: list[Any]
    words: str
    markdown: bool
    notes: str
    minutes: Seconds
    ink: dict[str, Any]
    taken: Seconds


class _BesideKeys(TypedDict):
    """Every key of what stands beside the lesson of a slide: another lesson, or a plot."""

    lesson: str
    values: dict[str, Any]
    arch: str
    vary: str
    count: str
    per: str


class _QuestionKeys(TypedDict):
    """Every key of a question."""

    ask: str
    choices: tuple[int | float | str, ...]
    count: str
    per: str
    run: str
    line: int


SHOWN = ("lesson", KERNEL, TRACE)  # one of these a slide with a view has
VIEW = (*SHOWN, "values", "arch", "level", "compare", "compare_arch", "beside", "show", "run")


@dataclass(frozen=True)
class Fault:
    """A key whose value cannot be taken, and why; `files` are what the reader may agree to."""

    key: str
    text: str
    files: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Reader:
    """What of a slide's keys has the right type, and what is wrong with it so far."""

    good: Plain
    faults: list[Fault]

    def take(self, key: str, how: Callable[[Any], Any], default: Any) -> Any:
        """What is made of a key's value; the default where there is none, or it cannot be taken."""
        if key not in self.good:
            return default
        try:
            return how(self.good[key])
        except InputError as error:
            self.fault(key, str(error), error.files if isinstance(error, Elsewhere) else ())
            return default

    def fault(self, key: str, text: str, files: tuple[Path, ...] = ()) -> None:
        """One more."""
        self.faults.append(Fault(key, text, files))


def slide_of(plain: Plain, reach: Reach) -> tuple[Slide, tuple[Fault, ...]]:
    """The slide of plain values; files of kernels are looked for within `reach`.

    What cannot be taken is left out of the slide, and told.
    """
    good, wrong = records.fields(plain, _SlideKeys)
    reader = _Reader(good, [Fault(key, said) for key, said in wrong.items()])
    view, plot = _picture(plain, reader, reach)
    words, markdown = str(good.get("words", "")).strip("\n"), bool(good.get("markdown", False))
    pictures, missing = find_pictures(words, reach.folder) if markdown else ({}, [])
    for said in missing:
        reader.fault("words", said)
    take, steps = reader.take, good.get("stops") == STEPS
    slide = Slide(
        str(good.get("title", "")),
        view,
        take("stops", _stops, ()) if not steps else (),
        steps,
        take("question", _question, None),
        take("numbers", _numbers, ()),
        words,
        markdown,
        tuple(pictures.items()),
        str(good.get("notes", "")).strip("\n"),
        show=take("show", _show, ""),
        run=str(good.get("run", "")),
        minutes=good.get("minutes", 0.0),
        ink=take("ink", ink_of, None),
        taken=good.get("taken", 0.0),
        plot=plot,
    )
    if slide.show and slide.view is not None:
        take("show", lambda _: lesson_of(slide), None)
    if slide.question and slide.question.count == LIMITER and not slide.show:
        reader.fault("question", f'what limits is told of a slide with show = "{TIMELINE}"')
    return slide, tuple(reader.faults)


def _picture(
    plain: Plain, reader: _Reader, reach: Reach
) -> tuple[Provenance | None, PlotSpec | None]:
    """The view of a slide and what is plotted beside it; of words it has neither."""
    good, view, plot = reader.good, None, None
    shown = [key for key in reversed(SHOWN) if key in good]
    if shown:
        view = reader.take(shown[0], lambda _: _view(good, reach), None)
        if view is not None:
            view, plot = reader.take("beside", partial(_with_beside, view), (view, None))
    elif not good.get("title") and not good.get("words", "").strip("\n") and not reader.faults:
        reader.fault("slide", "it names no lesson, and has no words")
    if "question" in good and not set(SHOWN) & plain.keys():
        reader.fault("question", "a slide of words asks nothing: an answer is counted in a lesson")
    if "beside" in good and not shown:
        reader.fault("beside", "something beside needs a lesson that it is beside of")
    return view, plot


def plain_of(slide: Slide, folder: Path) -> dict[str, Any]:
    """The values that `slide_of` makes this slide of; what is as usual is left out."""
    plain: dict[str, Any] = {"title": slide.title}
    if slide.view is not None:
        plain |= _plain_view(slide.view, folder)
        if slide.plot is not None and not slide.view.compared:
            plain["beside"] = {"vary": slide.plot.vary, "count": slide.plot.count}
            plain["beside"] |= {"per": slide.plot.per} if slide.plot.per != "request" else {}
    plain["stops"] = STEPS if slide.steps else list(slide.stops)
    plain["numbers"] = list(slide.numbers)
    plain["show"], plain["run"] = slide.show, slide.run
    plain["markdown"] = slide.markdown or ""
    plain["words"], plain["notes"] = slide.words, slide.notes
    plain["minutes"], plain["taken"] = slide.minutes, slide.taken
    if slide.question is not None:
        q = slide.question
        plain["question"] = {"ask": q.ask, "choices": list(q.choices), "count": q.count}
        plain["question"] |= {"per": q.per} if q.per != "request" else {}
        plain["question"] |= {"run": q.run} if q.run else {}
        plain["question"] |= {"line": q.line} if q.line else {}
    if slide.ink is not None:
        plain["ink"] = plain_ink(slide.ink)
    return {key: value for key, value in plain.items() if value not in ("", [], {}, 0.0)}


def _view(plain: Plain, reach: Reach) -> Provenance:
    """The view of a slide, its values checked; InputError names what there is not."""
    launch = launch_in(plain, reach)
    wanted = Provenance(
        str(plain.get("lesson", "")),
        plain_values(plain.get("values", {})),
        str(plain.get("arch") or ARCH),
        str(plain.get("level") or LEVEL),
        plain_values(plain.get("compare", {})),
        str(plain.get("compare_arch", "")),
        launch=launch,
    )
    lesson = lesson_for(wanted)
    values = check_values(lesson, wanted.values)
    compared = check_values(lesson, {**values, **wanted.compare_values}) if wanted.compared else {}
    for sm in filter(None, (wanted.arch, wanted.compare_arch)):
        architecture(sm)
    if wanted.level not in ("sass", "ptx"):
        raise InputError(f"there is no level {wanted.level!r}; there are: sass, ptx")
    return Provenance(
        lesson.id, values, wanted.arch, wanted.level, compared, wanted.compare_arch, launch=launch
    )


def _plain_view(view: Provenance, folder: Path) -> dict[str, Any]:
    """A view with what differs from a lesson's defaults."""
    try:
        usual = lesson_for(view).defaults()
    except Error:  # a trace that went away: it is written all the same, with all its values
        usual = {}
    plain: dict[str, Any] = told(view.launch, folder) or {"lesson": view.lesson}
    plain["values"] = {k: v for k, v in view.values.items() if usual.get(k) != v}
    plain["arch"] = view.arch if view.arch != ARCH else ""
    plain["level"] = view.level if view.level != LEVEL else ""
    if view.compare_lesson:
        return plain | {"beside": _plain_beside(view)}
    plain["compare"] = {k: v for k, v in view.compare_values.items() if view.values.get(k) != v}
    plain["compare_arch"] = view.compare_arch
    if view.compared and not plain["compare"] and not view.compare_arch:
        plain["compare"] = dict(view.compare_values)  # the same beside itself, if that is asked for
    return plain


def _with_beside(view: Provenance, given: Plain) -> tuple[Provenance, PlotSpec | None]:
    """The view with another lesson, or else the plot, beside it; InputError names what there is
    not.
    """
    found, wrong = records.fields(given, _BesideKeys)
    for said in wrong.values():
        raise InputError(f"in beside: {said}")
    if view.compared:
        raise InputError("a slide has either compare or beside: two pictures are what fits")
    if "vary" in found or "count" in found:
        return view, _plot(view, found)
    if not found.get("lesson"):
        raise InputError("beside needs the id of a lesson; `gpuviz list` names them")
    beside = lesson_named(found["lesson"])
    arch = found.get("arch", "")
    if arch:
        architecture(arch)
    with_it = replace(
        view,
        compare_lesson=beside.id,
        compare_values=check_values(beside, plain_values(found.get("values", {}))),
        compare_arch=arch if arch != view.arch else "",
    )
    return with_it, None


def _plot(view: Provenance, found: Plain) -> PlotSpec:
    """What is plotted beside a view; InputError names what cannot be."""
    if other := {"lesson", "values", "arch"} & found.keys():
        raise InputError(f"a plot beside is of the slide's own lesson: it has no {min(other)}")
    per = found.get("per", "request")
    if per not in ("request", "launch"):
        raise InputError(f"per has to be request or launch, not {per!r}")
    plot = PlotSpec(str(found.get("vary", "")), str(found.get("count", "")), per)
    check_count(plot.count)
    plot_of(Slide(view=view, plot=plot))
    return plot


def _plain_beside(view: Provenance) -> dict[str, Any]:
    """The lesson beside that of a view, with what differs from its defaults."""
    usual = lesson_named(view.compare_lesson).defaults()
    values = {k: v for k, v in view.compare_values.items() if usual.get(k) != v}
    plain = {"lesson": view.compare_lesson, "values": values, "arch": view.compare_arch}
    return {key: value for key, value in plain.items() if value}


def _show(given: str) -> Show:
    if given != TIMELINE:
        raise InputError(f'show can be "{TIMELINE}", not {given!r}')
    return TIMELINE


def _stops(given: object) -> tuple[float, ...]:
    try:
        seconds = records.record(given, tuple[Seconds, ...], "stops")
    except FormatError:
        raise InputError(
            f"stops has to be a list of seconds, or {STEPS!r}, not {given!r}"
        ) from None
    if sorted(seconds) != list(seconds):
        raise InputError(f"the seconds of stops have to grow: {given!r}")
    return seconds


def _finite(number: float) -> bool:
    """Whether it is a number of a size that can be counted with."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _numbers(given: list[object]) -> tuple[str, ...]:
    for name in given:
        if name != TIME:
            check_count(name)
    return tuple(map(str, given))


def check_count(name: object) -> None:
    """InputError when there is no such count."""
    if not isinstance(name, str) or not _is_count(name):
        first, second, *_ = Count
        raise InputError(
            f"there is no count {name!r}; there are {first}, {second} and others: "
            "see `gpuviz count --json`"
        )


def _is_count(name: str) -> bool:
    """Whether it can be counted, for each kind of access by itself."""
    if name.count("_") < 2:
        return False
    space, op, quantity = parts(name)
    if quantity == CONFLICTS:
        return DERIVED[CONFLICTS].fits((space, op))
    return find(name) is not None and space in SPACES


def _question(given: Plain) -> Question:
    found, wrong = records.fields(given, _QuestionKeys)
    for said in wrong.values():
        raise InputError(f"in the question: {said}")
    for key in ("ask", "choices", "count"):
        if not found.get(key):
            raise InputError(f"a question needs {key}")
    choices = found["choices"]
    if not all(_finite(c) for c in choices if not isinstance(c, str)):
        raise InputError(f"choices have to be finite: {list(choices)!r}")
    if len(set(map(str, choices))) < len(choices):
        raise InputError(f"choices have to differ: {list(choices)!r}")
    if found.get("per", "request") not in ("request", "launch"):
        raise InputError(f"per has to be request or launch, not {found['per']!r}")
    if found["count"] not in (LIMITER, PHASES):
        check_count(found["count"])
    elif found["count"] == LIMITER and (unknown := [c for c in choices if c not in RESOURCES]):
        raise InputError(f"there is no resource {unknown[0]!r}; there are: {', '.join(RESOURCES)}")
    return Question(**found)
