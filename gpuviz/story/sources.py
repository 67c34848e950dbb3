"""Where live measurements come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from gpuviz.gpu.consent import ConsentList

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuviz.gpu.client import Gpu
    from gpuviz.launch.job import Job
    from gpuviz.run.session import Library
    from gpuviz.story.lesson import Plan


class JobOf(Protocol):
    """Makes a job of a plan."""

    def __call__(self, plan: Plan, arch: str, *, library: Library) -> Job:
        """The launch compiled for an architecture, or one of the library; or an `errors.Error`."""


def _compiled(plan: Plan, arch: str, *, library: Library) -> Job:
    from gpuviz.story.perform import job_of  # the compiler is not needed until something runs

    return job_of(plan, arch, library=library)


@dataclass(frozen=True, eq=False)
class Sources:
    """GPUs, by their numbers, and how a plan becomes a job; without `make_gpu` there is none.

    `agreed` is what the user agreed to run on them of strangers' code.
    """

    make_gpu: Callable[[int], Gpu] | None = None
    job_of: JobOf = _compiled
    agreed: ConsentList = field(default_factory=ConsentList)
