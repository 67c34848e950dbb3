"""Files that gpuviz wrote, given where a kernel is wanted: told for what they are, in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import gpuviz
from gpuviz.base import resources
from gpuviz.base.errors import FormatError
from gpuviz.cli import main
from gpuviz.course import lesson
from gpuviz.export.save import save
from gpuviz.export.settings import Options
from gpuviz.recordings import recording
from gpuviz.traces import file as trace_file
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance
from tests.course.performed import performed
from tests.run.test_recording import recording as a_recording


def trace(path: Path) -> None:
    trace_file.save(next(iter(performed(lesson("coalescing"), {}).runs.values())).trace, path)


def lecture(path: Path) -> None:
    shutil.copy(resources.path("lectures/coalescing-and-banks.gpuviz-lecture"), path)


def picture(path: Path) -> None:
    save(view_of(Provenance("coalescing", {}, "sm_90", width=640, height=400)), path, Options())


WRITTEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "a.gputrace": (trace, "a trace"),
    "a.gpurec": (lambda path: recording.write(path, a_recording()), "a recording"),
    "a.gpuviz-lecture": (lecture, "a lecture"),
    "a.svg": (picture, "an exported view"),
}


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of an error."""
    (line,) = capsys.readouterr().err.splitlines()
    return str(line)


@pytest.mark.parametrize("name", WRITTEN)
def test_each_kind_is_named_whole_and_damaged(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write, called = WRITTEN[name]
    file = tmp_path / name
    write(file)
    assert main(["count", str(file), "--grid", "1", "--block", "32"]) == 2
    assert f"{name} is {called}" in (line := said(capsys)) and f"`gpuviz {name}` opens it" in line
    file.write_bytes(b"\0damaged\n" * 100)
    for command in ("count", "check"):
        assert main([command, str(file)]) == 2
        line = said(capsys)
        assert name in line and f"would be {called}" in line and "compile" not in line


@pytest.mark.parametrize("name", ["a.gputrace", "a.gpurec"])
def test_one_that_is_cut_short_is_damaged_whatever_it_is_called(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write, called = WRITTEN[name]
    file, renamed = tmp_path / name, tmp_path / "kernel.cu"
    write(file)
    renamed.write_bytes(file.read_bytes())
    assert main(["count", str(renamed)]) == 2
    assert f"kernel.cu is {called}" in said(capsys)
    renamed.write_bytes(file.read_bytes()[:-200])
    assert main(["count", str(renamed)]) == 2
    assert "kernel.cu is a zip file" in (line := said(capsys)) and "no" in line
    file.write_bytes(file.read_bytes()[:-200])
    assert main(["count", str(file)]) == 2
    assert f"{name} is damaged" in said(capsys)
    with pytest.raises(FormatError, match="is damaged"):
        gpuviz.count(str(file), 1, 32, ())


def test_what_may_be_a_kernel_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kernel.txt"
    file.write_text("__global__ void k(int* p) { p[threadIdx.x] = 1; }\n")
    assert main(["check", str(file)]) == 0
    assert main(["count", str(tmp_path / "none.cu")]) == 2
    assert "none.cu" in said(capsys)
