"""`gpuviz verify`: predictions against measurements."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.cli.consent import refusal, settle
from gpuviz.cli.options import LEVEL, declare
from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.consent import asked
from gpuviz.ptx.options import Options
from gpuviz.recordings.stall_reasons import ALL
from gpuviz.results.table import text as table
from gpuviz.run import verification
from gpuviz.run.stalls import agreement, errors, largest
from gpuviz.run.timing import (
    Quantity,
    Row,
    Spread,
    Summary,
    TimeClass,
    compare_times,
    spread,
    summary,
)
from gpuviz.run.verification import Comparison, Measurements
from gpuviz.words.language import english
from gpuviz.words.terminal import out, passing

_HEAD = (
    *("launch", "", "µs", "measured", "error"),
    *("L2 to L1", "measured", "error"),
    *("DRAM", "measured", "error"),
    *("limiter", "line", "counters"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    said = "measured launches or patterns"
    parser.add_argument("file", type=Path, metavar="FILE.json", help=said)
    declare(parser, "verify", level=LEVEL)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print; 0 when all are equal, 1 when some differ."""
    if arguments.time:
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
        codes = (asked(job, gpu.facts().known_by) for job in jobs)
        agreed, left = settle(filter(None, codes), arguments.trust)
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


def run_time(measured: Measurements, options: Options, as_json: bool) -> int:
    """Compare, print; 0 when all that is asked for is reached, else 1.

    Raises
    ------
    InputError : nothing in the file was timed, or on a device that nothing is known of
    """
    if not any(launch.cold or launch.warm for launch in measured.launches):
        raise InputError(
            f'{measured.name} holds no times: its launches have neither "cold" nor "warm"'
        )
    if measured.arch.cc != (9, 0):
        raise InputError(f"times are modelled for an H200 only, not for a {measured.device}")
    compared = compare_times(measured, progress=passing, options=options)
    rows = compared.rows
    found = summary(rows)
    if as_json:
        plain = {
            "rows": [_plain(r) for r in rows],
            "failed": compared.failed,
            "summary": asdict(found),
            "missed": found.missed,
        }
        out(json.dumps(plain, indent=1))
    else:
        out(as_table(rows))
        for launch, reason in compared.failed.items():
            out(f"{launch}: no prediction: {reason}")
        out("\n".join(["", classes(found.classes), "", *_waits(rows), last_line(found)]))
    return 1 if found.missed or compared.failed else 0


def as_table(rows: Sequence[Row]) -> str:
    """A row for each launch and state of its caches."""
    lines = [
        (
            *(row.launch, row.state),
            *_cells(row.microseconds, ".2f"),
            *_cells(row.l2_to_l1, ",.0f"),
            *(_cells(row.dram, ",.0f") if row.dram.measured is not None else ("", "", "")),
            *(row.limiter, str(row.line or ""), ", ".join(row.counters)),
        )
        for row in rows
    ]
    return table(_HEAD, lines, ">2 >3 >4 >5 >6 >7 >8 >9 >10 >12")


def _waits(rows: Sequence[Row]) -> list[str]:
    """How far waits are from those that were counted, and how often the largest is the same."""
    known = [row.stalls for row in rows if row.stalls]
    first, second, all_of = agreement(known)
    if not all_of:
        return []
    by_kind = {key: [row for row in known if largest(row) == key] for key in known[0]}
    by_kind = {key: found for key, found in by_kind.items() if found}
    parts = [_of("all", spread(errors(known, ALL)))]
    parts += [
        f"{_of(key.removeprefix('waits_'), spread(errors(found, key)))} in {len(found)}"
        for key, found in sorted(by_kind.items(), key=lambda one: -len(one[1]))
    ]
    return [
        "waits, cycles for each instruction, where most is counted of them: " + " | ".join(parts),
        f"what warps wait for most: as counted in {first} of {all_of}, among the two largest in "
        f"{second}",
    ]


def classes(found: Mapping[str, TimeClass]) -> str:
    """A row for each class of launches: how far off its times are."""
    head = ("times by class", "rows", "mean", "median", "p90", "worst", "measured / modelled")
    lines = [
        (
            *(name, str(one.errors.count)),
            *(f"{n:.1f} %" for n in (one.errors.mean, one.errors.median)),
            *(f"{n:.1f} %" for n in (one.errors.p90, one.errors.worst)),
            f"{one.low:.2f} to {one.high:.2f}",
        )
        for name, one in found.items()
    ]
    return table(head, lines, ">1 >2 >3 >4 >5 >6")


def last_line(found: Summary) -> str:
    """All in one line; what misses its bar is marked."""
    parts = [
        " ".join(filter(None, [_of("time", found.time), _share("pairs", found.pairs)])),
        _of("l2_to_l1", found.l2_to_l1),
        _of("dram", found.dram),
        _share("limiter", found.limiter),
    ]
    missed = f" | missed: {', '.join(found.missed)}" if found.missed else ""
    return " | ".join(filter(None, parts)) + missed


def _of(name: str, spread: Spread | None) -> str:
    return f"{name} median {spread.median:.1f} % p90 {spread.p90:.1f} %" if spread else ""


def _share(name: str, share: float | None) -> str:
    return "" if share is None else f"{name} {share:.0f} %"


def _cells(quantity: Quantity, form: str) -> tuple[str, str, str]:
    error = quantity.error
    return (
        format(quantity.predicted, form),
        "" if quantity.measured is None else format(quantity.measured, form),
        "" if error is None else f"{100 * error:+.1f} %",
    )


def _plain(row: Row) -> dict[str, object]:
    plain = asdict(row)
    for name in ("microseconds", "l2_to_l1", "dram"):
        plain[name]["error"] = getattr(row, name).error
    return {**plain, "agrees": row.agrees}
