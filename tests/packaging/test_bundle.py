"""The classroom bundle, where `make bundle` has made one: whole without Python, and nobody else's.

What is started has an environment of three variables and a PATH that leads nowhere.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import gpuviz
from gpuviz.cli import main
from tests.api.test_show import titles
from tests.packaging.conftest import ROOT, run
from tests.packaging.test_archives import tracked
from tests.test_signals import display

BUNDLE = ROOT / "dist" / "bundle" / "gpuviz"
PROGRAM = BUNDLE / ("gpuviz.exe" if os.name == "nt" else "gpuviz")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="no bundle: make bundle")
NATIVE = (".so", ".dll", ".dylib", ".exe", ".a")
OTHERS = ("nvrtc", "cudart", "cupti", "nvdisasm", "cuda.", "qt6webengine", "qt6qml", "qt6quick")
MOST = 500e6  # bytes; LLVM is two fifths of it
SECONDS = 60
COUNT = ["count", "--scene", "coalescing", "--set", "stride=3", "--level", "ptx", "--json"]

Told = Callable[..., str]


@pytest.fixture
def nowhere(tmp_path: Path) -> dict[str, str]:
    """An environment in which no Python can be found."""
    kept = {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if os.name == "nt" else {}
    return {**kept, "HOME": str(tmp_path / "home"), "PATH": "/nowhere", "LANG": "C.UTF-8"}


@pytest.fixture
def told(nowhere: dict[str, str], tmp_path: Path) -> Told:
    """What the bundle says, started in an empty folder."""
    nowhere |= {"GPUVIZ_SIZES": "small", "QT_QPA_PLATFORM": "offscreen"}
    return lambda *arguments: run([str(PROGRAM), *arguments], tmp_path, nowhere)


def test_it_has_all_resources_and_nothing_of_nvidia_s_nor_what_qt_has_beyond() -> None:
    files = {file.relative_to(BUNDLE).as_posix(): file for file in BUNDLE.rglob("*")}
    native = [name for name in files if any(kind in Path(name).name.lower() for kind in NATIVE)]
    assert len(native) > 50
    assert [name for name in native if any(one in Path(name).name.lower() for one in OTHERS)] == []
    resources = {f"_internal/gpuviz/_{name}" for name in tracked("resources")}
    assert resources - files.keys() == set()
    own = (file for file in files.values() if file.is_file() and not file.is_symlink())
    assert sum(file.stat().st_size for file in own) < MOST


def test_its_command_says_what_this_one_says(
    told: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def here(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) == 0
        return capsys.readouterr().out

    assert told("--version").split() == ["gpuviz", gpuviz.__version__]
    assert json.loads(told("list", "--json")) == json.loads(here("list", "--json"))
    theirs, ours = json.loads(told(*COUNT)), json.loads(here(*COUNT))
    assert theirs["totals"] == ours["totals"]
    told("render", "--scene", "banks", "--size", "640x360", "-o", "banks.png")
    assert (tmp_path / "banks.png").read_bytes().startswith(b"\x89PNG")


def test_its_own_processes_are_itself(told: Told, tmp_path: Path) -> None:
    """A sweep counts in processes; the one that owns a GPU starts, and ends with nothing asked."""
    told("sweep", "--scene", "coalescing", "--vary", "stride=1..3", "-o", "s.jsonl")
    rows = (tmp_path / "s.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum("global_load_sectors" in row for row in rows) >= 3
    command = [str(PROGRAM), "-P", "-m", "gpuviz.gpu.worker", "0"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(sys.platform != "linux", reason="this display is X11")
@pytest.mark.skipif(not shutil.which("Xvfb"), reason="no Xvfb")
def test_its_window_opens_a_lesson(told: Told, tmp_path: Path, nowhere: dict[str, str]) -> None:
    told("render", "--scene", "banks", "--size", "640x360", "-o", "banks.png")
    with display() as (name, _):
        environment = {**nowhere, "DISPLAY": name, "QT_QPA_PLATFORM": "xcb"}
        command = [str(PROGRAM), "banks.png"]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
        )
        try:
            end = time.monotonic() + SECONDS
            while not any("Shared memory banks" in title for title in titles(name)):
                assert process.poll() is None and time.monotonic() < end
                time.sleep(0.2)
            time.sleep(3)  # what is made after the window, plots for one
        finally:
            process.terminate()
            words = process.communicate(timeout=SECONDS)[1]
    assert "Traceback" not in words and process.returncode == 128 + 15
