"""`gpuviz.verify`: predictions against a file of measurements."""

from __future__ import annotations

from pathlib import Path

from gpuviz.api.table import Table
from gpuviz.run.run import Level


class Verified(Table):
    """A row for each quantity of each launch; `equal` says whether none differs unexplained."""

    equal: bool = True


def verify(path: str | Path, *, level: Level = "sass") -> Verified:
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
    table = Verified(columns, rows, f"{measured.device}, {measured.arch}")
    table.equal = all(c.equal for c in found)
    return table
