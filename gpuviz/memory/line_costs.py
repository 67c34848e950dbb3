"""Which lines of a kernel cost most: a pure function of a trace and its counts.

Sectors and wavefronts are compared as cycles of one multiprocessor: a wavefront takes its memory
pipeline one cycle, a sector half of one, as if 64 bytes a cycle came from L2. That is an assumption
for ranking lines, no time: caches are not modelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gpuviz.memory.counting import CountRow, Counts
from gpuviz.memory.counts import Count, Quantity, cost_of, costs_of
from gpuviz.memory.lane_steps import LaneSteps, key_of, steps_of
from gpuviz.memory.operands import Operands
from gpuviz.memory.reasons import Evidence, Reason, reason
from gpuviz.source.spread import Place
from gpuviz.traces.trace import MemoryInstruction, Trace

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
    records = [known for known in steps.values() if known.step]
    for row in rows:
        at = row.instruction
        known = steps.get(key_of(at))
        cost, ideal = _cost(row)
        found = Evidence(row, cost, ideal, known, known is not None and _fields(known, records))
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


def _fields(one: LaneSteps, others: Iterable[LaneSteps]) -> bool:
    """Whether another access goes to the same records, at another place in them."""
    return any(
        other.step == one.step and 0 < abs(other.first - one.first) < abs(one.step or 0)
        for other in others
    )
