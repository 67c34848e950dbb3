"""No code of a stranger reaches a GPU unless the user agreed to that very code."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from gpuviz.base import resources
from gpuviz.base.errors import InputError
from gpuviz.compile import Program
from gpuviz.course import SCENES
from gpuviz.gpu.client import GpuLaunch, launch_of
from gpuviz.gpu.consent import (
    ASKED,
    Code,
    ConsentList,
    NotAgreed,
    Permit,
    asked,
    digest_of,
    own_permit,
    permit,
)
from gpuviz.gpu.wire_arguments import WireArguments
from gpuviz.launch.job import Job, Whose
from gpuviz.story import kernel_launch
from gpuviz.story.lesson import Plan
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import job_of

CUBIN = Program(".entry k", b"machine code", "", {}, (), "source", "a.cu", "sm_90", "NVRTC")
PTX = replace(CUBIN, cubin=b"", source="", compiler="unknown")
JOB = Job(CUBIN, "k", (1, 1, 1), (32, 1, 1), (), file="talk.gpuviz-lecture")


def code(job: Job) -> Code:
    found = asked(job)
    assert found is not None
    return found


def test_everybody_is_in_the_table_and_only_strangers_are_asked_about() -> None:
    assert set(ASKED) == set(get_args(Whose))
    assert [whose for whose, asks in ASKED.items() if asks] == ["stranger"]


def test_a_job_is_a_strangers_unless_it_says_otherwise() -> None:
    with pytest.raises(NotAgreed, match="from talk.gpuviz-lecture, not agreed"):
        launch_of(JOB)
    for whose in ("course", "named"):
        assert launch_of(replace(JOB, whose=whose)).code == b"machine code"


def test_agreed_is_to_what_runs_and_to_nothing_else() -> None:
    agreed = {code(JOB).digest}
    assert launch_of(JOB, agreed).ptx == CUBIN.ptx
    changes = {"cubin": b"other code"}, {"ptx": ".entry k // and more"}, {"cubin": b""}
    for change in changes:
        other = replace(JOB, program=replace(CUBIN, **change))
        with pytest.raises(NotAgreed):
            launch_of(other, agreed)
    assert launch_of(replace(JOB, grid=(7, 1, 1), file="other"), agreed)


def test_code_and_ptx_cannot_be_parted_in_another_place() -> None:
    assert digest_of(b"ab", "c") != digest_of(b"a", "bc")


def test_a_launch_cannot_be_made_without_a_permit_or_with_that_of_another() -> None:
    with pytest.raises(TypeError, match="is given by"):
        Permit("digest", object())
    launch = launch_of(replace(JOB, whose="named"))
    with pytest.raises(ValueError, match="for other code"):
        replace(launch, code=b"other")
    with pytest.raises(ValueError, match="for other code"):
        replace(launch, ptx="other")
    made = GpuLaunch(
        "cubin", b"x", "", "k", (1, 1, 1), (1, 1, 1), 0, WireArguments(), own_permit(b"x", "")
    )
    assert replace(made, grid=(2, 1, 1)).permit.digest == digest_of(b"x", "")


def test_what_is_asked_names_the_file_and_what_would_run() -> None:
    told = code(JOB)
    assert (told.kernel, told.file) == ("k", "talk.gpuviz-lecture")
    assert told.what == "compiled here from a.cu"
    for program in (PTX, replace(CUBIN, origin="talk.gpuviz-lecture")):
        assert "came compiled" in code(replace(JOB, program=program)).what
    assert code(replace(JOB, file="")).file == "a.cu"
    odd = code(replace(JOB, file="a\n" + "b" * 300)).file
    assert odd.isprintable() and len(odd) == 60


def test_lessons_and_sweeps_are_the_courses_and_files_are_strangers(tmp_path: Path) -> None:
    for lesson in SCENES:
        for plan in lesson.plan(lesson.defaults()):
            assert not Path(plan.kernel).is_absolute()
    shapes = next(one for one in SCENES if one.id == "block-shape")
    assert permit(job_of(shapes.plan(shapes.defaults())[0], "sm_90"))
    own = tmp_path / "own.cu"
    own.write_text('extern "C" __global__ void k() {}')
    job = job_of(Plan("", str(own), "k", (1, 1, 1), (1, 1, 1), ()), "sm_90")
    assert code(job).file == "own.cu"


def test_what_was_agreed_is_remembered_by_content(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "agreed.json"
    first, told = ConsentList(file), code(JOB)
    assert told.digest not in first
    first.add([told])
    assert told.digest in first and told.digest in ConsentList(file)
    other = code(replace(JOB, program=PTX))
    second = ConsentList(file)  # another window
    second.add([other])
    assert {one.digest in ConsentList(file) for one in (told, other)} == {True}
    second.forget()
    assert told.digest not in ConsentList(file)


def test_for_this_session_only(tmp_path: Path) -> None:
    agreed = ConsentList(tmp_path / "agreed.json")
    agreed.for_now([code(JOB)])
    assert code(JOB).digest in agreed and not (tmp_path / "agreed.json").exists()


@pytest.mark.parametrize("text", ["", "{", '[{"digest": 1}]', "[" * 10_000, " " * (2 << 20) + "[]"])
def test_a_damaged_file_agrees_to_nothing(text: str, tmp_path: Path) -> None:
    file = tmp_path / "agreed.json"
    file.write_text(text)
    agreed = ConsentList(file)
    assert code(JOB).digest not in agreed
    agreed.add([code(JOB)])
    assert code(JOB).digest in ConsentList(file)


def test_where_nothing_can_be_written_it_holds_for_the_session(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    agreed = ConsentList(tmp_path / "file" / "agreed.json")
    agreed.add([code(JOB)])
    assert code(JOB).digest in agreed


def test_a_link_makes_no_file_one_of_the_course(tmp_path: Path) -> None:
    """One named from the kernels that ship, or from here, is a stranger's as any other."""
    own = tmp_path / "own.cu"
    own.write_text('extern "C" __global__ void k() {}')
    record = {"entry": "k", "grid": "1,1,1", "block": "1,1,1"}
    for start in (resources.path("kernels"), Path.cwd()):
        launch = kernel_launch.launch_of({**record, "file": os.path.relpath(own, start)})
        lesson = lesson_of(launch)
        (plan,) = lesson.plan(lesson.defaults())
        assert Path(plan.kernel).is_absolute()
    assert code(job_of(plan, "sm_90")).file == "own.cu"
    with pytest.raises(InputError, match="no kernel of the course"):
        job_of(replace(plan, kernel=os.path.relpath(own, resources.path("kernels"))), "sm_90")
