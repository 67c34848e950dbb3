"""Whether the counts of a run are those of a GPU: exact, exact but for some, or modelled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpuviz.words.language import later, tr

if TYPE_CHECKING:
    from gpuviz.run.run import Run

KINDS = {
    "exact": later("exact"),
    "exact but": later("exact, but for some"),
    "modelled": later("estimated"),
}
_SPACES = ("global", "shared", "local")
_CALL = re.compile(r"^\s*(@!?%p\d+ )?call(?!.*\bvprintf)", re.MULTILINE)
_ATOMIC = ("atomic", "reduction")
_SUMS = ("REDUX", "POPC", "UPOPC")  # of a warp, before a single lane's atomic


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
    code = run.listing.instructions
    atomics = {f"{i.space}_{i.op}" for i in run.trace.instructions if i.op in _ATOMIC}
    if atomics and any(i.opcode.split(".")[0] in _SUMS for i in code):
        why = tr("the machine code may sum over a warp before one lane's atomic")
        yield Doubt(tuple(sorted(atomics)), why, "fewer")
    local = [i for i in code if i.memory is not None and i.memory.space == "local" and not i.spill]
    if local and _CALL.search(run.trace.ptx) and any(i.opcode.startswith("CALL") for i in code):
        why = tr("what calls save and load again is not counted")
        yield Doubt(("local_load", "local_store"), why, "more")
    guarded = {
        f"shared_{i.memory.op}_requests"
        for i in code
        if i.guard and i.memory is not None and i.memory.space == "shared"
    }
    if guarded:
        why = tr("a GPU counts instructions that are issued though no lane takes part")
        yield Doubt(tuple(sorted(guarded)), why, "more")
