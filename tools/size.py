"""Lines and files of each room of gpuviz/, beside their budgets: `python -m tools.size`.

A room is a folder of gpuviz/; "." are the modules beside them, "gpuviz" is all of it. Budgets stand
in tools/budget.toml: one that is raised is a line of the commit that needs it, with its reason in
the message. Exit status 1 when a room is above its budget or has none.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuviz.words.terminal import out

ROOT = Path(__file__).parent.parent
BUDGET = ROOT / "tools" / "budget.toml"
LOOSE, ALL = ".", "gpuviz"


@dataclass(frozen=True)
class Size:
    """Lines and files of Python, as they are or at most."""

    lines: int
    files: int

    def __add__(self, other: Size) -> Size:
        return Size(self.lines + other.lines, self.files + other.files)


def sizes(package: Path) -> dict[str, Size]:
    """Of each room of a package by its name, by name; of all of it last."""
    found: dict[str, Size] = {}
    for file in sorted(package.rglob("*.py")):
        room, *inside = file.relative_to(package).parts
        size = Size(len(file.read_text(encoding="utf-8").splitlines()), 1)
        for name in (room if inside else LOOSE, ALL):
            found[name] = found.get(name, Size(0, 0)) + size
    return dict(sorted(found.items(), key=lambda one: (one[0] == ALL, one[0])))


def budgets(text: str) -> dict[str, Size]:
    """Of each room, from TOML: `room = { lines = 900, files = 7 }`."""
    return {room: Size(**given) for room, given in tomllib.loads(text).items()}


def excesses(found: Mapping[str, Size], allowed: Mapping[str, Size]) -> Iterator[str]:
    """What is above its budget, in words."""
    for room, size in found.items():
        if room not in allowed:
            yield f"{room} has no budget in {BUDGET.name}: {size.lines} lines, {size.files} files"
            continue
        for unit in ("lines", "files"):
            has, may = getattr(size, unit), getattr(allowed[room], unit)
            if has > may:
                yield f"{room}: {has:,} {unit}, {has - may:,} above the {may:,} of its budget"
    for room in allowed.keys() - found.keys():
        yield f"{room} has a budget in {BUDGET.name}, and is not there"


def table(found: Mapping[str, Size], allowed: Mapping[str, Size]) -> Iterator[str]:
    """A line a room: what it has, and what it may have."""
    yield f"{'room':14}{'lines':>9}{'of':>9}{'files':>8}{'of':>6}"
    for room, size in found.items():
        may = allowed.get(room)
        lines, files = (f"{may.lines:,}", f"{may.files:,}") if may else ("–", "–")
        yield f"{room:14}{size.lines:>9,}{lines:>9}{size.files:>8,}{files:>6}"


def main() -> int:
    """Print the table, and what is above its budget; 1 when something is."""
    found, allowed = sizes(ROOT / "gpuviz"), budgets(BUDGET.read_text(encoding="utf-8"))
    above = [*excesses(found, allowed)]
    out("\n".join([*table(found, allowed), *above]))
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
