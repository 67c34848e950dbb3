"""`gpuviz compare`: two launches side by side, A and B, the ratio first."""

import argparse
import json
import math
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpuviz.arch import architecture
from gpuviz.cli.checking import told
from gpuviz.cli.launch import jobs, options_of
from gpuviz.cli.options import launch_of_words
from gpuviz.compile import again, demangled
from gpuviz.launch.job import Job
from gpuviz.launch.versions import before
from gpuviz.memory.line_costs import LineCost, line_costs
from gpuviz.memory.operands import operands_of
from gpuviz.results import comparison
from gpuviz.results.comparison import LinePair
from gpuviz.results.quantities import multiple
from gpuviz.results.table import text as table
from gpuviz.run import emulated
from gpuviz.run.run import Run
from gpuviz.source.kernel_names import same_kernel
from gpuviz.words.terminal import out

_VERSION = re.compile(r"(.+)@-(\d+)$")
_COLUMNS = ("B / A", "A", "B")
_LONGEST = 40  # letters of a line of source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("a", metavar="A", help="a launch: a FILE, or LAUNCH in quotes")
    parser.add_argument("b", metavar="B", help="another, or how it differs from A")
    said = "what is said of both launches; --json prints JSON"
    parser.add_argument("both", nargs=argparse.REMAINDER, metavar="...", help=said)


@dataclass(frozen=True, eq=False)
class _Side:
    """One launch, run, and its lines by cost."""

    name: str
    run: Run
    costs: list[LineCost]


def run(arguments: argparse.Namespace) -> int:
    """Compare, print; 0."""
    a_words, b_words = shlex.split(arguments.a), shlex.split(arguments.b)
    a, b = _parsed([*arguments.both, *a_words]), _parsed([*arguments.both, *b_words])
    if not b.file and not b.scene:
        b = _parsed([*arguments.both, *a_words, *b_words])
    ours, theirs = _sides(a), _sides(b)
    pairs = [(ours[role], theirs[role]) for role in ours if role in theirs]
    if not pairs:  # of different lessons: the first launch of each
        pairs = [(next(iter(ours.values())), next(iter(theirs.values())))]
    if a.json or b.json:
        told = [_as_json(*pair) for pair in pairs]
        out(json.dumps(told[0] if len(told) == 1 else told, indent=1))
    else:
        out("\n\n".join(_as_text(*pair) for pair in pairs))
    return 0


def _parsed(words: list[str]) -> argparse.Namespace:
    return launch_of_words(words, "compare")


def _sides(arguments: argparse.Namespace) -> dict[str, _Side]:
    """The launches of a side, run, by their roles."""
    return {role: _side(role, job, arguments) for role, job in _jobs(arguments).items()}


def _side(role: str, job: Job, arguments: argparse.Namespace) -> _Side:
    options = replace(options_of(arguments), record=(0,))
    arch = architecture(arguments.arch)
    found = emulated.through(job, arch, level=arguments.level, options=options)
    shape = " x ".join(",".join(map(str, size)) for size in (job.grid, job.block))
    where = f"--scene {arguments.scene}" if arguments.scene else arguments.file
    name = f"{where}: {role or demangled(job.entry).split('(')[0]}  {shape}  {found.arch}"
    costs = line_costs(found.trace, found.counts, operands_of(job.program))
    return _Side(name, found, costs)


def _jobs(arguments: argparse.Namespace) -> dict[str, Job]:
    """The launches of a side; those of an earlier text are those of the file, compiled anew."""
    version = _VERSION.match(arguments.file or "")
    if version is None:
        return jobs(arguments)
    file = Path(version[1])
    earlier = before(file, int(version[2]))
    job = jobs(argparse.Namespace(**{**vars(arguments), "file": version[1]}))[""]
    program = again(job.program, earlier.text())
    return {"": replace(job, program=program, entry=same_kernel(program.kernels, job.entry))}


def _as_json(a: _Side, b: _Side) -> dict[str, Any]:
    """Everything compared, as plain values."""
    return {
        "a": a.name,
        "b": b.name,
        "counts": comparison.as_json(comparison.counts(a.run, b.run)),
        "work": comparison.as_json(comparison.work(a.run, b.run)),
        "times": comparison.as_json(comparison.measured(a.run, b.run)),
        "lines": [_line(pair) for pair in comparison.lines(a.run, b.run, a.costs, b.costs)],
        "notes": [note for side in (a, b) for note in side.run.notes],
        "findings": {
            letter: [vars(one) for one in side.run.trace.findings]
            for letter, side in (("a", a), ("b", b))
        },
    }


def _line(pair: LinePair) -> dict[str, Any]:
    ratio = pair.ratio
    return {
        "ratio": ratio if ratio is not None and math.isfinite(ratio) else None,
        **{
            letter: None
            if cost is None
            else {"line": cost.line, "text": cost.text, "cycles": cost.cycles}
            for letter, cost in (("a", pair.a), ("b", pair.b))
        },
    }


def _as_text(a: _Side, b: _Side) -> str:
    """Tables for people, the ratio first."""
    pairs = [
        *comparison.counts(a.run, b.run),
        *comparison.work(a.run, b.run),
        *comparison.measured(a.run, b.run),
    ]
    rows = [(pair.name, _ratio(pair.ratio), _number(pair.a), _number(pair.b)) for pair in pairs]
    notes = [
        f"{letter}: {note}"
        for letter, side in (("A", a), ("B", b))
        for note in (*side.run.notes, *map(told, side.run.trace.findings))
    ]
    lines = [
        (_ratio(pair.ratio), *_told(pair.a), *_told(pair.b))
        for pair in comparison.lines(a.run, b.run, a.costs, b.costs)
    ]
    return "\n\n".join(
        [
            "\n".join([f"A  {a.name}", f"B  {b.name}", *notes]),
            table(("quantity", *_COLUMNS), rows, ">1 >2 >3"),
            "lines by what their accesses cost, in cycles of a multiprocessor (see count --lines)",
            table(("B / A", "A", "line", "", "B", "line", ""), lines, ">0 >1 >2 >4 >5"),
        ]
    )


def _told(cost: LineCost | None) -> tuple[str, str, str]:
    """Cycles, number and text of a line, shortened."""
    if cost is None:
        return "", "", ""
    text = cost.text if len(cost.text) <= _LONGEST else f"{cost.text[: _LONGEST - 3]}..."
    return f"{cost.cycles:,.0f}", str(cost.line), text


def _ratio(ratio: float | None) -> str:
    if ratio is None or math.isinf(ratio):
        return "-" if ratio is None else "new"
    return "=" if ratio == 1 else multiple(ratio).replace("×", "x")


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
