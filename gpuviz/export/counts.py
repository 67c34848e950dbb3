"""The counts of a view's runs as data."""

import json as json_
from dataclasses import asdict
from typing import IO, Any

from gpuviz.export.export import Export
from gpuviz.recordings.measurement import Measurement
from gpuviz.results.rows import badge, summary, table, times
from gpuviz.run.run import Run


def csv(export: Export, file: IO[bytes]) -> None:
    """A row for each number."""
    file.write(table(export.view.runs).csv().encode())


def markdown(export: Export, file: IO[bytes]) -> None:
    """A row for each quantity, a column for each run."""
    file.write(summary(export.view.runs).markdown().encode())


def json(export: Export, file: IO[bytes]) -> None:
    """Everything counted and measured, with the record of the view."""
    view = export.view
    plain = json_.dumps({role: _plain(run) for role, run in view.runs.items()}, indent=1)
    file.write(f'{{"view": {view.provenance.text()},\n"runs": {plain}}}\n'.encode())


def _plain(run: Run) -> dict[str, Any]:
    """A run as plain values."""
    launch = run.trace.launch
    return {
        "kernel": launch.kernel,
        "size": run.size_words,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "arch": run.arch,
        "level": run.level,
        "badge": run.modelled,
        "totals": run.counts.totals,
        "instructions": [
            {**asdict(row.instruction), "counts": dict(row.counts)} for row in run.counts.rows
        ],
        "measured": _measurement(run.measurement),
    }


def _measurement(found: Measurement | None) -> dict[str, Any] | None:
    """A measurement as plain values; a counter without a value says why."""
    if found is None:
        return None
    missing = {key: r.why for key, r in found.counters.items() if r.value is None}
    return {
        "badge": badge(found),
        "device": found.device.name,
        "date": found.date,
        "counters": found.values(),
        "unavailable": missing,
        "times": times(found),
        "overhead": found.overhead,
    }
