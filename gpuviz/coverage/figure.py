"""A figure of the course: where it is shown, what a document says, and how we come by ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.course import lesson
from gpuviz.memory.counts import Count, CountValues
from gpuviz.recordings.lookup import shipped
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.story.check import check_values
from gpuviz.story.lesson import Value, Values
from gpuviz.story.measured import time_of
from gpuviz.story.perform import Performance, perform
from gpuviz.words.language import THIN

Settings = tuple[tuple[str, Value], ...]
UNMEASURED = "not measured"


@dataclass(frozen=True, eq=False)
class Shown:
    """A lesson performed: its values, and its runs with what recordings hold of them."""

    values: Values
    performance: Performance

    def run(self, role: str = "") -> Run:
        """The run of a role, or the first one."""
        runs = self.performance.runs
        return runs[role] if role else next(iter(runs.values()))

    def measurement(self, role: str = "") -> Measurement | None:
        """What was measured of a role, or of the first run."""
        return self.run(role).measurement


class Answer(Protocol):
    """How a number is predicted, and how it is measured where it is."""

    def predicted(self, shown: Shown) -> str:
        """The number of the model, with its unit."""

    def measured(self, shown: Shown) -> str:
        """The number of the recordings, or ""."""


@dataclass(frozen=True)
class Ratio:
    """A count over another one (or over `by`), of the run `role`."""

    above: Count
    below: Count | None = None
    unit: str = ""
    role: str = ""
    by: float = 1.0

    def predicted(self, shown: Shown) -> str:
        """From the counts of the run."""
        return self._text(shown.run(self.role).counts.totals)

    def measured(self, shown: Shown) -> str:
        """From the counters, where they hold both."""
        found = shown.measurement(self.role)
        return self._text(found.values()) if found else ""

    def _text(self, counts: CountValues) -> str:
        if self.above not in counts or (self.below and self.below not in counts):
            return ""
        divisor = (counts[self.below] if self.below else 1.0) * self.by
        return _with_unit(counts[self.above] / divisor, self.unit) if divisor else ""


def _with_unit(value: float, unit: str) -> str:
    """`4 sectors a request`, `1 sector a request`."""
    singular = re.sub(r"^(\w+?)((?<=s)es|s)\b", r"\1", unit)
    return f"{value:.6g} {singular if value == 1 else unit}"


@dataclass(frozen=True)
class Said:
    """A text made of what was shown; nothing of it is measured unless `how` says how."""

    text: Callable[[Shown], str]
    how: Callable[[Shown], str] = field(default=lambda shown: "")

    def predicted(self, shown: Shown) -> str:
        """From the runs."""
        return self.text(shown)

    def measured(self, shown: Shown) -> str:
        """From the recordings."""
        return self.how(shown)


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    `preset` names one of the lesson's presets (its defaults when ""), `settings` what else is
    changed, `timed` the run whose time the measured column gives, `of` which of several runs is
    meant. `why` is said where nothing is measured.
    """

    lesson: str
    answer: Answer
    published: str = ""
    preset: str = ""
    settings: Settings = ()
    arch: str = "sm_90"
    timed: str = ""
    of: str = ""
    why: str = UNMEASURED

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
        return performances(self.lesson, self.preset, self.settings, self.arch)

    @property
    def predicted(self) -> str:
        """Our number."""
        return self.answer.predicted(self.shown())

    @property
    def measured(self) -> str:
        """The recorded number and time, or why there are none."""
        if self.arch not in _measured_architectures():
            return f"no GPU of CC {architecture(self.arch).version}"
        shown = self.shown()
        time = _time(shown.run(self.timed)) if self.timed else ""
        return "; ".join(filter(None, (self.answer.measured(shown), time))) or self.why


def _time(run: Run) -> str:
    """How long the launch took, how big it is, and whether that is the launching more than it."""
    found = time_of(run)
    if found is None:
        return ""
    return f"{found.whole} ({found.size or run.size_words})".replace(THIN, " ")


@dataclass(frozen=True)
class Row:
    """A system of the documents: `table` A to E, which `documents` describe it, and its figures."""

    table: str
    system: str
    documents: tuple[str, ...]
    figures: tuple[Figure, ...]


@cache
def _measured_architectures() -> frozenset[str]:
    """Those that some recording is of."""
    return frozenset(recording.device.sm for recording in shipped().recordings)


@cache
def performances(name: str, preset: str, settings: Settings, arch: str) -> Shown:
    """A lesson performed; as `Figure.shown`."""
    values = values_of(name, preset, settings)
    return Shown(values, perform(lesson(name), values, arch=arch))


def values_of(name: str, preset: str, settings: Settings) -> Values:
    """Of all parameters of a lesson; InputError when there is no such lesson or preset."""
    chosen = lesson(name)
    known = {one.label: one.values for one in chosen.presets}
    if preset and preset not in known:
        raise InputError(f"lesson {name} has no preset {preset!r}; it has: {', '.join(known)}")
    return check_values(chosen, {**known.get(preset, {}), **dict(settings)})
