"""No code of a stranger reaches a GPU unless the user agreed to that very code."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from gpuviz.arguments import parse
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
    arguments_of,
    asked,
    kernel_digest,
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
    assert launch_of(replace(JOB, file="other"), agreed)


REPLAYS = {
    "another kernel of the same code": {"entry": "evil"},
    "a larger grid": {"grid": (7, 1, 1)},
    "a larger block": {"block": (7, 1, 1)},
    "more shared memory": {"dynamic_shared": 4},
    "another number": {"arguments": (parse("i64=8"), parse("f32[4]=zeros"))},
    "a longer buffer": {"arguments": (parse("i64=7"), parse("f32[5]=zeros"))},
    "other contents": {"arguments": (parse("i64=7"), parse("f32[4]=ones"))},
}
GIVEN = replace(JOB, arguments=(parse("i64=7"), parse("f32[4]=zeros")))


@pytest.mark.parametrize("change", REPLAYS.values(), ids=list(REPLAYS))
def test_a_yes_is_not_replayed_for_another_launch(change: dict[str, object]) -> None:
    agreed = {code(GIVEN).digest}
    launch = launch_of(GIVEN, agreed)
    with pytest.raises(NotAgreed):
        launch_of(replace(GIVEN, **change), agreed)  # type: ignore[arg-type]
    if "arguments" not in change:
        with pytest.raises(ValueError, match="for another launch"):
            replace(launch, **change)  # type: ignore[arg-type]


def test_a_yes_is_not_replayed_on_another_gpu() -> None:
    told = asked(GIVEN, "NVIDIA A 01:00")
    assert told is not None and launch_of(GIVEN, {told.digest}, "NVIDIA A 01:00")
    for digests in ({told.digest}, {told.any}):
        with pytest.raises(NotAgreed):
            launch_of(GIVEN, digests, "NVIDIA B 02:00")


def test_an_array_of_a_file_is_agreed_to_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "numbers.npy"
    np.save(file, np.zeros(4, np.float32))
    one = replace(JOB, arguments=(parse(f"f32[4]=@{file}"),))
    agreed = {code(one).digest}
    assert launch_of(one, agreed)
    np.save(file, np.ones(4, np.float32))
    with pytest.raises(NotAgreed):
        launch_of(one, agreed)


def test_a_yes_to_any_launch_is_of_one_kernel_on_one_gpu(tmp_path: Path) -> None:
    agreed = ConsentList(tmp_path / "agreed.json")
    told = asked(GIVEN, "A")
    assert told is not None
    agreed.add([told], widely=True)
    for change in REPLAYS.values():
        other = replace(GIVEN, **change)  # type: ignore[arg-type]
        if other.entry == "k":
            assert launch_of(other, agreed, "A").grid == other.grid
        else:
            with pytest.raises(NotAgreed):
                launch_of(other, agreed, "A")
    with pytest.raises(NotAgreed):
        launch_of(GIVEN, agreed, "B")


def test_code_ptx_and_entry_cannot_be_parted_in_another_place() -> None:
    parts = (b"ab", "c", "d"), (b"a", "bc", "d"), (b"ab", "cd", ""), (b"ab", "", "cd")
    assert len({kernel_digest(*one) for one in parts}) == len(parts)


def test_a_launch_cannot_be_made_without_a_permit_or_with_that_of_another() -> None:
    with pytest.raises(TypeError, match="is given by"):
        Permit("digest", object())
    launch = launch_of(replace(JOB, whose="named"))
    with pytest.raises(ValueError, match="for another launch"):
        replace(launch, code=b"other")
    with pytest.raises(ValueError, match="for another launch"):
        replace(launch, ptx="other")
    own = own_permit(b"x", "", "k")  # what is made here may be launched as it likes
    made = GpuLaunch("cubin", b"x", "", "k", (1, 1, 1), (1, 1, 1), 0, WireArguments(), own)
    assert replace(made, grid=(2, 1, 1)).permit is own
    with pytest.raises(ValueError, match="for another launch"):
        replace(made, entry="other")


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
    job = job_of(shapes.plan(shapes.defaults())[0], "sm_90")
    assert permit(job, arguments_of(job))
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
    assert told.digest not in first and not permit_stands(first, told)


def permit_stands(agreed: ConsentList, told: Code) -> bool:
    return launch_of(JOB, {told.digest}).permit.stands(agreed)


def test_what_cannot_be_forgotten_on_disk_is_told_and_forgotten_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreed, told = ConsentList(tmp_path / "agreed.json"), code(JOB)
    agreed.add([told])
    with monkeypatch.context() as full:
        full.setattr("gpuviz.files.writing.whole", refuse)
        with pytest.raises(InputError, match="no space"):
            agreed.forget()
    assert told.digest not in agreed
    other = code(GIVEN)
    agreed.add([other])  # there is room again: what was withdrawn is not written back
    assert other.digest in agreed and told.digest not in ConsentList(tmp_path / "agreed.json")


def refuse(*given: object, **named: object) -> None:
    raise InputError("cannot write: no space left")


def test_a_file_taken_away_agrees_to_nothing_at_once(tmp_path: Path) -> None:
    agreed, told = ConsentList(tmp_path / "agreed.json"), code(JOB)
    agreed.add([told])
    (tmp_path / "agreed.json").unlink()
    assert told.digest not in agreed


@pytest.mark.parametrize("seconds", [0, -5, 4_294_967_296])  # 1970, before it, 2106
def test_dates_of_the_file_neither_revive_nor_hide_a_yes(seconds: int, tmp_path: Path) -> None:
    file = tmp_path / "agreed.json"
    agreed, told = ConsentList(file), code(JOB)
    agreed.add([told])
    os.utime(file, (seconds, seconds))
    assert told.digest in agreed
    ConsentList(file).forget()
    os.utime(file, (seconds, seconds))
    assert told.digest not in agreed


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
