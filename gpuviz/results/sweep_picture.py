"""What is known of a sweep as a picture: a map over two things varied, bars over one."""

from collections.abc import Mapping, Sequence

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.draw.axis import short
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows, share
from gpuviz.panels.legend import Legend
from gpuviz.panels.picture import Picture
from gpuviz.panels.value_map import MapAxis, ValueMap
from gpuviz.sweeps import quantity
from gpuviz.sweeps.axis import Axis, Cell
from gpuviz.sweeps.cell import Outcome
from gpuviz.sweeps.record import Key
from gpuviz.sweeps.table import Table
from gpuviz.words.language import grouped, tr, trn

_WIDE = 8.0  # a largest value so many times the smallest is shown on a logarithmic scale


def picture(
    axes: Sequence[Axis],
    outcomes: Mapping[Key, Outcome],
    wanted: str,
    badge: str,
    *,
    of: str = "",
    role: str = "",
    names: Mapping[str, str] | None = None,
    picked: Cell | None = None,
) -> Picture:
    """One quantity of all cells, those not done yet left empty.

    `of` is what was launched, in words; `names` are those of axes, by id; `picked` is outlined.
    """
    across, down = axes[0], (axes[1] if len(axes) > 1 else None)
    table = Table(tuple(axes), outcomes)
    values, columns = table.values(wanted, role), len(across.values)

    def tip(column: int, row: int) -> str:
        at = row * columns + column
        return told(table.cells[at], table.known[at], wanted, role)

    known = values[np.isfinite(values)]
    log = bool(len(known) and known.min() > 0 and known.max() > _WIDE * known.min())
    named = names or {}
    made = ValueMap(
        MapAxis(across.name, named.get(across.name, across.name), across.values),
        MapAxis(down.name, named.get(down.name, down.name), down.values) if down else None,
        values,
        table.failed,
        _place(axes, picked),
        tip,
        log,
    )
    body = rows(share(1, made))
    if (ends := made.ends) is not None and down is not None:
        low, high = map(short, ends)
        body = rows(Legend(low, high, badge), share(1, made), gap=0.4)
    elif ends is not None:
        body = rows(share(1, made), Provenance((_range(ends),), badge), gap=0.4)
    said = _sentence(table, values)
    return Picture(quantity.called(wanted), f"{of}. {said}" if of else said, body)


def told(cell: Cell, outcome: Outcome | None, wanted: str, role: str = "") -> str:
    """A cell in words."""
    where = ", ".join(f"{name} {value}" for name, value in cell.items())
    if outcome is None:
        return tr("{cell}: not done yet", cell=where)
    if outcome.error:
        return f"{where}: {outcome.error}"
    number = quantity.value(outcome, wanted, role)
    said = tr("not known") if number is None else exact(number)
    return f"{where}: {said}"


def exact(number: float) -> str:
    """Whole numbers with all their digits, others with four."""
    return grouped(number) if number == int(number) else f"{number:.4g}"


def _range(ends: tuple[float, float]) -> str:
    return tr("{low} to {high}", low=exact(ends[0]), high=exact(ends[1]))


def _place(axes: Sequence[Axis], picked: Cell | None) -> tuple[int, int]:
    """Column and row of a cell, (-1, -1) where there is no such."""
    if picked is None or any(picked.get(axis.name) not in axis.values for axis in axes):
        return -1, -1
    column, *rest = (axis.values.index(picked[axis.name]) for axis in axes)
    return column, rest[0] if rest else 0


def _sentence(table: Table, values: F64) -> str:
    """Where it is least and most; while cells are missing, how many are done."""
    if not table.whole:
        every = grouped(len(table.cells))
        return tr("{done} of {all} cells are done.", done=grouped(table.done), all=every)
    flat = values.ravel()
    if not np.isfinite(flat).any():
        return tr("Nothing came of any cell.")
    least, most = int(np.nanargmin(flat)), int(np.nanargmax(flat))
    said = tr(
        "Least with {least}: {low}; most with {most}: {high}.",
        least=_cell(table.cells[least]),
        low=exact(float(flat[least])),
        most=_cell(table.cells[most]),
        high=exact(float(flat[most])),
    )
    if failed := int(table.failed.sum()):
        said += " " + trn("{n} cell cannot be.", "{n} cells cannot be.", failed)
    return said


def _cell(cell: Cell) -> str:
    return ", ".join(f"{name} {value}" for name, value in reversed(list(cell.items())))
