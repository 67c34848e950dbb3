"""Launches that an agent asks for: counted, and explained, in a process of their own, within four
gigabytes; nothing is run on a GPU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gpuviz.api.run import Run as Picturable
from gpuviz.arch import architecture
from gpuviz.assertions.claim import Judgement, judged
from gpuviz.assertions.facts import MODELLED, Facts
from gpuviz.base.errors import InputError
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.cli import check, parser
from gpuviz.cli.count import counted
from gpuviz.cli.launch import jobs, options_of
from gpuviz.cli.options import launch_of_words
from gpuviz.files import bounded
from gpuviz.launch.job import Job
from gpuviz.memory.line_costs import LineCost, line_costs
from gpuviz.memory.operands import operands_of
from gpuviz.rewrites import proof
from gpuviz.rewrites.proof import Advised
from gpuviz.run import predicted, stalls
from gpuviz.run.run import Run
from gpuviz.timing.explanation import Explanation
from gpuviz.traces.check_table import ALL

_KEPT = 32  # launches; the one counted longest ago goes first


@dataclass(frozen=True, eq=False)
class CountedLaunch:
    """A launch and what was counted of it: of all its blocks, or as `run.coverage` says.

    `ended` says that a fault would have ended it on a GPU. `written` is when its file was.
    """

    file: Path
    written: int
    job: Job
    run: Run
    costs: Sequence[LineCost]
    ended: bool

    @property
    def changed(self) -> bool:
        """Whether the file is another one by now."""
        return _written(self.file) != self.written


def look(
    file: str, include: Sequence[str], *, progress: Progress, cancel: Cancel
) -> Mapping[str, Any]:
    """What `gpuviz check` finds in a file, as plain values; raises as it does."""
    folders = (f"--include={folder}" for folder in include)
    return check.checked(Path(file), parser("check").parse_args(["check", file, *folders]))


def count(words: Sequence[str], *, progress: Progress, cancel: Cancel) -> CountedLaunch:
    """Count a launch given by the words of `gpuviz count`, looking for everything it checks for.

    Raises
    ------
    Error : as `gpuviz count` does
    """
    arguments = launch_of_words(words, "mcp")
    options = replace(options_of(arguments), record=(0,), path=True, checks=ALL)
    options = replace(options, progress=progress, cancel=cancel)
    file = Path(arguments.file).absolute()
    written = _written(file)
    ((_, job),) = jobs(arguments).items()
    run, ended = counted(job, architecture(arguments.arch), arguments.level, options)
    costs = line_costs(run.trace, run.counts, operands_of(job.program))
    return CountedLaunch(file, written, job, run, costs, ended)


def explain(launch: CountedLaunch, *, progress: Progress, cancel: Cancel) -> Explanation:
    """Where its time goes, as modelled, and what to change; raises as `predicted.explain`."""
    arch = architecture(launch.run.arch)
    return predicted.explain(launch.job, arch, progress=progress, cancel=cancel, advise=True)


def advise(launch: CountedLaunch, *, progress: Progress, cancel: Cancel) -> Advised:
    """Rewrites of its kernel, tried; raises as `proof.advise`."""
    arch = architecture(launch.run.arch)
    return proof.advise(launch.job, arch, progress=progress, cancel=cancel)


def is_modelled(claim: str) -> bool:
    """Whether it is about time, or the traffic of caches."""
    return any(name in MODELLED for name in re.findall(r"\w+", claim))


def judge(launch: CountedLaunch, claims: Sequence[str], e: Explanation | None) -> list[Judgement]:
    """Whether claims hold; of those about time by `e`. InputError as `claim.judged`."""
    facts = Facts(launch.run, lambda: stalls.modelled(e) if e else {}, lambda: launch.run)
    return [judged(claim, facts, operands_of(launch.job.program)) for claim in claims]


def paint(
    launch: CountedLaunch, line: int, panel: str, *, progress: Progress, cancel: Cancel
) -> bytes:
    """A PNG of what a request of a line does, or of the whole launch; raises as `Run.picture`."""
    picture = Picturable(launch.run, launch.job).picture(panel, line=line)
    with TemporaryDirectory() as folder:
        return bounded.read(picture.save(Path(folder) / "picture.png"))


def _written(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


class Launches:
    """Those counted so far, by the numbers they were given."""

    def __init__(self) -> None:
        """None."""
        self._found: dict[str, CountedLaunch] = {}
        self._explained: dict[str, Explanation] = {}
        self._last = 0

    def add(self, launch: CountedLaunch) -> str:
        """Keep one; its number."""
        self._last += 1
        number = str(self._last)
        self._found[number] = launch
        while len(self._found) > _KEPT:
            oldest = next(iter(self._found))
            del self._found[oldest]
            self._explained.pop(oldest, None)
        return number

    def __getitem__(self, number: str) -> CountedLaunch:
        """Raises InputError where there is none of this number, or none any more."""
        if number not in self._found:
            there = ", ".join(self._found) or "none yet"
            raise InputError(f"there is no launch {number!r} (there are: {there}): call `launch`")
        return self._found[number]

    def explanation(self, number: str) -> Explanation | None:
        """What is known of its time, if it was asked for."""
        return self._explained.get(number)

    def explained(self, number: str, found: Explanation) -> Explanation:
        """Keep what is known of its time."""
        self._explained[number] = found
        return found
