"""Small tables, as text at a prompt and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

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
        self, columns: Sequence[str], rows: Sequence[Sequence[Cell]], caption: str = ""
    ) -> None:
        """A caption stands above the table."""
        self.columns = tuple(columns)
        self.rows = tuple(map(tuple, rows))
        self.caption = caption

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
            from gpuviz.base.errors import UnavailableError

            raise UnavailableError(
                "pandas is not installed: pip install pandas, or use to_dict()"
            ) from None
        return pandas.DataFrame(self.to_dict(), columns=list(self.columns))

    def __repr__(self) -> str:
        rows = [self.columns, *(tuple(map(_text, row)) for row in self.rows[:_SHOWN])]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        right = self._right()
        lines = [
            "  ".join(
                cell.rjust(width) if to_right else cell.ljust(width)
                for cell, width, to_right in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*filter(None, [self.caption]), *lines, *self._more()])

    def _repr_html_(self) -> str:
        right = self._right()
        head = "".join(map(_th, self.columns, right))
        body = "".join(f"<tr>{''.join(map(_td, row, right))}</tr>" for row in self.rows[:_SHOWN])
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return table + "".join(f"<p>{escape(line)}</p>" for line in self._more())

    def _right(self) -> list[bool]:
        """Whether a column has no texts."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        return [not any(isinstance(cell, str) for cell in column) for column in columns]

    def _more(self) -> list[str]:
        left = len(self.rows) - _SHOWN
        return [f"… and {left:,} more rows"] if left > 0 else []


def _th(name: str, right: bool) -> str:
    return f'<th style="{_STYLES[right]}">{escape(name)}</th>'


def _td(cell: Cell, right: bool) -> str:
    return f'<td style="{_STYLES[right]}">{escape(_text(cell))}</td>'


def _text(cell: Cell) -> str:
    """A value for people; a dash where there is none."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell if len(cell) <= _WIDEST else f"{cell[: _WIDEST - 1]}…"
    if isinstance(cell, int) or cell == int(cell):
        return f"{cell:,.0f}"
    return f"{cell:,.2f}"
