"""A small table, and what becomes of it: text, HTML of a notebook, Markdown, CSV, a DataFrame."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from gpuviz.base.errors import UnavailableError

Cell = str | int | float | None
_SHOWN = 40  # rows of a longer table that are printed
_WIDEST = 72  # letters of a longer text that are
_STYLES = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"


class Table:
    """Rows of plain values under named columns; texts to the left, numbers to the right.

    >>> table = Table(("line", "sectors"), [(3, 4096), (4, 1024)])
    >>> table
    line  sectors
       3    4,096
       4    1,024
    >>> table.to_dict()
    {'line': [3, 4], 'sectors': [4096, 1024]}
    >>> [row["sectors"] for row in table]
    [4096, 1024]
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        caption: str = "",
        widest: int = _WIDEST,
    ) -> None:
        """A caption stands above the table; longer texts than the `widest` are cut where shown."""
        self.columns = tuple(columns)
        self.rows = tuple(map(tuple, rows))
        self.caption, self.widest = caption, widest

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        """Each row, by the names of the columns."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def to_dict(self) -> dict[str, list[Cell]]:
        """Each column as a list."""
        return {name: [row[n] for row in self.rows] for n, name in enumerate(self.columns)}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame.

        Raises
        ------
        UnavailableError : pandas is not installed
        """
        try:
            import pandas
        except ImportError:
            raise UnavailableError(
                "pandas is not installed: pip install pandas, or use to_dict()"
            ) from None
        return pandas.DataFrame(self.to_dict(), columns=list(self.columns))

    def markdown(self) -> str:
        """A GitHub table: the first column has names, the others have numbers, to the right."""
        rule = ("---", *("--:" for _ in self.columns[1:]))
        lines = [tuple(map(_marked, row)) for row in (self.columns, *self.rows)]
        return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], rule, *lines[1:]))

    def csv(self) -> str:
        """Comma-separated, as RFC 4180 has it, but with plain line ends."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows((self.columns, *self.rows))
        return file.getvalue()

    def __repr__(self) -> str:
        rows = [self.columns, *(tuple(map(self._cut, row)) for row in self.rows[:_SHOWN])]
        lines = _aligned(rows, self._right())
        return "\n".join([*filter(None, [self.caption]), *lines, *self._more()])

    def _repr_html_(self) -> str:
        right = self._right()
        head = "".join(map(_th, self.columns, right))
        cells = (map(_td, map(self._cut, row), right) for row in self.rows[:_SHOWN])
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return table + "".join(f"<p>{escape(line)}</p>" for line in self._more())

    def _cut(self, cell: Cell) -> str:
        said = _text(cell)
        return said if len(said) <= self.widest else f"{said[: self.widest - 1]}…"

    def _right(self) -> list[bool]:
        """Whether a column has no texts."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        return [not any(isinstance(cell, str) for cell in column) for column in columns]

    def _more(self) -> list[str]:
        left = len(self.rows) - _SHOWN
        return [f"… and {left:,} more rows"] if left > 0 else []


def text(head: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> str:
    """A table for terminals; `right` names the columns set to the right, as in ">1 >2"."""
    rule = ["-" * max(map(len, column)) for column in zip(head, *rows, strict=True)]
    flush = [f">{n}" in right.split() for n in range(len(head))]
    return "\n".join(_aligned((head, rule, *rows), flush))


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """Lines whose columns line up."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, right, strict=True)
        yield "  ".join(c.rjust(w) if to_right else c.ljust(w) for c, w, to_right in cells).rstrip()


def _th(name: str, right: bool) -> str:
    return f'<th style="{_STYLES[right]}">{escape(name)}</th>'


def _td(cell: str, right: bool) -> str:
    return f'<td style="{_STYLES[right]}">{escape(cell)}</td>'


def _text(cell: Cell) -> str:
    """A value for people; a dash where there is none."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    return f"{cell:,.0f}" if cell == int(cell) else f"{cell:,.2f}"


def _marked(cell: Cell) -> str:
    """A value that does not end a cell or a line of Markdown."""
    said = cell if isinstance(cell, str) else _text(cell)
    return said.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").strip()
