"""A full or read-only disk: nothing of the user's is lost, nothing is left, and it is said."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.base.errors import InputError
from gpuviz.cli.painter import painter_for
from gpuviz.export.export import Options
from gpuviz.export.formats import FORMATS
from gpuviz.export.save import save
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.reading import parse
from gpuviz.lectures.writing import write as write_lecture
from gpuviz.qt.lecture.document import Document
from gpuviz.recordings import recording
from gpuviz.run.session import Session
from gpuviz.traces import file as trace_file
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance
from tests.files.disks import KINDS, OLD, content, mounted, spoil
from tests.lectures.packing import pack
from tests.qt.test_crash_file import Process
from tests.run.test_recording import recording as a_recording

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="file systems of Linux"),
]
LECTURE = 'gpuviz-lecture = 1\ntitle = "Mine"\n\n[[slide]]\nlesson = "coalescing"\n'
SUFFIXES = [form.suffix for form in FORMATS]
Write = Callable[[Path], None]


@pytest.fixture(scope="module")
def view() -> View:
    made = view_of(Provenance("coalescing", {}, "sm_90", width=640, height=400))
    return replace(made, provenance=replace(made.provenance, time=1.0, end=1.5))


@pytest.fixture(scope="module")
def writers(view: View) -> dict[str, Write]:
    """Everything that the user has written, by the suffix of its file."""

    def export(suffix: str) -> Write:
        form = next(one for one in FORMATS if one.suffix == suffix)
        if form.lacking():
            return lambda path: pytest.skip(form.lacking())

        def write(path: Path) -> None:
            with painter_for(form) as painter:
                save(view, path, Options(fps=4), painter)

        return write

    lecture = parse(LECTURE, Path())
    run = next(iter(view.runs.values()))
    return {suffix: export(suffix) for suffix in SUFFIXES} | {
        ".gputrace": lambda path: trace_file.save(run.trace, path),
        ".gpurec": lambda path: recording.write(path, a_recording()),
        ".gpuviz-lecture": lambda path: write_lecture(lecture, path),
        ".bundle": lambda path: pack(lecture, path),
    }


WRITTEN = [*SUFFIXES, ".gputrace", ".gpurec", ".gpuviz-lecture", ".bundle"]


@pytest.fixture(params=KINDS)
def spoiled(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A disk with an old file of every suffix, and what is said of it."""
    with mounted(tmp_path / "disk") as disk:
        for suffix in WRITTEN:
            (disk / f"old{suffix}").write_text(OLD)
        spoil(disk, request.param)
        yield disk, KINDS[request.param]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_cannot_be_written_leaves_what_was_there(
    suffix: str, spoiled: tuple[Path, str], writers: dict[str, Write]
) -> None:
    disk, said = spoiled
    before = content(disk)
    for name in (f"old{suffix}", f"new{suffix}"):
        with pytest.raises(InputError, match=f"cannot write .*{name}: {said}"):
            writers[suffix](disk / name)
        assert content(disk) == before


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_file_cut_at_its_first_kilobyte_leaves_what_was_there(
    suffix: str, tmp_path: Path, writers: dict[str, Write]
) -> None:
    """The same wherever no file system can be mounted: the kernel takes so many bytes of a file."""
    old = tmp_path / f"old{suffix}"
    old.write_text(OLD)
    whole = tmp_path / f"whole{suffix}"
    writers[suffix](whole)
    size = whole.stat().st_size
    whole.unlink()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(1024, size // 2), hard))
    try:
        with pytest.raises(InputError, match="File too large"):
            writers[suffix](old)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert content(tmp_path) == {old.name: OLD.encode()}


@pytest.mark.parametrize(
    "told",
    [
        ["render", "--scene", "coalescing", "--size", "640x400", "-o", "old.png"],
        ["render", "--scene", "coalescing", "--size", "640x400", "-o", "new.svg"],
        ["render", "--lecture", "LECTURE", "--size", "640x400", "-o", "old.pdf"],
        ["present", "LECTURE", "--pack", "old.gpuviz-lecture"],
    ],
    ids=lambda told: " ".join(told[-2:]),
)
def test_commands_say_so_and_end_with_status_2(
    told: list[str], spoiled: tuple[Path, str], tmp_path: Path
) -> None:
    disk, said = spoiled
    lecture = tmp_path / "mine.gpuviz-lecture"
    lecture.write_text(LECTURE)
    before = content(disk)
    told = [str(lecture) if word == "LECTURE" else word for word in told]
    done = subprocess.run(
        [sys.executable, "-m", "gpuviz", *told[:-1], str(disk / told[-1])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert content(disk) == before


def test_without_a_cache_everything_goes_on(spoiled: tuple[Path, str], tmp_path: Path) -> None:
    disk, _ = spoiled
    kernel = tmp_path / "k.cu"
    kernel.write_text('extern "C" __global__ void k(float *x) { x[threadIdx.x] = 1.0f; }')
    before = content(disk)
    told = ["count", str(kernel), "--grid", "1", "--block", "32", "--arg", "f32[32]=zeros"]
    done = [
        subprocess.run(
            [sys.executable, "-m", "gpuviz", *told],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        )
        for cache in (disk, tmp_path / "cache")
    ]
    assert [one.returncode for one in done] == [0, 0], done[0].stderr
    assert done[0].stdout == done[1].stdout
    assert content(disk) == before


def test_without_a_place_for_state_and_settings_there_is_a_window(
    spoiled: tuple[Path, str],
) -> None:
    disk, _ = spoiled
    before = content(disk)
    process = Process(disk, "window.actions_['theme.light'].trigger()\ntold()")
    assert process.told()["theme"] == "light"
    assert process.end() == 0
    left = content(disk)
    assert {name: left[name] for name in before} == before
    assert not [name for name in left if name.endswith(".part")]


def test_what_cannot_be_kept_can_still_be_saved_elsewhere(
    spoiled: tuple[Path, str], tmp_path: Path
) -> None:
    disk, said = spoiled
    document = Document(Session(), folder=disk / "lectures")
    document.new()
    document.retitle("Mine")
    document.keep()
    with pytest.raises(InputError, match=said):
        document.save(disk / "old.gpuviz-lecture")
    assert document.dirty and isinstance(document.lecture, Lecture)
    document.save(tmp_path / "elsewhere.gpuviz-lecture")
    assert not document.dirty
    assert "Mine" in (tmp_path / "elsewhere.gpuviz-lecture").read_text()
    assert (disk / "old.gpuviz-lecture").read_text() == OLD
