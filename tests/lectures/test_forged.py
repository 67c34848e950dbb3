"""What a lecture's file says of itself is never taken for what gpuviz measured or compiled."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.base.errors import InputError
from gpuviz.cli.count import as_text
from gpuviz.compile import bundled, gallery, nvrtc
from gpuviz.course import lesson
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.export.counts import csv
from gpuviz.export.export import Export
from gpuviz.lectures import bundle, picture
from gpuviz.lectures.answer import Figure
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.reading import read
from gpuviz.memory.counts import Count
from gpuviz.recordings import lookup, recording
from gpuviz.recordings.measurement import Measurement
from gpuviz.results.badges import caption
from gpuviz.run.session import Session
from gpuviz.story.lesson import check_values
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import lesson_for, view_of
from gpuviz.views.provenance import Provenance
from tests.lectures.packing import pack

COURSE = lesson("coalescing")
NAME = "stranger.gpuviz-lecture"
KERNEL = """extern "C" __global__ void twice(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0f * x[i];
}
"""
TEXT = """gpuviz-lecture = 1
[[slide]]
lesson = "coalescing"
[[slide]]
[slide.kernel]
file = "kernels/twice.cu"
entry = "twice"
grid = "4"
block = "64"
arguments = "f32[512]=ones f32[512]=zeros"
"""
Forge = Callable[[dict[str, bytes]], None]
SMALL = Path(__file__).parents[1] / "data" / "h200_small_launches.gpurec"


@pytest.fixture
def ships(monkeypatch: pytest.MonkeyPatch) -> lookup.Recordings:
    """As if the recordings of small launches shipped, too."""
    made = lookup.Recordings((*lookup.shipped().recordings, recording.read(SMALL)))
    monkeypatch.setattr(lookup, "shipped", lambda: made)
    return made


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle as `gpuviz present --pack` makes it."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "kernels").mkdir()
    (folder / "kernels" / "twice.cu").write_text(KERNEL)
    (folder / NAME).write_text(TEXT)
    out = folder / "out" / NAME
    out.parent.mkdir()
    pack(read(folder / NAME), out)
    return out


@pytest.fixture
def forged(honest: Path, tmp_path: Path) -> Callable[[Forge], Path]:
    def make(change: Forge) -> Path:
        with zipfile.ZipFile(honest) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        change(files)
        with zipfile.ZipFile(tmp_path / NAME, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return tmp_path / NAME

    return make


def views(path: Path) -> tuple[View, View]:
    session = Session()
    lecture: Lecture = bundle.opened(path, session)
    first, second = (slide.view for slide in lecture.slides)
    assert first is not None and second is not None
    library = session.library(path)
    return view_of(first, library), view_of(second, library)


def ten_times_faster(tmp_path: Path, path: Path) -> Forge:
    """A recording as if the H200 were: of all that ships, and of the file's own kernel."""
    real = lookup.shipped().recordings[0]
    made = []
    for one in real.entries:
        timing = one.measurement.timing
        assert timing is not None
        fast = replace(timing, microseconds=timing.microseconds / 10)
        made.append(replace(one, measurement=replace(one.measurement, timing=fast)))
    own = bundle.opened(path, Session()).slides[1].view
    assert own is not None
    (plan,) = lesson_for(own).plan({})
    made.append(replace(made[0], launch=recording.key_of(plan)))
    file = tmp_path / "forged.gpurec"
    recording.write(file, replace(real, entries=tuple(made)))
    return lambda files: files.update({"recordings/0.gpurec": file.read_bytes()})


def measured(view: View) -> Measurement:
    (run,) = view.runs.values()
    assert run.measurement is not None
    return run.measurement


def test_a_recording_in_a_file_never_stands_in_for_one_that_ships(
    honest: Path, forged: Callable[[Forge], Path], tmp_path: Path, ships: lookup.Recordings
) -> None:
    course, own = views(forged(ten_times_faster(tmp_path, honest)))
    (plan,) = COURSE.plan(check_values(COURSE, {}))
    assert measured(course) is ships.find(plan).measurement
    assert caption(measured(course)).startswith("recorded on NVIDIA H200, 2")
    assert measured(course).file == "" and measured(course).kind == "recorded"
    assert caption(measured(own)).endswith(f", from {NAME}")
    assert measured(own).badge == "from a file" and measured(own).gpu.endswith(f"from {NAME}")
    assert own.provenance.badges["measured"].endswith(f", from {NAME}")
    assert f"from {NAME}" in csv_of(own)
    number = Figure("sectors", "", 8, 4, measured(own))
    stage = Stage(1280, 720, DARK)
    said = drawn(picture.figures(stage, Rect(0, 0, 1280, 40), (number,)))
    assert "from a file" in said and any(text.endswith(f", from {NAME}") for text in said)


def drawn(marks: Iterable[Mark]) -> list[str]:
    return [text for mark in marks if isinstance(mark, Texts) for text in mark.strings]


def other_ptx(files: dict[str, bytes]) -> None:
    """The program of the file's kernel: x is loaded twice as far apart as its source says."""
    (name,) = (name for name in files if name.startswith(bundle.PROGRAMS))
    packed = json.loads(files[name])
    packed["program"] |= {"ptx": packed["program"]["ptx"].replace("4;", "8;"), "origin": ""}
    packed["program"]["source"] = "// something else"
    packed["program"]["cubin"] = ""
    files[name] = json.dumps(packed).encode()


def sectors(view: View) -> int:
    (run,) = view.runs.values()
    return run.counts.totals[Count.GLOBAL_LOAD_SECTORS]


def test_a_program_in_a_file_is_not_looked_at_where_its_source_can_be_compiled(
    forged: Callable[[Forge], Path],
) -> None:
    _, own = views(forged(other_ptx))
    assert sectors(own) == 32 and own.runs["kernel"].unchecked == ""


def test_where_it_cannot_be_compiled_every_number_says_whose_program_it_was(
    forged: Callable[[Forge], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = forged(other_ptx)
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    _, own = views(path)
    said = f"program from {NAME}, not checked"
    run = own.runs["kernel"]
    assert sectors(own) == 64 and run.unchecked == NAME and run.trace.source == KERNEL
    assert said in run.trace.notes and said in as_text(run)
    assert own.provenance.badges["counts"] == f"modelled, {said}"
    assert said in csv_of(own)
    assert said in drawn(own.story.frame(0.0, Stage(1280, 720, DARK)).marks)


def csv_of(view: View) -> str:
    data = io.BytesIO()
    csv(Export(view), data)
    return data.getvalue().decode()


def test_a_program_in_a_file_never_stands_in_for_a_kernel_of_the_course(
    forged: Callable[[Forge], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lies(files: dict[str, bytes]) -> None:
        (plan,) = COURSE.plan(check_values(COURSE, {}))
        program = gallery(plan.kernel, dict(plan.defines))
        key = bundled.key_of(plan.kernel, program.source, dict(plan.defines), "sm_90")
        lied = program.ptx.replace("ld.global", "ld.volatile.global")
        lie = replace(program, ptx=lied, cubin=b"")
        files["programs/99.json"] = bundled.pack(key, lie).encode()

    path = forged(lies)
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    course, _ = views(path)
    (run,) = course.runs.values()
    assert "volatile" not in run.trace.ptx


def test_a_kernel_named_from_the_folder_of_the_course_is_none_of_it(tmp_path: Path) -> None:
    """Else a link could have any file taken for a kernel that ships."""
    (tmp_path / "twice.cu").write_text(KERNEL)
    way = "../" * 40 + str(tmp_path / "twice.cu").lstrip("/")
    with pytest.raises(InputError, match="no kernel of the course"):
        gallery(way, {})
    launch = {"file": way, "entry": "twice", "grid": "4", "block": "64"}
    (plan,) = lesson_for(Provenance("", {}, "sm_90", launch=launch)).plan({})
    assert Path(plan.kernel).is_absolute()
