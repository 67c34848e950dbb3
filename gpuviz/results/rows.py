"""What runs come to, stated once: each quantity as predicted and as measured, by its name; and the
tables made of that, with a row for each number or a column for each run.
"""

from collections.abc import Iterable, Iterator, Mapping

from gpuviz.memory.counts import Count, by_name, parts
from gpuviz.memory.units import OPS, SPACES, Unit, label, unit_of
from gpuviz.recordings.measurement import Measurement
from gpuviz.recordings.stall_reasons import KEYS, METRICS, PREFIX, waits
from gpuviz.results.badges import caption
from gpuviz.results.table import Table
from gpuviz.run.run import Run, not_checked
from gpuviz.story.compare import SIDES
from gpuviz.words.language import grouped, later, texts, tr, typeset

HEAD = ("run", "size", "arch", "line", "instruction", "quantity", "value", "badge")
_COUNTS = frozenset(Count)
_BYTES = later("bytes")


def predicted(run: Run) -> dict[str, float]:
    """What is counted; time, traffic of caches and waits, where they were modelled."""
    return by_name(run.counts.totals) | modelled(run)


def modelled(run: Run) -> dict[str, float]:
    """Time, traffic of caches and waits, where they were modelled."""
    if run.explained is None:
        return {}
    from gpuviz.run import stalls

    return stalls.modelled(run.explained)


def measured(found: Measurement | None) -> dict[str, float]:
    """What a GPU counted, and what warps waited for."""
    values = found.values() if found else {}
    return values | waits(values)


def joined(*sides: Mapping[str, float]) -> Iterator[tuple[str, list[float | None]]]:
    """Each quantity that is not 0 on all sides, and its values; None where a side has no such."""
    for key in dict.fromkeys(key for side in sides for key in side):
        values = [side.get(key) for side in sides]
        if any(values):
            yield key, values


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
    for name, one in modelled(run).items():
        yield role, size, run.arch, "0", "", name, f"{one:.10g}", run.modelled
    if run.measurement is not None:
        yield from _measured_rows(role, size, run.measurement)


def _measured_rows(role: str, size: str, found: Measurement) -> Iterator[tuple[str, ...]]:
    """What a GPU counted and how long it took."""
    for key, value in measured(found).items():
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
        columns[f"{name} ({', '.join(filter(None, (source(run), exact)))})"] = predicted(run)
        if (found := run.measurement) is not None:
            columns[f"{name} ({read_from(found)})"] = measured(found) | times(found)
    return _beside(
        columns, dict.fromkeys(k for one in columns.values() for k, n in one.items() if n)
    )


def totals(runs: Mapping[str, Run]) -> Table:
    """A row a quantity that some run counts; of each run what is predicted, and what a GPU read."""
    columns: dict[str, Mapping[str, float]] = {}
    for role, run in runs.items():
        name = f"{run_named(role)}: " if len(runs) > 1 else ""
        columns[name + source(run)] = by_name(run.counts.totals)
        if (found := run.measurement) is not None:
            columns[name + read_from(found)] = found.values()
    counted = [run.counts.totals for run in runs.values()]
    return _beside(columns, (key for key in Count if any(found[key] for found in counted)))


def _beside(columns: Mapping[str, Mapping[str, float]], keys: Iterable[str]) -> Table:
    """A row a quantity, in words."""
    rows = ((named(key), *(_cell(one.get(key)) for one in columns.values())) for key in keys)
    return Table((tr("quantity"), *columns), rows)


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
    words = texts("rows")["quantities"]
    if key in words:
        return tr(words[key])
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


def source(run: Run) -> str:
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
