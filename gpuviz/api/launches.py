"""`gpuviz.sweep` and `gpuviz.verify`: the counts of many launches, varied or measured."""

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from gpuviz.api.lessons import Told, lessons
from gpuviz.api.run import Run
from gpuviz.api.tables import Counts
from gpuviz.base.errors import Error, InputError
from gpuviz.results.table import Cell, Table
from gpuviz.run.run import Level

Launch = Callable[..., Run | Counts | Told]


def sweep(launch: str | Launch, **varied: Iterable[Any]) -> Table:
    """A row for each combination of values: these, and every count that is not 0 in all rows.

    `launch` is a function of the varied values that gives a run or counts, or the id of a lesson. A
    launch that cannot be has what is wrong with it in the column `error`.

    Raises
    ------
    InputError : nothing is varied

    >>> import gpuviz
    >>> table = gpuviz.sweep("banks", stride=(1, 2, 4))
    >>> [row["shared_load_wavefronts"] // row["shared_load_requests"] for row in table]
    [1, 2, 4]
    """
    if not varied:
        raise InputError("nothing is varied: give values to take, as in stride=range(1, 33)")
    made: Launch = lessons[launch] if isinstance(launch, str) else launch
    cells = [dict(zip(varied, values, strict=True)) for values in product(*varied.values())]
    found = [_outcome(made, cell) for cell in cells]
    quantities = list(dict.fromkeys(name for row in found for name, n in row.items() if n))
    rows = [
        (*map(_plain, cell.values()), *(row.get(name) for name in quantities))
        for cell, row in zip(cells, found, strict=True)
    ]
    return Table((*varied, *quantities), rows)


def _outcome(launch: Launch, cell: Mapping[str, Any]) -> dict[str, Cell]:
    try:
        done = launch(**cell)
    except Error as error:
        return {"error": str(error)}
    counts = done if isinstance(done, Counts) else done.counts
    return {str(name): n for name, n, *_ in counts.rows}


def _plain(value: Any) -> Cell:
    return value if isinstance(value, int | float | str) else str(value)


class Verification(Table):
    """A row for each quantity of each launch; `equal` says whether none differs unexplained."""

    equal: bool = True


def verify(path: str | Path, *, level: Level = "sass") -> Verification:
    """Predict every launch of a file of measurements, as `gpuviz verify FILE` does.

    Raises
    ------
    InputError, FormatError : the file cannot be read, or is none of measurements
    """
    from gpuviz.run import verification

    measured = verification.load(Path(path))
    found = verification.compare(measured, level)
    rows = [(c.launch, c.quantity, c.predicted, c.measured, c.difference, c.note) for c in found]
    columns = ("launch", "quantity", "predicted", "measured", "difference", "note")
    table = Verification(columns, rows, f"{measured.device}, {measured.arch}")
    table.equal = all(c.equal for c in found)
    return table
