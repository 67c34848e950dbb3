"""The lines that cost most as rows of a table, and what hovering a line of code says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpuviz.course import COURSE
from gpuviz.memory.units import OPS, unit_of
from gpuviz.results.quantities import multiple
from gpuviz.results.table import Table
from gpuviz.words.language import fine_percent, grouped, later, tr, trn

if TYPE_CHECKING:
    from gpuviz.memory.line_costs import AccessCost, LineCost
    from gpuviz.traces.trace import MemoryInstruction

_WHERE = (later("share"), later("B / A"), later("line"), later("access"))
_COSTS = (later("requests"), later("cost"), later("ideal"))
HEAD = (*_WHERE, *_COSTS, later("what is wrong"), later("lesson"))


@dataclass(frozen=True)
class LineRow:
    """One expression, or one of the instructions that it became (`inner`); `share` is that of its
    line, None but for the first expression of a line.

    `about` stands before numbers that are estimates. `ratio` is what the line costs in B, divided
    by what it does in A, where two runs are compared; it stands where the share does.
    """

    line: LineCost
    access: AccessCost
    share: float | None
    sectors: bool = True
    about: str = ""
    ratio: float | None = None
    inner: bool = False

    @property
    def fine(self) -> bool:
        """Whether nothing is wrong with it; of an instruction its expression says that."""
        return self.inner or self.access.reason.kind == "fine"

    @property
    def instructions(self) -> list[LineRow]:
        """What it became, where that is several."""
        one = replace(self, share=None, ratio=None, inner=True)
        return [replace(one, access=copy) for copy in self.access.copies]

    @property
    def name(self) -> str:
        """What is accessed and how: `load b[i * stride]`; the instruction where that is unknown."""
        at, operand = self.access.instruction, self.access.operand
        said = at.text if self.inner or not operand else operand.text
        times = f" · {len(self.access.copies)} ×" if self.access.copies else ""
        return f"{tr(OPS[at.op])} {said}{times}"

    @property
    def cost(self) -> str:
        """`512 sectors`."""
        unit = unit_of(self.access.unit, self.sectors)
        return f"{self.about}{grouped(self.access.cost)} {unit.said(self.access.cost == 1)}"

    @property
    def lesson(self) -> str:
        """The title of the lesson that shows it, "" for none."""
        wanted = self.access.reason.lesson
        return next((tr(one.title) for one in COURSE if one.id == wanted), "")

    @property
    def cells(self) -> tuple[str, ...]:
        """What each column of `HEAD` says."""
        return (
            "" if self.share is None else f"{self.about}{fine_percent(self.share)}",
            "" if self.share is None or self.ratio is None else multiple(self.ratio),
            str(self.line.line) if self.line.line else "–",
            self.name,
            f"{self.about}{grouped(self.access.requests)}",
            self.cost,
            f"{self.about}{grouped(self.access.ideal)}",
            self.access.reason.said,
            self.lesson,
        )

    @property
    def told(self) -> str:
        """All of it in words."""
        count = self.access.requests
        requests = trn("{n} request", "{n} requests", count, n=grouped(count))
        return tr(
            "{name} ({instruction}): {requests}, {cost}, ideal {ideal}. {reason}",
            name=self.name,
            instruction=self.access.instruction.text,
            requests=requests,
            cost=self.cost,
            ideal=grouped(self.access.ideal),
            reason=self.access.reason.said,
        )


def rows_of(
    costs: Sequence[LineCost],
    sectors: bool = True,
    about: str = "",
    ratios: Mapping[int, float] = MappingProxyType({}),
) -> list[LineRow]:
    """A row an access, lines and accesses that cost most first; `ratios` are by line."""
    return [
        LineRow(cost, access, None if number else cost.share, sectors, about, ratios.get(cost.line))
        for cost in costs
        for number, access in enumerate(cost.accesses)
    ]


def head() -> tuple[str, ...]:
    """The titles of the columns."""
    return tuple(map(tr, HEAD))


def table(rows: Iterable[LineRow]) -> Table:
    """The ranking as a table of texts, each row with its line and its share."""
    return Table(head(), tuple(row.cells for row in rows))


def tips(rows: Iterable[LineRow], line_of: Callable[[MemoryInstruction], int]) -> Mapping[int, str]:
    """What hovering the lines of a text says, in which instructions stand where `line_of` says."""
    found: dict[int, list[str]] = {}
    for row in rows:
        lines = {line_of(one.access.instruction) for one in (row.instructions or [row])}
        for line in lines:
            found.setdefault(line, []).append(row.told)
    return {line: "\n".join(said) for line, said in found.items() if line}
