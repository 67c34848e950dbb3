"""Why an access costs what it does, in plain words, and which lesson shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from gpuviz.memory.counting import CountRow
from gpuviz.memory.counts import Count, kind_of, requests_of
from gpuviz.memory.lane_steps import LaneSteps
from gpuviz.memory.transaction_names import in_bytes
from gpuviz.words.language import fine_percent, tr, trn

Kind = Literal[
    "fine", "off", "apart", "fields", "misaligned", "scattered", "conflict", "atomic", "local",
    "constants",
]  # fmt: skip
_FAR = 512  # bytes from lane to lane: the column of a matrix rather than a stride
LESSONS: dict[Kind, str] = {
    "fine": "",
    "off": "divergence",
    "apart": "coalescing",
    "fields": "alignment",
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
    records, a few bytes beside.
    """

    row: CountRow
    cost: int
    ideal: int
    steps: LaneSteps | None = None
    fields: bool = False

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
    "misaligned": lambda of: tr("Lanes lie side by side, but not from where a sector begins."),
    "scattered": _scattered,
    "conflict": _conflict,
    "atomic": _atomic,
    "local": lambda of: tr(
        "It lies in local memory: an array indexed at run time, or registers that are short."
    ),
    "constants": _constants,
}
