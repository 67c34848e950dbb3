"""Bundles: everything a lecture needs in one file, played where there is nothing else."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import Cancelled, FormatError, InputError
from gpuviz.cli import main
from gpuviz.compile import nvrtc
from gpuviz.export.save import save_traces
from gpuviz.lectures import bundle
from gpuviz.lectures.answer import answer
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.reading import read
from gpuviz.lectures.writing import write
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement
from gpuviz.recordings.recording import Entry, key_of
from gpuviz.run.session import Session
from gpuviz.story.lesson import Plan
from gpuviz.traces import file as trace_file
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance
from tests.lectures.packing import pack

SOURCE = """#include "scale.h"
extern "C" __global__ void scaled(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = SCALE * x[2 * i];
}
"""
TEXT = """gpuviz-lecture = 1
title = "Mine"

[[slide]]
notes = "Say this."
[slide.kernel]
file = "kernels/mine.cu"
entry = "scaled"
grid = "4"
block = "64"
arguments = "f32[512]=@values.npy f32[256]=zeros i32=256"
[slide.question]
ask = "How many sectors?"
choices = [4, 8]
count = "global_load_sectors"

[[slide]]
lesson = "banks"
values = { stride = 8 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    (made / "kernels").mkdir(parents=True)
    (made / "kernels" / "mine.cu").write_text(SOURCE)
    (made / "kernels" / "scale.h").write_text("#define SCALE 2.0f\n")
    np.save(made / "values.npy", np.arange(512, dtype=np.float32))
    (made / "mine.gpuviz-lecture").write_text(TEXT)
    return made


@pytest.fixture
def lecture(folder: Path) -> Lecture:
    made = read(folder / "mine.gpuviz-lecture")
    assert not made.all_problems
    return made


def measured(plan: Plan) -> Entry | None:
    """What a GPU would have counted of the user's kernel."""
    if not Path(plan.kernel).is_absolute():
        return None
    facts = DeviceFacts(0, "NVIDIA Mine", "9.0", "1", "13.0", 1, 1, 1)
    found = Measurement(
        "recorded",
        "2026-01-02",
        facts,
        {"global_load_sectors": CounterValue(64.0), "global_load_requests": CounterValue(8.0)},
    )
    return Entry("kernel", "kernel", {}, key_of(plan), found)


def test_it_plays_without_its_files_a_compiler_and_a_gpu(
    lecture: Lecture, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "all.gpuviz-lecture"
    shares: list[float] = []
    pack(lecture, path, measured, shares.append)
    assert shares[-1] == 1.0 and shares == sorted(shares)
    shutil.rmtree(folder)
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    session = Session()
    again = bundle.opened(path, session)
    assert not again.all_problems and again.title == "Mine"
    first = again.slides[0]
    assert first.view is not None and first.question is not None and first.notes == "Say this."
    view = view_of(first.view, session.library(path))
    (run,) = view.runs.values()
    assert np.array_equal(run.outputs["y"], 2 * np.arange(0, 512, 2, dtype=np.float32))
    found = answer(
        first.question,
        view.runs,
        {key: one.measurement for key, one in view.runs.items() if one.measurement is not None},
    )
    assert (found.value, found.measured) == (8, 8)
    assert found.origin is not None and found.origin.device.name == "NVIDIA Mine"
    second = again.slides[1]
    assert second.view is not None
    assert view_of(second.view, session.library(path)).story.steps


def test_the_same_bundle_at_every_run(lecture: Lecture, tmp_path: Path) -> None:
    for name in "ab":
        pack(lecture, tmp_path / name, measured)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_bundle_is_opened_again_and_again(lecture: Lecture, tmp_path: Path) -> None:
    pack(lecture, tmp_path / "a.gpuviz-lecture")
    first, _ = bundle.unpacked(tmp_path / "a.gpuviz-lecture")
    again, _ = bundle.unpacked(tmp_path / "a.gpuviz-lecture")
    assert first == again and first.is_file()
    pack(read(first), tmp_path / "b.gpuviz-lecture")
    assert len(bundle.opened(tmp_path / "b.gpuviz-lecture", Session()).slides) == 2


def packed_twice(folder: Path, name: str, other: str, where: Path) -> Callable[[], list[float]]:
    """y[1] as the kernels of one bundle leave it: the lecture's, and those of its slides naming
    other files.
    """
    again = TEXT.split("title", 1)[1].split("\n\n", 1)[1].replace(name, other)
    path = folder / "two.gpuviz-lecture"
    path.write_text(TEXT + again)
    lecture = read(path)
    assert not lecture.all_problems
    pack(lecture, where / path.name)
    session = Session()
    slides = bundle.opened(where / path.name, session).slides
    views = [slide.view for slide in slides if slide.view is not None and slide.view.launch]
    library = session.library(where / path.name)
    return lambda: [float(view_of(v, library).runs["kernel"].outputs["y"][1]) for v in views]


def test_two_kernels_of_one_name_stay_apart(lecture: Lecture, folder: Path, tmp_path: Path) -> None:
    other = folder / "other"
    shutil.copytree(folder / "kernels", other)
    (other / "scale.h").write_text("#define SCALE 3.0f\n")
    (other / "mine.cu").write_text(SOURCE + "// another one\n")
    second = packed_twice(folder, "kernels/", "other/", tmp_path)
    assert second() == [4.0, 6.0]


def test_stopping_writes_nothing(lecture: Lecture, tmp_path: Path) -> None:
    with pytest.raises(Cancelled, match="not written"):
        pack(lecture, tmp_path / "a", cancel=lambda: True)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("missing", ["kernels/mine.cu", "values.npy"])
def test_a_file_that_is_gone_is_named(
    missing: str, lecture: Lecture, folder: Path, tmp_path: Path
) -> None:
    (folder / missing).unlink()
    with pytest.raises(InputError, match=Path(missing).name):
        pack(lecture, tmp_path / "a")


def made(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no lecture"),
        ({"other.txt": b""}, "no lecture"),
        ({bundle.TEXT: b"", "../evil.py": b""}, "evil"),
        ({bundle.TEXT: b"", "kernels/../../evil.py": b""}, "evil"),
        ({bundle.TEXT: b"", "/evil.py": b""}, "evil"),
        ({bundle.TEXT: b"", "kernels/C:evil.py": b""}, "evil"),
        ({bundle.TEXT: b"", "kernels\\..\\..\\evil.py": b""}, "evil"),
        ({bundle.TEXT: b"", "script.sh": b""}, "script.sh"),
        ({bundle.TEXT: b"", "programs/0.json": b"{"}, "damaged"),
        ({bundle.TEXT: b"", "programs/0.json": b'{"kernel": 1}'}, "damaged"),
        ({bundle.TEXT: b"", "recordings/0.gpurec": b"PK"}, "damaged"),
    ],
)
def test_what_no_lecture_holds_is_refused(
    files: dict[str, bytes], said: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=said):
        bundle.unpacked(made(tmp_path / "a.gpuviz-lecture", files))
    assert not list(tmp_path.parent.rglob("evil.py"))


def test_a_bundle_cut_short(lecture: Lecture, tmp_path: Path) -> None:
    pack(lecture, tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for share in (0.2, 0.9):
        (tmp_path / "cut").write_bytes(content[: int(len(content) * share)])
        with pytest.raises(FormatError, match="damaged"):
            bundle.unpacked(tmp_path / "cut")


def test_a_bundle_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST", 1000)
    with pytest.raises(FormatError, match="more than"):
        bundle.unpacked(made(tmp_path / "a", {bundle.TEXT: b"x" * 2000}))


def test_names_of_those_that_ship() -> None:
    assert bundle.find("coalescing-and-banks") in bundle.shipped()
    with pytest.raises(InputError, match="coalescing-and-banks"):
        bundle.find("nothing-like-it")


def test_the_command_line_packs_and_opens(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "all.gpuviz-lecture"
    assert main(["present", str(folder / "mine.gpuviz-lecture"), "--pack", str(out)]) == 0
    assert main(["present", str(out), "--check"]) == 0
    assert capsys.readouterr().err == ""


def test_a_saved_trace_is_bundled(tmp_path: Path) -> None:
    view = view_of(Provenance("coalescing", {}, "sm_90"))
    (tmp_path / "a").mkdir()
    save_traces(view, tmp_path / "a" / "mine.gputrace")
    (tmp_path / "a" / "t.gpuviz-lecture").write_text(
        'gpuviz-lecture = 1\n[[slide]]\ntrace = "mine.gputrace"\nvalues = { warp = 3 }\n'
    )
    lecture = read(tmp_path / "a" / "t.gpuviz-lecture")
    assert not lecture.all_problems
    pack(lecture, tmp_path / "t.gpuviz-lecture")
    shutil.rmtree(tmp_path / "a")
    (slide,) = bundle.opened(tmp_path / "t.gpuviz-lecture", Session()).slides
    assert not slide.problems and slide.view is not None and slide.view.values["warp"] == 3
    assert view_of(slide.view).story.steps


def test_a_trace_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.gpuviz-lecture").write_text(
        'gpuviz-lecture = 1\n[[slide]]\ntrace = "gone.gputrace"\n'
    )
    (slide,) = read(tmp_path / "t.gpuviz-lecture").slides
    assert "gone.gputrace" in str(slide.problems[0]) and slide.problems[0].line == 3


def test_one_kernel_with_different_headers(
    lecture: Lecture, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = folder / "other"
    shutil.copytree(folder / "kernels", other)
    (other / "scale.h").write_text("#define SCALE 3.0f\n")
    second = packed_twice(folder, "kernels/", "other/", tmp_path)
    assert second() == [4.0, 6.0]
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    assert second() == [4.0, 6.0]


def test_data_of_one_name_stays_apart(lecture: Lecture, folder: Path, tmp_path: Path) -> None:
    (folder / "b").mkdir()
    np.save(folder / "b" / "values.npy", 10 * np.arange(512, dtype=np.float32))
    second = packed_twice(folder, "@values", "@b/values", tmp_path)
    assert second() == [4.0, 40.0]


def test_two_that_unpack_at_once(
    lecture: Lecture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(lecture, tmp_path / "a")
    real = os.replace

    def slower(part: Path, folder: Path) -> None:
        if part.name == "made":
            shutil.copytree(part, folder)  # what another gpuviz did meanwhile
        real(part, folder)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", str(tmp_path / "cache"))
    monkeypatch.setattr(bundle.os, "replace", slower)  # type: ignore[attr-defined]
    assert bundle.opened(tmp_path / "a", Session()).title == "Mine"


def test_what_was_cleaned_away_is_unpacked_again(lecture: Lecture, tmp_path: Path) -> None:
    pack(lecture, tmp_path / "a")
    text, _ = bundle.unpacked(tmp_path / "a")
    (kernel,) = text.parent.rglob("mine.cu")
    kernel.unlink()
    assert bundle.opened(tmp_path / "a", Session()).all_problems == ()


def test_a_saved_trace_is_a_slide_too(lecture: Lecture, folder: Path, tmp_path: Path) -> None:
    first = lecture.slides[0].view
    assert first is not None
    (run,) = view_of(first).runs.values()
    trace_file.save(run.trace, folder / "mine.gputrace")
    there = Provenance("", {}, "sm_90", launch={"trace": (folder / "mine.gputrace").as_posix()})
    write(Lecture("T", (Slide(view=there),)), folder / "trace.gpuviz-lecture")
    assert 'trace = "mine.gputrace"' in (folder / "trace.gpuviz-lecture").read_text()
    again = read(folder / "trace.gpuviz-lecture")
    pack(again, tmp_path / "trace")
    shutil.rmtree(folder)
    (slide,) = bundle.opened(tmp_path / "trace", Session()).slides
    assert slide.view is not None and view_of(slide.view).story.steps
