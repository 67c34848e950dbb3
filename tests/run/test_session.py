"""What was opened is known to its session alone, serves whom it is for, and is put away whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpuviz.compile import Program
from gpuviz.compile.bundled import key_of as program_key
from gpuviz.course import lesson
from gpuviz.recordings import lookup
from gpuviz.recordings.measurement import DeviceFacts, Measurement
from gpuviz.recordings.recording import Entry, Recording, key_of, write
from gpuviz.run.session import LectureContents, Library, Session, shipped
from gpuviz.story.lesson import Plan, check_values

MINE, LECTURE = Path("mine.gpurec"), Path("mine.gpuviz-lecture")
ONE = lesson("coalescing")
(SHIPS,) = ONE.plan(check_values(ONE, {"blocks": 65536}))
OWN = replace(SHIPS, grid=(7, 1, 1))  # a launch that no recording which ships holds
PROGRAM = Program("ptx", b"cubin", "", {}, (), "source", "a.cu", "sm_90", "none")
KEY = program_key("a.cu", "source", {}, "sm_90")
FACTS = DeviceFacts(0, "NVIDIA Test 0", "9.0", "1", "13.0", 1, 1, 1)


def recording(name: str, *plans: Plan) -> Recording:
    facts = DeviceFacts(0, name, "9.0", "1", "13.0", 1, 1, 1)
    made = Measurement("recorded", "2026-01-02", facts)
    return Recording(facts, tuple(Entry("", plan.role, {}, key_of(plan), made) for plan in plans))


def device(library: Library, plan: Plan) -> str | None:
    found = library.recordings.find(plan).measurement
    return found.gpu if found is not None else None


def test_a_new_session_knows_what_ships() -> None:
    assert Session().library() is Session().library(LECTURE) is shipped()
    assert device(shipped(), SHIPS) == "NVIDIA H200" and device(shipped(), OWN) is None


def test_what_a_lecture_carries_serves_the_lecture_alone() -> None:
    session = Session()
    session.open_lecture(LECTURE, LectureContents((recording("Mine", SHIPS, OWN),), {KEY: PROGRAM}))
    its = session.library(LECTURE)
    assert (device(its, SHIPS), device(its, OWN)) == ("NVIDIA H200", f"Mine, from {LECTURE}")
    assert its.programs[KEY].origin == its.file == LECTURE.name
    for other in (session.library(), session.library(Path("other.gpuviz-lecture"))):
        assert other is shipped()


def test_opened_three_times_and_closed_nothing_is_left() -> None:
    session = Session()
    for _ in range(3):
        session.open_lecture(LECTURE, LectureContents((recording("Mine", OWN),), {KEY: PROGRAM}))
        session.open_recording(MINE, recording("Mine, too", OWN))
    held = session.library(LECTURE).recordings.recordings
    assert [one.device.name for one in held[-2:]] == ["Mine, too", "Mine"]
    assert held[:-2] == lookup.shipped().recordings
    session.forget(LECTURE)
    assert device(session.library(LECTURE), OWN) == f"Mine, too, from {MINE}"
    session.forget(MINE)
    assert session.library(LECTURE) is session.library() is shipped()


def test_two_sessions_do_not_see_each_others() -> None:
    one, other = Session(), Session()
    one.open_lecture(LECTURE, LectureContents((recording("Mine", OWN),)))
    one.open_recording(MINE, recording("Mine", OWN))
    one.use_gpu(FACTS)
    assert other.library(LECTURE) is other.library() is shipped()


def test_a_recording_opened_answers_after_what_ships_the_newest_before_older_ones() -> None:
    session = Session()
    session.open_recording(MINE, recording("Mine", SHIPS, OWN))
    session.open_recording(Path("new.gpurec"), recording("New", OWN))
    assert device(session.library(), SHIPS) == "NVIDIA H200"
    assert device(session.library(), OWN) == "New, from new.gpurec"
    session.open_recording(MINE, recording("Mine", SHIPS, OWN))
    assert device(session.library(), OWN) == f"Mine, from {MINE}"


def test_a_recording_that_the_user_chose_answers_first_everywhere(tmp_path: Path) -> None:
    session, file = Session(), tmp_path / "mine.gpurec"
    write(file, recording("Mine", SHIPS))
    session.choose_recordings([tmp_path / "gone.gpurec", file])
    session.open_lecture(LECTURE, LectureContents((recording("Lent", SHIPS),)))
    for library in (session.library(), session.library(LECTURE)):
        assert device(library, SHIPS) == "Mine, from mine.gpurec"
    session.choose_recordings(())
    assert device(session.library(), SHIPS) == "NVIDIA H200"


def test_a_library_stays_until_something_is_opened_or_put_away() -> None:
    session = Session()
    session.open_recording(MINE, recording("Mine", OWN))
    before = session.library()
    session.forget(LECTURE)
    assert session.library() is session.library(LECTURE) is before
    session.open_lecture(LECTURE, LectureContents((recording("Lent", OWN),)))
    assert device(before, OWN) == f"Mine, from {MINE}"  # who looks up meanwhile is not disturbed


def test_the_gpu_in_use_is_told_of_once() -> None:
    session = Session()
    assert session.use_gpu(FACTS) and not session.use_gpu(FACTS)
    assert session.library().gpu == FACTS
    assert session.use_gpu(None) and session.library() is shipped()


def test_a_device_with_a_long_name_does_not_hide_whose_word_it_is() -> None:
    session = Session()
    session.open_recording(MINE, recording("NVIDIA H200\n" + 300 * " ", OWN))
    said = device(session.library(), OWN)
    assert said is not None and len(said) < 90 and said.endswith(f"…, from {MINE}")
