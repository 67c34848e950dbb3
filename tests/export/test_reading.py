"""Views of files of the user's own: traces and kernels that are there, gone, or cannot be."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from gpuviz.base.errors import FormatError, InputError
from gpuviz.export.reading import check_files, read_any
from gpuviz.story import traced
from gpuviz.traces import file as trace_file
from gpuviz.views.link import link, parse
from gpuviz.views.make_view import check_file, fitted, lesson_for
from gpuviz.views.provenance import Provenance
from tests.qt.fake_lesson import run


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace that was saved."""
    made = tmp_path / "t.gputrace"
    trace_file.save(run({"stride": 2}, "sm_90", "ptx").trace, made)
    return made


def test_a_link_to_a_trace_that_is_there(trace: Path) -> None:
    made = traced.lesson_of(trace)
    again = parse(link(Provenance(made.id, made.defaults(), "sm_90", launch=made.launch)))
    view = fitted(again, lesson_for(again))
    check_file(view)
    assert (view.lesson, view.launch) == (made.id, {"trace": str(trace)})


def test_a_link_to_a_trace_that_is_gone(trace: Path) -> None:
    view = Provenance("trace-1", {}, "sm_90", launch=traced.record_of(trace))
    trace.unlink()
    with pytest.raises(InputError, match=r"the trace of this view is gone.*t\.gputrace"):
        check_file(view)


@pytest.mark.parametrize("file", ["~nobody-of-that-name/a", "a" * 5000, "a\0b", ""])
@pytest.mark.parametrize("kind", ["trace", "file"])
def test_files_that_cannot_be(kind: str, file: str) -> None:
    launch = {kind: file, **({} if kind == "trace" else {"entry": "k", "grid": "1", "block": "1"})}
    view = Provenance("one", {}, "sm_90", launch=launch)
    for check in (check_file, lambda one: check_files(one, "the link")):
        with pytest.raises(InputError):
            check(view)
    if kind == "trace":
        with pytest.raises(InputError):
            lesson_for(view)


def test_a_trace_with_any_byte_wrong_is_damaged(trace: Path) -> None:
    """Whatever the byte does to the zip, the reader says so or reads on: nothing else escapes."""
    content, refused = trace.read_bytes(), 0
    for at in (*range(0, len(content), 61), *range(len(content) - 200, len(content), 3)):
        trace.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        for read in (trace_file.load, read_any):
            try:
                read(trace)
            except InputError:
                refused += 1
    assert refused > 10


def test_a_manifest_that_cannot_be_unpacked(trace: Path) -> None:
    with zipfile.ZipFile(trace) as archive:
        info = archive.getinfo("manifest.json")
    content = bytearray(trace.read_bytes())
    start = info.header_offset + 30 + len(info.filename)
    content[start : start + 20] = b"\xff" * 20
    trace.write_bytes(content)
    for read in (trace_file.load, read_any):
        with pytest.raises(FormatError):
            read(trace)
