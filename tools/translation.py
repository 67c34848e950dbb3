"""The texts people read, collected, and how complete a catalogue is.

A text is the literal first argument of a call of `tr` or `later`, wherever it is, the first two
(one, many) of a call of `trn`, or data that is translated where it is shown: what a lesson declares
(title, chapter, what to look for, parameters, choices, presets, names of runs), the glossary, and
the tables of resources/words.
`python -m tools.translation --missing es` lists what resources/locale/es.json lacks. How to
translate: docs/translation.md.
"""

from __future__ import annotations

import argparse
import ast
import string
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpuviz.base import resources
from gpuviz.course import SCENES
from gpuviz.lectures.exercises import exercises
from gpuviz.story.lesson import Lesson, Parameter
from gpuviz.words import glossary, language
from gpuviz.words.terminal import out

PACKAGE = Path(__file__).parent.parent / "gpuviz"
CALLS = ("tr", "later", "trn")
# What is no text in tables of words: colours, keys, parts of the window, names of files, of lessons
# and of metrics.
NO_TEXTS = (
    *("ink", "keys", "part", "kernel", "entry", "lesson"),
    *("metric", "live", "noisy", "besides", "less"),
)


@dataclass(frozen=True)
class Use:
    """A call of `tr`, `later` or `trn`: its place, and its text; None where that is no literal."""

    place: str
    text: str | None
    shown: bool  # whether it shows data, `tr(lesson.title)`: no literal is due
    plural: str | None = None  # the text for many, where it counts


@dataclass(frozen=True)
class Text:
    """A text that people read: one place where it stands, and what it is for many, if it counts."""

    place: str
    plural: str | None = None


@dataclass(frozen=True)
class Gaps:
    """How a catalogue differs from the texts: all three are empty when it is complete."""

    missing: tuple[str, ...]  # texts without a translation, or without all forms of their plural
    stale: tuple[str, ...]
    misfilled: tuple[str, ...]  # texts whose translation, or plural, names other values


def uses() -> tuple[Use, ...]:
    """Every call of `tr`, `later` and `trn` in the program."""
    return tuple(use for file in sorted(PACKAGE.rglob("*.py")) for use in _uses(file))


@cache
def _uses(file: Path) -> tuple[Use, ...]:
    text = file.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in CALLS):
        return ()  # most files, and reading a tree takes its time
    tree = ast.parse(text, str(file))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _collects(node)]
    calls.sort(key=lambda node: (node.lineno, node.col_offset))
    return tuple(_use(call, file.relative_to(PACKAGE.parent).as_posix()) for call in calls)


def _use(call: ast.Call, file: str) -> Use:
    place, first = f"{file}:{call.lineno}", call.args[0]
    if _name(call) == "trn":
        one, many = (*map(_literal, call.args), None, None)[:2]
        return Use(place, one if many else None, False, many)
    data = _name(call) == "tr" and isinstance(first, ast.Attribute | ast.Subscript)
    return Use(place, _literal(first), data)


def _collects(call: ast.Call) -> bool:
    return _name(call) in CALLS and bool(call.args)


def _literal(node: ast.expr) -> str | None:
    found = node.value if isinstance(node, ast.Constant) else None
    return found if isinstance(found, str) else None


def _name(call: ast.Call) -> str:
    """The function called, without the module it is in."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def texts() -> dict[str, Text]:
    """Every text that people read; those without a letter left out.

    In the order of the program, so that what belongs together stays together.
    """
    found: dict[str, Text] = {}
    for use in uses():
        if use.text is not None:
            found.setdefault(use.text, Text(use.place, use.plural))
    for lesson in SCENES:
        for text in _of_lesson(lesson):
            found.setdefault(text, Text(f"lesson {lesson.id}"))
    for name, text in _of_tables():
        found.setdefault(text, Text(f"resources/words/{name}.toml"))
    for entry in glossary.entries().values():
        for text in (entry.word, entry.text):
            found.setdefault(text, Text(f"glossary, {entry.id}"))
    for one in exercises().values():
        for text in (one.title, one.task, one.why):
            found.setdefault(text, Text(f"exercise {one.id}"))
    return {text: about for text, about in found.items() if any(map(str.isalpha, text))}


def _of_tables() -> Iterator[tuple[str, str]]:
    """The name of each table of words, and each text there: in the menu names of groups, too."""
    for file in sorted(resources.path("words").glob("*.toml")):
        groups = language.texts(file.stem) if file.stem == "menu" else ()
        yield from ((file.stem, text) for text in (*groups, *_within(language.texts(file.stem))))


def _within(said: object) -> Iterator[str]:
    """The texts of a table, at any depth."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping):
        for key, inner in said.items():
            yield from () if key in NO_TEXTS else _within(inner)
    elif isinstance(said, list):
        for inner in said:
            yield from _within(inner)


def _of_lesson(lesson: Lesson) -> Iterator[str]:
    yield from (lesson.title, lesson.chapter, lesson.look_for)
    for parameter in lesson.parameters:
        yield from _of_parameter(parameter)
    yield from (preset.label for preset in lesson.presets)
    for values in ({}, *(preset.values for preset in lesson.presets)):
        plans = lesson.launches({**lesson.defaults(), **values})
        yield from (plan.role for plan in plans if not plan.companion_of)


def _of_parameter(parameter: Parameter) -> Iterator[str]:
    yield from (parameter.label, parameter.hint)
    yield from (choice.label for choice in parameter.choices)


def gaps(name: str, wanted: Mapping[str, Text]) -> Gaps:
    """What a language's catalogue lacks of the wanted texts, holds in vain; where {names} differ.

    Raises
    ------
    FormatError : there is no such catalogue, or it is damaged
    """
    found = language.catalogue(name)
    forms = {text: found.plural.forms if about.plural else 1 for text, about in wanted.items()}
    held = {text: tuple(filter(None, given)) for text, given in found.texts.items()}
    missing = tuple(text for text in wanted if len(held.get(text, ())) != forms[text])
    stale = tuple(text for text in held if text not in wanted)
    misfilled = tuple(text for text in held if not _filled(text, wanted.get(text), held[text]))
    return Gaps(missing, stale, misfilled)


def _filled(text: str, about: Text | None, forms: Sequence[str]) -> bool:
    """Whether all forms of a text name the same values."""
    plural = (about.plural,) if about and about.plural else ()
    return all(fields(form) == fields(text) for form in (*plural, *forms))


def fields(text: str) -> set[str]:
    """The {names} of a text; one that is no format string has none."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return set()


def main(argv: Sequence[str] | None = None) -> int:
    """Print what a catalogue lacks as lines of JSON to fill in; exit status 1 when it has gaps."""
    parser = argparse.ArgumentParser(prog="python -m tools.translation", description=__doc__)
    parser.add_argument(
        "--missing",
        metavar="LANGUAGE",
        required=True,
        help="a catalogue of resources/locale, such as es",
    )
    return report(parser.parse_args(argv).missing)


def report(language: str) -> int:
    """Print the gaps of a catalogue; 1 when there are any."""
    places = texts()
    found = gaps(language, places)
    for text in found.missing:
        about = places[text]
        many = f", {about.plural!r}" if about.plural else ""
        out(f"{about.place}\n  {text!r}{many}")
    for text in found.stale:
        out(f"no longer used: {text!r}")
    for text in found.misfilled:
        out(f"the translation names other values: {text!r}")
    return 1 if found.missing or found.stale or found.misfilled else 0


if __name__ == "__main__":
    sys.exit(main())
