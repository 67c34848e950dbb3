"""What is exported: a story at a moment or over a stretch of time, on its stage, with its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.processes.calls import here
from gpuviz.run.run import Run
from gpuviz.story.lesson import Story
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.story.exhibit import Exhibit, Variant
    from gpuviz.story.lesson import Plan
    from gpuviz.timing.explanation import Explanation


Explain = Callable[[str, Progress, Cancel], "Subject"]  # the first is the name of a run


@dataclass(frozen=True, eq=False)
class View:
    """A story with all that its pictures need; `provenance` holds moment, theme and size.

    `runs` are those the story tells of, by the roles that its steps name; two variants beside each
    other have "A naive" and "B naive". `explain` finds out where the time of one of them goes, None
    where nothing was launched.
    """

    story: Story
    runs: Mapping[str, Run]
    provenance: Provenance
    explain: Explain | None = None

    @property
    def stage(self) -> Stage:
        """What it is drawn on."""
        made = self.provenance
        return Stage(made.width, made.height, THEMES[made.theme], made.letters)

    def frame(self, t: float, transparent: bool = False) -> Frame:
        """The picture at a time, without its ground if asked."""
        drawn = self.story.frame(t, self.stage)
        return replace(drawn, ground=np.zeros(4, np.uint8)) if transparent else drawn

    def subject(self, progress: Progress, cancel: Cancel) -> Subject:
        """The launch that is shown at the view's own moment, with where its time goes.

        Raises
        ------
        InputError : nothing was launched
        UnavailableError : no time is modelled of it
        Cancelled : `cancel` said so
        """
        if self.explain is None:
            raise InputError("nothing is launched here: there is no timeline to write")
        steps = self.story.steps
        role = steps[self.story.step_at(self.provenance.time)].role if steps else ""
        return self.explain(role or next(iter(self.runs), ""), progress, cancel)

    @property
    def still(self) -> Frame:
        """The picture at the view's own moment."""
        return self.frame(self.provenance.time)


@dataclass(frozen=True, eq=False)
class Subject:
    """A launch that was explained: the name of its kernel, its source, and its architecture."""

    explained: Explanation
    kernel: str
    source: str
    arch: str


class Wish(NamedTuple):
    """The launch that is to be explained: its name among those shown, and how it is launched."""

    key: str
    variant: Variant
    plan: Plan


def wish_of(showing: Exhibit, key: str) -> Wish:
    """The launch of a run; its companion's, where there is one: that is the size people run.

    Raises
    ------
    UnavailableError : it was opened from a file, and cannot be launched here
    """
    beside = {of: companion for companion, of in showing.companions.items()}
    key = beside.get(key, key)
    for side in showing.sides:
        for plan in side.performance.plans:
            if side.key(plan.role) == key:
                return Wish(key, side.variant, plan)
    raise UnavailableError(tr("This run is not of a launch: it cannot be run once more."))


def explained(
    variant: Variant,
    plan: Plan,
    progress: Progress,
    cancel: Cancel,
    call: Callable[..., Explanation] = here,
) -> Subject:
    """The launch explained, by a `call` here or elsewhere; the libraries for it are loaded now.

    Raises
    ------
    UnavailableError : no device of its architecture is modelled, or there is no machine code
    Cancelled : `cancel` said so
    """
    from gpuviz.arch import architecture
    from gpuviz.compile import demangled
    from gpuviz.ptx.options import Options
    from gpuviz.run.predicted import explain
    from gpuviz.story.perform import job_of

    job = job_of(plan, variant.arch, variant.prebuilt, variant.library)
    wanted = job, architecture(variant.arch), True, Options(seconds=variant.seconds)
    found = call(explain, *wanted, progress=progress, cancel=cancel)
    return Subject(found, demangled(job.entry), job.program.source, variant.arch)


def explained_of(showing: Exhibit, key: str, progress: Progress, cancel: Cancel) -> Subject:
    """One of the launches shown, explained; raises as `wish_of` and `explained`."""
    run = showing.runs.get(key)
    if run is not None and run.explained is not None:
        return Subject(run.explained, run.trace.launch.kernel, run.trace.source, run.arch)
    wish = wish_of(showing, key)
    return explained(wish.variant, wish.plan, progress, cancel)
