"""The counts of runs as tables, with a row for each number, or a column for each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpuviz.memory.counts import Count, by_name, parts
from gpuviz.memory.units import OPS, SPACES, Unit, label, unit_of
from gpuviz.recordings.measurement import Measurement
from gpuviz.recordings.stall_reasons import KEYS, METRICS, PREFIX, waits
from gpuviz.results.badges import caption
from gpuviz.results.table import Table
from gpuviz.run.run import Run, not_checked
from gpuviz.story.compare import SIDES
from gpuviz.words.language import grouped, later, tr, typeset

HEAD = ("run", "size", "arch", "line", "instruction", "quantity", "value", "badge")
_COUNTS = frozenset(Count)
_BYTES = later("bytes")
_WORDS = {
    "l2_load_sectors_least": later("sectors loaded from L2, at least"),
    "l2_load_sectors_most": later("sectors loaded from L2, at most"),
    "shared_load_wavefronts_raw": later("wavefronts of shared loads, as the counter has them"),
    "shared_store_wavefronts_raw": later("wavefronts of shared stores, as the counter has them"),
    "constant_cache_requests": later("requests to the constant cache"),
    "instructions": later("instructions"),
    "duration_ns": later("duration, ns"),
    "achieved_occupancy": later("achieved occupancy, %"),
    "l2_read_sectors": later("sectors read from L2"),
    "l2_write_sectors": later("sectors written to L2"),
    "dram_read_sectors": later("sectors read from memory"),
    "dram_write_sectors": later("sectors written to memory"),
    "median_us": later("median time, µs"),
    "minimum_us": later("shortest time, µs"),
    "quartiles_us": later("between the quartiles, µs"),
    "empty_kernel_us": later("empty kernel, µs"),
}


def table(runs: Mapping[str, Run]) -> Table:
    """One row a number: totals (line 0, no instruction), then each instruction, measurements."""
    return Table(HEAD, tuple(row for role, run in runs.items() for row in _rows(role, run)))


def _rows(role: str, run: Run) -> Iterator[tuple[str, ...]]:
    """All rows of a run; totals that are 0 everywhere are left out."""
    size = run.size_words
    for key, value in run.counts.totals.items():
        if value:
            yield role, size, run.arch, "0", "", key, str(value), run.modelled
    for row in run.counts.rows:
        at = row.instruction
        for key, value in row.counts.items():
            yield role, size, run.arch, str(at.line), at.text, key, str(value), run.modelled
    for name, one in _of_time(run).items():
        yield role, size, run.arch, "0", "", name, f"{one:.10g}", run.modelled
    if run.measurement is not None:
        yield from _measured_rows(role, size, run.measurement)


def _of_time(run: Run) -> Mapping[str, float]:
    """Time, traffic of caches and waits, where they were modelled."""
    if run.explained is None:
        return {}
    from gpuviz.run.stalls import modelled

    return modelled(run.explained)


def _measured_rows(role: str, size: str, found: Measurement) -> Iterator[tuple[str, ...]]:
    """What a GPU counted and how long it took."""
    values = found.values()
    for key, value in (values | waits(values)).items():
        yield role, size, found.device.sm, "0", "", key, f"{value:.10g}", badge(found)
    for key, value in times(found).items():
        said = timed_badge(found) if key != "empty_kernel_us" else badge(found)
        yield role, size, found.device.sm, "0", "", key, f"{value:.10g}", said


def timed_badge(found: Measurement) -> str:
    """Where a time comes from, and whether it is mostly the launching."""
    return ", ".join(filter(None, (badge(found), found.overhead)))


def badge(found: Measurement) -> str:
    """Where measured numbers come from: `live` or `recorded`, on which device, and when."""
    file = (f"from {found.file}",) if found.file else ()
    return ", ".join((found.source, found.device.name, found.date, *file))


def summary(runs: Mapping[str, Run]) -> Table:
    """A row a quantity that some run counts, columns for what is predicted and what is measured.

    For people: in the language in use.
    """
    columns: dict[str, Mapping[str, float]] = {}
    for role, run in runs.items():
        name = f"{run_named(role)}, {run.size_words}"
        exact = tr("sampled: no number is exact") if run.sampled else ""
        said = ", ".join(filter(None, (modelled(run), exact)))
        columns[f"{name} ({said})"] = {**by_name(run.counts.totals), **_of_time(run)}
        if run.measurement is not None:
            values = run.measurement.values()
            found = {**values, **waits(values), **times(run.measurement)}
            columns[f"{name} ({read_from(run.measurement)})"] = found
    keys = dict.fromkeys(k for values in columns.values() for k, v in values.items() if v)
    return Table(
        (tr("quantity"), *columns),
        tuple(
            (named(key), *(_cell(values.get(key)) for values in columns.values())) for key in keys
        ),
    )


def run_named(key: str) -> str:
    """A run, its side and its role, in the language in use: `A naive`."""
    sided = key[:2] in [f"{letter} " for letter in SIDES]
    parts = (key[:2], key[2:]) if sided else ("", key)
    return parts[0] + (tr(parts[1]) if parts[1] else "")


def read_from(found: Measurement) -> str:
    """Where measured numbers come from, and when, in the language in use."""
    when = (found.date,) if found.source == "live" else ()  # a recording's caption has its date
    return ", ".join((caption(found), *when))


def named(key: str) -> str:
    """A count, a time or a counter in words; by its name where there are none."""
    if key in _WORDS:
        return tr(_WORDS[key])
    if key in METRICS:
        reason = key.removeprefix(PREFIX).replace("_", " ")
        return tr("stalled, cycles an instruction: {reason}", reason=reason)
    if key in KEYS:
        from gpuviz.results.time_rows import WAITS

        return tr("waits, cycles an instruction: {kind}", kind=tr(WAITS[key]))
    space, op, quantity = parts(key) if key in _COUNTS else ("", "", "")
    if space not in SPACES or op not in OPS:
        return key.replace("_", " ")
    plain, ideal = quantity.removesuffix("_ideal"), quantity.endswith("_ideal")
    unit = Unit(_BYTES, "") if plain == "bytes" else unit_of(plain)
    where, words = tr(SPACES[space]), label(op, unit)
    said = tr("{space}: {count}, ideal") if ideal else tr("{space}: {count}")
    return said.format(space=where, count=words)


def modelled(run: Run) -> str:
    """Where a run's counts come from, in the language in use."""
    return ", ".join(filter(None, (tr("modelled"), not_checked(run.unchecked))))


def _cell(value: float | None) -> str:
    """A number for people; a dash where there is none."""
    if value is None:
        return "–"
    return grouped(value) if value == int(value) else typeset(f"{value:,.2f}")


def times(found: Measurement) -> dict[str, float]:
    """Times of the launch in microseconds, by what they are."""
    if found.timing is None:
        return {}
    told = {
        "median_us": found.timing.median,
        "minimum_us": found.timing.minimum,
        "quartiles_us": found.timing.spread,
    }
    empty = found.peaks.empty_us if found.peaks is not None else None
    return told if empty is None else told | {"empty_kernel_us": empty}
