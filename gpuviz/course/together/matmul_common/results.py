"""What kernels have left in P, checked: their elements, and how many of them are wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64, Bool
from gpuviz.course.together.matmul_common.tips import number, spaced
from gpuviz.panels.figures import Provenance
from gpuviz.panels.grid import Grid, Hatch, Note, Paint
from gpuviz.panels.table import Column, Columns, Table
from gpuviz.run.run import Run
from gpuviz.story.measured import badge_of, time_of
from gpuviz.words.language import tr


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one kernel has left in P, beside the product in double precision.

    `names` is what it is called, in more words or less; `wrong` marks elements that differ by more
    than rounding explains.
    """

    names: tuple[str, ...]
    value: F64
    reference: F64
    wrong: Bool

    @property
    def name(self) -> str:
        """What it is called in full."""
        return self.names[0]

    @property
    def difference(self) -> float:
        """The largest absolute difference."""
        return float(np.abs(self.value - self.reference).max(initial=0.0))

    @property
    def count(self) -> int:
        """How many elements are wrong."""
        return int(self.wrong.sum())

    @property
    def said(self) -> str:
        """`9 of 9 wrong`."""
        if not self.count:
            return tr("none wrong")
        return tr("{n} of {all} wrong", n=spaced(self.count), all=spaced(self.wrong.size))

    def tip(self, cell: int) -> str:
        """What hovering an element says."""
        row, column = divmod(cell, self.value.shape[1])
        value, right = (number(float(a[row, column])) for a in (self.value, self.reference))
        said = f"P[{row}][{column}] = {value}"
        if not self.wrong[row, column]:
            return f"{self.name}: {said}"
        return tr("{name}: {said}, where {right} is right", name=self.name, said=said, right=right)


def outcome(names: tuple[str, ...], value: F64, m: F64, n: F64) -> Outcome:
    """A result checked against the product of two matrices in double precision."""
    reference = m @ n
    rounding = m.shape[1] * 2.0**-23 * (np.abs(m) @ np.abs(n))
    return Outcome(names, value, reference, np.abs(value - reference) > rounding)


def values(one: Outcome, known: bool) -> Grid:
    """The elements, those that are wrong hatched; an empty matrix while they are not known."""
    rows, columns = one.value.shape
    if not known:
        return Grid(one.names, rows, columns)
    return Grid(
        one.names,
        rows,
        columns,
        one.tip,
        (Paint(np.ones(one.value.size, bool), "store", soft=0.35),),
        words=tuple(map(number, one.value.ravel().tolist())),
        hatched=(Hatch(np.flatnonzero(one.wrong), bad=True),),
        note=Note((one.said,), "bad" if one.count else "good", bold=True),
        answers=True,
    )


def summary(
    outcomes: Sequence[Outcome],
    known: Sequence[bool],
    columns: Sequence[Column],
    runs: Sequence[Run],
) -> tuple[Table, Provenance]:
    """A row an outcome: its name, `columns`, wrong elements, differences; the same in a line."""
    of = Columns(tuple(one if k else None for one, k in zip(outcomes, known, strict=True)))
    wrong, difference = (
        (tr("wrong elements"), tr("wrong")),
        (tr("largest difference"), tr("difference")),
    )
    made = (
        Columns(outcomes)("", lambda one: one.name, "left", bold=True),
        *columns,
        of(wrong, lambda one: f"{one.count} / {one.wrong.size}" if one else "", badge=tr("model")),
        of(difference, lambda one: number(one.difference) if one else "", optional=4),
        _returned(runs),
    )
    return Table(made), verdict(outcomes, known)


def verdict(outcomes: Sequence[Outcome], known: Sequence[bool]) -> Provenance:
    """What of those outcomes that are known is wrong, in a line."""
    told = [one for one, there in zip(outcomes, known, strict=True) if there]
    if not told:
        return Provenance(("",), tr("model"), "accent")
    worst = max(told, key=lambda one: one.count)
    forms = (
        *(" · ".join(f"{one.names[i]}: {one.said}" for one in told) for i in (0, -1)),
        f"{worst.name}: {worst.said}",
        f"{worst.names[-1]}: {worst.said}",
        worst.said,
    )
    return Provenance(forms, tr("model"), "accent")


def _returned(runs: Sequence[Run]) -> Column:
    """How far what a GPU returned is from the emulated result."""
    badge = next((run.measurement.badge for run in runs if run.measurement), tr("unavailable"))
    titles = tr("the GPU differs from it by"), tr("GPU differs by"), tr("GPU")

    def cell(run: Run) -> str | None:
        differences = run.measurement.differences if run.measurement else {}
        return number(differences["P"]) if "P" in differences else None

    return Columns(runs)(titles, cell, badge=badge, ink="muted", optional=3)


def at_real_size(named: Sequence[tuple[str, Run]]) -> tuple[Provenance, ...]:
    """How long kernels took at the size people run, the first against the last; nothing where a GPU
    has not run them.
    """
    found = [(name, time) for name, run in named if run.companion and (time := time_of(run))]
    if not found:
        return ()
    (_, first), (_, last) = found[0], found[-1]
    said = " · ".join(f"{name} {time.whole}" for name, time in found)
    size = first.size or last.size
    forms = f"{size}: {said} · {first.device}", f"{size}: {said}"
    return (Provenance(forms, badge_of([first]), "good", whole=True),)
