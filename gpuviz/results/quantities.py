"""Which counts are worth a row, what they are called, and what they mean in plain words."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gpuviz.memory.counting import CountRow
from gpuviz.memory.counts import (
    DERIVED,
    Count,
    DerivedCount,
    Kind,
    Quantity,
    cost_of,
    costs_of,
    count_of,
    counts_of,
    find,
    names_of,
)
from gpuviz.memory.units import OPS, SPACES, UNITS, Unit, label, unit_of
from gpuviz.run.run import Run
from gpuviz.words.language import fine_percent, grouped, tr, typeset

Totals = Mapping[Count, int]


@dataclass(frozen=True)
class Row:
    """One row of the counts panel; a heading has no values.

    `values` are what each run predicts, None where the run has no such accesses; `percent` says
    that they are shares, not counts, `digits` how many follow the point. `key` is the counter that
    the row is measured by; where the row is not the counter itself, `derived` makes its value from
    the counter's, for each run. One that is `modelled` is met about, not exactly: differences of
    whole numbers are told in hundredths. A heading with a key can be folded.
    """

    label: str
    hint: str = ""
    key: str = ""
    values: tuple[float | None, ...] = ()
    percent: bool = False
    strong: bool = False
    derived: tuple[Callable[[float], float | None], ...] = ()
    modelled: bool = False
    digits: int = 0

    def measured(self, run: int, counter: float | None) -> float | None:
        """The row's value from what its counter read in a run."""
        if counter is None or not self.derived:
            return counter
        return self.derived[run](counter)


def shown(value: float | None, percent: bool = False, digits: int = 0) -> str:
    """A value as text; a dash where there is none."""
    if value is None:
        return "–"
    if digits:
        return typeset(f"{value:,.{digits}f}")
    return fine_percent(value) if percent else grouped(value)


def multiple(value: float | None) -> str:
    """How many times as much, to three digits; a dash where that means nothing."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.0f}×" if value >= 100 else f"{value:.3g}×"


def rows_of(
    totals: Sequence[Totals], sectors: bool = True, silent: Sequence[Totals] = ()
) -> list[Row]:
    """Rows for the runs' totals: only accesses that at least one of them makes.

    `sectors` is false on architectures older than 5.0, whose segments differ in size; `silent` are
    the requests of each run that no lane took part in.
    """
    rows: list[Row] = []
    for space in SPACES:
        found = [r for op in OPS for r in _rows((space, op), totals, sectors, silent)]
        if found:
            rows += [Row(tr(SPACES[space])), *found]
    return rows


def rows_for(rows: Sequence[Row], runs: Collection[int]) -> list[Row]:
    """The rows that some of these runs have a value for, and their headings."""
    kept: list[Row] = []
    for row in rows:
        if row.values and all(row.values[run] is None for run in runs):
            continue
        if not row.values and kept and not kept[-1].values:
            kept.pop()
        kept.append(row)
    return kept[:-1] if kept and not kept[-1].values else kept


def folded(rows: Sequence[Row], closed: Collection[str]) -> list[Row]:
    """Headings with a key say whether they are open; what is below closed ones is left out."""
    kept: list[Row] = []
    hidden = False
    for row in rows:
        if not row.values:
            hidden = bool(row.key) and row.key in closed
            sign = ("▸ " if hidden else "▾ ") if row.key else ""
            kept.append(replace(row, label=sign + row.label))
        elif not hidden:
            kept.append(row)
    return kept


def _rows(
    kind: Kind, totals: Sequence[Totals], sectors: bool, silent: Sequence[Totals]
) -> list[Row]:
    """Rows of one kind of access; none when nobody makes it."""
    if not any(_made(kind, t) for t in totals):
        return []
    rows = [_row(count, totals, sectors) for count in counts_of(kind) if _has_row(count)]
    rows[1:1] = _silent_row(counts_of(kind)[0], silent)
    return rows + [
        _derived_row(kind, name, how, totals)
        for name, how in DERIVED.items()
        if how.fits(kind) and (sectors or how.of != "sectors")
    ]


def _has_row(count: Count) -> bool:
    """What has no name has no row; the lines of stores are neither published nor measured."""
    return count.quantity in UNITS and (count.quantity != "lines" or count.kind[1] == "load")


def _made(kind: Kind, totals: Totals) -> bool:
    """Whether a run makes accesses of a kind."""
    return any(totals.get(count) for count in counts_of(kind)[:1])


def _row(count: Count, totals: Sequence[Totals], sectors: bool) -> Row:
    unit, ideal = unit_of(count.quantity, sectors), count.ideal
    hint = tr(unit.hint)
    if ideal:
        ideals = ", ".join(shown(t[ideal]) for t in totals)
        hint += "\n" + tr("Ideal for these accesses: {counts}.", counts=ideals)
    hint += called(count)
    values = tuple(t[count] if _made(count.kind, t) else None for t in totals)
    strong = count.quantity in ("sectors", "wavefronts")
    return Row(label(count.kind[1], unit), hint, count, values, strong=strong)


def called(key: str) -> str:
    """Lines for a hint: what profilers call a count, today's and nvprof's; "" where none does."""
    found = names_of(key)
    lines = [tr("Nsight Compute: {name}", name=found.today)] if found.today else []
    lines += [tr("nvprof: {name}", name=found.nvprof)] if found.nvprof else []
    lines += [tr("the profiler before it: {name}", name=found.before)] if found.before else []
    return "".join(f"\n{line}" for line in lines)


def _silent_row(requests: Count, silent: Sequence[Totals]) -> list[Row]:
    """Below the requests: how many of them no lane took part in, if there are any."""
    values = tuple(found.get(requests) for found in silent)
    if not any(values):
        return []
    hint = tr(
        "Requests whose lanes were all predicated off. The compiler put a guard in the place of a "
        "branch: the instruction is issued to every warp that comes by, counted by the hardware, "
        "and moves nothing."
    )
    return [Row(tr("of them without a lane"), hint, "", values)]


def _derived_row(kind: Kind, name: str, how: DerivedCount, totals: Sequence[Totals]) -> Row:
    known = count_of(kind, how.known)
    return Row(
        label(kind[1], UNITS[name]),
        tr(UNITS[name].hint),
        count_of(kind, how.of),
        tuple(how.from_counts(kind, t) if _made(kind, t) else None for t in totals),
        percent=how.share,
        derived=tuple(partial(_with, how, t[known]) for t in totals),
    )


def _with(how: DerivedCount, known: float, counted: float) -> float | None:
    """What a row's counter says of it, with what the model knows of the run."""
    return how.value(counted, known)


_MNEMONIC = {"load": "ld", "store": "st", "atomic": "atom", "reduction": "red", "copy": "cp"}


def per_request(rows: Sequence[CountRow], brief: bool = False, sectors: bool = True) -> str:
    """What the instructions of one line cost: "ld 8 sectors / request · st 4 sectors / request".

    An average is of the requests that some lane took part in.
    """
    sums: dict[tuple[str, Quantity], list[int]] = {}
    for row in rows:
        did = row.instruction
        have = sums.setdefault((_MNEMONIC[did.op], cost_of(did.space)), [0, 0])
        have[0] += row.counts.get(costs_of(did), 0)
        have[1] += row.made
    return " · ".join(
        _rate(op, cost, requests, unit_of(quantity, sectors), brief)
        for (op, quantity), (cost, requests) in sums.items()
        if requests
    )


def _rate(op: str, cost: int, requests: int, unit: Unit, brief: bool) -> str:
    each = cost / requests
    number = f"{each:.0f}" if each == round(each) else f"{each:.1f}"
    said = f"{op} {number} {unit.said(number == '1')}"
    return said if brief else tr("{cost} / request", cost=said)


# Bounds over all loads, which no instruction has by itself: shown where the sectors come from.
_INSTEAD = {
    Count.L2_LOAD_SECTORS_LEAST: Count.GLOBAL_LOAD_SECTORS,
    Count.L2_LOAD_SECTORS_MOST: Count.GLOBAL_LOAD_SECTORS,
}


def dearest_line(run: Run, counter: str) -> int:
    """The line of the source that counts most of this; 0 where none does."""
    count = find(counter)
    if count is None:
        return 0
    count = _INSTEAD.get(count, count)
    lines: Counter[int] = Counter()
    for row in run.counts.rows:
        lines[row.instruction.line] += row.counts.get(count, 0)
    ((line, most),) = lines.most_common(1) or [(0, 0)]
    return line if most else 0
