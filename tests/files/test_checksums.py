"""What ships is as it came, or said to be damaged; lessons go on without it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuviz.base import resources
from gpuviz.base.errors import FormatError
from gpuviz.cli import main
from gpuviz.compile import gallery, nvrtc, prebuilt, shipped
from gpuviz.course import lesson
from gpuviz.files import checksums
from gpuviz.recordings import lookup, recording
from gpuviz.run import session
from gpuviz.story.lesson import check_values
from gpuviz.sweeps import table
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance

CACHES = (checksums._sums, lookup.shipped, session.shipped, table.shipped, shipped._index)
LESSON = lesson("coalescing")
(PLAN,) = LESSON.plan(check_values(LESSON, {}))
SEALED = ("recordings", "kernels/prebuilt")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the resources, to be damaged."""
    folder = shutil.copytree(resources.path(), tmp_path / "resources")
    monkeypatch.setattr(resources, "path", lambda name="": folder / name)
    for one in CACHES:
        one.cache_clear()
    yield folder
    monkeypatch.undo()
    for one in CACHES:
        one.cache_clear()


def spoilt(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("folder", SEALED)
def test_what_ships_is_as_it_came(folder: str) -> None:
    every = [file for file in resources.path(folder).iterdir() if file.name != checksums.NAME]
    assert len(every) > 2
    for file in every:
        checksums.check(file)


def test_a_damaged_recording_is_named_and_the_lesson_goes_on_without(own: Path) -> None:
    for file in (own / "recordings").glob("*.gpurec"):
        spoilt(file)
    found = lookup.shipped().find(PLAN)
    assert found.measurement is None and found.why == lookup.DAMAGED
    assert found.file.endswith(".gpurec")
    view = view_of(Provenance("coalescing", {}, "sm_90"))
    assert view.story.steps and all(run.measurement is None for run in view.runs.values())


def test_a_recording_that_was_put_there_later_is_none(own: Path) -> None:
    real = own / "recordings" / "nvidia-h200.gpurec"
    shutil.copy(real, own / "recordings" / "a-forged.gpurec")
    assert len(lookup.shipped().recordings) == 2 and lookup.shipped().damaged


def test_a_damaged_sweep_is_none(own: Path) -> None:
    files = sorted((own / "recordings").glob("*.jsonl.gz"))
    assert len(table.shipped()) == len(files) > 0
    table.shipped.cache_clear()
    spoilt(files[0])
    assert len(table.shipped()) == len(files) - 1


def test_a_damaged_program_is_not_run(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (own / "kernels" / "prebuilt").glob("coalescing-*.ptx"):
        spoilt(file)
    with pytest.raises(FormatError, match=r"coalescing-\w+\.ptx, which came with"):
        prebuilt(PLAN.kernel, dict(PLAN.defines))
    if nvrtc.libraries():
        assert gallery(PLAN.kernel, dict(PLAN.defines)).cubin
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    with pytest.raises(FormatError, match="install gpuviz again"):
        gallery(PLAN.kernel, dict(PLAN.defines))


def test_line_endings_of_texts_do_not_matter(own: Path) -> None:
    file = next((own / "kernels" / "prebuilt").glob("*.ptx"))
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    checksums.check(file)


def test_who_writes_what_ships_seals_it_and_nothing_else(own: Path, tmp_path: Path) -> None:
    (one, *_) = lookup.shipped().recordings
    recording.write(own / "recordings" / "new.gpurec", one)
    checksums.check(own / "recordings" / "new.gpurec")
    recording.write(tmp_path / "mine.gpurec", one)
    assert not (tmp_path / checksums.NAME).exists()


def test_without_checksums_nothing_is_believed(own: Path) -> None:
    (own / "recordings" / checksums.NAME).unlink()
    assert lookup.shipped().recordings == () and lookup.shipped().damaged
    assert main(["list"]) == 0
