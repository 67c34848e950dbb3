"""Which counts are worth a row, what they are called, and what they mean in plain words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from gpuviz.language import later, tr
from gpuviz.memory.counting import CountRow

THIN = "\u2009"
Totals = Mapping[str, int]

SPACES = {
    "global": later("Global memory"),
    "texture": later("Read-only path (part of the loads above)"),
    "shared": later("Shared memory"),
    "local": later("Local memory"),
    "constant": later("Constant memory"),
}
OPS = {
    "load": later("load"),
    "store": later("store"),
    "atomic": later("atomic"),
    "reduction": later("reduction"),
    "copy": later("async copy"),
}
NAMES = {
    "requests": later("requests"),
    "sectors": later("sectors"),
    "segments": later("segments"),
    "lines": later("lines"),
    "wavefronts": later("wavefronts"),
    "conflicts": later("conflicts"),
    "used": later("asked / moved"),
}
HINTS = {
    "requests": later("One request is one memory instruction executed by one warp."),
    "sectors": later(
        "32-byte pieces of memory that the requests touched, counted for each "
        "request. The lecture's word is transaction."
    ),
    "segments": later(
        "Pieces of memory moved, of the sizes this architecture knows (32 to 128 "
        "bytes), counted for each request. The lecture's word is transaction."
    ),
    "lines": later("128-byte cache lines that the requests touched, counted for each request."),
    "wavefronts": later(
        "Passes through the memory pipeline that served the requests, one after another."
    ),
    "conflicts": later("Wavefronts beyond the ideal: what bank conflicts cost."),
    "used": later(
        "Bytes the lanes asked for, of the bytes in the sectors moved. Above 100 % when "
        "lanes share bytes."
    ),
}
SECTOR = 32


@dataclass(frozen=True)
class Row:
    """One row of the counts panel; a heading has no values.

    `values` are what each run predicts, None where the run has no such accesses; `percent` says
    that they are shares, not counts. `key` is the counter that the row is measured by; where the
    row is not the counter itself, `derived` makes its value from the counter's, for each run.
    """

    label: str
    hint: str = ""
    key: str = ""
    values: tuple[float | None, ...] = ()
    percent: bool = False
    strong: bool = False
    derived: tuple[Callable[[float], float | None], ...] = ()

    def measured(self, run: int, counter: float | None) -> float | None:
        """The row's value from what its counter read in a run."""
        if counter is None or not self.derived:
            return counter
        return self.derived[run](counter)


def grouped(value: float) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{round(value):,}".replace(",", THIN)


def shown(value: float | None, percent: bool = False) -> str:
    """A value as text; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value * 100:.0f}{THIN}%" if percent else grouped(value)


def rows_of(totals: Sequence[Totals], sectors: bool = True) -> list[Row]:
    """Rows for the runs' totals: only accesses that at least one of them makes.

    `sectors` is false on architectures older than 5.0, whose segments differ in size.
    """
    rows: list[Row] = []
    for space in SPACES:
        found = [r for op in OPS for r in _rows(space, op, totals, sectors)]
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


def _rows(space: str, op: str, totals: Sequence[Totals], sectors: bool) -> list[Row]:
    """Rows of one kind of access; none when nobody makes it."""
    stem = f"{space}_{op}"
    if not any(t.get(f"{stem}_requests") for t in totals):
        return []
    names = [
        ("requests", "requests"),
        ("sectors", "sectors" if sectors else "segments"),
        ("wavefronts", "wavefronts"),
    ]
    if op == "load":  # the lines of stores are neither published nor measured
        names.insert(2, ("lines", "lines"))
    rows = [_row(stem, op, q, name, totals) for q, name in names if f"{stem}_{q}" in totals[0]]
    if space == "shared":
        rows.append(_conflicts(stem, op, totals))
    if sectors and f"{stem}_bytes" in totals[0]:
        rows.append(_used(stem, op, totals))
    return rows


def _label(op: str, name: str) -> str:
    """The name of a row: "load sectors"."""
    return tr("{op} {quantity}", op=tr(OPS[op]), quantity=tr(NAMES[name]))


def _row(stem: str, op: str, quantity: str, name: str, totals: Sequence[Totals]) -> Row:
    key = f"{stem}_{quantity}"
    hint = tr(HINTS[name if name in HINTS else quantity])
    ideals = [shown(t[f"{key}_ideal"]) for t in totals if f"{key}_ideal" in t]
    if ideals:
        hint += "\n" + tr("Ideal for these accesses: {counts}.", counts=", ".join(ideals))
    values = tuple(_value(t, stem, key) for t in totals)
    return Row(_label(op, name), hint, key, values, strong=quantity in ("sectors", "wavefronts"))


def _conflicts(stem: str, op: str, totals: Sequence[Totals]) -> Row:
    key = f"{stem}_wavefronts"
    values = tuple(
        None if _value(t, stem, key) is None else t[key] - t[f"{key}_ideal"] for t in totals
    )
    ideals = [t[f"{key}_ideal"] for t in totals]
    return Row(
        _label(op, "conflicts"),
        tr(HINTS["conflicts"]),
        key,
        values,
        derived=tuple(partial(_beyond, ideal) for ideal in ideals),
    )


def _used(stem: str, op: str, totals: Sequence[Totals]) -> Row:
    shares = tuple(
        t[f"{stem}_bytes"] / (t[f"{stem}_sectors"] * SECTOR) if t[f"{stem}_sectors"] else None
        for t in totals
    )
    return Row(
        _label(op, "used"),
        tr(HINTS["used"]),
        f"{stem}_sectors",
        shares,
        percent=True,
        derived=tuple(partial(_share, t[f"{stem}_bytes"]) for t in totals),
    )


def _beyond(ideal: float, wavefronts: float) -> float:
    return wavefronts - ideal


def _share(asked: float, sectors: float) -> float | None:
    return asked / (sectors * SECTOR) if sectors else None


def _value(totals: Totals, stem: str, key: str) -> int | None:
    return totals[key] if totals.get(f"{stem}_requests") else None


_MNEMONIC = {"load": "ld", "store": "st", "atomic": "atom", "reduction": "red", "copy": "cp"}
ONE = {"sectors": later("sector"), "segments": later("segment"), "wavefronts": later("wavefront")}
_UNIT = {"shared": "wavefronts", "constant": "wavefronts"}


def per_request(rows: Sequence[CountRow], brief: bool = False, sectors: bool = True) -> str:
    """What the instructions of one line cost: "ld 8 sectors / request · st 4 sectors / request"."""
    sums: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        unit = _UNIT.get(row.instruction.space, "sectors")
        stem = f"{row.instruction.space}_{row.instruction.op}"
        if row.instruction.space == "shared" and row.instruction.op == "reduction":
            stem = "shared_atomic"
        have = sums.setdefault((_MNEMONIC[row.instruction.op], unit), [0, 0])
        have[0] += row.counts.get(f"{stem}_{unit}", 0)
        have[1] += row.counts.get(f"{stem}_requests", 0)
    return " · ".join(
        _rate(op, cost, requests, unit if sectors or unit != "sectors" else "segments", brief)
        for (op, unit), (cost, requests) in sums.items()
        if requests
    )


def _rate(op: str, cost: int, requests: int, unit: str, brief: bool) -> str:
    each = cost / requests
    number = f"{each:.0f}" if each == round(each) else f"{each:.1f}"
    said = f"{op} {number} {tr(ONE[unit]) if number == '1' else tr(NAMES[unit])}"
    return said if brief else tr("{cost} / request", cost=said)
