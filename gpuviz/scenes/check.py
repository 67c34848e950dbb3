"""Values for a lesson's parameters as they come from outside: completed, and each of its kind."""

from __future__ import annotations

from gpuviz.errors import InputError
from gpuviz.scenes.base import LONGEST, Lesson, Parameter, Value, Values


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
                f"lesson {lesson.id} has no parameter {name!r}; it has: {', '.join(known)}"
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
    if parameter.choices:
        for choice in parameter.choices:
            if str(choice.value) == str(value):
                return choice.value
        offered = ", ".join(str(c.value) for c in parameter.choices)
        raise InputError(f"{parameter.id} cannot be {value!r}; it is one of: {offered}")
    if isinstance(parameter.default, bool):
        if str(value).lower() in ("1", "true", "yes", "on"):
            return True
        if str(value).lower() in ("0", "false", "no", "off"):
            return False
        raise InputError(f"{parameter.id} cannot be {value!r}; it is true or false")
    if parameter.typed:
        text = str(value).strip()
        if len(text) > LONGEST:
            raise InputError(f"{parameter.id} has {len(text)} letters; at most {LONGEST} are read")
        return text
    try:
        number = int(value)
    except ValueError:
        raise InputError(f"{parameter.id} cannot be {value!r}; it is a whole number") from None
    if not parameter.minimum <= number <= parameter.maximum:
        raise InputError(
            f"{parameter.id} cannot be {number}; it goes from {parameter.minimum} to "
            f"{parameter.maximum}"
        )
    return number
