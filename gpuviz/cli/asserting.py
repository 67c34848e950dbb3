"""`--assert` and `--baseline`: what has to be so of the launches that a command counts."""

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from gpuviz.arch import Architecture
from gpuviz.assertions import baseline, report
from gpuviz.assertions.claim import Judgement, judged
from gpuviz.assertions.facts import Facts
from gpuviz.base.errors import InputError
from gpuviz.files import writing as files
from gpuviz.launch.job import Job
from gpuviz.memory.operands import operands_of
from gpuviz.run.run import Run
from gpuviz.words.terminal import err, out

_IDLE = ("update_baseline", "junit", "summary", "annotate")


def asks(arguments: argparse.Namespace) -> bool:
    """Whether something is asserted.

    Raises
    ------
    InputError : a report is asked for, and nothing is asserted, or there is no folder for it
    """
    if arguments.claims or arguments.baseline:
        for report_file in filter(None, (arguments.junit, arguments.summary)):
            files.check_place(report_file)
        return True
    for name in _IDLE:
        if getattr(arguments, name):
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} is for what is asserted: give --assert or --baseline, too")
    return False


def checks_needed(arguments: argparse.Namespace) -> bool:
    """Whether a claim is about what the checks find."""
    return any(word in text for text in arguments.claims for word in ("races", "errors", "finding"))


def of_run(
    run: Run, role: str, job: Job, arch: Architecture, arguments: argparse.Namespace
) -> tuple[str, list[Judgement]]:
    """The launch by its name, and whether each claim holds of it; counts are pinned if asked for.

    Raises
    ------
    InputError : a claim cannot be read, or estimates were to be pinned
    FormatError, OSError : the file of pinned counts
    """
    name = role or baseline.name_of(run)
    operands = operands_of(job.program)
    facts = Facts(run, _modelled(job, arch), lambda: run)
    found = [judged(claim, facts, operands) for claim in arguments.claims]
    if path := arguments.baseline:
        if arguments.update_baseline:
            baseline.pin(path, {name: run})
            err(f"{path}: pinned {name}")
        found.append(baseline.compared(path, name, run, 0.0, operands))
    return name, found


def _modelled(job: Job, arch: Architecture) -> Callable[[], Mapping[str, float]]:
    def model() -> Mapping[str, float]:
        from gpuviz.run import stalls
        from gpuviz.run.predicted import explain

        return stalls.modelled(explain(job, arch))

    return model


def told(found: report.Judged, arguments: argparse.Namespace) -> int:
    """Tell the judgements in every way asked for; how many failed.

    Raises
    ------
    OSError, InputError : a report cannot be written
    """
    file = arguments.file or f"lesson {arguments.scene}"
    if not arguments.json:
        out(report.as_text(found) + "\n")
    elif wrong := report.failed(found):
        err(report.as_text(found) if wrong else "")
    if arguments.junit:
        files.write(arguments.junit, report.junit(found, file))
    if arguments.summary:
        files.write(arguments.summary, report.markdown(found, file))
    if arguments.annotate:
        out(report.annotations(found, file))
        if page := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(page).open("a", encoding="utf-8") as opened:
                opened.write(report.markdown(found, file))
    return report.failed(found)
