"""Whether the counts of a run are those of a GPU: exact, exact but for some, or modelled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpuviz.memory.counts import by_name
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.memory.counting import CountRow
    from gpuviz.run.run import Run

_SPACES = ("global", "shared", "local")
_LINES = 4  # of a request of atomics


@dataclass(frozen=True)
class Doubt:
    """Counters that may not be what a GPU counts, by the beginning of their names
    (`shared_store`), why, and what a GPU counts then.
    """

    counters: tuple[str, ...]
    why: str
    direction: Literal["more", "fewer", "other"] = "other"


@dataclass(frozen=True)
class Fidelity:
    """How sure the counts of a run are: "exact", "exact but" for `doubts`, or "modelled"."""

    kind: Literal["exact", "exact but", "modelled"]
    doubts: tuple[Doubt, ...] = ()

    @property
    def words(self) -> str:
        """In a sentence."""
        told = "; ".join(f"{', '.join(d.counters)} ({d.why})" for d in self.doubts)
        if self.kind == "exact":
            return tr("counts are exact")
        if self.kind == "modelled":
            return tr("counts are estimates: {why}", why=self.doubts[0].why)
        return tr("counts are exact but for {what}", what=told)


def fidelity(run: Run) -> Fidelity:
    """How sure the counts of a run are, by what its machine code holds."""
    if run.sampled:
        return Fidelity("modelled", (Doubt(_SPACES, run.note),))
    doubts = tuple(_doubts(run))
    return Fidelity("exact but" if doubts else "exact", doubts)


def _doubts(run: Run) -> Iterator[Doubt]:
    if run.past_faults:
        yield Doubt(_SPACES, run.past_faults)
    if run.level == "ptx" or run.listing is None:
        yield Doubt(_SPACES, tr("counted as in the PTX; the assembler merges and removes accesses"))
        return
    if alone := {d.ptx_line for d in run.differences if d.kind == "unmatched"}:
        kinds = {f"{i.space}_{i.op}" for i in run.trace.instructions if i.ptx_line in alone}
        yield Doubt(
            tuple(sorted(kinds)), tr("not found in the machine code, counted as in the PTX")
        )
    for one in ("global_reduction", "global_atomic"):
        if any(_scattered(row, one) for row in run.counts.rows):
            why = tr(
                "lanes in more than {n} lines: of random kernels with such, a seventh counted more "
                "on an H200",
                n=_LINES,
            )
            yield Doubt((f"{one}_sectors",), why, "more")


def _scattered(row: CountRow, name: str) -> bool:
    """Whether an instruction of this kind asks for more lines a request than the rule of sectors
    was read for.
    """
    found = by_name(row.counts)
    return found.get(f"{name}_lines", 0) > _LINES * found.get(f"{name}_requests", 0)
