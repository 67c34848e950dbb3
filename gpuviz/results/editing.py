"""Text of C while it is edited: how its lines are indented, and where they are afterwards."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

_MOST = 1000  # lines between the first and the last that changed, which are compared one by one

T = TypeVar("T")
STEP = 4


def shifted(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """For each line of the text before that is still there its number now; counted from 1."""
    most = min(len(before), len(after))
    top = next((n for n in range(most) if before[n] != after[n]), most)
    most -= top
    end = next((n for n in range(most) if before[-1 - n] != after[-1 - n]), most)
    found = {n: n for n in range(1, top + 1)}
    move = len(after) - len(before)
    found |= {n: n + move for n in range(len(before) - end + 1, len(before) + 1)}
    old, new = before[top : len(before) - end], after[top : len(after) - end]
    if max(len(old), len(new)) <= _MOST:
        for one in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            found |= {top + one.a + n + 1: top + one.b + n + 1 for n in range(one.size)}
    return found


def moved(notes: Mapping[int, T], lines: Mapping[int, int]) -> dict[int, T]:
    """What belongs to lines, at their numbers now; without that of lines that are gone."""
    return {lines[line]: note for line, note in notes.items() if line in lines}


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
