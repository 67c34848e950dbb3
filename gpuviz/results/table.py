"""Tables of texts, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A head and rows as wide; the first column has names, the others numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """A GitHub table, numbers to the right."""
        rule = ("---", *("--:" for _ in self.head[1:]))
        lines = [tuple(map(_cell, row)) for row in (self.head, *self.rows)]
        return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], rule, *lines[1:]))

    def csv(self) -> str:
        """Comma-separated, as RFC 4180 has it, but with plain line ends."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows((self.head, *self.rows))
        return file.getvalue()


def _cell(text: str) -> str:
    """A text that does not end a cell or a line."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").strip()
