"""Which rewrites are right and faster: each is tried, and what came of it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import Any, Literal

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arguments import BufferSpec, Spec
from gpuviz.base.errors import Cancelled, Error, InputError, KernelFault
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.compile import again
from gpuviz.launch.job import Job
from gpuviz.ptx.options import Options, OutOfTime
from gpuviz.recordings.measurement import largest_difference
from gpuviz.rewrites.atomics import privatise, sum_of_warp
from gpuviz.rewrites.hints import bounds, restrict, unroll
from gpuviz.rewrites.indices import interleave, shapes, swap
from gpuviz.rewrites.kernel_text import KernelText, Rewrite, kernel_text
from gpuviz.rewrites.shared_memory import pad, stage, swizzle
from gpuviz.run import emulated
from gpuviz.run.predicted import explain
from gpuviz.run.run import Run
from gpuviz.source.kernel_names import plain_name, same_kernel
from gpuviz.timing.explanation import Explanation
from gpuviz.traces.check_table import ALL
from gpuviz.words.language import tr

RULES: tuple[Callable[[KernelText, Job], Iterator[Rewrite]], ...] = (
    pad,
    swizzle,
    swap,
    stage,
    interleave,
    privatise,
    sum_of_warp,
    restrict,
    bounds,
    unroll,
    shapes,
)
WORTH = 0.97  # of the time of before: more is no gain
TOLERANCE = 1e-5  # of the largest value, where sums are made in another order
_SECONDS = 20.0  # for each run
_SEED = 7
_LONGEST = 200  # letters of an error

Verdict = Literal["faster", "not faster", "wrong", "does not run"]


@dataclass(frozen=True, eq=False)
class Trial:
    """A rewrite that was tried. `apart` is how far its buffers are from those of before, of their
    largest value; `why` says what is wrong; `microseconds` is what it takes as modelled, None where
    it was not looked at.
    """

    rewrite: Rewrite
    verdict: Verdict
    why: str = ""
    apart: float = 0.0
    microseconds: float | None = None
    job: Job | None = None

    @property
    def outputs(self) -> str:
        """How its buffers compare, in words; "" where they were not looked at."""
        if self.microseconds is None:
            return ""
        if not self.apart:
            return tr("equal, bit by bit")
        said = f"{self.apart:.2g}"
        return tr(
            "within {share} of their largest value: sums are made in another order", share=said
        )


@dataclass(frozen=True, eq=False)
class Advised:
    """A launch, what it takes as modelled, and what was tried; what gains most first."""

    job: Job
    explained: Explanation
    trials: tuple[Trial, ...]

    @property
    def microseconds(self) -> float:
        """What the launch takes as it is."""
        return self.explained.prediction.microseconds

    @property
    def proven(self) -> tuple[Trial, ...]:
        """Those that are right and faster."""
        return tuple(one for one in self.trials if one.verdict == "faster")

    def diff(self, trial: Trial) -> str:
        """What changes in the source."""
        before, after = (
            text.splitlines(keepends=True) for text in (self.job.program.source, trial.rewrite.text)
        )
        name = self.job.program.name
        return "".join(unified_diff(before, after, name, name, n=1))


def advise(
    job: Job, arch: Architecture, *, progress: Progress = quiet, cancel: Cancel = go_on
) -> Advised:
    """Try every rewrite of a launch's kernel.

    Raises
    ------
    InputError : the kernel's text is not at hand, or the launch is at fault or too large to be run
        whole, so that nothing could be proven
    UnavailableError : no time is modelled for this architecture
    Cancelled : `cancel` said so
    and whatever emulating the launch raises
    """
    text = kernel_text(job.program.source, job.entry) if job.program.source else None
    if text is None:
        raise InputError(
            f"the text of {plain_name(job.entry)} is not a whole function that could be rewritten"
        )
    before = _as_it_is(job, arch, cancel)
    known = [(job.arguments, before), *_with_other_data(job, arch, cancel)]
    explained = explain(job, arch, cancel=cancel, advise=False)
    candidates = [one for rule in RULES for one in rule(text, job)]
    trials = list[Trial]()
    for number, one in enumerate(candidates, 1):
        trials.append(_tried(one, job, arch, known, explained, cancel))
        progress(number / len(candidates))
    trials.sort(key=lambda one: (one.verdict != "faster", one.microseconds or np.inf))
    return Advised(job, explained, tuple(trials))


def _as_it_is(job: Job, arch: Architecture, cancel: Cancel) -> Run:
    """The launch, run whole and without fault."""
    large = InputError("the launch is too large to be run whole: prove it on a smaller one")
    try:
        run = _run(job, arch, cancel)
    except OutOfTime:
        raise large from None
    except KernelFault as fault:
        wrong: Sequence[str] = [str(fault)]
    else:
        wrong = _faults(run)
        if not run.whole:
            raise large
    if wrong:
        raise InputError(f"the launch is at fault as it is: {wrong[0]}: mend that first")
    return run


def _tried(
    rewrite: Rewrite,
    job: Job,
    arch: Architecture,
    known: Sequence[tuple[tuple[Spec, ...], Run]],
    explained: Explanation,
    cancel: Cancel,
) -> Trial:
    furthest = 0.0
    try:
        made = _rewritten(job, rewrite)
        for arguments, before in known:
            run = _run(replace(made, arguments=arguments), arch, cancel)
            if wrong := _faults(run):
                return Trial(rewrite, "wrong", wrong[0])
            if not run.whole:
                return Trial(rewrite, "does not run", "it takes longer")
            name, apart = furthest_apart(before.outputs, run.outputs)
            if apart > (TOLERANCE if rewrite.rounds else 0.0):
                return Trial(rewrite, "wrong", f"other values in {name}")
            furthest = max(furthest, apart)
        takes = explain(made, arch, cancel=cancel, advise=False).prediction.microseconds
    except Cancelled:
        raise
    except KernelFault as fault:
        verdict: Verdict = "does not run" if isinstance(fault, OutOfTime) else "wrong"
        return Trial(rewrite, verdict, str(fault).partition(" at PTX line")[0])
    except Error as error:
        return Trial(rewrite, "does not run", " ".join(str(error).split())[:_LONGEST])
    gains = takes < WORTH * explained.prediction.microseconds
    return Trial(rewrite, "faster" if gains else "not faster", "", furthest, takes, made)


def _with_other_data(
    job: Job, arch: Architecture, cancel: Cancel
) -> Iterator[tuple[tuple[Spec, ...], Run]]:
    """The launch once more, with buffers of random values: what is right where all values are alike
    need not be so elsewhere. Nothing where it is at fault with such values, as with indices.
    """
    arguments = tuple(
        replace(one, fill=f"rand({_SEED + number})")
        if isinstance(one, BufferSpec) and one.fill[0] not in "@["
        else one
        for number, one in enumerate(job.arguments)
    )
    try:
        run = _run(replace(job, arguments=arguments), arch, cancel)
    except KernelFault:
        return
    if run.whole and not _faults(run):
        yield arguments, run


def _rewritten(job: Job, rewrite: Rewrite) -> Job:
    changed = rewrite.text != job.program.source
    program = again(job.program, rewrite.text) if changed else job.program
    entry = same_kernel(program.kernels, job.entry)
    grid, block = rewrite.grid or job.grid, rewrite.block or job.block
    return replace(job, program=program, entry=entry, grid=grid, block=block)


def _run(job: Job, arch: Architecture, cancel: Cancel) -> Run:
    wanted = Options(
        record=(), blocks="all", checks=ALL, thorough=True, seconds=_SECONDS, cancel=cancel
    )
    return emulated.run(job, arch, level="ptx", options=wanted)


def _faults(run: Run) -> Sequence[str]:
    return [one.message for one in run.trace.findings if one.severity == "error"]


def furthest_apart(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, float]:
    """The buffer that differs most, and by what share of its largest value; integers differ
    altogether, or are equal.
    """
    apart = {name: _relative(one, after[name]) for name, one in before.items()}
    name = max(apart, key=lambda one: apart[one], default="")
    return name, apart.get(name, 0.0)


def _relative(before: Any, after: Any) -> float:
    if before.tobytes() == after.tobytes():
        return 0.0
    if before.dtype.kind != "f":
        return np.inf
    largest = float(np.nanmax(np.abs(before), initial=0.0))
    return largest_difference(after, before) / largest if largest else np.inf
