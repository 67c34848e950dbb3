"""Which lines of a kernel cost most: a pure function of a trace and its counts.

Sectors and wavefronts are compared as cycles of one multiprocessor: a wavefront takes its memory
pipeline one cycle, a sector half of one, as if 64 bytes a cycle came from L2. That is an assumption
for ranking lines, no time: caches are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.memory.counting import CountRow, Counts
from gpuviz.memory.counts import Count, Quantity, cost_of, costs_of, kind_of, requests_of
from gpuviz.memory.operands import Operands
from gpuviz.memory.spread import Place
from gpuviz.memory.units import in_bytes
from gpuviz.traces.trace import MemoryInstruction, Requests, Trace, lane_mask
from gpuviz.words.language import fine_percent, tr, trn

# --- reasons -------------------------------------------------------------------------------------
#
# Why an access costs what it does, in plain words, and which lesson shows it.

Kind = (
    Literal["fine", "off", "apart", "fields", "misaligned", "scattered", "conflict", "atomic"]
    | Literal["local", "constants", "rows"]
)
_FAR = 512  # bytes from lane to lane: the column of a matrix rather than a stride
LESSONS: dict[Kind, str] = {
    "fine": "",
    "off": "divergence",
    "apart": "coalescing",
    "fields": "alignment",
    "rows": "matrix-layout",
    "misaligned": "coalescing",
    "scattered": "coalescing",
    "conflict": "banks",
    "atomic": "histogram",
    "local": "memory-spaces",
    "constants": "constant-memory",
}


@dataclass(frozen=True)
class Reason:
    """What is wrong with an access, in a sentence; `lesson` is the id of the one that shows it."""

    kind: Kind
    said: str
    lesson: str = ""


@dataclass(frozen=True)
class Evidence:
    """What is known of an access: its cost and the least it could be, and how its lanes lie.

    `steps` are None where no request was recorded; `fields` says that others go to the same
    records, a few bytes beside; `rows` that these are the same expression, further along a loop.
    """

    row: CountRow
    cost: int
    ideal: int
    steps: LaneSteps | None = None
    fields: bool = False
    rows: bool = False

    @property
    def requests(self) -> int:
        """Requests of the launch."""
        return self.row.counts.get(requests_of(self.row.instruction), 0)

    @property
    def step(self) -> int | None:
        """Bytes from lane to lane, None when unknown or in no order."""
        return self.steps.step if self.steps else None


def reason(of: Evidence) -> Reason:
    """What is wrong with an access, if anything is."""
    space, op = kind_of(of.row.instruction)
    kind: Kind
    if space == "local":
        kind = "local"
    elif not of.cost:
        kind = "off"
    elif op in ("atomic", "reduction") and of.steps and of.steps.same > 1:
        kind = "atomic"
    elif of.cost <= of.ideal:
        kind = "fine"
    elif space in ("shared", "constant"):
        kind = "conflict" if space == "shared" else "constants"
    else:
        kind = _of_global(of)
    lesson = "matrix-layout" if kind == "apart" and abs(of.step or 0) >= _FAR else LESSONS[kind]
    return Reason(kind, _WORDS[kind](of), lesson)


def _of_global(of: Evidence) -> Kind:
    """What is wrong with the places of the lanes."""
    if of.steps is None or of.step is None:
        return "scattered"
    if abs(of.step) <= of.row.instruction.width:
        return "misaligned"
    if of.rows:
        return "rows"
    return "fields" if of.fields else "apart"


def _used(of: Evidence) -> str:
    """`12 %`: how much of what is moved is asked for."""
    asked = of.row.counts.get(_bytes_of(of.row), 0)
    return fine_percent(asked / (32 * of.cost))


def _bytes_of(row: CountRow) -> Count:
    return Count("_".join((*kind_of(row.instruction), "bytes")))


def _apart(of: Evidence) -> str:
    return tr(
        "Neighbouring lanes are {step} apart: {share} of what is moved is used.",
        step=in_bytes(abs(of.step or 0)),
        share=_used(of),
    )


def _fields(of: Evidence) -> str:
    return tr(
        "One field of records of {step}: {share} of what is moved is used. An array for each "
        "field would be read whole.",
        step=in_bytes(abs(of.step or 0)),
        share=_used(of),
    )


def _rows(of: Evidence) -> str:
    return tr(
        "A row for each lane, {step} apart: {share} of what is moved is used. Swap the indices, "
        "or transpose through shared memory.",
        step=in_bytes(abs(of.step or 0)),
        share=_used(of),
    )


def _scattered(of: Evidence) -> str:
    return tr("Lanes go here and there: {share} of what is moved is used.", share=_used(of))


def _conflict(of: Evidence) -> str:
    turns = round(of.cost / max(of.ideal, 1), 1)
    said = trn("{n} turn", "{n} turns", round(turns + 0.4), n=f"{turns:g}")
    if of.step is None:
        return tr("Lanes want different words of one bank: {turns} in place of one.", turns=said)
    return tr(
        "Neighbouring lanes are {step} apart and want different words of one bank: {turns} in "
        "place of one.",
        step=in_bytes(abs(of.step)),
        turns=said,
    )


def _atomic(of: Evidence) -> str:
    same = of.steps.same if of.steps else 0
    return tr("Up to {n} lanes of a warp change the same word: they take turns.", n=same)


def _constants(of: Evidence) -> str:
    different = f"{of.cost / max(of.requests, 1):.3g}"
    return tr("Lanes read {n} different constants: one after the other.", n=different)


_WORDS: dict[Kind, Callable[[Evidence], str]] = {
    "fine": lambda of: tr("Nothing: it cannot be less."),
    "off": lambda of: tr("Issued, but no lane took part: all were predicated off."),
    "apart": _apart,
    "fields": _fields,
    "rows": _rows,
    "misaligned": lambda of: tr("Lanes lie side by side, but not from where a sector begins."),
    "scattered": _scattered,
    "conflict": _conflict,
    "atomic": _atomic,
    "local": lambda of: tr(
        "It lies in local memory: an array indexed at run time, or registers that are short."
    ),
    "constants": _constants,
}


# --- lanes ---------------------------------------------------------------------------------------
#
# How those of an instruction's requests lie: how far from one lane to the next.

_SAMPLE = 64  # requests looked at
_MOSTLY = 0.6  # of the steps are alike


@dataclass(frozen=True)
class LaneSteps:
    """Of the requests of one instruction, as far as they were recorded.

    `step` is how many bytes lie from one active lane to the next, None where that differs;
    `first` the address of the first active lane; `same` how many lanes at most want one address.
    """

    step: int | None
    first: int
    same: int


def steps_of(trace: Trace) -> dict[tuple[int, str], LaneSteps]:
    """By pc and space, for the instructions of which there are recorded requests with a lane."""
    of = trace.requests.instruction
    order = np.argsort(of, kind="stable").astype(np.int64)
    ends = np.searchsorted(of[order], np.arange(len(trace.instructions) + 1))
    found: dict[tuple[int, str], LaneSteps] = {}
    for number, instruction in enumerate(trace.instructions):
        rows = order[ends[number] : ends[number + 1]][:_SAMPLE]
        if len(rows) and key_of(instruction) not in found:
            steps = _steps(trace.requests.select(rows))
            if steps is not None:
                found[key_of(instruction)] = steps
    return found


def key_of(instruction: MemoryInstruction) -> tuple[int, str]:
    """What tells instructions apart: a copy has two sides, in two spaces."""
    return instruction.pc, instruction.space


def _steps(rows: Requests) -> LaneSteps | None:
    active = lane_mask(rows.active)
    if not active.any():
        return None
    address = rows.address.astype(np.int64)
    row = int(active.any(axis=1).argmax())
    first = int(address[row, active[row].argmax()])
    return LaneSteps(_step(address, active), first, _same(address, active))


def _step(address: I64, active: Bool) -> int | None:
    """The step that most lanes are from the one before."""
    both = active[:, 1:] & active[:, :-1]
    steps, counts = np.unique(np.diff(address, axis=1)[both], return_counts=True)
    if not len(steps) or counts.max() < _MOSTLY * counts.sum():
        return None
    return int(steps[counts.argmax()])


def _same(address: I64, active: Bool) -> int:
    """How many lanes of one request want the same address, at most."""
    return max(
        (
            int(np.unique(a[on], return_counts=True)[1].max())
            for a, on in zip(address, active, strict=True)
            if on.any()
        ),
        default=0,
    )


_CYCLES: Mapping[Quantity, float] = {"sectors": 0.5, "wavefronts": 1.0}


@dataclass(frozen=True)
class AccessCost:
    """What one memory instruction of a line costs in the whole launch.

    `cost` and `ideal` are `unit`s: what it takes, and what as many lanes would need that ask for
    consecutive elements (shared memory: without conflicts). `operand` is None where it is not known
    which part of the line it is.
    """

    instruction: MemoryInstruction
    requests: int
    unit: Quantity
    cost: int
    ideal: int
    reason: Reason
    counts: Mapping[Count, int] = field(repr=False)
    operand: Place | None = None

    @property
    def cycles(self) -> float:
        """What it costs in cycles of one multiprocessor, to be compared with other lines."""
        return self.cost * _CYCLES[self.unit]

    @property
    def excess(self) -> float:
        """Cycles beyond the ideal."""
        return (self.cost - self.ideal) * _CYCLES[self.unit]


@dataclass(frozen=True)
class LineCost:
    """A line of the source (0: nobody knows which), its accesses, the most expensive first.

    `share` is its part of all lines' cycles.
    """

    line: int
    text: str
    accesses: tuple[AccessCost, ...]
    share: float

    @cached_property
    def cycles(self) -> float:
        """What it costs in cycles of one multiprocessor."""
        return sum(access.cycles for access in self.accesses)

    @property
    def worst(self) -> AccessCost:
        """The access that costs most."""
        return self.accesses[0]


def line_costs(trace: Trace, counts: Counts, operands: Operands | None = None) -> list[LineCost]:
    """The lines that access memory, those that cost most first.

    How lanes lie is told from recorded requests; without any the words say less.
    """
    by_line: dict[int, list[AccessCost]] = {}
    for access in _accesses(trace, counts.rows, operands or {}):
        by_line.setdefault(access.instruction.line, []).append(access)
    cycles = {line: sum(a.cycles for a in found) for line, found in by_line.items()}
    whole = sum(cycles.values()) or 1.0
    text = ["", *trace.source.splitlines()]
    return [
        LineCost(
            line,
            text[line].strip() if line < len(text) else "",
            tuple(sorted(by_line[line], key=lambda a: -a.cycles)),
            cycles[line] / whole,
        )
        for line in sorted(by_line, key=lambda line: (-cycles[line], line))
    ]


def _accesses(trace: Trace, rows: Iterable[CountRow], operands: Operands) -> Iterable[AccessCost]:
    steps = steps_of(trace)
    place = {key_of(i): operands.get(i.ptx_line) for i in trace.instructions}
    for row in rows:
        at = row.instruction
        known = steps.get(key_of(at))
        cost, ideal = _cost(row)
        beside = [place[key] for key, other in steps.items() if known and _beside(known, other)]
        here = place.get(key_of(at))
        rows_of = here is not None and not _member(here) and all(one == here for one in beside)
        found = Evidence(row, cost, ideal, known, bool(beside), bool(beside) and rows_of)
        yield AccessCost(
            at,
            found.requests,
            cost_of(at.space),
            cost,
            ideal,
            reason(found),
            row.counts,
            operands.get(at.ptx_line),
        )


def _cost(row: CountRow) -> tuple[int, int]:
    """What a row takes, and the least it could; of constants, one pass a request."""
    key = costs_of(row.instruction)
    cost = row.counts.get(key, 0)
    ideal = row.counts[key.ideal] if key.ideal else row.made
    return cost, min(cost, ideal)


def _beside(one: LaneSteps, other: LaneSteps) -> bool:
    """Whether another access goes to the same records, at another place in them."""
    step = one.step or 0
    return other.step == one.step and 0 < abs(other.first - one.first) < abs(step)


def _member(place: Place) -> bool:
    """Whether an expression names a member of a struct."""
    return "." in place.text or "->" in place.text
