"""Which GPUs there are, what the one in use is doing, and the newest it measured of each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement
from gpuviz.words.language import later, tr

if TYPE_CHECKING:
    from gpuviz.gpu.consent import Code

Activity = Literal["looking", "idle", "once", "continuous"]
USES = (0.1, 0.25, 0.5, 1.0)  # shares of its time that a GPU may be kept busy
KEPT = 10_000  # durations of a run, the newest ones
NOT_ASKED = later("no GPU has been asked")


@dataclass(frozen=True)
class State:
    """What there is and what it does; `why` there is no GPU, `trouble` with the last launch, and
    code of strangers that did not run because it is not agreed to.
    """

    devices: tuple[DeviceFacts, ...] = ()
    device: DeviceFacts | None = None
    why: str = NOT_ASKED
    activity: Activity = "idle"
    trouble: str = ""
    use: float = 0.1
    recorded: str = ""
    unagreed: tuple[Code, ...] = ()


def why_of(state: State) -> str:
    """Why there is no GPU, in the language in use."""
    return tr(state.why)


class LatestMeasurements(Mapping[str, Measurement]):
    """Measurements by the names of their runs; a live one takes the place of a recorded one."""

    def __init__(self, known: Mapping[str, Measurement] = MappingProxyType({})) -> None:
        self._found: dict[str, Measurement] = dict(known)

    def __getitem__(self, key: str) -> Measurement:
        """The newest measurement of a run."""
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        """The names of the runs that are measured."""
        return iter(self._found)

    def __len__(self) -> int:
        """How many runs are measured."""
        return len(self._found)

    def take(self, key: str, measurement: Measurement) -> None:
        """A whole measurement of a run."""
        self._found[key] = measurement

    def time(self, key: str, microseconds: F64) -> None:
        """More durations of a run that has been measured."""
        before = self._found.get(key)
        if before is not None and before.timing is not None:
            all_of_them = np.concatenate([before.timing.microseconds, microseconds])
            timing = replace(before.timing, microseconds=all_of_them[-KEPT:])
            self._found[key] = replace(before, timing=timing)

    def read(self, key: str, readings: Mapping[str, CounterValue]) -> None:
        """Newer readings of a run that has been measured."""
        before = self._found.get(key)
        if before is not None:
            self._found[key] = replace(before, counters={**before.counters, **readings})
