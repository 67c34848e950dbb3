"""A slide's question, asked anew when something else than planned is shown."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.lectures.answer import Runs, answer_of, limiter_of, right_of, run_of
from gpuviz.lectures.lecture import LIMITER, Guess, Question
from gpuviz.words.language import tr


def asked_anew(question: Question, runs: Runs, changed: str) -> Question:
    """The question about what is `changed`, in words; the answer is one of its choices.

    The text of the planned one may name what is no more so. Where no choice is right any more, the
    nearest one gives way to the answer.

    Raises
    ------
    InputError : there is no such run, or it makes no such request
    """
    run = runs[run_of(question.run, runs)]
    if question.count == LIMITER:
        return _limited(question, limiter_of(run), changed)
    value, unit = answer_of(question, run)
    ask = tr("And with {changed}? How many {unit}?", changed=changed, unit=unit)
    choices = question.choices
    if right_of(choices, value) is None:
        choices = _with(choices, value)
    return replace(question, ask=ask, choices=choices)


def _limited(question: Question, limiter: str, changed: str) -> Question:
    """What limits it now, among the choices."""
    choices = question.choices
    if limiter not in choices:
        choices = (*choices[:-1], limiter)
    ask = tr("And with {changed}: what limits it?", changed=changed)
    return replace(question, ask=ask, choices=choices)


def _with(choices: tuple[Guess, ...], value: float) -> tuple[Guess, ...]:
    """The choices with one more, in place of the nearest; numbers in order, words behind them."""
    numbers: list[int | float] = [one for one in choices if not isinstance(one, str)]
    words = [one for one in choices if isinstance(one, str)]
    if numbers:
        numbers.remove(min(numbers, key=lambda one: abs(one - value)))
    right = int(value) if value == int(value) else value
    return (*sorted([*numbers, right]), *words)
