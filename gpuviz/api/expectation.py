"""`gpuviz.expect`: what a test demands of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gpuviz.assertions import baseline, settings
from gpuviz.assertions.claim import Judgement, judged
from gpuviz.assertions.facts import Facts
from gpuviz.base.errors import Error, InputError
from gpuviz.memory.operands import operands_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from gpuviz.api.picture import Picture
    from gpuviz.api.run import Run
    from gpuviz.run import run as base

Line = int | str | None
_TIME = re.compile(r"([\d.]+) ?(ns|us|µs|ms|s)")
_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}


class ExpectationError(AssertionError):
    """A run is not as a test demands; `judgement` has the numbers, `picture` shows the place."""

    def __init__(self, run: Run, judgement: Judgement) -> None:
        """Says which launch, what was demanded, what is, and which lines are to blame."""
        shape = " x ".join(",".join(map(str, size)) for size in (run.grid, run.block))
        head = f"{run.kernel}  {shape}  {run.arch}, {run.level} level"
        super().__init__(f"{head}\n{judgement.text}")
        self.judgement = judgement
        self._run = run

    def picture(self) -> Picture | None:
        """The request that costs most of what was demanded not to be; None where there is none."""
        for place in self.judgement.places:
            if place.panel:
                try:
                    return self._run.picture(place.panel, line=place.line)
                except Error:  # of a warp or a block that makes no such request
                    continue
        return None


class Expectation:
    """Demands on one run, in a row: each gives this object back, or raises ExpectationError.

    A line is its number, or a part of its text that no other line has.
    """

    def __init__(self, run: Run) -> None:
        """Use `gpuviz.expect`."""
        self._run = run
        job = run._job
        self._operands = operands_of(job.program) if job is not None else None

    def that(self, claim: str) -> Expectation:
        """A claim over the counts by their names, as on the command line:
        `global_load_sectors <= 1.1 * global_load_sectors_ideal`, `line(12).shared_conflicts == 0`.

        Raises
        ------
        ExpectationError : it does not hold, or cannot be judged of this run
        InputError : it cannot be read, or names what no run has
        """
        __tracebackhide__ = True
        return self._demand(judged(claim, self._facts, self._operands))

    def no_bank_conflicts(self, *, line: Line = None) -> Expectation:
        """Shared memory is served in as few wavefronts as there can be."""
        __tracebackhide__ = True
        return self.that(f"{_of(line)}shared_conflicts == 0")

    def sectors(
        self,
        *,
        at_most: float,
        of: Literal["", "ideal"] = "",
        line: Line = None,
        op: Literal["", "load", "store", "atomic", "reduction"] = "",
    ) -> Expectation:
        """Sectors of global memory: so many, or with `of="ideal"` so many times as many as lanes
        that ask for consecutive elements would need.
        """
        __tracebackhide__ = True
        name = f"{_of(line)}global_{op}_sectors" if op else f"{_of(line)}global_sectors"
        return self.that(f"{name} <= {at_most!r}" + (f" * {name}_ideal" if of else ""))

    def no_races(self) -> Expectation:
        """The race check found nothing."""
        __tracebackhide__ = True
        return self.that("races == 0")

    def no_findings(self) -> Expectation:
        """No check found anything: races, accesses outside, uninitialised reads, barriers."""
        __tracebackhide__ = True
        return self.that("findings == 0")

    def no_spills(self) -> Expectation:
        """No registers are spilled, and nothing lies in local memory."""
        __tracebackhide__ = True
        return self.that("spill_loads_bytes + spill_stores_bytes == 0 and local_requests == 0")

    def registers(self, *, at_most: int) -> Expectation:
        """Registers of a thread, as the compiler says."""
        __tracebackhide__ = True
        return self.that(f"registers_per_thread <= {at_most!r}")

    def time(self, *, at_most: str | float) -> Expectation:
        """`"30 us"`, or microseconds: as measured where the run was (`run.measure()`), else as
        modelled.
        """
        __tracebackhide__ = True
        name = "measured_us" if self._run.times else "time_us"
        return self.that(f"{name} <= {_microseconds(at_most)!r}")

    def no_slower_than(self, other: Run, *, within: float = 0.0) -> Expectation:
        """It takes no longer than another run, both as modelled (or both as measured); `within` is
        what it may take more, a fraction.
        """
        __tracebackhide__ = True
        name = "measured_us" if self._run.times and other.times else "time_us"
        of = Expectation(other)._facts.value(name)
        return self.that(f"{name} <= {of!r} * {1 + within!r}")

    def array(self, name: str, expected: Any, *, within: float = 0.0) -> Expectation:
        """A buffer after the launch, by the parameter's name: as expected, each element within a
        fraction of what is expected of it.
        """
        __tracebackhide__ = True
        return self._demand(_of_array(self._run, name, np.asarray(expected), within))

    def same_counts_as(
        self, file: str | Path, *, within: float = 0.0, name: str = ""
    ) -> Expectation:
        """The counts that a file has pinned, by the kernel's name or this one; each within a
        fraction. `pytest --gpuviz-update`, or GPUVIZ_UPDATE=1, writes them.

        Raises
        ------
        InputError : counts of a sample were to be pinned
        FormatError, OSError : the file is another, or cannot be read or written
        """
        __tracebackhide__ = True
        path, run = settings.folder() / file, self._run._run
        key = name or baseline.name_of(run)
        if settings.updating():
            baseline.pin(path, {key: run})
        return self._demand(baseline.compared(path, key, run, within, self._operands))

    def __repr__(self) -> str:
        return f"{self._run.kernel}: as demanded"

    @property
    def _facts(self) -> Facts:
        return Facts(self._run._run, self._modelled, self._checked)

    def _modelled(self) -> dict[str, float]:
        from gpuviz.run import stalls

        return stalls.modelled(self._run._explained.explained)

    def _checked(self) -> base.Run:
        """The run with its checks, which large launches go without."""
        again = self._run._again
        return again(self._run._run.trace.recorded, thorough=True) if again else self._run._run

    def _demand(self, found: Judgement) -> Expectation:
        __tracebackhide__ = True
        if not found.holds:
            raise ExpectationError(self._run, found)
        return self


def expect(run: Run) -> Expectation:
    """What a test demands of a run; the first that does not hold raises ExpectationError.

    >>> import gpuviz
    >>> copy = "__global__ void copy(float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }"
    >>> run = gpuviz.trace(copy, 1, 32, ("f32[32]=rand", "f32[32]=zeros"))
    >>> gpuviz.expect(run).no_bank_conflicts().sectors(at_most=1.1, of="ideal").no_races()
    copy: as demanded
    """
    return Expectation(run)


def _of(line: Line) -> str:
    return "" if line is None else f"line({line!r})."


def _microseconds(at_most: str | float) -> float:
    if not isinstance(at_most, str):
        return float(at_most)
    found = _TIME.fullmatch(at_most.strip())
    if not found:
        raise InputError(f"time(at_most={at_most!r}): write it as in '30 us', '1.5 ms'")
    return float(found[1]) * _MICROSECONDS[found[2]]


def _of_array(run: Run, name: str, expected: npt.NDArray[Any], within: float) -> Judgement:
    """Whether a buffer is as expected."""
    claim = f"array {name} as expected" + (f" within {within:.3g}" if within else "")
    found = run.arrays.get(name)
    if found is None:
        known = ", ".join(run.arrays) or "none"
        raise InputError(f"there is no array {name!r}; there are: {known}")
    if not run._run.whole:
        return Judgement(claim, None, 'cannot be judged: not all blocks were run: blocks="all"')
    if found.size != expected.size:
        return Judgement(claim, False, f"it has {found.size:,} elements, not {expected.size:,}")
    is_now, should = found.ravel(), expected.ravel()
    close = np.isclose(is_now, should, rtol=within, atol=0, equal_nan=True)
    wrong = np.flatnonzero(~close)
    if not len(wrong):
        return Judgement(claim, True, f"{found.size:,} elements")
    at = int(wrong[0])
    told = f"{len(wrong):,} of {found.size:,} elements are not, the first [{at}]: "
    return Judgement(claim, False, f"{told}it is {is_now[at]}, expected {should[at]}")
