"""`gpuviz list`: the lessons, their parameters and defaults."""

import argparse
import json
from typing import Any

from gpuviz.cli.options import declare
from gpuviz.course import SCENES
from gpuviz.story.lesson import Lesson, Parameter
from gpuviz.words import language
from gpuviz.words.language import tr
from gpuviz.words.terminal import out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    declare(parser, "list")


def run(arguments: argparse.Namespace) -> int:
    """Print, 0."""
    language.choose(arguments.language)
    if arguments.json:
        out(json.dumps([as_json(one) for one in SCENES], indent=1))
    else:
        out("\n\n".join(as_text(one) for one in SCENES))
    return 0


def as_json(lesson: Lesson) -> dict[str, Any]:
    """A lesson as plain values."""
    return {
        "id": lesson.id,
        "title": tr(lesson.title),
        "chapter": tr(lesson.chapter),
        "look_for": tr(lesson.look_for),
        "words": lesson.words,
        "parameters": [_parameter(p) for p in lesson.parameters],
        "presets": [{"label": tr(p.label), "values": dict(p.values)} for p in lesson.presets],
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    out: dict[str, Any] = {
        "id": parameter.id,
        "label": tr(parameter.label),
        "default": parameter.begins,
    }
    if parameter.choices:
        out["choices"] = [choice.value for choice in parameter.choices]
    elif not (parameter.typed or isinstance(parameter.default, bool)):
        out |= {"minimum": parameter.minimum, "maximum": parameter.maximum}
    return out


def as_text(lesson: Lesson) -> str:
    """A lesson for people."""
    lines = [f"{lesson.id}  ({tr(lesson.chapter)}: {tr(lesson.title)})", f"  {tr(lesson.look_for)}"]
    lines += [f"    {p.id} = {p.begins}  {_range(p)}" for p in lesson.parameters]
    return "\n".join(lines)


def _range(parameter: Parameter) -> str:
    if parameter.choices:
        values = ", ".join(str(choice.value) for choice in parameter.choices)
        return tr("one of {values}", values=values)
    if isinstance(parameter.default, bool):
        return tr("true or false")
    if parameter.typed:
        return tr(parameter.hint)
    return tr("{least} to {most}", least=parameter.minimum, most=parameter.maximum)
