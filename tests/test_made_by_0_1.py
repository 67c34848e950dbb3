"""What gpuviz 0.1 wrote still opens: tests/data/made_by_0_1 was written by 0.1 itself."""

import shutil
from pathlib import Path

import pytest

from gpuviz.export.reading import read_any
from gpuviz.lectures.bundle import unpacked
from gpuviz.lectures.reading import read as read_lecture
from gpuviz.qt.history.crash_file import CrashFile
from gpuviz.recordings import recording
from gpuviz.sweeps import record as sweep_record
from gpuviz.traces import file as trace_file
from gpuviz.views.link import parse
from gpuviz.views.provenance import Provenance

FOLDER = Path(__file__).parent / "data" / "made_by_0_1"


@pytest.mark.parametrize("suffix", ["png", "svg", "json"])
def test_an_exported_file_opens_with_its_view(suffix: str) -> None:
    view = read_any(FOLDER / f"view.{suffix}")
    assert isinstance(view, Provenance)
    assert (view.lesson, view.version, view.values["stride"]) == ("coalescing", "0.1.0", 4)


def test_a_trace_opens() -> None:
    trace = trace_file.load(FOLDER / "coalescing.gputrace")
    assert trace.recorded == (0, 1) and len(trace.requests.step) > 0


def test_a_sweep_opens() -> None:
    head, outcomes = sweep_record.read(FOLDER / "stride.jsonl")
    assert head is not None and len(outcomes) == 2


def test_a_lecture_opens_with_its_recording() -> None:
    text, *_ = unpacked(FOLDER / "packed.gpuviz-lecture")
    found = read_lecture(text)
    assert len(found.slides) == 2 and not found.problems
    assert recording.read(text.parent / "recordings" / "0.gpurec").entries


def test_what_a_crash_left_is_found(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "crash", tmp_path / "crash")
    left = CrashFile(tmp_path / "crash").left
    assert left is not None and parse(left.view).lesson == "banks"
