"""The conda recipe asks for what pyproject.toml asks for, of the same version."""

import re
import tomllib
from pathlib import Path

import gpuviz

ROOT = Path(__file__).parent.parent
NEEDED = re.compile(r"([\w.-]+?)\s*([<>=!~][^;\s]*)?\s*(?:;.*)?$")
# How conda-forge calls what PyPI calls otherwise.
NAMES = {
    "pyside6-essentials": "pyside6",
    "tree-sitter": "tree_sitter",
    "nvidia-cuda-nvrtc": "cuda-nvrtc",
    "nvidia-cuda-runtime": "cuda-cudart-dev",
    "nvidia-cuda-crt": "cuda-crt",
    "nvidia-cuda-cccl": "cuda-cccl",
    "nvidia-cuda-nvdisasm": "cuda-nvdisasm",
}


def bounds(rows: list[str]) -> dict[str, set[str]]:
    """Names, as conda has them, with the versions asked for."""
    found = (NEEDED.match(row) for row in rows)
    parts = [(one[1].lower(), one[2] or "") for one in found if one]
    return {NAMES.get(name, name): set(said.split(",")) for name, said in parts}


def test_the_recipe_asks_for_the_same() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("\n  run:\n")[2].partition("\ntests:")[0]
    listed = bounds(re.findall(r"^\s+- (?!if:)(\S.*)$", run, re.MULTILINE))
    assert listed == bounds([f"python {project['requires-python']}", *project["dependencies"]])
    assert re.findall(r'^  version: "(.*)"$', recipe, re.MULTILINE) == [gpuviz.__version__]
