"""Counts that a lecture shows: what the trace says, and what a GPU counted of the same launch."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.lectures.lecture import (
    CONFLICTS,
    LETTERS,
    LIMITER,
    PHASES,
    TIME,
    Counted,
    Guess,
    Question,
)
from gpuviz.memory.counts import DERIVED, by_name, count_of, parts
from gpuviz.memory.units import SPACES, unit_of
from gpuviz.memory.units import label as label_of
from gpuviz.panels.limit_words import RESOURCES
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.story.compare import SIDES
from gpuviz.story.exhibit import Exhibit
from gpuviz.traces.trace import HANDOVERS
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import grouped, tr, trn

Runs = Mapping[str, Run]
Measurements = Mapping[str, Measurement]
_SAME = 1e-6
_IDEAL = "_ideal"  # what no GPU counts


@dataclass(frozen=True)
class Answer:
    """The answer to a question: `right` is its place among the choices.

    `value` is a number, or a resource in words. `measured` is None where no GPU has counted it,
    `origin` tells where that number is from.
    """

    value: float | str
    right: int
    unit: str
    measured: float | None = None
    origin: Measurement | None = None


@dataclass(frozen=True)
class Figure:
    """A count of one run, or its time in microseconds, for the line below a picture.

    `run` is "" where there is only one.
    """

    label: str
    run: str
    predicted: float | None
    measured: float | None = None
    origin: Measurement | None = None


def answer(question: Question, runs: Runs, measured: Measurements) -> Answer:
    """The answer, counted from the trace.

    Raises
    ------
    InputError : there is no such run, it makes no such request, or no choice is right
    """
    key = run_of(question.run, runs)
    if question.count == LIMITER:
        return _limiter(question, runs[key])
    value, counted = answer_of(question, runs[key])
    right = right_of(question.choices, value)
    if right is None:
        raise _no_choice(shown(value), question)
    found = measured.get(key)
    return Answer(value, right, counted, _measured(question, runs[key], found), found)


def _limiter(question: Question, run: Run) -> Answer:
    """What limits a launch, as modelled: no counter of a GPU says it."""
    found = limiter_of(run)
    if found not in question.choices:
        raise _no_choice(found, question)
    return Answer(tr(RESOURCES[found]), question.choices.index(found), "")


def _no_choice(found: str, question: Question) -> InputError:
    offered = ", ".join(map(str, question.choices))
    return InputError(f"the answer is {found}, which is none of the choices {offered}")


def limiter_of(run: Run) -> str:
    """What limits a launch, as modelled; InputError where no time is."""
    if run.explained is None:
        raise InputError(f"no time of {run.trace.launch.kernel} is modelled here: no limit is told")
    return run.explained.limits.limiter


def named(question: Question) -> tuple[Guess, ...]:
    """The choices as a class reads them."""
    if question.count != LIMITER:
        return question.choices
    return tuple(tr(RESOURCES[str(guess)]) for guess in question.choices)


def answer_of(question: Question, run: Run) -> tuple[float, str]:
    """What is asked for, counted from the trace of a run, and its unit.

    Raises
    ------
    InputError : it makes no such request
    """
    if question.count == PHASES:
        over = phases_of(run)
        return over, trn("phase of mbarriers", "phases of mbarriers", over)
    value = _counted(question, run)
    return value, unit(question, run, value)


def phases_of(run: Run) -> int:
    """Phases of mbarriers that are over; InputError where there is none."""
    handed = run.trace.handovers
    over = 0 if handed is None else int((handed.kind == HANDOVERS.index("over")).sum())
    if not over:
        raise InputError(f"{run.trace.launch.kernel} has no mbarriers in the blocks recorded")
    return over


def right_of(choices: tuple[Guess, ...], value: float) -> int | None:
    """The place of an answer among the choices, None where none is right."""
    return next((i for i, guess in enumerate(choices) if _is(guess, value)), None)


def run_of(wanted: str, runs: Runs) -> str:
    """The name of a run by its role or side; the first when none is wanted."""
    for key in runs:
        if wanted in ("", key) or wanted in key.split(" "):
            return key
    raise InputError(f"there is no run {wanted!r}; there are: {', '.join(runs)}")


def figures(
    keys: tuple[str, ...], runs: Runs, measured: Measurements, whose: Counted = "all"
) -> tuple[Figure, ...]:
    """The counts of a slide, of every run that has them, of each side's first, or of side A."""
    names = _SAID[whose](tuple(runs))
    return tuple(
        _figure(key, said, runs[name], measured.get(name))
        for key in keys
        for name, said in names.items()
    )


def _firsts(keys: tuple[str, ...]) -> dict[str, str]:
    """The first run of each side; of two lessons there is no room for all."""
    sides = {side: [key for key in keys if key.split(" ")[0] == side] for side in SIDES}
    return {found[0]: side for side, found in sides.items() if found}


def _of_a(keys: tuple[str, ...]) -> dict[str, str]:
    """Those of A by their roles, "" where there is one."""
    found = [key for key in keys if key.split(" ")[0] == SIDES[0]]
    return {key: key.partition(" ")[2] if len(found) > 1 else "" for key in found}


def _short(keys: tuple[str, ...]) -> dict[str, str]:
    """The names of runs as far as they tell them apart: "A" of "A copy" beside "B copy"."""
    if len(keys) == 1:
        return {keys[0]: ""}
    sides = len({key[1:] for key in keys}) == 1 and {key[0] for key in keys} == set(SIDES)
    return {key: key[0] if sides else key for key in keys}


_SAID: Mapping[Counted, Callable[[tuple[str, ...]], dict[str, str]]] = {
    "all": _short,
    "first": _firsts,
    "A": _of_a,
}


def label(key: str, sectors: bool = True) -> str:
    """A count in words: `load sectors`, `shared load wavefronts`."""
    if key in (TIME, LIMITER):
        return tr("time of a launch") if key == TIME else tr("what limits")
    if key == PHASES:
        return tr("phases of mbarriers")
    space, op, quantity = parts(key)
    said = label_of(op, unit_of(quantity, sectors))
    return said if space == "global" else f"{tr(SPACES[space])}: {said}"


def unit(question: Question, run: Run, value: float) -> str:
    """What the answer counts: `sectors a request`."""
    counted = unit_of(parts(question.count)[2], architecture(run.arch).has_sectors)
    name = counted.said(abs(value - 1) < _SAME)
    if question.per == "launch":
        return tr("{quantity} in the whole launch", quantity=name)
    return tr("{quantity} a request", quantity=name)


def shown(value: float | str) -> str:
    """A number as it is read: whole, or with one digit behind the point; words as they are."""
    if isinstance(value, str):
        return value
    return grouped(value) if abs(value - round(value)) < _SAME else f"{value:,.1f}"


def _counted(question: Question, run: Run) -> float:
    """The count of the launch, or of a request on average."""
    rows = [row for row in run.counts.rows if question.line in (0, row.instruction.line)]
    totals: dict[str, float] = {}
    for row in rows:
        for key, value in row.counts.items():
            totals[key] = totals.get(key, 0) + value
    if not totals.get(_requests(question.count)):
        raise InputError(
            f"{run.trace.launch.kernel} makes no request that {question.count} "
            "counts" + (f" in line {question.line}" if question.line else "")
        )
    try:
        return _of(question, totals)
    except KeyError as error:  # loads of an atomic's loop have no ideal
        raise InputError(
            f"{run.trace.launch.kernel} has no {error} to count {question.count} by"
        ) from None


def _of(question: Question, totals: Mapping[str, float]) -> float:
    value = _value(question.count, totals)
    return value / totals[_requests(question.count)] if question.per == "request" else value


def _value(name: str, totals: Mapping[str, float]) -> float:
    """A count by its name, or the conflicts of a kind of access."""
    space, op, quantity = parts(name)
    if quantity != CONFLICTS:
        return totals[name]
    return DERIVED[CONFLICTS].from_counts((space, op), totals) or 0.0


def _requests(name: str) -> str:
    """The count of the requests that a count is of."""
    space, op, _ = parts(name)
    return count_of((space, op), "requests").value


def _measured(question: Question, run: Run, found: Measurement | None) -> float | None:
    """What a GPU counted, None where it did not, or cannot tell instructions apart.

    What would be ideal no GPU counts: conflicts are what it counted beyond the model's ideal.
    """
    if found is None or question.line or question.count.endswith((_IDEAL, PHASES)):
        return None
    values = _readings(run, found)
    if not values.get(_requests(question.count)):
        return None
    try:
        return _of(question, values)
    except KeyError:
        return None


def _readings(run: Run, found: Measurement) -> dict[str, float]:
    """What a GPU counted, and what would be ideal."""
    predicted = by_name(run.counts.totals)
    ideals = {name: n for name, n in predicted.items() if name.endswith(_IDEAL)}
    return {**ideals, **found.values()}


def _is(guess: Guess, value: float) -> bool:
    try:
        return abs(float(guess) - value) < _SAME
    except (ValueError, OverflowError):
        return False


def _figure(key: str, name: str, run: Run, found: Measurement | None) -> Figure:
    sectors = architecture(run.arch).has_sectors
    if key == TIME:
        timing = found.timing if found is not None else None
        return Figure(label(key), name, None, timing.median if timing else None, found)
    counts = by_name(run.counts.totals)
    predicted = _value(key, counts) if counts.get(_requests(key)) else None
    measured = None
    if predicted is not None and found is not None and not key.endswith(_IDEAL):
        with suppress(KeyError):
            measured = _value(key, _readings(run, found))
    return Figure(label(key, sectors), name, predicted, measured, found)


_RUN = (
    *("lesson", "values", "arch", "level", "launch"),
    *("compare_lesson", "compare_launch", "compare_values", "compare_arch"),
)


def same_run(one: Provenance | None, other: Provenance) -> bool:
    """Whether two views are of the same launches."""
    return all(getattr(one, name, None) == getattr(other, name) for name in _RUN)


def told(question: Question, showing: Exhibit) -> str:
    """The answer and its letter among the choices; InputError when no choice is right."""
    try:
        found = answer(question, showing.runs, {})
    except (KeyError, InputError) as error:
        raise InputError(str(error)) from None
    return tr(
        "The answer is {value} {unit}: choice {letter}.",
        value=shown(found.value),
        unit=found.unit,
        letter=LETTERS[found.right % len(LETTERS)],
    )


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
