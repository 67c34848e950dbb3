"""The counts of a view's runs as data."""

import json as json_
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import IO, Any

from gpuviz.arch import architecture
from gpuviz.compile import demangled
from gpuviz.export.export import Export
from gpuviz.recordings import ncu as raw
from gpuviz.recordings.measurement import Measurement
from gpuviz.recordings.ncu import ProfiledLaunch
from gpuviz.results.rows import badge, predicted, summary, table, times
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


def ncu(export: Export, file: IO[bytes]) -> None:
    """As Nsight Compute writes its raw page: a row a run, and one for what was measured of it."""
    file.write(raw_page(export.view.runs.values()).encode())


def raw_page(runs: Iterable[Run]) -> str:
    """Runs as a raw page of Nsight Compute (`recordings.ncu`)."""
    return raw.text([row for run in runs for row in _rows(run)])


def _rows(run: Run) -> Iterator[ProfiledLaunch]:
    launch, found = run.trace.launch, run.measurement
    told, arch = (demangled(launch.kernel), launch.grid, launch.block), architecture(run.arch)
    yield ProfiledLaunch(*told, "gpuviz (predicted)", arch.version, predicted(run))
    if found is not None and (read := found.values()):
        yield ProfiledLaunch(*told, f"gpuviz ({found.caption})", found.device.capability, read)


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
