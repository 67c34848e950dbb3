"""What is in the wheel and in the sdist: all that belongs there, and nothing else."""

import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

from tests.packaging.conftest import ROOT, TOOLS, run


def tracked(folder: str = ".") -> set[str]:
    """Files of the repository, by their names in it."""
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True)
    return {name for name in listed.stdout.decode().split("\0") if name}


def test_both_are_as_a_registry_takes_them(wheel: Path, sdist: Path) -> None:
    run([str(TOOLS / "twine"), "check", "--strict", str(wheel), str(sdist)], ROOT)
    run([str(TOOLS / "check-wheel-contents"), str(wheel)], ROOT)  # configured in pyproject.toml


def test_the_wheel_has_the_program_and_its_resources_and_nothing_else(wheel: Path) -> None:
    wanted = {name: name for name in tracked("gpuviz")}
    wanted |= {f"gpuviz/_{name}": name for name in tracked("resources")}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert names == wanted.keys()
        differing = [
            name for name, own in wanted.items() if archive.read(name) != (ROOT / own).read_bytes()
        ]
    assert differing == []


def test_the_sdist_has_all_that_is_kept_but_what_is_for_the_repository(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    wanted = {name for name in tracked() if not name.startswith(".")}
    assert wanted - names == set()
    assert names - wanted <= {"PKG-INFO", ".gitignore"}


def test_the_wheel_has_a_command_and_a_window_without_a_terminal(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        told = archive.read(name).decode()
    assert "[console_scripts]\ngpuviz = gpuviz.cli:main" in told
    assert "[gui_scripts]\ngpuviz-window = gpuviz.cli:main" in told


def test_what_a_lesson_needs_no_compiler_for_is_declared_for_every_system() -> None:
    """NVIDIA's programs are asked for only where there are some."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [row for row in project["dependencies"] if row.startswith(("nvidia-", "cuda-"))]
    assert own and all("sys_platform" in row for row in own)
