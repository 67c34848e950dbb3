"""The import rules of gpuviz/__init__.py, and those that keep the start light, held by reading."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gpuviz"

# Lowest first; a file imports from its own layer or a lower one.
LAYERS = (
    (
        "errors",
        "arrays",
        "resources",
        "files",
        "folders",
        "disk_cache",
        "records",
        "archive",
        "language",
        "glossary",
        "fuzzy",
        "suffixes",
        "doctor",
    ),
    ("arch",),
    ("trace", "trace_file", "observe", "arguments"),
    ("compile",),
    ("ptx",),
    ("memory",),
    ("sass",),
    ("occupancy", "roofline"),
    ("runners",),
    ("draw",),
    ("panels",),
    ("scenes",),
    ("views",),
    ("results",),
    ("export",),
    ("lectures",),
    ("qt",),
    ("app", "cli", "prebuild", "translation", "coverage", "__main__"),
)
# Within a layer, lowest first: folders and files of the package of that name.
INNER_LAYERS = {
    "ptx": (
        ("text",),
        ("arithmetic",),
        ("simt",),
        ("decode",),
        ("recorders", "totals", "flops", "batches", "launching"),
        ("tracing", "races", "check"),
        ("emulator",),
    )
}
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

QT = {"PySide6", "shiboken6", "pyqtgraph", "superqt", "qtpy"}
GPU = {"cupy", "cupyx", "pynvml", "cupti"}

# Import name to distribution, where they differ.
DISTRIBUTIONS = {
    "PySide6": "PySide6-Essentials",
    "shiboken6": "PySide6-Essentials",
    "cuda": "cuda-pathfinder",
    "cupy": "cupy-cuda13x",
    "cupyx": "cupy-cuda13x",
    "pynvml": "nvidia-ml-py",
    "PIL": "pillow",
}

FILES = sorted(PACKAGE.rglob("*.py"))


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _imports(tree: ast.AST, module_level: bool = False) -> Iterator[tuple[str, int]]:
    """Dotted names a tree imports, with lines; `module_level`: those that importing it needs."""
    for node in _nodes(tree, module_level):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base, node.lineno
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def _nodes(tree: ast.AST, module_level: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if module_level and _runs_later(node):
            continue
        yield node
        yield from _nodes(node, module_level)


def _runs_later(node: ast.AST) -> bool:
    """Bodies of functions, and what only type checkers read."""
    typing = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
    return typing or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


TREES = {file: ast.parse(file.read_text(encoding="utf-8"), str(file)) for file in FILES}


def test_every_module_has_a_layer() -> None:
    unplaced = {_layer(_module(file)) for file in FILES} - RANK.keys() - {""}
    assert unplaced == set(), "give it a place in LAYERS and in gpuviz/__init__.py"


def test_imports_go_down() -> None:
    upward = [
        f"{_module(file)}:{line} imports {name}"
        for file, tree in TREES.items()
        for name, line in _imports(tree)
        if name.startswith("gpuviz.") and _layer(name) in RANK
        if RANK.get(_layer(_module(file)), -1) < RANK[_layer(name)]
    ]
    assert upward == []


@pytest.mark.parametrize("package", INNER_LAYERS)
def test_imports_go_down_within_a_layer(package: str) -> None:
    rank = {name: rank for rank, names in enumerate(INNER_LAYERS[package]) for name in names}
    inner = f"gpuviz.{package}."

    def place(module: str) -> int:
        return rank[module.removeprefix(inner).partition(".")[0]]

    upward = [
        f"{_module(file)}:{line} imports {name}"
        for file, tree in TREES.items()
        for name, line in _imports(tree)
        if _module(file).startswith(inner) and name.startswith(inner)
        if place(_module(file)) < place(name)
    ]
    assert upward == []


def test_imports_are_absolute() -> None:
    relative = [
        f"{_module(file)}:{line}"
        for file, tree in TREES.items()
        for name, line in _imports(tree)
        if name.startswith(".")
    ]
    assert relative == []


def test_no_circles() -> None:
    modules = {_module(file) for file in FILES}
    graph = {
        _module(file): {name for name, _ in _imports(tree, module_level=True) if name in modules}
        - {_module(file)}
        for file, tree in TREES.items()
    }
    TopologicalSorter(_without_packages(graph)).prepare()  # CycleError names the circle


def _without_packages(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Modules reach their package's __init__ anyway: one that gathers them is no circle."""
    packages = {name.rpartition(".")[0] for name in graph}
    return {
        name: {target for target in targets if not (target in packages and name.startswith(target))}
        for name, targets in graph.items()
    }


def test_qt_stays_in_its_folder() -> None:
    strays = [
        f"{_module(file)}:{line} imports {name}"
        for file, tree in TREES.items()
        for name, line in _imports(tree)
        if name.partition(".")[0] in QT and _layer(_module(file)) not in ("qt", "app")
    ]
    assert strays == []


def test_what_needs_no_qt_is_not_in_its_folder() -> None:
    """A file there imports Qt, or what can only be had with Qt."""
    uses = {
        _module(file): {name for name, _ in _imports(tree)}
        for file, tree in TREES.items()
        if _layer(_module(file)) == "qt" and file.name != "__init__.py"
    }
    with_qt: set[str] = set()
    while found := {
        module
        for module in uses.keys() - with_qt
        if uses[module] & with_qt or {name.partition(".")[0] for name in uses[module]} & QT
    }:
        with_qt |= found
    assert uses.keys() - with_qt == set(), "give it a place in a lower layer"


def test_gpu_libraries_are_imported_by_runners_when_used() -> None:
    used = [
        (file, name, line)
        for file, tree in TREES.items()
        for name, line in _imports(tree)
        if name.partition(".")[0] in GPU
    ]
    assert [use for use in used if _layer(_module(use[0])) != "runners"] == []
    at_import = [
        f"{_module(file)}:{line} imports {name}"
        for file in {file for file, _, _ in used}
        for name, line in _imports(TREES[file], module_level=True)
        if name.partition(".")[0] in GPU
    ]
    assert at_import == []


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [row for rows in project["optional-dependencies"].values() for row in rows]
    declared = {re.split(r"[^\w.-]", row)[0].lower() for row in [*project["dependencies"], *extras]}
    foreign = {name.partition(".")[0] for tree in TREES.values() for name, _ in _imports(tree)}
    foreign -= {"gpuviz", "", *sys.stdlib_module_names}
    assert {name for name in foreign if DISTRIBUTIONS.get(name, name).lower() not in declared} == (
        set()
    )


def test_no_file_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "misc", "common", "manager"}
    assert [file for file in FILES if file.stem in empty] == []


@pytest.mark.parametrize(
    "module, unwanted",
    [
        ("gpuviz.compile", {"cuda", *GPU, *QT}),
        ("gpuviz.cli", {"cuda", *GPU, *QT}),
        ("gpuviz.app", {"cuda", *GPU}),
    ],
)
def test_starting_loads_no_more_than_it_needs(module: str, unwanted: set[str]) -> None:
    if find_spec(module) is None:
        pytest.skip(f"{module} is not there")
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) & unwanted == set()
