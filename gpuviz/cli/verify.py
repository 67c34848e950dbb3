"""`gpuviz verify`: predictions against measurements."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpuviz.base.errors import UnavailableError
from gpuviz.cli.consent import refusal, settle
from gpuviz.cli.options import EMULATING, LEVEL, declare
from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.consent import asked
from gpuviz.ptx.options import Options
from gpuviz.results.table import text as table
from gpuviz.run import verification
from gpuviz.run.verification import Comparison, Measurements
from gpuviz.words.language import english
from gpuviz.words.terminal import out, passing

EXAMPLE = """examples:
  gpuviz verify launches.json
  gpuviz verify launches.json --live      measure again, on this machine's GPU
  gpuviz verify --time timing.json        times and traffic of caches, as modelled (H200)"""


OPTIONS = f"""
--level    predict from the assembler's code or from the PTX
--live     measure the launches on this GPU instead of taking the file's word
--time     compare times, traffic of caches and what limits, instead of counts
{EMULATING}
--device
--trust
--all      list equal quantities too
--json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    said = "measured launches or patterns"
    parser.add_argument("file", type=Path, metavar="FILE.json", help=said)
    declare(parser, OPTIONS, level=LEVEL)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print; 0 when all are equal, 1 when some differ."""
    if arguments.time:
        from gpuviz.cli.verify_time import run_time

        options = Options(engine=arguments.engine, seconds=arguments.seconds)
        return run_time(verification.load(arguments.file), options, arguments.json)
    measured = _measured(arguments)
    options = Options(record=(), engine=arguments.engine, seconds=arguments.seconds)
    found = verification.compare(measured, arguments.level, _progress, options)
    different = [c for c in found if not c.equal]
    if arguments.json:
        out(
            json.dumps(
                [{**vars(c), "difference": c.difference, "equal": c.equal} for c in found], indent=1
            )
        )
    else:
        out(as_text(found, arguments.all))
        launches = {c.launch for c in found}
        wrong = {c.launch for c in different}
        kind = ("launch", "launches") if measured.launches else ("pattern", "patterns")
        total = len(launches) if measured.launches else len(found)
        bad = len(wrong) if measured.launches else len(different)
        out(
            f"\n{measured.device}, {measured.arch}: "
            f"{total - bad} of {total} {english(*kind, total)} equal, "
            f"{len(found) - len(different):,} of {len(found):,} "
            f"{english('quantity', 'quantities', len(found))}"
        )
        if others := verification.unpredicted(measured):
            out(f"measured, but not predicted: {', '.join(others)}")
    return 1 if different else 0


def _measured(arguments: argparse.Namespace) -> Measurements:
    measured = verification.load(arguments.file)
    if not arguments.live:
        return measured
    with Gpu(arguments.device) as gpu:
        here = live.on_device(measured, gpu.facts())
        jobs = (verification.job_of(here, launch) for launch in here.launches)
        agreed, left = settle(filter(None, map(asked, jobs)), arguments.trust)
        if left:
            raise UnavailableError(refusal(left))
        return live.remeasured(measured, gpu, agreed, _progress)


def _progress(name: str) -> None:
    passing(name)


def as_text(found: list[Comparison], everything: bool) -> str:
    """The table; quantities that are equal only when asked for."""
    shown = [c for c in found if everything or not c.equal or c.note]
    rows = [
        (
            c.launch,
            c.quantity,
            f"{c.predicted:,}",
            f"{c.measured:,.0f}",
            f"{c.difference:+,.0f}" if c.difference else "0",
            c.note,
        )
        for c in shown
    ]
    if not rows:
        return "no differences"
    return table(
        ("launch", "quantity", "predicted", "measured", "difference", ""), rows, ">2 >3 >4"
    )
