"""Slides as plain values, as TOML holds them, and back; what does not fit is told by its key."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuviz.arch import architecture
from gpuviz.errors import Error, InputError
from gpuviz.export.performed import lesson_for
from gpuviz.export.provenance import Provenance
from gpuviz.export.quantities import SPACES
from gpuviz.lectures.lecture import Question, Slide
from gpuviz.memory.counting import KEYS
from gpuviz.scenes import traced
from gpuviz.scenes.perform import check_values

ARCH, LEVEL, STEPS, TIME = "sm_90", "sass", "steps", "time"
CONFLICTS = "_conflicts"
Plain = Mapping[str, Any]

# Every key of a slide, and what its value has to be.
_KINDS: Mapping[str, tuple[type, ...]] = {
    "title": (str,), "lesson": (str,), "values": (dict,), "arch": (str,), "level": (str,),
    "compare": (dict,), "compare_arch": (str,), "kernel": (dict,), "stops": (list, str),
    "question": (dict,), "numbers": (list,), "words": (str,), "notes": (str,),
}  # fmt: skip
_ASKED: Mapping[str, tuple[type, ...]] = {
    "ask": (str,), "choices": (list,), "count": (str,), "per": (str,), "run": (str,),
    "line": (int,),
}  # fmt: skip
VIEW = ("lesson", "kernel", "values", "arch", "level", "compare", "compare_arch")
_KERNEL = ("file", "entry", "name", "grid", "block", "arguments", "shared", traced.FILE)
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
    if "lesson" in good or "kernel" in good:
        view = take("kernel" if "kernel" in good else "lesson", lambda _: _view(good, folder), None)
    elif not title and not words and not faults:
        faults.append(Fault("slide", "it names no lesson, and has no words"))
    if "question" in good and not {"lesson", "kernel"} & plain.keys():
        faults.append(Fault("question", "a slide of words asks nothing: an answer is counted in a "
                                        "lesson"))
    stops = good.get("stops", [])
    slide = Slide(
        title, view, take("stops", _stops, ()) if stops != STEPS else (), stops == STEPS,
        take("question", _question, None), take("numbers", _numbers, ()), words,
        str(good.get("notes", "")).strip("\n"))
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
    launch = _launch(plain["kernel"], folder) if "kernel" in plain else {}
    wanted = Provenance(str(plain.get("lesson", "")), _values(plain.get("values", {})),
                        str(plain.get("arch") or ARCH), str(plain.get("level") or LEVEL),
                        _values(plain.get("compare", {})), str(plain.get("compare_arch", "")),
                        launch=launch)
    lesson = lesson_for(wanted)
    values = check_values(lesson, wanted.values)
    compared = check_values(lesson, {**values, **wanted.compare_values}) if wanted.compared else {}
    for sm in filter(None, (wanted.arch, wanted.compare_arch)):
        architecture(sm)
    if wanted.level not in ("sass", "ptx"):
        raise InputError(f"there is no level {wanted.level!r}; there are: sass, ptx")
    return Provenance(lesson.id, values, wanted.arch, wanted.level, compared, wanted.compare_arch,
                      launch=launch)


def _plain_view(view: Provenance, folder: Path) -> dict[str, Any]:
    """A view with what differs from a lesson's defaults."""
    try:
        usual = lesson_for(view).defaults()
    except Error:  # a trace that went away: it is written all the same, with all its values
        usual = {}
    plain: dict[str, Any] = {} if view.launch else {"lesson": view.lesson}
    if view.launch:
        plain["kernel"] = _plain_launch(view.launch, folder)
    plain["values"] = {k: v for k, v in view.values.items() if usual.get(k) != v}
    plain["arch"] = view.arch if view.arch != ARCH else ""
    plain["level"] = view.level if view.level != LEVEL else ""
    plain["compare"] = {k: v for k, v in view.compare_values.items() if view.values.get(k) != v}
    plain["compare_arch"] = view.compare_arch
    if view.compared and not plain["compare"] and not view.compare_arch:
        plain["compare"] = dict(view.compare_values)  # the same beside itself, if that is asked for
    return plain


def _values(given: Plain) -> dict[str, int | str | bool]:
    for key, value in given.items():
        if not isinstance(value, int | str | bool):
            raise InputError(f"{key} cannot be {value!r}: it is a number, a text, true or false")
    return dict(given)


def _launch(given: Plain, folder: Path) -> dict[str, int | str | bool]:
    """A launch with its file found beside the lecture."""
    for key in given:
        if key not in _KERNEL:
            raise InputError(f"{key} is not known of a kernel; known are: {', '.join(_KERNEL)}")
    launch = _values(given)
    if traced.FILE in launch:
        return {traced.FILE: _found(str(launch[traced.FILE]), folder).as_posix()}
    file = Path(str(launch.get("file", "")))
    if not file.name:
        raise InputError("a kernel without a file: it needs file, entry, grid, block")
    found = _found(str(file), folder)
    arguments = shlex.split(str(launch.get("arguments", "")))
    there = shlex.join(_at(folder, spec) for spec in arguments)
    return {**launch, "file": found.as_posix(), **({"arguments": there} if there else {})}


def _found(name: str, folder: Path) -> Path:
    """A file beside the lecture, or elsewhere; InputError when it is not there."""
    try:
        file = Path(name).expanduser()
    except RuntimeError as error:  # no user's home folder
        raise InputError(f"a file {name!r} that cannot be found: {error}") from None
    found = file if file.is_absolute() else folder / file
    if not found.is_file():
        raise InputError(f"there is no kernel file {found}")
    return found


def _at(folder: Path, spec: str) -> str:
    """An argument that is read from a file beside the lecture, with the place of that file."""
    head, sign, name = spec.partition("=@")
    beside = folder / name
    return f"{head}={sign[1:]}{beside.as_posix()}" if sign and beside.is_file() else spec


def _plain_launch(launch: Plain, folder: Path) -> dict[str, Any]:
    """A launch with its file as seen from the lecture's folder, where it lies in there."""
    key = traced.FILE if traced.FILE in launch else "file"
    file = Path(str(launch[key])).expanduser()
    if file.is_relative_to(folder):
        return {**launch, key: file.relative_to(folder).as_posix()}
    return dict(launch)


def _stops(given: object) -> tuple[float, ...]:
    numbers = given if isinstance(given, list) else [None]
    if any(isinstance(n, bool) or not isinstance(n, int | float) or not n >= 0
           or not _finite(n) for n in numbers):
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
    key = name.replace(CONFLICTS, "_wavefronts_ideal") if isinstance(name, str) else ""
    if key not in KEYS or key.split("_")[0] not in SPACES:
        raise InputError(f"there is no count {name!r}; there are {KEYS[0]}, {KEYS[1]} and others: "
                         "see `gpuviz count --json`")


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
    return Question(str(given["ask"]), tuple(choices), str(given["count"]), per,
                    str(given.get("run", "")), int(given.get("line", 0)))
