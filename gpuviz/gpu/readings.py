"""Counters of launches on the device: one profiler at a time, kept while the same set is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpuviz.gpu.counters import (
    LIVE_FORMS,
    SETS,
    Which,
    all_metrics,
    combine,
    metrics_for,
    readings_of,
)
from gpuviz.gpu.cupti.library import load, unavailable
from gpuviz.gpu.cupti.profiler import Chip, Profiler
from gpuviz.gpu.faults import CountersUnavailable
from gpuviz.gpu.kernel import Kernel


@dataclass(frozen=True)
class CounterValues:
    """Values by key, why there are none under some, and how many times the kernel ran for them."""

    values: dict[str, float]
    whys: dict[str, str]
    passes: int


class Counters:
    """Reads counters in the current context of a device."""

    def __init__(self, cupy: Any, device: int) -> None:
        self._cupy, self._device = cupy, device
        self._chip: Chip | None = None
        self._available: frozenset[str] = frozenset()
        self._profiler: Profiler | None = None

    def _found(self) -> Chip:
        if self._chip is None:
            self._chip = Chip(load(), self._device)
            self._available = self._chip.metrics()
        return self._chip

    def check(self) -> None:
        """Try them once.

        Raises
        ------
        CountersUnavailable : and why
        """
        self._found()
        self._select(metrics_for(LIVE_FORMS, self._available))

    def read(self, kernel: Kernel, which: Which) -> CounterValues:
        """What one launch says, read in groups of what may be read together.

        Raises
        ------
        CountersUnavailable : CUPTI refuses the first group; of others it is noted why
        """
        self._found()
        values: dict[str, float] = {}
        whys: dict[str, str] = {}
        passes = 0
        for chosen in readings_of(metrics_for(SETS[which], self._available)):
            try:
                found, took = self._read(kernel, chosen)
            except CountersUnavailable as error:
                if not values:
                    raise
                whys |= dict.fromkeys(chosen, str(error))
            else:
                values, passes = values | found, passes + took
        return CounterValues(values, whys, passes)

    def _read(
        self, kernel: Kernel, chosen: dict[str, tuple[str, ...]]
    ) -> tuple[dict[str, float], int]:
        """One configuration of the profiler."""
        profiler = self._select(chosen)
        kernel.stay()
        kernel.reset()
        found = profiler.read(lambda: self._launch(kernel))
        if len(found) != 1:
            raise unavailable("failed", f"{len(found)} kernels were measured instead of one")
        return combine(chosen, found[0]), profiler.passes

    def _launch(self, kernel: Kernel) -> None:
        kernel.launch()
        self._cupy.cuda.get_current_stream().synchronize()

    def _select(self, chosen: dict[str, tuple[str, ...]]) -> Profiler:
        metrics = all_metrics(chosen, self._available)
        if self._profiler is not None and self._profiler.metrics == metrics:
            return self._profiler
        if self._profiler is not None:
            self._profiler.close()
            self._profiler = None
        context = self._cupy.cuda.driver.ctxGetCurrent()
        self._profiler = Profiler(self._found(), context, metrics)
        return self._profiler
