"""Other programs: nothing is taken from the current folder, and none takes without bound."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuviz.gpu.process import command
from gpuviz.processes import programs as processes

ROOT = Path(__file__).parents[2]
TRAP = "import os, sys\nsys.stderr.write('taken from the current folder')\nos._exit(7)\n"


@pytest.fixture
def download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with traps in the place of what is imported and run."""
    for name in ("numpy", "cupy", "msgspec", "queue", "gpuviz"):
        (tmp_path / f"{name}.py").write_text(TRAP)
    for name in ("nvcc", "nvdisasm"):
        for file in (tmp_path / name, tmp_path / f"{name}.exe"):
            file.write_text("#!/bin/sh\nexit 7\n")
            file.chmod(0o755)
    wheel = tmp_path / "nvidia" / "cu99" / "bin"
    wheel.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("known", [None, "", os.pathsep, "."])
def test_the_worker_imports_nothing_from_the_current_folder(
    known: str | None, download: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if known is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", known)
    process = processes.start(command(0), environment=processes.environment())
    _, words = process.communicate(timeout=60)
    assert (process.returncode, words) == (0, b"")


def test_the_command_imports_nothing_from_the_current_folder(
    download: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (download / "gpuviz.py").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "gpuviz", "check", "none.ptx"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "none.ptx" in done.stderr


@pytest.mark.parametrize("path", ["", ".", os.pathsep])
def test_programs_are_not_looked_for_in_the_current_folder(
    path: str, download: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path)
    assert processes.find("nvcc") is None
    monkeypatch.setenv("PATH", os.pathsep.join((path, str(download))))
    found = processes.find("nvcc")
    assert found is not None and found.is_absolute()


def test_wheels_are_not_looked_for_in_the_current_folder(
    download: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    assert download / "nvidia" not in [folder.absolute() for folder in processes.nvidia_folders()]


@pytest.mark.slow
def test_a_program_that_does_not_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, file=open('pid', 'w'), flush=True)\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(subprocess.TimeoutExpired):
        processes.run([sys.executable, "-c", code], tmp_path, 1.0)
    if sys.platform == "linux":
        status = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
        deadline = time.monotonic() + 5
        while status.exists() and status.read_text().split()[2] != "Z":
            assert time.monotonic() < deadline, "what it started goes on"
            time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound a process's memory")
def test_a_program_that_takes_too_much_memory_fails(tmp_path: Path) -> None:
    code = "import time; time.sleep(0.2); bytearray(1 << 30)"
    done = processes.run([sys.executable, "-c", code], tmp_path, 20.0, processes.GIB // 2)
    assert done.returncode == 1 and "MemoryError" in done.stderr


def test_zero_bytes_are_no_part_of_what_a_program_says(tmp_path: Path) -> None:
    says = "import sys; sys.stderr.write('error near \\0x\\r\\n')"
    done = processes.run([sys.executable, "-c", says], tmp_path, 60)
    assert done.stderr == "error near x\n"
