"""The layers of gpuviz as a table, the imports as they are, and a picture drawn from both.

    python docs/layers.py            # writes docs/images/layers.svg

`tests/test_layers.py` holds the table against the imports.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args

When = Literal["ever", "run", "loaded"]
ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gpuviz"

# Lowest first; a file imports from its own layer or a lower one.
LAYERS = (
    ("base",),
    ("words",),
    ("files",),
    ("processes",),
    ("doctor", "desktop"),
    ("arch",),
    ("arguments", "traces"),
    ("source",),
    ("compile",),
    ("ptx",),
    ("launch",),
    ("memory",),
    ("sass",),
    ("timing",),
    ("recordings",),
    ("run", "gpu", "sweeps"),
    ("rewrites",),
    ("draw",),
    ("panels",),
    ("story",),
    ("course",),
    ("views",),
    ("results",),
    ("assertions",),
    ("export",),
    ("lectures",),
    ("site",),
    ("integrations",),
    ("qt",),
    ("app", "cli", "api", "notebook", "agents", "__main__"),
)
# Within a layer, lowest first: folders and files of the package of that name.
INNER_LAYERS = {
    "ptx": (
        ("text",),
        ("arithmetic",),
        ("tensor",),
        ("options",),
        ("simt",),
        ("decode",),
        ("recorders", "flops", "prepare"),
        ("checks", "interpreter"),
        ("compiled",),
        ("equivalence",),
        ("emulator",),
    )
}

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FILES = sorted(PACKAGE.rglob("*.py"))


def module(file: Path) -> str:
    """The dotted name of a file."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(name: str) -> str:
    """The part of a dotted name that says its layer; "" for the package itself."""
    return name.split(".")[1] if "." in name else ""


def imports(when: When = "ever") -> Mapping[Path, tuple[tuple[str, int], ...]]:
    """Dotted names each file imports, with lines: "ever", types too; when it is "run", functions
    too; or when it is "loaded".
    """
    return {file: found[when] for file, found in _read().items()}


@cache
def _read() -> Mapping[Path, Mapping[When, tuple[tuple[str, int], ...]]]:
    """What each file imports when; no tree is kept."""
    found = {}
    for file in FILES:
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
        found[file] = {when: tuple(_imports(tree, when)) for when in get_args(When)}
    return found


def _imports(tree: ast.AST, when: When) -> Iterator[tuple[str, int]]:
    for node in _statements(tree, when):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base, node.lineno
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def _statements(tree: ast.AST, when: When) -> Iterator[ast.AST]:
    """What blocks hold, and not what is in an expression: that imports nothing."""
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for node in getattr(tree, block, ()):
            if when == "ever" or not (_for_types(node) or when == "loaded" and _runs_later(node)):
                yield node
                yield from _statements(node, when)


def _for_types(node: ast.AST) -> bool:
    """What only type checkers read."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _runs_later(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def arrows() -> Counter[tuple[int, int]]:
    """How many files of one layer import from each other one, by ranks."""
    found: Counter[tuple[int, int]] = Counter()
    for file, names in imports().items():
        own = RANK.get(layer(module(file)))
        named = {RANK.get(layer(name)) for name, _ in names if name.startswith("gpuviz.")}
        if own is not None:
            found.update((own, to) for to in named if to is not None and to != own)
    return found


def lines() -> Counter[int]:
    """Lines of code by rank."""
    found: Counter[int] = Counter()
    for file in FILES:
        if (rank := RANK.get(layer(module(file)))) is not None:
            found[rank] += len(file.read_text(encoding="utf-8").splitlines())
    return found


def picture() -> str:
    """A row for each layer from the highest down: its size, and how many of its files import from
    each layer, in a column each. An import that climbed would stand below the diagonal, in red.
    """
    from gpuviz.draw.layout import Rect
    from gpuviz.draw.marks import Boxes, Frame, Mark, label
    from gpuviz.draw.palette import LIGHT
    from gpuviz.export.svg import document

    row, wide, count, most = 30.0, 36.0, len(LAYERS), max(lines().values())
    bar_x, cell_x, top = 330.0, 560.0, 60.0
    found, size = arrows(), 14.0
    marks: list[Mark] = [
        label(20, 24, "layer", LIGHT.muted, size),
        label(bar_x, 24, "lines of Python", LIGHT.muted, size),
        label(cell_x, 24, "files that import from layer …", LIGHT.muted, size),
    ]
    for rank, names in enumerate(LAYERS):
        place = count - 1 - rank
        y, x = top + row * place + row / 2, cell_x + wide * (place + 0.5)
        said = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        bar = Rect(bar_x, y - 9, 200.0 * lines()[rank] / most, 18).array()
        marks += [
            label(40, y, str(rank + 1), LIGHT.muted, size, align="right"),
            label(52, y, said, LIGHT.ink, size, bold=True),
            Boxes(bar, LIGHT.accent_soft, radius=3),
            label(bar_x + 6, y, f"{lines()[rank]:,}", LIGHT.ink, 13),
            label(x, top - 14, str(rank + 1), LIGHT.muted, size, align="center"),
            Boxes(Rect(x - wide / 2, y - row / 2, wide, row).array(), LIGHT.cell),
        ]
        for low in range(count):
            if not (files := found[rank, low]):
                continue
            x = cell_x + wide * (count - 1 - low + 0.5)
            fill = LIGHT.soft(LIGHT.accent if low < rank else LIGHT.bad, 1 - min(files, 40) / 60)
            cell = Rect(x - wide / 2 + 1, y - row / 2 + 1, wide - 2, row - 2).array()
            marks.append(Boxes(cell, fill, radius=3))
            marks.append(label(x, y, str(files), LIGHT.ink_on(fill), 13, align="center"))
    frame = Frame(cell_x + wide * count + 20, top + row * count + 20, LIGHT.ground, tuple(marks))
    return document(frame, title="The layers of gpuviz")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    (ROOT / "docs" / "images" / "layers.svg").write_text(picture(), encoding="utf-8")
