"""What every way of running a launch gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from gpuviz.traces.trace import BESIDE, OUTSIDE
from gpuviz.words.language import grouped, tr, trn

if TYPE_CHECKING:  # what shows a run needs none of what makes one
    import numpy.typing as npt

    from gpuviz.compile import Resources
    from gpuviz.memory.counting import Counts
    from gpuviz.memory.counts import Count
    from gpuviz.recordings.measurement import Measurement
    from gpuviz.sass.listing import Listing
    from gpuviz.sass.plan import Difference
    from gpuviz.sweeps.cell import On
    from gpuviz.sweeps.table import Table
    from gpuviz.timing.explanation import Explanation
    from gpuviz.timing.timeline import Timeline
    from gpuviz.traces.trace import Coverage, Trace

Level = Literal["sass", "ptx"]


def not_checked(file: str) -> str:
    """What to know of a program that a file brought; "" where none did."""
    return tr("program from {file}, not checked", file=file) if file else ""


@dataclass(frozen=True, eq=False)
class Companion:
    """What is known of a run's kernel at the size people run it at.

    `role` is the name of that launch, `size` how big it is, in words. `run` is its emulation, None
    while (or where) it has not been emulated; it has no outputs.
    """

    role: str
    size: str
    measurement: Measurement | None = None
    run: Run | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """One launch, run: its trace, the counts predicted from it, and the buffers it left behind.

    `counts` are at `level`; `level_note` says in words why the sass and ptx levels differ, or why
    sass was not to be had. `resources` is what the compiler's log says, None for bare PTX.
    `measurement` is what a GPU made of the very launch, live or recorded; None when there is none.
    `differences` are, at the sass level, the places where machine code and PTX differ, in words;
    `listing` is the machine code, None when there is none. `swept` are the sweeps over this launch
    that its lesson shows, as far as somebody has done them. `unchecked` is the name of the file
    whose program was run, where its source could not be compiled here: that it was compiled from
    the source shown is that file's word. `engine` is what executed the launch, "compiled" or
    "numpy", and `engine_note` why it is not the other. `checked` is what was looked for, of
    `check_table`; `coverage` which of its blocks were executed, `bounds`, of a sample, the
    least and the most that one of its blocks counted, times all blocks. `size` is how big the
    launch is, as its lesson says it; `companion` the same kernel at real size, where this launch is
    small; `companion_of` the run that this one is such a companion of; `others` what a GPU made of
    the launches that its lesson sets beside it. `inputs` are the buffers before the launch, where
    they were kept. `timelines` are modelled multiprocessors over time, where the
    lesson shows some and the device is modelled, `explained` why the launch takes the time it
    takes, likewise.
    """

    trace: Trace
    counts: Counts
    outputs: Mapping[str, npt.NDArray[Any]]
    arch: str
    level: Level
    level_note: str = ""
    resources: Resources | None = None
    measurement: Measurement | None = None
    differences: tuple[Difference, ...] = ()
    listing: Listing | None = None
    swept: Mapping[On, Table] = field(default_factory=dict)
    unchecked: str = ""
    engine: str = ""
    engine_note: str = ""
    checked: tuple[str, ...] = ()
    coverage: Coverage | None = None
    bounds: Mapping[Count, tuple[int, int]] = field(default_factory=dict)
    size: str = ""
    companion: Companion | None = None
    companion_of: str = ""
    others: tuple[Measurement | None, ...] = ()
    inputs: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    timelines: tuple[Timeline, ...] = ()
    explained: Explanation | None = None

    @property
    def timeline(self) -> Timeline | None:
        """The first of the modelled multiprocessors, None where there is none."""
        return self.timelines[0] if self.timelines else None

    @property
    def size_words(self) -> str:
        """How big the launch is, in words."""
        return self.size or self.trace.launch.size_words

    @property
    def sampled(self) -> bool:
        """Whether its numbers are estimates."""
        return self.coverage is not None and self.coverage.how == "sample"

    @property
    def about(self) -> str:
        """What stands before each of its numbers."""
        return "≈ " if self.sampled else ""

    @property
    def note(self) -> str:
        """What to know of its counts; "" when all blocks were executed, and without faults."""
        every = self.coverage.note if self.coverage else "", self.past_faults
        return "; ".join(filter(None, every))

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the run, in words, one sentence each."""
        return tuple(filter(None, (self.level_note, *self.trace.notes, self.past_faults)))

    @property
    def past_faults(self) -> str:
        """What became of accesses at which a GPU would have ended it; "" without any."""
        outside = sum(f.count for f in self.trace.findings if f.kind in (OUTSIDE, BESIDE))
        beyond = trn(
            "of a run with {n} access outside of its memory: it read 0, or was lost",
            "of a run with {n} accesses outside of their memory: reads gave 0, writes were lost",
            outside,
            n=grouped(outside),
        )
        return beyond if outside else ""

    @property
    def whole(self) -> bool:
        """Whether all blocks were executed, so that `outputs` are what the launch leaves behind."""
        return self.coverage is None or self.coverage.whole

    @property
    def modelled(self) -> str:
        """Where its counts come from, in English."""
        file = self.unchecked
        return f"modelled, program from {file}, not checked" if file else "modelled"
