"""Slides as plain values, as TOML holds them, and back; what does not fit is told by its key."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuviz.arch import architecture
from gpuviz.errors import Error, InputError
from gpuviz.lectures.lecture import Question, Slide
from gpuviz.lectures.own_files import KERNEL, TRACE, launch_in, plain_values, told
from gpuviz.memory.counts import Count, find, parts
from gpuviz.memory.derived import DERIVED
from gpuviz.memory.units import SPACES
from gpuviz.scenes.perform import check_values
from gpuviz.views.performed import lesson_for
from gpuviz.views.provenance import Provenance

ARCH, LEVEL, STEPS, TIME = "sm_90", "sass", "steps", "time"
CONFLICTS = "conflicts"
Plain = Mapping[str, Any]

# Every key of a slide, and what its value has to be.
_KINDS: Mapping[str, tuple[type, ...]] = {
    "title": (str,),
    "lesson": (str,),
    "values": (dict,),
    "arch": (str,),
    "level": (str,),
    "compare": (dict,),
    "compare_arch": (str,),
    "kernel": (dict,),
    "trace": (str,),
    "stops": (list, str),
    "question": (dict,),
    "numbers": (list,),
    "words": (str,),
    "notes": (str,),
}
_ASKED: Mapping[str, tuple[type, ...]] = {
    "ask": (str,),
    "choices": (list,),
    "count": (str,),
    "per": (str,),
    "run": (str,),
    "line": (int,),
}
SHOWN = ("lesson", KERNEL, TRACE)  # one of these a slide with a view has
VIEW = (*SHOWN, "values", "arch", "level", "compare", "compare_arch")
_NAMES = {str: "a text", dict: "a table", list: "a list", int: "a whole number"}


@dataclass(frozen=True)
class Fault:
    """A key whose value cannot be taken, and why."""

    key: str
    text: str


def slide_of(plain: Plain, folder: Path) -> tuple[Slide, tuple[Fault, ...]]:
    """The slide of plain values; files of kernels are looked for in `folder`.

    What cannot be taken is left out of the slide, and told.
    """
    faults = list(_strangers(plain, _KINDS))
    good = {key: value for key, value in plain.items() if key not in {f.key for f in faults}}

    def take(key: str, how: Callable[[Any], Any], default: Any) -> Any:
        if key not in good:
            return default
        try:
            return how(good[key])
        except InputError as error:
            faults.append(Fault(key, str(error)))
            return default

    title, words = str(good.get("title", "")), str(good.get("words", "")).strip("\n")
    view = None
    shown = [key for key in reversed(SHOWN) if key in good]
    if shown:
        view = take(shown[0], lambda _: _view(good, folder), None)
    elif not title and not words and not faults:
        faults.append(Fault("slide", "it names no lesson, and has no words"))
    if "question" in good and not set(SHOWN) & plain.keys():
        faults.append(
            Fault("question", "a slide of words asks nothing: an answer is counted in a lesson")
        )
    stops = good.get("stops", [])
    slide = Slide(
        title,
        view,
        take("stops", _stops, ()) if stops != STEPS else (),
        stops == STEPS,
        take("question", _question, None),
        take("numbers", _numbers, ()),
        words,
        str(good.get("notes", "")).strip("\n"),
    )
    return slide, tuple(faults)


def plain_of(slide: Slide, folder: Path) -> dict[str, Any]:
    """The values that `slide_of` makes this slide of; what is as usual is left out."""
    plain: dict[str, Any] = {"title": slide.title}
    if slide.view is not None:
        plain |= _plain_view(slide.view, folder)
    plain["stops"] = STEPS if slide.steps else list(slide.stops)
    plain["numbers"] = list(slide.numbers)
    plain["words"], plain["notes"] = slide.words, slide.notes
    if slide.question is not None:
        q = slide.question
        plain["question"] = {"ask": q.ask, "choices": list(q.choices), "count": q.count}
        plain["question"] |= {"per": q.per} if q.per != "request" else {}
        plain["question"] |= {"run": q.run} if q.run else {}
        plain["question"] |= {"line": q.line} if q.line else {}
    return {key: value for key, value in plain.items() if value not in ("", [], {})}


def _strangers(plain: Plain, known: Mapping[str, tuple[type, ...]]) -> Iterator[Fault]:
    """Keys that are not known, and values of another kind."""
    for key, value in plain.items():
        if key not in known:
            yield Fault(key, f"{key} is not known here; known are: {', '.join(known)}")
        elif not isinstance(value, known[key]) or isinstance(value, bool):
            wanted = " or ".join(_NAMES[kind] for kind in known[key])
            yield Fault(key, f"{key} has to be {wanted}, not {value!r}")


def _view(plain: Plain, folder: Path) -> Provenance:
    """The view of a slide, its values checked; InputError names what there is not."""
    launch = launch_in(plain, folder)
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
    plain["compare"] = {k: v for k, v in view.compare_values.items() if view.values.get(k) != v}
    plain["compare_arch"] = view.compare_arch
    if view.compared and not plain["compare"] and not view.compare_arch:
        plain["compare"] = dict(view.compare_values)  # the same beside itself, if that is asked for
    return plain


def _stops(given: object) -> tuple[float, ...]:
    numbers = given if isinstance(given, list) else [None]
    if any(
        isinstance(n, bool) or not isinstance(n, int | float) or not n >= 0 or not _finite(n)
        for n in numbers
    ):
        raise InputError(f"stops has to be a list of seconds, or {STEPS!r}, not {given!r}")
    if sorted(numbers) != numbers:
        raise InputError(f"the seconds of stops have to grow: {given!r}")
    return tuple(map(float, numbers))


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
    for fault in _strangers(given, _ASKED):
        raise InputError(f"in the question: {fault.text}")
    for key in ("ask", "choices", "count"):
        if not given.get(key):
            raise InputError(f"a question needs {key}")
    choices = given["choices"]
    if not all(isinstance(c, int | float | str) and not isinstance(c, bool) for c in choices):
        raise InputError(f"choices have to be numbers or texts, not {choices!r}")
    if not all(_finite(c) for c in choices if not isinstance(c, str)):
        raise InputError(f"choices have to be finite: {choices!r}")
    if len(set(map(str, choices))) < len(choices):
        raise InputError(f"choices have to differ: {choices!r}")
    per = given.get("per", "request")
    if per not in ("request", "launch"):
        raise InputError(f"per has to be request or launch, not {per!r}")
    check_count(given["count"])
    return Question(
        str(given["ask"]),
        tuple(choices),
        str(given["count"]),
        per,
        str(given.get("run", "")),
        int(given.get("line", 0)),
    )
