"""On the command line a stranger's kernel runs on the GPU after a yes, or with --trust."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz import app
from gpuviz.cli import main
from gpuviz.gpu import client
from gpuviz.gpu.consent import ConsentList
from gpuviz.lectures import bundle
from gpuviz.recordings.recording import read
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import job_of
from gpuviz.sweeps import cell
from gpuviz.sweeps.cell import Launch, Task

WORKER = Path(__file__).parents[1] / "gpu" / "fake_worker.py"
KERNEL = """extern "C" __global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}"""
TEXT = """gpuviz-lecture = 1
[[slide]]
[slide.kernel]
file = "copy.cu"
entry = "copy"
grid = "2"
block = "128"
arguments = "f32[256]=ones f32[256]=zeros i32=256"
"""
Commands = dict[str, Callable[[Path], list[str]]]
COMMANDS: Commands = {
    "record": lambda to: ["record", "--lecture", "theirs.gpuviz-lecture", "-o", str(to)],
    "verify": lambda to: ["verify", "theirs.json", "--live"],
}


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the made-up GPU writes what it was asked; the files of a stranger lie beside."""
    monkeypatch.setattr(client, "command", lambda device: [sys.executable, str(WORKER)])
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    for variable in ("XDG_DATA_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy.cu").write_text(KERNEL)
    (tmp_path / "theirs.gpuviz-lecture").write_text(TEXT)
    launch = {"source": "copy.cu", "grid": [2], "block": [128], "entry": "copy", "name": "c"}
    launch["args"] = ["f32[256]=ones", "f32[256]=zeros", "i32=256"]
    launch["measured"] = {"global_load_requests": 8}
    (tmp_path / "theirs.json").write_text(json.dumps({"launches": [launch]}))
    return tmp_path / "log"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def launched(log: Path) -> bool:
    return log.is_file() and "load copy" in log.read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_terminal_it_is_refused_and_the_option_named(
    command: str, ran: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(COMMANDS[command](tmp_path / "o.gpurec")) == 3
    said = capsys.readouterr().err
    assert "not run on the GPU: copy from " in said and "--trust" in said
    assert not launched(ran) and not (tmp_path / "o.gpurec").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_with_the_option_it_runs_and_nothing_is_remembered(
    command: str, ran: Path, tmp_path: Path
) -> None:
    assert main([*COMMANDS[command](tmp_path / "o.gpurec"), "--trust"]) in (0, 1)
    assert launched(ran)
    assert main(COMMANDS[command](tmp_path / "other.gpurec")) == 3


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["y\n", "\n", ""])
def test_on_a_terminal_it_is_asked_once(
    answer: str, ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Terminal()
    monkeypatch.setattr(sys, "stderr", asked)
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    status = main(COMMANDS["record"](tmp_path / "o.gpurec"))
    said = asked.getvalue()
    assert "theirs.gpuviz-lecture brings a kernel" in said and "compiled here from copy.cu" in said
    assert (status, launched(ran)) == ((0, True) if answer == "y\n" else (3, False))
    if status == 0:
        assert main(COMMANDS["record"](tmp_path / "o.gpurec")) == 0
        assert asked.getvalue().count("brings a kernel") == 1
        assert read(tmp_path / "o.gpurec").entries


def test_a_file_named_to_be_run_is_the_users_own(ran: Path) -> None:
    arguments = ["--grid", "2", "--block", "128", "--repeat", "5"]
    for spec in ("f32[256]=ones", "f32[256]=zeros", "i32=256"):
        arguments += ["--arg", spec]
    assert main(["run", "copy.cu", *arguments]) == 0
    assert launched(ran)


def test_a_lecture_is_presented_without_what_was_not_agreed_to(
    ran: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[ConsentList] = []

    def present(lecture: object, library: object, agreed: ConsentList, *how: object) -> int:
        given.append(agreed)
        return 0

    monkeypatch.setattr(app, "present", present)
    assert main(["present", "theirs.gpuviz-lecture"]) == 0
    assert "--trust agrees" in capsys.readouterr().err
    assert main(["present", "theirs.gpuviz-lecture", "--trust"]) == 0
    assert capsys.readouterr().err == ""
    assert [len(agreed._now) for agreed in given] == [0, 1]
    ships = bundle.shipped()[0].stem
    assert main(["present", ships]) == 0 and capsys.readouterr().err == ""


def test_packing_runs_nothing(ran: Path, tmp_path: Path) -> None:
    out = tmp_path / "packed.gpuviz-lecture"
    assert main(["present", "theirs.gpuviz-lecture", "--pack", str(out)]) == 0
    assert out.exists() and not ran.exists()


def test_a_sweep_runs_no_code_of_a_stranger(ran: Path, tmp_path: Path) -> None:
    arguments = ("f32[256]=ones", "f32[256]=zeros", "i32=256")
    plan = Plan("", str(tmp_path / "copy.cu"), "copy", (2, 1, 1), (128, 1, 1), arguments)
    theirs = job_of(plan, "sm_90")
    try:
        for job, runs in ((theirs, False), (replace(theirs, whose="named"), True)):
            (found,) = (cell.outcome(Task((Launch.of("", job),), "sm_90", "gpu", repeats=1)),)
            assert ("not agreed" in found.error) is not runs and launched(ran) is runs
    finally:
        cell.close()
