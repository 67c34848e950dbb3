"""Launches of a program in one file: what is kept of them, and what opens it."""

import json
import sys
import types
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import FormatError
from gpuviz.cli import capture as command
from gpuviz.cli import main
from gpuviz.compile import compile_cuda
from gpuviz.export.reading import read_any
from gpuviz.files import archive
from gpuviz.integrations import watching
from gpuviz.integrations.calls import Call, LaunchRequest, of_program
from gpuviz.launch import capture
from gpuviz.story.perform import perform

ADD = """extern "C" __global__ void add(const float *x, float *out, double a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + a;
}
"""
ROOM = 1 << 20


def request(x: np.ndarray, out: np.ndarray) -> LaunchRequest:
    """A launch of two blocks; the kernel's text is of a Python file, as a library's would be."""
    program = compile_cuda(ADD, name="add.py")
    return of_program(program, Call(None, (2, 1, 1), (64, 1, 1), (x, out, 0.5, 100)))


def kept(path: Path, *requests: LaunchRequest, keep: bool = True, limit: int = ROOM):
    jobs = [one.job for one in requests]
    left = capture.write(path, "train.py", jobs, keep=keep, limit=limit)
    return left, capture.unpacked(path)


def test_launches_come_back_with_source_machine_code_and_buffers(tmp_path: Path) -> None:
    x, out = np.arange(100, dtype="f4"), np.zeros(100, "f4")
    left, (one, same) = kept(tmp_path / "a.gpucapture", request(x, out), request(x, x))
    assert not left and (one.path.name, same.path.name) == ("1-add.ptx", "2-add.ptx")
    job = one.job()
    assert (job.grid, job.block, job.entry) == ((2, 1, 1), (64, 1, 1), "add")
    assert job.program.source == ADD and job.program.cubin
    assert np.load(one.arguments[0].partition("@")[2]).tolist() == x.tolist()
    assert one.arguments[2:] == ("f64=0.5", "i32=100")
    assert same.arguments[1] == "&0+0"  # the same array


def test_contents_are_left_out_unless_they_may_be_kept(tmp_path: Path) -> None:
    made = request(np.arange(100, dtype="f4"), np.zeros(100, "i4"))
    left, (one,) = kept(tmp_path / "a.gpucapture", made, keep=False)
    assert one.arguments[:2] == ("f32[100]=rand", "i32[100]=zeros")
    assert left[0] == "launch 1, add: x holds rand: its content was left out, not to be kept"
    left, _ = kept(tmp_path / "b.gpucapture", made, limit=399)
    assert len(left) == 2 and "400 bytes are above the limit" in left[0]


def test_a_capture_is_counted_and_opens_as_lessons(tmp_path: Path, capsys) -> None:
    file = tmp_path / "a.gpucapture"
    kept(file, *[request(np.ones(100, "f4"), np.zeros(100, "f4"))] * 2)
    assert main(["count", str(file)]) == 2
    assert "has 2 launches, say which: --launch N; 1: add, 2,1,1 x 64,1,1; 2: add" in (
        capsys.readouterr().err
    )
    assert main(["count", str(file), "--launch", "2", "--level", "ptx", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["totals"]["global_load_sectors"] == 13
    assert counts["buffers"][1]["name"] == "out"
    one, other = read_any(file)
    assert one.id != other.id
    (run,) = perform(one, {}, level="ptx").runs.values()
    assert run.outputs["out"].tolist() == [1.5] * 100
    assert {row.instruction.line for row in run.counts.rows} == {3}


def test_what_was_unpacked_before_is_not_believed(tmp_path: Path) -> None:
    made = request(np.ones(100, "f4"), np.zeros(100, "f4"))
    _, (one,) = kept(tmp_path / "a.gpucapture", made)
    one.path.write_text("nothing")
    _, (again,) = kept(tmp_path / "a.gpucapture", made)
    assert again.path == one.path and again.job().entry == "add"


def test_a_file_that_names_what_it_does_not_hold_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "a.gpucapture"
    kept(file, request(np.ones(100, "f4"), np.zeros(100, "f4")))
    plain = archive.read(file, capture.FORM, dict).manifest
    for name, value in (("code", 7), ("arguments", ["f32[9]=@/etc/passwd", "i32=1"])):
        launches = [{**plain["launches"][0], name: value}]
        archive.write(file, capture.FORM, {**plain, "launches": launches}, {})
        with pytest.raises(FormatError, match="is damaged"):
            capture.unpacked(file)


SCRIPT = """
import sys
import numpy as np
import made_up_library
out = np.zeros(100, "f4")
for _ in range(int(sys.argv[1])):
    made_up_library.launch(np.ones(100, "f4"), out)
assert out.tolist() == [1.5] * 100
if len(sys.argv) > 2:
    raise ValueError("no more")
"""


@pytest.fixture
def made_up_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library whose launches are watched, on a machine without a GPU."""
    library, known = types.ModuleType("made_up_library"), types.ModuleType("made_up_kernels")

    @contextmanager
    def watching_it(watcher):
        def launch(x, out):
            watcher.wants("add", False)
            watcher.launched("add", partial(request, x, out), None)

        library.launch = launch
        yield

    known.watching = watching_it
    monkeypatch.setitem(sys.modules, "made_up_library", library)
    monkeypatch.setitem(sys.modules, "gpuviz.integrations.made_up_kernels", known)
    for module in (watching, command):
        monkeypatch.setattr(module, "WATCHED", {"made_up_library": "made_up_kernels"})


@pytest.mark.usefixtures("made_up_library")
def test_a_program_runs_and_its_launches_are_kept(tmp_path: Path, capsys) -> None:
    script, file = tmp_path / "train.py", tmp_path / "out.gpucapture"
    script.write_text(SCRIPT)
    asked = ["capture", "-o", str(file), "--launches", "2", "--contents", "keep", str(script)]
    assert main([*asked, "3"]) == 0
    said = capsys.readouterr()
    assert f"{file}: 2 launches of train.py" in said.out and "max_launches=2 were kept" in said.err
    assert len(capture.unpacked(file)) == 2
    assert main([*asked, "1", "fail"]) == 1
    assert "failed: ValueError: no more" in capsys.readouterr().err
    assert len(capture.unpacked(file)) == 1  # what it had launched


def test_a_program_without_launches_is_told(tmp_path: Path, capsys) -> None:
    script = tmp_path / "none.py"
    script.write_text("import sys; sys.exit(0)")
    assert main(["capture", "-o", str(tmp_path / "x.gpucapture"), str(script)]) == 1
    assert "made no launch that can be kept" in capsys.readouterr().err
    assert main(["capture", "-o", str(tmp_path / "x.gpucapture"), str(tmp_path / "no.py")]) == 2


def test_a_launch_is_drawn(tmp_path: Path, capsys) -> None:
    file, kernel = tmp_path / "a.gpucapture", tmp_path / "add.cu"
    kept(file, request(np.ones(100, "f4"), np.zeros(100, "f4")))
    kernel.write_text(ADD)
    launch = ["--grid", "2", "--block", "64", "--arg", "ones(100)", "--arg", "zeros(100)"]
    for source in ([str(file)], [str(kernel), *launch, "--arg", "0.5", "--arg", "100"]):
        out = tmp_path / "out.svg"
        view = ["--level", "ptx", "--view", "picture=buffer", "-o", str(out)]
        assert main(["render", *source, *view]) == 0
        assert "how often block 0 touches each element" in out.read_text()
    assert main(["render", str(file), "--view", "no=1", "-o", str(tmp_path / "x.svg")]) == 2


def test_a_program_that_is_launched_without_end_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = request(np.ones(100, "f4"), np.zeros(100, "f4"))
    monkeypatch.setattr(capture, "FORM", replace(capture.FORM, largest=100_000))
    monkeypatch.setattr(capture, "_put", lambda *what: pytest.fail("unpacked"))
    with pytest.raises(FormatError, match="would unpack to more than 100,000 bytes"):
        kept(tmp_path / "a.gpucapture", *[made] * 100, keep=False)
