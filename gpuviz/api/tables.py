"""What a run counted and found, as tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gpuviz.base.errors import InputError
from gpuviz.memory.counts import Count, by_name
from gpuviz.recordings.stall_reasons import KEYS
from gpuviz.results import comparison, rows
from gpuviz.results.table import Cell, Table
from gpuviz.words.language import english

if TYPE_CHECKING:
    from gpuviz.launch.job import Job
    from gpuviz.memory.counting import CountRow
    from gpuviz.run.run import Run

_LINE_QUANTITIES = ("requests", "sectors", "sectors_ideal", "wavefronts", "wavefronts_ideal")
_MESSAGE = 600  # letters of a finding, which ends with block and thread
_BRIEF = ("requests", "sectors", "wavefronts")


class Counts(Table):
    """Every quantity that is not 0: what is predicted, what a GPU measured, and the difference.
    Time, the traffic of caches and what warps wait for (`waits_*`, cycles for each instruction),
    modelled, are among them where `trace(..., time=True)` or `Run.measure` found them out.

    `counts["global_load_sectors"]` is one predicted number, 0 where the launch did nothing such.
    """

    def __init__(self, run: Run) -> None:
        """The totals of a run."""
        self._totals, self._about = run.counts.totals, run.about
        self._modelled = _modelled(run)
        found = rows.measured(run.measurement)
        super().__init__(
            ("quantity", "predicted", "measured", "difference"),
            [
                (key, n, read, None if n is None or read is None else read - n)
                for key, (n, read) in rows.joined(by_name(self._totals) | self._modelled, found)
            ],
            run.note,
        )

    def __getitem__(self, name: str) -> float:
        """What is predicted of a quantity.

        Raises
        ------
        KeyError : there is no such quantity
        """
        if name in self._modelled:
            return self._modelled[name]
        try:
            return self._totals[Count(name)]
        except ValueError:
            raise KeyError(f"{name!r} is not counted; there are: {', '.join(Count)}") from None

    def brief(self) -> list[str]:
        """A line for each kind of access: `global load   512 requests, 4,096 sectors`."""
        kinds: dict[tuple[str, str], list[str]] = defaultdict(list)
        for key, n in self._totals.items():
            if n and key.quantity in _BRIEF:
                word = english(key.quantity.removesuffix("s"), key.quantity, n)
                kinds[key.kind].append(f"{self._about}{n:,} {word}")
        return [f"{' '.join(kind):<18}{', '.join(told)}" for kind, told in kinds.items()]


def _modelled(run: Run) -> dict[str, float]:
    """Sectors and nanoseconds whole, cycles for each instruction to two digits."""
    found = rows.modelled(run).items()
    return {key: round(n, 2) if key in KEYS else round(n) for key, n in found}


class Lines(Table):
    """Lines of the source with what their accesses count; `ptx` and `sass` are those of the PTX
    and of the machine code.
    """

    def __init__(self, run: Run, columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> None:
        """The rows as they are shown."""
        super().__init__(columns, rows)
        self._run = run

    @cached_property
    def ptx(self) -> Lines:
        """A row for each line of the PTX."""
        return _by_line(self._run, lambda row: row.instruction.ptx_line, self._run.trace.ptx)

    @cached_property
    def sass(self) -> Lines:
        """A row for each memory instruction of the machine code.

        Raises
        ------
        InputError : the run counts what the PTX says; its notes tell why
        """
        if self._run.level != "sass":
            why = self._run.level_note or 'it was asked for: trace(..., level="sass")'
            raise InputError(f"this run has no machine code: {why}")
        rows: list[tuple[Cell, ...]] = [
            (row.instruction.line, row.instruction.text, *_sums([row]))
            for row in self._run.counts.rows
        ]
        return Lines(self._run, ("line", "instruction", *_LINE_QUANTITIES), rows)


def lines(run: Run) -> Lines:
    """Lines of the source, in order, with their share of what all of them cost and what is wrong
    with the most expensive access; 0 is what the compiler does not tell the line of.
    """
    from gpuviz.memory.line_costs import line_costs

    found = _by_line(run, lambda row: row.instruction.line, run.trace.source)
    said = {
        one.line: (one.share, "" if one.worst.reason.kind == "fine" else one.worst.reason.said)
        for one in line_costs(run.trace, run.counts)
    }
    rows = [(*row, *said[int(row[0] or 0)]) for row in found.rows]
    return Lines(run, (*found.columns, "share", "what is wrong"), rows)


def _by_line(run: Run, line_of: Callable[[CountRow], int], text: str) -> Lines:
    written = ("", *text.splitlines())
    found: dict[int, list[CountRow]] = defaultdict(list)
    for row in run.counts.rows:
        found[line_of(row)].append(row)
    rows: list[tuple[Cell, ...]] = [
        (n, written[n].strip() if n < len(written) else "", *_sums(found[n])) for n in sorted(found)
    ]
    return Lines(run, ("line", "code", *_LINE_QUANTITIES), rows)


def _sums(rows: list[CountRow]) -> Iterator[int]:
    """The quantities of a line, all its accesses together."""
    for quantity in _LINE_QUANTITIES:
        yield sum(n for row in rows for key, n in row.counts.items() if key.quantity == quantity)


def brief(runs: Sequence[Run]) -> Table:
    """A row for each of several runs: what was launched, and its requests and what they cost."""
    quantities = [key for key in Count if key.quantity in _BRIEF]
    totals = [run.counts.totals for run in runs]
    shown = [key for key in quantities if any(found[key] for found in totals)]
    rows = [
        (run.trace.launch.kernel, str(run.trace.launch.grid), str(run.trace.launch.block))
        + tuple(found[key] for key in shown)
        for run, found in zip(runs, totals, strict=True)
    ]
    return Table(("kernel", "grid", "block", *shown), rows)


def costly(run: Run, job: Job | None) -> Table:
    """A row an access, the most expensive line first; `share` is that of the line."""
    from gpuviz.memory.line_costs import line_costs
    from gpuviz.memory.operands import operands_of

    operands = operands_of(job.program) if job is not None else {}
    rows: list[tuple[Cell, ...]] = [
        (
            line.line,
            round(line.share, 4),
            access.operand.text if access.operand else access.instruction.text,
            access.instruction.op,
            access.requests,
            access.cost,
            access.ideal,
            access.unit,
            access.reason.said,
            access.reason.lesson,
        )
        for line in line_costs(run.trace, run.counts, operands)
        for access in line.accesses
    ]
    columns = ("line", "share", "access", "op")
    return Table((*columns, "requests", "cost", "ideal", "unit", "reason", "lesson"), rows)


def findings(run: Run) -> Table:
    """What the checks found, worst first."""
    ordered = sorted(run.trace.findings, key=lambda one: one.severity)
    rows = [
        (f.severity, f.check, f.line, str(f.block), str(f.thread), f.count, f.message, f.remedy)
        for f in ordered
    ]
    columns = ("severity", "check", "line", "block", "thread", "count", "message", "remedy")
    return Table(columns, rows, widest=_MESSAGE)


def side_by_side(a: Run, b: Run) -> Table:
    """Two runs side by side: counts, instructions, what a thread takes, times."""
    rows: list[tuple[Cell, ...]] = []
    for pair in (*comparison.counts(a, b), *comparison.work(a, b), *comparison.measured(a, b)):
        apart = None if pair.a is None or pair.b is None else pair.b - pair.a
        rows.append((pair.name, pair.a, pair.b, apart, pair.ratio if pair.a else None))
    return Table(("quantity", "A", "B", "B - A", "B / A"), rows)
