"""`gpuviz advise`: rewrites of a kernel that are right and faster, each proven."""

import argparse
import json
from pathlib import Path
from typing import Any

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.cli.launch import ProgressLine, jobs
from gpuviz.cli.options import declare_launch
from gpuviz.compile import demangled
from gpuviz.files import writing
from gpuviz.panels.limit_words import model_note
from gpuviz.rewrites.proof import Advised, Trial, advise
from gpuviz.traces.geometry import Triple
from gpuviz.words.language import duration
from gpuviz.words.terminal import out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    declare_launch(parser, "advise", out={"type": Path})


def run(arguments: argparse.Namespace) -> int:
    """Try, print, write; 0 when something helps."""
    if arguments.scene:
        raise InputError("advise is for a FILE: a lesson's kernels are as they are taught")
    (job,) = jobs(arguments).values()
    found = advise(job, architecture(arguments.arch), progress=ProgressLine("trying"))
    out(json.dumps(as_json(found), indent=1) if arguments.json else as_text(found))
    if arguments.out and found.proven:
        writing.write(arguments.out, found.proven[0].rewrite.text)
    return 0 if found.proven else 1


def as_text(found: Advised) -> str:
    """For people: what is proven with its change, then what was tried and left."""
    kernel = demangled(found.job.entry).partition("(")[0]
    head = (
        f"{kernel}: {duration(found.microseconds)}; {model_note(found.explained.prediction.device)}"
    )
    parts = [head]
    for number, one in enumerate(found.proven, 1):
        title = f"{number}. {_does(one)}: {_gain(found, one)}; buffers {one.outputs}"
        launch = _launch(found, one)
        parts.append("\n".join(filter(None, (title, launch, found.diff(one).rstrip()))))
    left = [one for one in found.trials if one.verdict != "faster"]
    if left:
        said = (f"  {_does(one)}: {_left(one)}" for one in left)
        parts.append("\n".join(("tried, and left:", *said)))
    return "\n\n".join(parts if found.trials else [head, "nothing to try was found"])


def _does(one: Trial) -> str:
    return f"{one.rewrite.does} (line {one.rewrite.line})"


def _gain(found: Advised, one: Trial) -> str:
    assert one.microseconds is not None
    times = found.microseconds / one.microseconds
    return f"{duration(one.microseconds)} as modelled, {times:.3g} times as fast"


def _launch(found: Advised, one: Trial) -> str:
    """The sizes of the launch, where they change."""
    rewrite, job = one.rewrite, found.job
    if (rewrite.grid or job.grid, rewrite.block or job.block) == (job.grid, job.block):
        return ""
    return f"launched with grid {_sizes(rewrite.grid)}, block {_sizes(rewrite.block)}"


def _sizes(sizes: Triple | None) -> str:
    return ",".join(map(str, sizes or ()))


def _left(one: Trial) -> str:
    if one.verdict == "not faster":
        assert one.microseconds is not None
        return f"right, not faster ({duration(one.microseconds)} as modelled)"
    return f"{one.verdict}: {one.why}"


def as_json(found: Advised) -> dict[str, Any]:
    """Everything tried, as plain values."""
    return {
        "kernel": demangled(found.job.entry),
        "microseconds": found.microseconds,
        "modelled": model_note(found.explained.prediction.device),
        "trials": [trial_json(found, one) for one in found.trials],
    }


def trial_json(found: Advised, one: Trial) -> dict[str, Any]:
    """One of them; with its change where it is right and faster."""
    rewrite = one.rewrite
    return {
        "rule": rewrite.rule,
        "does": rewrite.does,
        "line": rewrite.line,
        "verdict": one.verdict,
        "why": one.why,
        "outputs": one.outputs,
        "microseconds": one.microseconds,
        "grid": list(rewrite.grid or found.job.grid),
        "block": list(rewrite.block or found.job.block),
        "diff": found.diff(one) if one.verdict == "faster" else "",
    }
