"""What a command loads: no lessons where none is asked for, no Qt where no pixels are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuviz.cli import main
from gpuviz.compile import nvrtc

ROOT = Path(__file__).parent.parent.parent
QT = {"PySide6", "shiboken6", "pyqtgraph"}
# What is there for pictures only.
PICTURES = {"draw", "panels", "story", "course", "views", "export", "lectures", "qt"}
SCALE = """extern "C" __global__ void scale(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
}
"""
COUNT = ["--grid", "2", "--block", "32", "--arg", "f32[64]=ones"]

LOADED = """
import sys
from gpuviz.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as ended:
    status = ended.code
print(*sys.modules, sep="\\n", file=sys.stderr)
sys.exit(status)
"""
# As on a machine without Qt: nothing of it can be imported.
WITHOUT_QT = f"""
import sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {QT!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nowhere())
"""
# Neither NVRTC nor nvdisasm can be had: the one is loaded, the other is run.
WITHOUT_TOOLS = """
import ctypes, subprocess
load = ctypes.CDLL
def refuse(name=None, *more, **options):
    assert name is None or "nvrtc" not in str(name), name
    return load(name, *more, **options)
ctypes.CDLL = refuse
subprocess.run = subprocess.Popen = None
"""


def run(
    *argv: str | Path, first: str = "", folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, after some lines of Python."""
    return subprocess.run(
        [sys.executable, "-c", first + LOADED, *map(str, argv)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


def loaded(done: subprocess.CompletedProcess[str]) -> tuple[set[str], set[str]]:
    """Foreign packages, and parts of gpuviz (`cli.count`)."""
    assert done.returncode == 0, done.stderr
    modules = done.stderr.split()
    own = {name.partition(".")[2] for name in modules if name.startswith("gpuviz.")}
    return {name.partition(".")[0] for name in modules}, own


def rooms(own: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in own}


def test_a_version_needs_next_to_nothing() -> None:
    done = run("--version")
    assert done.stdout.startswith("gpuviz ")
    foreign, own = loaded(done)
    packages = {"base", "files", "words"}
    modules = {"base.ending", "base.errors", "base.resources", "files.folders", "words.terminal"}
    assert own == {"cli", "cli.link_or_file", "cli.texts"} | packages | modules
    assert not foreign & {"numpy", "json", "cuda", *QT}


def test_checking_needs_no_lessons(tmp_path: Path) -> None:
    file = ROOT / "resources/kernels/prebuilt"
    ptx = next(file.glob("*.ptx"))
    foreign, own = loaded(run("check", ptx))
    assert not rooms(own) & PICTURES and "cli.render" not in own
    assert not foreign & {"cuda", *QT}


@pytest.mark.machine_code
@pytest.mark.skipif(not nvrtc.libraries(), reason="no NVRTC")
def test_counting_again_needs_neither_lessons_nor_compiler(tmp_path: Path) -> None:
    (tmp_path / "scale.cu").write_text(SCALE)
    first = run("count", tmp_path / "scale.cu", *COUNT)
    assert first.returncode == 0, first.stderr
    again = run("count", tmp_path / "scale.cu", *COUNT, first=WITHOUT_TOOLS)
    foreign, own = loaded(again)
    assert again.stdout == first.stdout and "sass level" in again.stdout
    assert not rooms(own) & PICTURES
    assert not foreign & {"cuda", "PIL", *QT}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["svg", "html", "csv", "json", "md"])
def test_what_has_no_pixels_needs_no_qt(suffix: str, tmp_path: Path) -> None:
    asked = ["--scene", "coalescing", "--range", "1", "2", "--fps", "2", "--size", "640x400"]
    asked += ["--set", "blocks=64"]  # as lessons begin in tests
    out = tmp_path / f"a.{suffix}"
    foreign, _ = loaded(run("render", *asked, "-o", out, first=WITHOUT_QT))
    assert not foreign & QT
    assert main(["render", *asked, "-o", str(tmp_path / f"b.{suffix}")]) == 0
    assert out.read_bytes() == (tmp_path / f"b.{suffix}").read_bytes(), "the same with Qt"


@pytest.mark.slow
def test_pixels_without_qt_are_refused_in_words(tmp_path: Path) -> None:
    done = run("render", "--scene", "banks", "-o", tmp_path / "a.png", first=WITHOUT_QT)
    said = done.stderr.splitlines()[0]
    assert done.returncode == 3 and "PySide6" in said and ".svg" in said
    assert not list(tmp_path.iterdir())
