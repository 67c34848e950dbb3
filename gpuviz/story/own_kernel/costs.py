"""The accesses of a launch that cost more than they have to, for the list of what was found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gpuviz.memory.line_costs import AccessCost, line_costs
from gpuviz.memory.units import OPS
from gpuviz.panels.panel import GO, Values
from gpuviz.run.run import Run
from gpuviz.words.language import fine_percent, tr

_LEAST = 0.02  # of all lines' cost: what is less is not worth a change
_MOST = 8


@dataclass(frozen=True, eq=False)
class Costly:
    """An access, of which its line has `share` of what all lines cost."""

    access: AccessCost
    share: float

    @property
    def line(self) -> int:
        """Of the source."""
        return self.access.instruction.line

    @property
    def times(self) -> str:
        """How often it costs what it could: `8×`, "" where the least is nothing."""
        ratio = self.access.cost / self.access.ideal if self.access.ideal else 0.0
        return f"{ratio:.3g}×" if ratio else ""

    @property
    def names(self) -> tuple[str, ...]:
        """What it is, longest first."""
        kind = f"{self.access.instruction.space} {tr(OPS[self.access.instruction.op])}"
        long = tr("{times} what {access} needs", times=self.times, access=kind)
        return (long, kind) if self.times else (kind,)

    @property
    def where(self) -> tuple[str, ...]:
        """Which line, and how much of it all."""
        line = tr("line {n}", n=self.line)
        share = tr("{share} of what all lines cost", share=fine_percent(self.share))
        return f"{line} · {share}", line

    @property
    def title(self) -> str:
        """What to change first."""
        line = tr("Line {n}", n=self.line)
        said = tr("costs {times} what it could", times=self.times) if self.times else self.names[-1]
        return f"{line}: {said}"

    @property
    def go(self) -> Values:
        """To the first of its requests that is shown."""
        op = self.access.instruction.op
        return {GO: f"line {self.line} {op} | line {self.line} | #1"}


@lru_cache(maxsize=4)
def costly(run: Run) -> tuple[Costly, ...]:
    """The worst of each kind on each line, those that would save most first."""
    found: dict[tuple[int, str, str], Costly] = {}
    for line in line_costs(run.trace, run.counts):
        for access in line.accesses:
            wrong = access.excess > 0 and access.reason.kind not in ("fine", "off")
            if line.line and wrong and line.share >= _LEAST:
                kind = access.instruction.space, access.reason.kind
                found.setdefault((line.line, *kind), Costly(access, line.share))
    return tuple(sorted(found.values(), key=lambda one: -one.access.excess)[:_MOST])
