"""How lines of C are indented while they are typed."""

from __future__ import annotations

STEP = 4


def next_indent(before: str, after: str) -> str:
    """Blanks that begin a line: what lies `before` and `after` the break tells how many."""
    blanks = before[: len(before) - len(before.lstrip(" \t"))]
    opened = before.rstrip().endswith(("{", "(", "["))
    closing = after.lstrip().startswith(("}", ")", "]"))
    return blanks + " " * STEP if opened and not closing else blanks


def to_next_stop(column: int) -> str:
    """Blanks from a column to the next stop."""
    return " " * (STEP - column % STEP)


def indented(line: str) -> str:
    """The line one step further in; an empty one stays so."""
    return " " * STEP + line if line.strip() else line


def outdented(line: str) -> str:
    """The line one step further out, as far as it is indented."""
    if line.startswith("\t"):
        return line[1:]
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(blanks, (blanks - 1) % STEP + 1 if blanks else 0) :]


def before_stop(blanks: str) -> int:
    """How many of these signs before the cursor a step back takes: 1 unless all are blanks."""
    if not blanks or blanks.strip(" "):
        return 1
    return (len(blanks) - 1) % STEP + 1
