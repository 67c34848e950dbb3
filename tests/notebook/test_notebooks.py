"""The notebooks of docs/notebooks run from their first cell to their last."""

import os
from pathlib import Path

import pytest

from tests.test_layers import ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
NEEDS = {
    "2-triton-matmul": "triton",
    "3-numba-histogram": "numba",
    "4-a-lesson-with-sliders": "anywidget",
}
pytestmark = pytest.mark.slow


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_every_cell_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip(NEEDS.get(file.stem, "nbclient"))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    notebook = nbformat.read(file, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "is kept without outputs"
    client = nbclient.NotebookClient(
        notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    kinds = {kind for out in outputs for kind in out.get("data", ())}
    assert {"text/plain", "text/html"} <= kinds
    assert sum(len(str(out)) for out in outputs) < 4 << 20
