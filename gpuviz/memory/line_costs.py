"""Which lines of a kernel cost most: a pure function of a trace and its counts.

Sectors and wavefronts are compared as cycles of one multiprocessor: a wavefront takes its memory
pipeline one cycle, a sector half of one, as if 64 bytes a cycle came from L2. That is an assumption
for ranking lines, no time: caches are not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.memory.counting import CountRow, Counts
from gpuviz.memory.counts import Count, Quantity, cost_of, costs_of, kind_of, requests_of
from gpuviz.memory.operands import Operands, line_of
from gpuviz.memory.spread import Place
from gpuviz.memory.units import in_bytes
from gpuviz.traces.trace import LANES, MemoryInstruction, Requests, Trace, lane_mask
from gpuviz.words.language import fine_percent, grouped, texts, tr, trn

# --- reasons -------------------------------------------------------------------------------------
#
# Why an access costs what it does, in plain words, and which lesson shows it.

Kind = (
    Literal["fine", "off", "apart", "fields", "misaligned", "scattered", "conflict", "atomic"]
    | Literal["local", "constants", "rows", "spilled", "again", "parted"]
)
_PARTED = 24  # lanes of a request: fewer are some of a warp that went apart
_FAR = 512  # bytes from lane to lane: the column of a matrix rather than a stride


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
    records, a few bytes beside; `rows` that a lane walks along a row of a plain array; `spilled`
    that the source has no such access, `printed` that it is for printf. `warps` are those of the
    launch, `threads` those of a block.
    """

    row: CountRow
    cost: int
    ideal: int
    steps: LaneSteps | None = None
    fields: bool = False
    rows: bool = False
    spilled: bool = False
    printed: bool = False
    warps: int = 1
    threads: int = LANES

    @property
    def requests(self) -> int:
        """Requests of the launch."""
        return self.row.counts.get(requests_of(self.row.instruction), 0)

    @property
    def lanes(self) -> float:
        """How many lanes take part in a request, on average."""
        asked = self.row.counts.get(_bytes_of(self.row), 0)
        return asked / max(self.row.made * self.row.instruction.width, 1)

    @property
    def apart(self) -> tuple[int, int]:
        """The least step of a request and the largest, where they differ."""
        return self.steps.apart if self.steps else (0, 0)

    @property
    def step(self) -> int | None:
        """Bytes from lane to lane, None when unknown or in no order."""
        return self.steps.step if self.steps else None


def reason(of: Evidence) -> Reason:
    """What is wrong with an access, if anything is."""
    space, op = kind_of(of.row.instruction)
    kind: Kind
    if space == "local" and of.printed:
        kind = "fine"
    elif space == "local":
        kind = "spilled" if of.spilled else "local"
    elif not of.cost:
        kind = "off"
    elif op in ("atomic", "reduction") and of.steps and of.steps.same > 1:
        kind = "atomic"
    elif of.cost <= of.ideal:
        kind = "again" if space == "global" and of.steps and of.steps.again else "fine"
    elif space in ("shared", "constant"):
        kind = "conflict" if space == "shared" else "constants"
    else:
        kind = _of_global(of)
    words = texts("reasons")[kind]
    how = "said"
    if kind == "conflict" and of.apart[1]:
        how = "varied"
    elif kind == "conflict" and not of.step:
        how = "unordered"
    elif kind == "parted" and of.threads < _PARTED:
        how = "small"
    known = {name: value(of) for name, value in _VALUES.items() if f"{{{name}}}" in words[how]}
    far = kind == "apart" and abs(of.step or 0) >= _FAR
    lesson = "matrix-layout" if far else words.get("lesson", "")
    return Reason(kind, tr(words[how], **known), lesson)


def _of_global(of: Evidence) -> Kind:
    """What is wrong with the places of the lanes."""
    if of.steps is None or of.step is None:
        return "scattered"
    if abs(of.step) <= of.row.instruction.width:
        return "parted" if of.lanes < _PARTED else "misaligned"
    if of.rows:
        return "rows"
    return "fields" if of.fields else "apart"


def _used(of: Evidence) -> str:
    """`12 %`: how much of what is moved is asked for."""
    asked = of.row.counts.get(_bytes_of(of.row), 0)
    return fine_percent(asked / (32 * of.cost))


def _bytes_of(row: CountRow) -> Count:
    return Count("_".join((*kind_of(row.instruction), "bytes")))


def _turns(of: Evidence) -> str:
    turns = round(of.cost / max(of.ideal, 1), 1)
    return trn("{n} turn", "{n} turns", round(turns + 0.4), n=f"{turns:g}")


_VALUES: Mapping[str, Callable[[Evidence], str]] = {
    "step": lambda of: in_bytes(abs(of.step or 0)),
    "share": _used,
    "turns": _turns,
    "least": lambda of: in_bytes(of.apart[0]),
    "most": lambda of: in_bytes(of.apart[1]),
    "threads": lambda of: str(of.threads),
    "times": lambda of: grouped(max(round(of.requests / of.warps), 2)),
    "lanes": lambda of: f"{of.lanes:.3g}",
    "same": lambda of: str(of.steps.same if of.steps else 0),
    "different": lambda of: f"{of.cost / max(of.requests, 1):.3g}",
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
    `apart` is the least step and the largest, where requests differ in it.
    `along` is how far a lane goes from one request of its warp to the next, None where that
    differs; `again` says whether all requests of a warp are the very same.
    """

    step: int | None
    first: int
    same: int
    apart: tuple[int, int] = (0, 0)
    along: int | None = None
    again: bool = False


def steps_of(trace: Trace) -> dict[tuple[int, str], LaneSteps]:
    """By pc and space, for the instructions of which there are recorded requests with a lane."""
    of = trace.requests.instruction
    order = np.argsort(of, kind="stable").astype(np.int64)
    ends = np.searchsorted(of[order], np.arange(len(trace.instructions) + 1))
    found: dict[tuple[int, str], LaneSteps] = {}
    for number, instruction in enumerate(trace.instructions):
        rows = order[ends[number] : ends[number + 1]]
        if len(rows) and key_of(instruction) not in found:
            spread = np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(np.int64)
            steps = _steps(trace.requests.select(rows[spread]))
            if steps is not None:
                walk = _walk(trace.requests, rows)
                found[key_of(instruction)] = replace(steps, along=walk[0], again=walk[1])
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
    each = [_step(address[n : n + 1], active[n : n + 1]) for n in range(len(rows))]
    far = sorted({abs(step) for step in each if step})
    apart = (far[0], far[-1]) if len(far) > 1 else (0, 0)
    return LaneSteps(_step(address, active), first, _same(address, active), apart)


def _walk(requests: Requests, rows: I64) -> tuple[int | None, bool]:
    """How far a lane goes from request to request of the first warp, and whether all are alike."""
    mine = requests.select(rows[: _SAMPLE * LANES])
    mine = mine.select((mine.warp == mine.warp[0]) & (mine.block == mine.block[0]))
    if len(mine) < 2 or not mine.active.all() or len(np.unique(mine.active)) > 1:
        return None, False
    lane = int(lane_mask(mine.active[:1])[0].argmax())
    steps = np.diff(mine.address[:, lane].astype(np.int64))
    along = int(steps[0]) if (steps == steps[0]).mean() >= _MOSTLY else None
    return along, bool((mine.address == mine.address[0]).all())


def _step(address: I64, active: Bool) -> int | None:
    """The step that most lanes are from the one before; where no two neighbours take part, from
    the one that did, divided by how many lanes lie between.
    """
    both = active[:, 1:] & active[:, :-1]
    found = np.diff(address, axis=1)[both]
    if not len(found):
        row, lane = np.nonzero(active)
        apart = np.diff(lane)[np.diff(row) == 0]
        found = np.diff(address[row, lane])[np.diff(row) == 0] // np.maximum(apart, 1)
    steps, counts = np.unique(found, return_counts=True)
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
    """What one expression of a line costs in the whole launch: a memory instruction, or the
    `copies` that a loop was unrolled into, which are in its numbers; `instruction` is the first.

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
    copies: tuple[AccessCost, ...] = ()

    @property
    def cycles(self) -> float:
        """What it costs in cycles of one multiprocessor, to be compared with other lines."""
        return self.cost * _CYCLES[self.unit]

    @property
    def wasteful(self) -> bool:
        """Whether something is wrong with it."""
        return self.reason.kind not in ("fine", "off")

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


@dataclass(frozen=True, eq=False)
class _Place:
    """What is known of where one instruction goes."""

    row: CountRow
    operand: Place | None
    evidence: Evidence

    @cached_property
    def reason(self) -> Reason:
        """What is wrong there."""
        return reason(self.evidence)

    @property
    def expression(self) -> tuple[object, ...]:
        """What copies of one expression have in common."""
        at = self.row.instruction
        return at.line, kind_of(at), at.width, self.operand, at.function, self.reason.kind


def _accesses(trace: Trace, rows: Iterable[CountRow], operands: Operands) -> Iterable[AccessCost]:
    groups: dict[tuple[object, ...], list[_Place]] = {}
    for one in _places(trace, rows, operands):
        groups.setdefault(one.expression, []).append(one)
    for group in groups.values():
        every = tuple(map(_access, group))
        if len(every) == 1:
            yield every[0]
        else:
            yield replace(_together(group), copies=every)


def _together(group: Sequence[_Place]) -> AccessCost:
    """All copies of an expression as one."""
    first = max(group, key=lambda one: one.evidence.cost)
    counts: dict[Count, int] = {}
    for one in group:
        for key, n in one.row.counts.items():
            counts[key] = counts.get(key, 0) + n
    row = CountRow(group[0].row.instruction, counts, sum(one.row.silent for one in group))
    cost, ideal = (sum(getattr(one.evidence, name) for one in group) for name in ("cost", "ideal"))
    known = [one.evidence.steps for one in group]
    far = sorted(abs(d) for s in known if s for d in (s.step or 0, *s.apart) if d)
    steps = first.evidence.steps
    if steps and far and far[0] < far[-1]:
        steps = replace(steps, apart=(far[0], far[-1]))
    every = replace(first.evidence, row=row, cost=cost, ideal=ideal, steps=steps)
    return _access(replace(first, row=row, evidence=every))


def _access(one: _Place) -> AccessCost:
    at, found = one.row.instruction, one.evidence
    amounts = found.requests, cost_of(at.space), found.cost, found.ideal
    return AccessCost(at, *amounts, one.reason, one.row.counts, one.operand)


def _places(trace: Trace, rows: Iterable[CountRow], operands: Operands) -> Iterable[_Place]:
    steps = steps_of(trace)
    place = {key_of(i): operands.get(i.ptx_line) for i in trace.instructions}
    written, lines = set(trace.instructions), trace.source.splitlines()
    of_block = trace.launch.threads_per_block
    warps = trace.launch.blocks * trace.launch.warps_per_block
    for row in rows:
        at = row.instruction
        known, here = steps.get(key_of(at)), operands.get(at.ptx_line)
        row = replace(row, instruction=replace(at, line=line_of(at.line, here, lines)))
        beside = [place[key] for key, other in steps.items() if known and _beside(known, other)]
        along = not operands and _walks(known, at.line, lines)
        along = along if here is None else _is_row(known, here, beside, trace.source)
        fields = bool(beside) or (here is not None and _member(here))
        spilled = at.space == "local" and at not in written
        here = None if spilled else here
        line = lines[at.line - 1] if 0 < at.line <= len(lines) else ""
        printed = "printf" in line or (here is not None and here.text.startswith("printf"))
        cost, ideal = _cost(row)
        found = Evidence(row, cost, ideal, known, fields, along, spilled, printed, warps, of_block)
        yield _Place(row, here, found)


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


def _is_row(
    known: LaneSteps | None, here: Place, beside: Sequence[Place | None], source: str
) -> bool:
    """Whether each lane has a row of a plain array: it goes along it in a loop, or elsewhere in the
    line, or the rows are too long to be records.
    """
    step = abs(known.step or 0) if known else 0
    if known is None or _member(here) or _of_records(here.array, source):
        return False
    if any(one is None or _member(one) or one.array != here.array for one in beside):
        return False
    walks = bool(beside) and all(one.text == here.text for one in beside if one)
    return walks or 0 < abs(known.along or 0) < step or step >= (_ROW if beside else _FAR)


def _walks(known: LaneSteps | None, line: int, lines: Sequence[str]) -> bool:
    """Whether each lane goes along a row in a loop, where expressions are not known (yet) and the
    line has no member of a struct.
    """
    text = lines[line - 1] if 0 < line <= len(lines) else "->"
    far = known is not None and 0 < abs(known.along or 0) < abs(known.step or 0)
    return far and not re.search(r"[\])]\s*\.|->", text)


_ROW = 128  # bytes from lane to lane: several elements of one plain array are no record then


def _member(place: Place) -> bool:
    """Whether an expression names a member of a struct: outside of what indexes it."""
    outside = _BRACKETS.sub("", place.text)
    return "." in outside or "->" in outside


def _of_records(name: str, source: str) -> bool:
    """Whether elements of an array are structs, or vectors, by how it is declared."""
    declared = rf"[*&]\s*(?:const\s+)?(?:__restrict(?:__)?\s+)?{re.escape(name)}\b"
    pointer = rf"\b(\w+)\s*(?:const\s*)?{declared}"
    for kind in set(re.findall(pointer, source)):
        struct = rf"\b(?:struct|class|union)\s+(?:\w+\(\w+\)\s*)?{kind}\b|\}}\s*{kind}\s*;"
        if re.fullmatch("[a-z]+[1-4]", kind) or re.search(struct, source):
            return True
    return False


_BRACKETS = re.compile(r"\[.*\]|\(.*\)", re.DOTALL)  # from the first to the last
