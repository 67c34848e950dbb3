"""Exercises: change a kernel until it is better, or find the line; judged by what is emulated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from gpuviz.arguments.array_expressions import evaluate
from gpuviz.base import records, resources
from gpuviz.base.errors import FormatError
from gpuviz.files import folders
from gpuviz.files.writing import write
from gpuviz.lectures.answer import answer_of, shown
from gpuviz.lectures.lecture import Per, Question
from gpuviz.results.quantities import dearest_line
from gpuviz.run.run import Run
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.words.language import tr, trn

_FOLDER = "exercises"
_COUNT = "count"
_CLOSE = 1e-4  # of the largest number expected


@dataclass(frozen=True)
class Exercise:
    """One of resources/exercises/exercises.toml, where its fields are explained."""

    id: str
    title: str
    task: str
    why: str
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[str, ...]
    count: str = ""
    per: Per = "request"
    most: float = 0.0
    result: Mapping[str, str] = field(default_factory=dict)
    find: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether it is solved, and what to say of it."""

    solved: bool
    text: str


@cache
def exercises() -> Mapping[str, Exercise]:
    """All of them, by id.

    Raises
    ------
    FormatError : the file is damaged
    """
    try:
        rows = resources.table(f"{_FOLDER}/exercises.toml")
    except (OSError, ValueError) as error:
        raise FormatError(f"the exercises cannot be read: {error}") from None
    return {name: records.record({"id": name, **row}, Exercise, name) for name, row in rows.items()}


def launch_of(exercise: Exercise) -> KernelLaunch:
    """Its launch, of a copy that the user may change; one that is there already stays as it is.

    Raises
    ------
    InputError : the copy cannot be written
    """
    path = folder() / f"{exercise.id}.cu"
    if not path.exists():
        write(path, resources.text(f"{_FOLDER}/{path.name}"), parents=True)
    launched = exercise.grid, exercise.block, exercise.arguments
    return KernelLaunch(path, exercise.entry, exercise.entry, *launched)


def folder() -> Path:
    """Where the copies lie."""
    return folders.data() / _FOLDER


def exercise_of(file: str) -> Exercise | None:
    """The exercise that a file, as a view stores it, is a copy of."""
    path = Path(file).expanduser()
    return exercises().get(path.stem) if path.parent == folder() else None


def judged(exercise: Exercise, run: Run) -> Verdict:
    """Whether a kernel does what was asked for: no fault, the right result, and cheap enough."""
    for finding in run.trace.findings:
        if finding.severity == "error":
            return Verdict(False, f"✗ {finding.message}")
    for name, expected in exercise.result.items():
        if wrong := _wrong(run, name, expected):
            return Verdict(False, wrong)
    if exercise.count:
        question = Question("", (), exercise.count, exercise.per)
        value, unit = answer_of(question, run)
        told = {"value": shown(value), "unit": unit}
        if value > exercise.most:
            most = shown(exercise.most)
            return Verdict(False, tr("{value} {unit}; wanted: at most {most}", most=most, **told))
        return Verdict(True, tr("✓ Solved: {value} {unit}.", **told) + f" {tr(exercise.why)}")
    return Verdict(True, f"{tr('✓ Solved.')} {tr(exercise.why)}")


def guilty(exercise: Exercise, run: Run) -> frozenset[int]:
    """The lines that are looked for: those that the emulator, or its checks, point at."""
    if exercise.find == _COUNT:
        return frozenset({dearest_line(run, exercise.count)})
    return frozenset(f.line for f in run.trace.findings if f.check == exercise.find)


def guessed(exercise: Exercise, run: Run, line: int) -> Verdict:
    """Whether this is the line that is looked for."""
    if line in guilty(exercise, run):
        return Verdict(True, f"{tr('✓ Line {line}.', line=line)} {tr(exercise.why)}")
    return Verdict(False, tr("✗ It is not line {line}.", line=line))


def _wrong(run: Run, name: str, expected: str) -> str:
    """What of a buffer is not as it has to be; "" where all is."""
    found = run.outputs[name].astype(np.float64)
    wanted = np.asarray(evaluate(expected, run.outputs), np.float64)
    apart = np.abs(found - wanted) > _CLOSE * max(float(np.abs(wanted).max(initial=0)), 1e-30)
    count, first = int(apart.sum()), int(apart.argmax())
    if not count:
        return ""
    return trn(
        "✗ {n} number of {name} is wrong: {name}[{at}] is {found}, not {wanted}",
        "✗ {n} numbers of {name} are wrong: {name}[{at}] is {found}, not {wanted}",
        count,
        name=name,
        at=first,
        found=f"{found[first]:g}",
        wanted=f"{wanted[first]:g}",
    )
