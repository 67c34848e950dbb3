"""One launch, run: what `gpuviz.trace` returns."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gpuviz.api.tables import Counts, Lines, findings, lines, side_by_side
from gpuviz.arguments.specs import ArrayArgument
from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.files.folders import TRACE
from gpuviz.launch.signature import short_name
from gpuviz.processes import programs as processes
from gpuviz.source.kernel_names import plain_name
from gpuviz.traces import file as trace_file
from gpuviz.words.language import english

if TYPE_CHECKING:
    import numpy.typing as npt

    from gpuviz.api.picture import Picture
    from gpuviz.api.time import Limits, Timeline
    from gpuviz.launch.job import Job
    from gpuviz.results.table import Table
    from gpuviz.rewrites.proof import Advised
    from gpuviz.run import run as base
    from gpuviz.run.fidelity import Fidelity
    from gpuviz.timing.explanation import Explanation
    from gpuviz.traces.trace import Trace
    from gpuviz.views.lesson_view import Subject
    from gpuviz.views.time_view import Shown


class Again(Protocol):
    """The same launch, with these blocks recorded, or with its checks at any cost."""

    def __call__(self, record: tuple[int, ...], thorough: bool = False) -> base.Run:
        """Run it; raises as `trace`."""


class Run:
    """One launch of a kernel, executed by the emulator and counted for an architecture.

    Nothing of it changes: `measure` gives another run, that knows its measurement too.
    """

    def __init__(self, run: base.Run, job: Job | None = None, again: Again | None = None) -> None:
        """Use `gpuviz.trace`; `job` is what a GPU would run, `again` records other blocks."""
        self._run, self._job, self._again = run, job, again

    @property
    def kernel(self) -> str:
        """The name of the kernel, as in its source."""
        return short_name(self._run.trace.launch.kernel)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks of the grid."""
        return self._run.trace.launch.grid

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block."""
        return self._run.trace.launch.block

    @property
    def arch(self) -> str:
        """The architecture it is counted for: `sm_90`."""
        return self._run.arch

    @property
    def level(self) -> str:
        """What is counted: "sass", what the assembler made of the code, or "ptx", as written."""
        return self._run.level

    @property
    def trace(self) -> Trace:
        """All that was observed: instructions, and the requests of the recorded blocks."""
        return self._run.trace

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the numbers, in words."""
        found = self._run.measurement
        return (*self._run.notes, *filter(None, found.notes if found else ()))

    @property
    def fidelity(self) -> Fidelity:
        """How sure the counts are: `kind` is "exact", "exact but" or "modelled"; `doubts` say which
        counters may differ on a GPU, why, and to which side.
        """
        from gpuviz.run.fidelity import fidelity

        return fidelity(self._run)

    @property
    def printed(self) -> str:
        """What the kernel wrote with printf."""
        return self._run.trace.printed

    @property
    def counts(self) -> Counts:
        """Requests, sectors, lines and wavefronts of the whole launch: predicted, and measured;
        time and the traffic of caches where they were modelled (`trace(time=True)`, `measure`).
        """
        return Counts(self._run)

    @property
    def lines(self) -> Lines:
        """The same for each line of the source; `.ptx` and `.sass` for each of these."""
        return lines(self._run)

    @property
    def costly(self) -> Table:
        """The accesses of the lines that cost most, first: what is wrong with each, the ideal, and
        the lesson that shows it.
        """
        from gpuviz.api.tables import costly

        return costly(self._recorded(0), self._job)

    @property
    def findings(self) -> Table:
        """What the checks found: races, accesses outside, uninitialised reads; empty when clean."""
        return findings(self._run)

    @property
    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """The buffers as the launch left them, by the names of the kernel's parameters.

        Of a launch too large to be executed whole they are those of the blocks that were.
        """
        return self._run.outputs

    @property
    def times(self) -> dict[str, float]:
        """Microseconds on the GPU (`median_us`, `minimum_us`, ...); empty until `measure`."""
        from gpuviz.results.rows import times

        return times(self._run.measurement) if self._run.measurement else {}

    def picture(
        self,
        panel: str = "",
        *,
        line: int = 0,
        block: int = 0,
        warp: int = 0,
        turn: int = 1,
        theme: str = "light",
        size: tuple[int, int] = (1120, 630),
    ) -> Picture:
        """What the memory system makes of one request of one warp.

        Parameters
        ----------
        panel : "coalescing" (global memory), "banks" (shared memory), "lanes" (over time), "phases"
            (of all warps) or "buffer" (its elements); "" for the memory of whichever request comes;
            "timeline" (a multiprocessor, cycle by cycle) and "limits" are of the whole launch
        line : of the source whose request is shown, 0 for the first
        block, warp, turn : which block and warp of it, and of a loop the how-manieth time around

        Raises
        ------
        InputError : this warp makes no such request
        """
        from gpuviz.api.picture import of_request

        if panel in ("timeline", "limits"):
            from gpuviz.api.time import pictured

            shown: Shown = "timeline" if panel == "timeline" else "limits"
            return pictured(self._explained, shown, theme, size)
        return of_request(self._recorded(block), panel, line, block, warp, turn, theme, size)

    def timeline(self, since: float = 0.0) -> Timeline:
        """What each warp of one multiprocessor does or waits for, cycle by cycle, as modelled: from
        a cycle on, as far as 1,048,576 instructions reach (`.record.recorded`).

        Raises
        ------
        InputError : all is over before that cycle
        UnavailableError : no time is modelled for this architecture, or there is no machine code
        """
        from gpuviz.api.time import Timeline

        subject = self._explained
        return Timeline(replace(subject, explained=subject.explained.since(since)))

    @property
    def limits(self) -> Limits:
        """The cycles that each resource works, what limits, and what would be without it, as
        modelled; raises as `timeline`.
        """
        from gpuviz.api.time import Limits

        return Limits(self._explained)

    @cached_property
    def _explained(self) -> Subject:
        from gpuviz.views.lesson_view import Subject

        if self._job is None:
            raise UnavailableError("this run is not of a kernel that could be launched here")
        found = _explained(self._run, self._job)
        return Subject(found, self.kernel, self._run.trace.source, self.arch)

    def advice(self) -> Advised:
        """Rewrites of the kernel that were tried for this launch: `.proven` are right and faster,
        `.diff` shows each, `.trials` has the others with the reason.

        Raises
        ------
        InputError : the kernel's text is not at hand, or nothing can be proven of this launch
        UnavailableError : no time is modelled for this architecture
        """
        from gpuviz.arch import architecture
        from gpuviz.rewrites.proof import advise

        if self._job is None:
            raise UnavailableError("this run is not of a kernel that could be launched here")
        return advise(self._job, architecture(self.arch))

    def compare(self, other: Run) -> Table:
        """This run (A) and another (B): counts, instructions, registers, times."""
        return side_by_side(self._run, other._run)

    def measure(self, *, repeats: int = 100, device: int = 0) -> Run:
        """The same run with what a GPU measures of it: hardware counters, and times of `repeats`
        launches on fresh copies of its arrays, beside the time that is modelled.

        Raises
        ------
        UnavailableError : there is no GPU, or nothing that could be launched there
        InputError : the GPU is of another architecture than was counted for
        """
        from gpuviz.gpu import live
        from gpuviz.gpu.client import Gpu

        if self._job is None:
            raise UnavailableError("this run is not of a kernel that could be launched here")
        with Gpu(device) as gpu:
            facts = gpu.facts()
            if facts.sm != self.arch:
                raise InputError(
                    f"{facts.name} is {facts.sm}, and this run was counted for {self.arch}: "
                    f"trace it with arch={facts.sm!r}"
                )
            options = live.MeasureOptions(repeats, peaks=gpu.peaks())
            comparable = self._run.whole and not _repeats(self._job)
            expected = self._run.outputs if comparable else None
            found = live.measure(gpu, self._job, options, expected=expected)
        run = with_time(replace(self._run, measurement=found), self._job)
        return Run(run, self._job, self._again)

    def show(self) -> None:
        """Open the window with this run, in a process of its own; the program goes on, and the
        run's file stays in the folder of temporary files.
        """
        name = (
            re.sub(r"\W+", "-", plain_name(self._run.trace.launch.kernel)).strip("-")[:60] or "run"
        )
        file = Path(tempfile.mkdtemp(prefix="gpuviz-")) / f"{name}{TRACE}"
        trace_file.save(self._run.trace, file)
        subprocess.Popen(
            processes.python("gpuviz", "--", str(file)),
            env=processes.environment(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def save(self, path: str | Path) -> Path:
        """Write what was observed as a .gputrace file, which the window opens; the file's path."""
        trace_file.save(self._run.trace, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        """The launch and its most telling counts, in a few lines."""
        shape = " x ".join(",".join(map(str, _cut(n))) for n in (self.grid, self.block))
        head = f"{self.kernel}  {shape}  {self.arch}, {self.level} level"
        found = len(self.findings)
        word = english("{n} finding", "{n} findings", found)
        told = [f"{word}: see .findings"] if found else []
        return "\n".join([head, *self.counts.brief(), *told])

    def _repr_html_(self) -> str:
        from gpuviz.api.picture import of_run

        return of_run(self._run).html()

    def _recorded(self, block: int) -> base.Run:
        """The run with the requests of a block."""
        if block in self._run.trace.recorded:
            return self._run
        if not 0 <= block < self._run.trace.launch.blocks:
            raise InputError(
                f"there is no block {block}: the grid has {self._run.trace.launch.blocks:,}"
            )
        if self._again is None:
            raise InputError(f"the requests of block {block} were not recorded")
        return self._again((block,))


def _repeats(job: Job) -> bool:
    """Whether an array is given twice: on the GPU each argument has its own copy."""
    given = [id(spec.values) for spec in job.arguments if isinstance(spec, ArrayArgument)]
    return len(set(given)) < len(given)


def _cut(sizes: tuple[int, int, int]) -> tuple[int, ...]:
    """`(64, 1, 1)` as `(64,)`."""
    last = max((n for n, size in enumerate(sizes, 1) if size > 1), default=1)
    return sizes[:last]


def with_time(run: base.Run, job: Job) -> base.Run:
    """The run explained, or with a note why no time is modelled of it."""
    try:
        return replace(run, explained=_explained(run, job))
    except UnavailableError as why:
        return replace(run, trace=replace(run.trace, notes=(*run.trace.notes, str(why))))


def _explained(run: base.Run, job: Job) -> Explanation:
    from gpuviz.arch import architecture
    from gpuviz.run.predicted import explain

    return run.explained or explain(job, architecture(run.arch))
