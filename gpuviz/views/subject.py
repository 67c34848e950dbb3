"""A launch whose time is explained, and how it is found among those that a view shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gpuviz.base.errors import UnavailableError
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.run.run import Cancel, Progress
    from gpuviz.story.exhibit import Exhibit, Variant
    from gpuviz.story.lesson import Plan
    from gpuviz.timing.explanation import Explanation


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


def explained(variant: Variant, plan: Plan, progress: Progress, cancel: Cancel) -> Subject:
    """The launch explained; the libraries for it are loaded now.

    Raises
    ------
    UnavailableError : no device of its architecture is modelled, or there is no machine code
    Cancelled : `cancel` said so
    """
    from gpuviz.arch import architecture
    from gpuviz.compile import demangled
    from gpuviz.ptx.options import Options
    from gpuviz.run.explained import explain
    from gpuviz.story.perform import job_of

    job = job_of(plan, variant.arch, variant.prebuilt, variant.library)
    options = Options(seconds=variant.seconds)
    found = explain(
        job, architecture(variant.arch), options=options, progress=progress, cancel=cancel
    )
    return Subject(found, demangled(job.entry), job.program.source, variant.arch)


def explained_of(showing: Exhibit, key: str, progress: Progress, cancel: Cancel) -> Subject:
    """One of the launches shown, explained; raises as `wish_of` and `explained`."""
    run = showing.runs.get(key)
    if run is not None and run.explained is not None:
        return Subject(run.explained, run.trace.launch.kernel, run.trace.source, run.arch)
    wish = wish_of(showing, key)
    return explained(wish.variant, wish.plan, progress, cancel)
