"""`gpuviz report`: what Nsight Compute counted of launches, beside what is predicted of them."""

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.cli.count import counted
from gpuviz.cli.launch import options_of, settings_of
from gpuviz.cli.options import declare
from gpuviz.launch.job import Job
from gpuviz.memory.line_costs import LineCost, line_costs
from gpuviz.memory.operands import operands_of
from gpuviz.recordings import ncu
from gpuviz.recordings.ncu import ProfiledLaunch
from gpuviz.recordings.stall_reasons import PREFIX, waits
from gpuviz.results.residuals import cause
from gpuviz.results.table import text as table
from gpuviz.run import stalls
from gpuviz.run.predicted import explain
from gpuviz.run.profiled import job_of
from gpuviz.run.run import Run
from gpuviz.run.verification import Comparison, compare_run
from gpuviz.words.language import english
from gpuviz.words.terminal import out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    said = "a raw page as CSV, or a .ncu-rep where there is an ncu to read it"
    parser.add_argument("file", type=Path, metavar="FILE", help=said)
    declare(parser, "report", source={"type": Path})


@dataclass(frozen=True, eq=False)
class _Beside:
    """A launch of a report as we predict it, and the line that costs most for no good reason."""

    job: Job
    run: Run
    compared: Sequence[Comparison]
    finding: LineCost | None
    modelled: Mapping[str, float]


def run(arguments: argparse.Namespace) -> int:
    """Print; 0, or 1 when a counter is not as predicted."""
    profiled = ncu.read(arguments.file)
    if not profiled:
        raise InputError(f"{arguments.file} holds no launch: was anything profiled?")
    settings = settings_of(arguments, arguments.source) if arguments.source else None
    told: list[Any] = []
    different = False
    for number, one in enumerate(profiled):
        found = None
        if settings:
            job = job_of(arguments.source, settings, profiled, number)
            found = _predicted(job, one, arguments)
        different |= found is not None and any(not row.equal for row in found.compared)
        if arguments.json:
            told.append(_as_json(one, found))
        else:
            out(f"{number + 1}. {_as_text(one, found)}\n")
    if arguments.json:
        out(json.dumps(told, indent=1))
    return 1 if different else 0


def _predicted(job: Job, one: ProfiledLaunch, arguments: argparse.Namespace) -> _Beside:
    options, arch = replace(options_of(arguments), record=(0,)), architecture(one.capability)
    found, _ = counted(job, arch, arguments.level, options)
    worst = next(iter(line_costs(found.trace, found.counts, operands_of(job.program))), None)
    fine = worst is None or worst.worst.reason.kind == "fine"
    compared = compare_run(one.kernel, found, one.counters)
    modelled = stalls.modelled(explain(job, arch)) if arguments.time else {}
    return _Beside(job, found, compared, None if fine else worst, modelled)


def _as_json(one: ProfiledLaunch, found: _Beside | None) -> Mapping[str, Any]:
    told = {key: value for key, value in asdict(one).items() if key != "metrics"}
    if found is None:
        return told
    rows = [{**vars(c), "difference": c.difference, "equal": c.equal} for c in found.compared]
    worst = found.finding and {
        "line": found.finding.line,
        "reason": found.finding.worst.reason.said,
        "lesson": found.finding.worst.reason.lesson,
    }
    return told | {"compared": rows, "finding": worst, "guesses": dict(found.job.guesses)}


def _as_text(one: ProfiledLaunch, found: _Beside | None) -> str:
    shape = " x ".join(re.sub("(,1)+$", "", ",".join(map(str, s))) for s in (one.grid, one.block))
    head = f"{one.name}  {shape}  {one.device}"
    if found is None:
        read = [(key, _count(n)) for key, n in one.counters.items()]
        return f"{head}\n\n" + table(("counter", "profiled"), read, ">1")
    columns = ("counter", "profiled", "predicted", "difference")
    text = [head, "", table(columns, [*_rows(one, found)], ">1 >2 >3"), "", _verdict(found)]
    if found.job.guesses:
        guesses = ", ".join(f"{name}: {said}" for name, said in found.job.guesses.items())
        text.insert(1, f"not said by the host code, and proposed: {guesses}")
    if found.finding is not None:
        line, why = found.finding, found.finding.worst.reason
        text.append(f"line {line.line}: {line.text}\n  {why.said} (lesson {why.lesson})")
    return "\n".join(text)


def _rows(one: ProfiledLaunch, found: _Beside) -> Iterator[tuple[str, str, str, str]]:
    """Each counter beside what is predicted, or modelled; of reasons to wait their kinds."""
    predicted = {c.quantity: float(c.predicted) for c in found.compared}
    for key, n in {**one.counters, **waits(one.counters)}.items():
        if key.startswith(PREFIX):
            continue
        about = "" if key in predicted else "about "
        ours = predicted.get(key, found.modelled.get(key))
        told = ("", "") if ours is None else (f"{about}{_count(ours)}", _apart(n - ours, ours))
        yield key, _count(n), *told


def _verdict(found: _Beside) -> str:
    """How many counters are equal, and why the others may not be."""
    if not found.compared:
        return "none of these is predicted exactly: docs/counters.md names the metrics that are"
    unequal = [c for c in found.compared if not c.equal]
    words = english("{n} counter", "{n} counters", len(found.compared))
    causes = {cause(c.quantity, found.run): c.quantity for c in unequal}
    said = f"{len(found.compared) - len(unequal)} of {words} as predicted"
    return "\n".join((said, *(f"  {quantity}: {why}" for why, quantity in causes.items())))


def _apart(difference: float, predicted: float) -> str:
    """How far what was profiled is from what is predicted."""
    share = f" ({difference / predicted:+.1%})" if predicted else ""
    return f"{'+' if difference > 0 else ''}{_count(difference)}{share}" if difference else "equal"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.2f}"
