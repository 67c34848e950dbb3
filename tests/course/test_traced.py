"""A trace that was saved is told of like a kernel, without running it."""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from gpuviz.base.errors import FormatError, InputError
from gpuviz.course import lesson
from gpuviz.export.reading import read_any
from gpuviz.run.run import Run
from gpuviz.story import traced
from gpuviz.story.lesson import Lesson
from gpuviz.story.perform import perform
from gpuviz.traces import file as trace_file
from gpuviz.views.link import link, parse
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance


@cache
def strided() -> Run:
    """A launch that a trace can be made of."""
    return perform(lesson("coalescing"), {"stride": 2}).runs["copy"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    trace_file.save(strided().trace, tmp_path / "a.gputrace")
    return tmp_path / "a.gputrace"


def test_a_trace_is_told_of_as_the_kernel_is(file: Path) -> None:
    made = traced.lesson_of(file)
    done = perform(made, {})
    assert done.plans == () and len(done.story.steps) == 2
    assert done.story.title == "One warp reads every second float"
    run = done.runs["kernel"]
    blocks = len(strided().trace.recorded)
    share = strided().trace.launch.blocks // blocks
    assert run.counts.totals["global_load_sectors"] == (
        strided().counts.totals["global_load_sectors"] // share
    )
    assert f"{blocks} of {strided().trace.launch.blocks} blocks" in run.level_note


def test_it_is_counted_for_the_architecture_asked_for(file: Path) -> None:
    made = traced.lesson_of(file)
    sectors = {
        arch: perform(made, {}, arch=arch).runs["kernel"].counts.totals["global_load_sectors"]
        for arch in ("sm_90", "sm_20")
    }
    assert sectors["sm_20"] < sectors["sm_90"], "its transactions are whole lines"


def test_only_blocks_that_were_recorded_can_be_chosen(file: Path) -> None:
    trace = replace(strided().trace, recorded=(0, 5))
    trace_file.save(trace, file)
    block = next(p for p in traced.lesson_of(file).parameters if p.id == "block")
    assert [choice.value for choice in block.choices] == [0, 5]
    with pytest.raises(InputError, match="one of: 0, 5"):
        perform(traced.lesson_of(file), {"block": 3})


def test_a_trace_without_requests_says_so(file: Path) -> None:
    none = strided().trace.requests.select(slice(0))
    trace_file.save(replace(strided().trace, requests=none, recorded=()), file)
    with pytest.raises(InputError, match="no block was recorded"):
        traced.lesson_of(file)


def test_its_view_is_shown_again_from_a_record_or_a_link(file: Path) -> None:
    made = Provenance(
        traced.lesson_of(file).id, {"warp": 3}, "sm_80", launch=traced.record_of(file)
    )
    assert view_of(made).provenance.values["warp"] == 3
    assert view_of(parse(link(made))).story.title == view_of(made).story.title


def test_another_file_of_the_name_is_another_lesson(file: Path) -> None:
    before = traced.lesson_of(file).id
    file.touch()
    assert traced.lesson_of(file).id != before


def test_files_are_told_by_what_is_in_them(file: Path, tmp_path: Path) -> None:
    plain = file.rename(tmp_path / "without suffix")
    assert isinstance(read_any(plain), Lesson)
    gone = Provenance("x", {}, "sm_90", launch={"trace": str(tmp_path / "gone.gputrace")})
    (tmp_path / "a.svg").write_text(f"<svg>{gone.text()}</svg>")
    with pytest.raises(InputError, match=r"gone\.gputrace.*missing"):
        read_any(tmp_path / "a.svg")
    with pytest.raises(InputError, match="Is a directory"):
        read_any(tmp_path)
    (tmp_path / "b.svg").write_text("<svg/>")
    with pytest.raises(FormatError, match="does not say"):
        read_any(tmp_path / "b.svg")


def test_the_name_of_a_trace_need_not_be_a_text(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff.gputrace")
    trace_file.save(strided().trace, file)
    assert traced.lesson_of(file).id.startswith("trace-")
