"""Values for a lesson's parameters as they come from outside: completed, and each of its kind."""

from __future__ import annotations

from gpuviz.base.errors import InputError
from gpuviz.story.lesson import LONGEST, Lesson, Parameter, Value, Values
from gpuviz.words.language import tr


def check_values(lesson: Lesson, values: Values) -> dict[str, Value]:
    """Defaults completed by the values given, each of which must be one the lesson offers.

    Raises
    ------
    InputError : an unknown parameter, a value out of range, or a bad combination
    """
    known = {p.id: p for p in lesson.parameters}
    for name in values:
        if name not in known and name not in lesson.former:
            raise InputError(
                tr(
                    "lesson {lesson} has no parameter {name}; it has: {known}",
                    lesson=lesson.id,
                    name=repr(name),
                    known=", ".join(known),
                )
            )
    complete = {p.id: value_of(p, values.get(p.id, p.begins)) for p in lesson.parameters}
    problem = lesson.problem(complete)
    if problem:
        raise InputError(problem)
    return complete


def value_of(parameter: Parameter, value: Value) -> Value:
    """A value as the parameter's own kind (texts come from the command line); InputError when it
    is not one that it offers.
    """
    what: dict[str, object] = {"name": parameter.id, "value": repr(value)}
    if parameter.choices:
        for choice in parameter.choices:
            if str(choice.value) == str(value):
                return choice.value
        offered = ", ".join(str(c.value) for c in parameter.choices)
        raise InputError(
            tr("{name} cannot be {value}; it is one of: {offered}", **what, offered=offered)
        )
    if isinstance(parameter.default, bool):
        if str(value).lower() in ("1", "true", "yes", "on"):
            return True
        if str(value).lower() in ("0", "false", "no", "off"):
            return False
        raise InputError(tr("{name} cannot be {value}; it is true or false", **what))
    if parameter.typed:
        text = str(value).strip()
        if len(text) > LONGEST:
            raise InputError(
                tr(
                    "{name} has {n} letters; at most {most} are read",
                    name=parameter.id,
                    n=len(text),
                    most=LONGEST,
                )
            )
        return text
    try:
        number = int(value)
    except ValueError:
        raise InputError(tr("{name} cannot be {value}; it is a whole number", **what)) from None
    if not parameter.minimum <= number <= parameter.maximum:
        raise InputError(
            tr(
                "{name} cannot be {value}; it goes from {least} to {most}",
                name=parameter.id,
                value=number,
                least=parameter.minimum,
                most=parameter.maximum,
            )
        )
    return number
