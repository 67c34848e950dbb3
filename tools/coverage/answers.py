"""How the figures of the course are come by: functions that resources/coverage.toml names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gpuviz.memory.counts import CountValues
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.story.lesson import Values
from gpuviz.story.perform import Performance


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


Function = TypeVar("Function", bound=Callable[..., str])
# By name; each gets what is shown, and what its row gives it besides.
ANSWERS: dict[str, Callable[..., str]] = {}


def answer(function: Function) -> Function:
    """A function that rows may name."""
    ANSWERS[function.__name__] = function
    return function


@answer
def predicted_ratio(
    shown: Shown, above: str, below: str = "", unit: str = "", role: str = "", by: float = 1.0
) -> str:
    """A count over another one, or over a number, by the counts of a run."""
    return _ratio(shown.run(role).counts.totals, above, below, unit, by)


@answer
def measured_ratio(
    shown: Shown, above: str, below: str = "", unit: str = "", role: str = "", by: float = 1.0
) -> str:
    """The same by the counters, where they hold both."""
    found = shown.measurement(role)
    return _ratio(found.values(), above, below, unit, by) if found else ""


def _ratio(counts: CountValues, above: str, below: str, unit: str, by: float) -> str:
    known = {str(name): value for name, value in counts.items()}
    if above not in known or (below and below not in known):
        return ""
    divisor = (known[below] if below else 1.0) * by
    return with_unit(known[above] / divisor, unit) if divisor else ""


def with_unit(value: float, unit: str) -> str:
    """`4 sectors a request`, `1 sector a request`."""
    singular = re.sub(r"^(\w+?)((?<=s)es|s)\b", r"\1", unit)
    return f"{value:.6g} {singular if value == 1 else unit}"


@answer
def sentence(shown: Shown) -> str:
    """What the lesson says in one sentence."""
    return shown.performance.story.sentence


@answer
def expected(shown: Shown) -> str:
    """What the lesson expects."""
    return shown.performance.story.expected
