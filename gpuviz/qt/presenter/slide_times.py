"""How long each slide has been shown so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from gpuviz.lectures import pace
from gpuviz.qt.presenter.conductor import Conductor

Clock = Callable[[], float]  # seconds, from whenever


class SlideTimes:
    """Runs from when it is made; `clock` may be another one in tests."""

    def __init__(self, conductor: Conductor, clock: Clock = time.monotonic) -> None:
        self._conductor, self._clock = conductor, clock
        self._begun = self._since = clock()
        self._slide = conductor.slide
        self._past: dict[int, float] = {}
        conductor.moved.connect(self._follow)

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._begun

    @property
    def taken(self) -> Mapping[int, float]:
        """Seconds of each slide that was shown, that shown now included."""
        now = self._past.get(self._slide, 0.0) + self._clock() - self._since
        return {**self._past, self._slide: now}

    @property
    def late(self) -> float | None:
        """Seconds behind the plan, less than 0 when ahead; None without a plan."""
        plan = pace.planned(self._conductor.lecture)
        return pace.behind(plan, self._conductor.slide, self.passed) if sum(plan) else None

    @property
    def told(self) -> str:
        """The slide's time and how far behind it is: `0:50 of 1:30 · on time`."""
        plan, slide = pace.planned(self._conductor.lecture), self._conductor.slide
        late = self.late
        here = pace.beside(self.taken.get(slide, 0.0), plan[slide])
        return f"{here} · {pace.told(late)}" if late is not None else ""

    def _follow(self) -> None:
        if self._conductor.slide != self._slide:
            self._past, self._since = dict(self.taken), self._clock()
            self._slide = self._conductor.slide
