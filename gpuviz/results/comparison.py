"""Two runs of anything side by side: what they count, how long they took, line by line."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from gpuviz.memory.line_costs import LineCost, line_costs
from gpuviz.results.rows import times
from gpuviz.run.run import Run


@dataclass(frozen=True)
class Pair:
    """A quantity of both runs; None where one has nothing such."""

    name: str
    a: float | None
    b: float | None

    @property
    def ratio(self) -> float | None:
        """B divided by A."""
        return ratio(self.a, self.b)


@dataclass(frozen=True)
class LinePair:
    """A line of either source that belong together; None where the other has none."""

    a: LineCost | None
    b: LineCost | None

    @property
    def ratio(self) -> float | None:
        """What the line of B costs, divided by what that of A does."""
        costs = (line.cycles if line else None for line in (self.a, self.b))
        return ratio(*costs)

    @property
    def cycles(self) -> float:
        """What the dearer one costs."""
        return max(line.cycles for line in (self.a, self.b) if line)


def ratio(a: float | None, b: float | None) -> float | None:
    """B divided by A; None where that means nothing."""
    if a is None or b is None:
        return None
    return b / a if a else 1.0 if not b else math.inf


def counts(a: Run, b: Run) -> list[Pair]:
    """What is predicted of both, as far as one of them has any of it."""
    ours, theirs = a.counts.totals, b.counts.totals
    return [Pair(str(key), n, theirs[key]) for key, n in ours.items() if n or theirs[key]]


def work(a: Run, b: Run) -> list[Pair]:
    """Instructions, and what a thread and a block take."""
    pairs = [
        Pair("thread_instructions", a.trace.thread_instructions, b.trace.thread_instructions),
        Pair("warp_instructions", a.trace.warp_instructions, b.trace.warp_instructions),
        Pair("floating_point_operations", a.trace.flops, b.trace.flops),
    ]
    if a.resources and b.resources:
        names = ("registers", "static_shared_bytes", "spill_stores_bytes", "spill_loads_bytes")
        pairs += [
            Pair(name, getattr(a.resources, name), getattr(b.resources, name)) for name in names
        ]
    return [pair for pair in pairs if pair.a or pair.b]


def measured(a: Run, b: Run) -> list[Pair]:
    """Times of both, in microseconds, where a GPU has measured one of them."""
    ours, theirs = (times(run.measurement) if run.measurement else {} for run in (a, b))
    return [Pair(key, ours.get(key), theirs.get(key)) for key in dict.fromkeys((*ours, *theirs))]


def lines(
    a: Run, b: Run, a_costs: Sequence[LineCost], b_costs: Sequence[LineCost]
) -> list[LinePair]:
    """The lines that access memory, those of one text beside those of the other; dearest first.

    Lines that both texts have belong together, and so do those that took the place of others.
    """
    twins = dict(_twins(a.trace.source.splitlines(), b.trace.source.splitlines()))
    theirs = {cost.line: cost for cost in b_costs}
    pairs = [LinePair(cost, theirs.pop(twins.get(cost.line, -1), None)) for cost in a_costs]
    pairs += [LinePair(None, cost) for cost in theirs.values()]
    return sorted(pairs, key=lambda pair: -pair.cycles)


def line_ratios(a: Run, b: Run, of_b: bool) -> dict[int, float]:
    """What each line of one of the runs costs in B, divided by what it does in A."""
    costs = (line_costs(run.trace, run.counts) for run in (a, b))
    found = ((pair.b if of_b else pair.a, pair.ratio) for pair in lines(a, b, *costs))
    return {cost.line: ratio for cost, ratio in found if cost is not None and ratio is not None}


def _twins(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lines of one text, and those of the other that they are or became; counted from 1."""
    matcher = SequenceMatcher(
        None, [line.strip() for line in a], [line.strip() for line in b], autojunk=False
    )
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            yield from zip(range(i + 1, i_end + 1), range(j + 1, j_end + 1), strict=False)


def as_json(pairs: Sequence[Pair]) -> Mapping[str, Mapping[str, float | None]]:
    """Quantities as plain values, by name; a ratio beyond all bounds is None."""
    return {
        pair.name: {
            "ratio": pair.ratio if pair.ratio is not None and math.isfinite(pair.ratio) else None,
            "a": pair.a,
            "b": pair.b,
        }
        for pair in pairs
    }
