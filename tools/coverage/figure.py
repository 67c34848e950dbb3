"""A figure of the course: where it is shown, what a document says, and how we come by ours.

The rows stand in resources/coverage.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from gpuviz.arch import architecture
from gpuviz.base import resources
from gpuviz.base.errors import InputError
from gpuviz.cli.launches_to_record import values_of
from gpuviz.course import lesson
from gpuviz.recordings.lookup import shipped
from gpuviz.run.run import Run
from gpuviz.story.lesson import Values
from gpuviz.story.measured import time_of
from gpuviz.story.perform import perform
from gpuviz.words.language import THIN
from tools.coverage import matrices, memory, organisation
from tools.coverage.answers import ANSWERS, Shown

_MODULES = (organisation, memory, matrices)  # whose answers enter ANSWERS as they are read

UNMEASURED = "not measured"
# The name of an answer, or that and what it is given.
Answer = str | list[Any]


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    `preset` names one of the lesson's presets (its defaults when ""), `settings` what else is
    changed, `predicted` and `measured` the answers, `timed` the run whose time the measured column
    gives, `of` which of several runs is meant. `unmeasured` is said where nothing is measured.
    """

    lesson: str
    predicted: Answer = ""
    measured: Answer = ""
    published: str = ""
    preset: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    arch: str = "sm_90"
    timed: str = ""
    of: str = ""
    unmeasured: str = UNMEASURED

    @property
    def values(self) -> Values:
        """Of all parameters of its lesson; InputError as `shown`."""
        return values_of(self.lesson, self.preset, self.settings)

    def shown(self) -> Shown:
        """The lesson, performed with these values.

        Raises
        ------
        InputError : there is no such lesson or preset, or the values make no sense
        """
        return performed(self.lesson, self.preset, tuple(self.settings.items()), self.arch)

    def prediction(self) -> str:
        """Our number."""
        return _answered(self.predicted, self.shown())

    def measurement(self) -> str:
        """The recorded number and time, or why there are none."""
        if self.arch not in _measured_architectures():
            return f"no GPU of CC {architecture(self.arch).version}"
        shown = self.shown()
        time = _time(shown.run(self.timed)) if self.timed else ""
        return "; ".join(filter(None, (_answered(self.measured, shown), time))) or self.unmeasured


def _answered(named: Answer, shown: Shown) -> str:
    """What an answer says.

    Raises
    ------
    InputError : there is no such answer
    """
    if not named:
        return ""
    name, given = (named, []) if isinstance(named, str) else (named[0], named[1:])
    if name not in ANSWERS:
        raise InputError(f"tools/coverage has no answer {name!r}; it has: {', '.join(ANSWERS)}")
    return ANSWERS[name](shown, *given)


def _time(run: Run) -> str:
    """How long the launch took, how big it is, and whether that is the launching more than it."""
    found = time_of(run)
    if found is None:
        return ""
    return f"{found.whole} ({found.size or run.size_words})".replace(THIN, " ")


@dataclass(frozen=True)
class System:
    """A system of the documents: `table` A to E, which `documents` describe it, and its figures."""

    table: str
    name: str
    documents: tuple[str, ...]
    figures: tuple[Figure, ...]


@cache
def systems() -> tuple[System, ...]:
    """Those of resources/coverage.toml, in its order."""
    return tuple(_systems(resources.table("coverage.toml")))


def _systems(data: Mapping[str, Any]) -> Iterator[System]:
    for row in data["system"]:
        figures = tuple(Figure(**one) for one in row["figures"])
        yield System(row["table"], row["name"], tuple(row["documents"]), figures)


@cache
def _measured_architectures() -> frozenset[str]:
    """Those that some recording is of."""
    return frozenset(recording.device.sm for recording in shipped().recordings)


@cache
def performed(name: str, preset: str, settings: tuple[tuple[str, Any], ...], arch: str) -> Shown:
    """A lesson performed; as `Figure.shown`."""
    values = values_of(name, preset, dict(settings))
    return Shown(values, perform(lesson(name), values, arch=arch))
