"""`gpuviz verify --time`: predicted times and traffic against measured ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from gpuviz.base.errors import InputError
from gpuviz.ptx.options import Options
from gpuviz.recordings.stall_reasons import ALL
from gpuviz.results.table import text as table
from gpuviz.run.stalls import agreement, errors, largest
from gpuviz.run.timing import Quantity, Row, Spread, Summary, compare_times, spread, summary
from gpuviz.run.verification import Measurements
from gpuviz.words.terminal import out, passing

_HEAD = (
    *("launch", "", "µs", "measured", "error"),
    *("L2 to L1", "measured", "error"),
    *("DRAM", "measured", "error"),
    *("limiter", "line", "counters"),
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
        out("\n".join(["", *_waits(rows), last_line(found)]))
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
