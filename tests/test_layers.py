"""The import rules of gpuviz/__init__.py, and those that keep the start light, held by reading."""

import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from importlib.util import find_spec

import pytest

from docs.layers import FILES, INNER_LAYERS, RANK, ROOT, When, imports, layer, module

QT = {"PySide6", "shiboken6", "pyqtgraph", "superqt", "qtpy"}
GPU = {"cupy", "cupyx", "pynvml", "cupti"}

# Import name to distribution, where they differ.
DISTRIBUTIONS = {
    "markdown_it": "markdown-it-py",
    "mdit_py_plugins": "mdit-py-plugins",
    "tree_sitter": "tree-sitter",
    "tree_sitter_cuda": "tree-sitter-cuda",
    "PySide6": "PySide6-Essentials",
    "shiboken6": "PySide6-Essentials",
    "cuda": "cuda-pathfinder",
    "cupy": "cupy-cuda13x",
    "cupyx": "cupy-cuda13x",
    "numba": "numba-cuda",
    "pynvml": "nvidia-ml-py",
    "PIL": "pillow",
}


def test_every_module_has_a_layer() -> None:
    unplaced = {layer(module(file)) for file in FILES} - RANK.keys() - {""}
    assert unplaced == set(), "give it a place in docs/layers.py and in gpuviz/__init__.py"


def test_imports_go_down() -> None:
    upward = [
        f"{module(file)}:{line} imports {name}"
        for file, names in imports().items()
        for name, line in names
        if name.startswith("gpuviz.") and layer(name) in RANK
        if layer(module(file))  # the package itself offers names of `api`, loaded when used
        if RANK.get(layer(module(file)), -1) < RANK[layer(name)]
    ]
    assert upward == []


@pytest.mark.parametrize("package", INNER_LAYERS)
def test_imports_go_down_within_a_layer(package: str) -> None:
    rank = {name: rank for rank, names in enumerate(INNER_LAYERS[package]) for name in names}
    inner = f"gpuviz.{package}."

    def place(module: str) -> int:
        return rank[module.removeprefix(inner).partition(".")[0]]

    upward = [
        f"{module(file)}:{line} imports {name}"
        for file, names in imports().items()
        for name, line in names
        if module(file).startswith(inner) and name.startswith(inner)
        if place(module(file)) < place(name)
    ]
    assert upward == []


def test_imports_are_absolute() -> None:
    relative = [
        f"{module(file)}:{line}"
        for file, names in imports().items()
        for name, line in names
        if name.startswith(".")
    ]
    assert relative == []


@pytest.mark.parametrize("when", ["loaded", "run"])
def test_no_circles(when: When) -> None:
    """Neither of modules as they are loaded, nor of what their functions import."""
    modules = {module(file) for file in FILES}
    graph = {
        module(file): {name for name, _ in names if name in modules} - {module(file)}
        for file, names in imports(when).items()
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
        f"{module(file)}:{line} imports {name}"
        for file, names in imports().items()
        for name, line in names
        if name.partition(".")[0] in QT and layer(module(file)) not in ("qt", "app")
    ]
    assert strays == []


def test_what_needs_no_qt_is_not_in_its_folder() -> None:
    """A file there imports Qt, or what can only be had with Qt."""
    uses = {
        module(file): {name for name, _ in names}
        for file, names in imports().items()
        if layer(module(file)) == "qt" and file.name != "__init__.py"
    }
    with_qt: set[str] = set()
    while found := {
        module
        for module in uses.keys() - with_qt
        if uses[module] & with_qt or {name.partition(".")[0] for name in uses[module]} & QT
    }:
        with_qt |= found
    assert uses.keys() - with_qt == set(), "give it a place in a lower layer"


def test_gpu_libraries_are_imported_by_gpu_when_used() -> None:
    used = [
        (file, name, line)
        for file, names in imports().items()
        for name, line in names
        if name.partition(".")[0] in GPU
    ]
    rooms = ("gpu", "integrations")  # whose kernels are given has its library
    assert [use for use in used if layer(module(use[0])) not in rooms] == []
    at_import = [
        f"{module(file)}:{line} imports {name}"
        for file in {file for file, _, _ in used}
        for name, line in imports("loaded")[file]
        if name.partition(".")[0] in GPU
    ]
    assert at_import == []


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [row for rows in project["optional-dependencies"].values() for row in rows]
    declared = {re.split(r"[^\w.-]", row)[0].lower() for row in [*project["dependencies"], *extras]}
    foreign = {name.partition(".")[0] for names in imports("run").values() for name, _ in names}
    foreign -= {"gpuviz", "", *sys.stdlib_module_names}
    assert {name for name in foreign if DISTRIBUTIONS.get(name, name).lower() not in declared} == (
        set()
    )


def test_no_file_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "misc", "common", "manager"}
    assert [file for file in FILES if file.stem in empty] == []


@pytest.mark.slow
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
