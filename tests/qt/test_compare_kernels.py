"""Side B is of anything: another kernel, another launch, what a file said before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.launch.versions import Version
from gpuviz.qt.kernels.kernel_comparison import earlier
from gpuviz.qt.window.window import Window
from gpuviz.story.exhibit import names_of
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.lesson import Lesson
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.views.link import link, parse
from gpuviz.views.state import ViewState, shared
from tests.qt.fake_lesson import LESSONS

PAIRS, OTHER = LESSONS[0], LESSONS[1]


def compare(window: Window, lesson: Lesson, qtbot: QtBot) -> None:
    """Show a lesson as side B, and wait for its picture."""
    now = window.view.now
    window.view.become(now.beside(lesson, shared(lesson, now.values)))

    def shown() -> bool:
        showing = window.director.showing
        return showing is not None and showing.sides[-1].variant.lesson is lesson

    qtbot.waitUntil(shown)


@pytest.mark.usefixtures("course")
def test_b_is_of_another_lesson_with_its_own_knobs(window: Window, qtbot: QtBot) -> None:
    compare(window, OTHER, qtbot)
    assert window.view.now.compared and window.view.now.lesson is PAIRS
    assert window.parameters.lesson is OTHER
    assert set(window.parameters.knobs) == {p.id for p in OTHER.parameters}
    assert [OTHER.title in window.parameters.sides.tabText(n) for n in (0, 1)] == [False, True]
    window.parameters.sides.setCurrentIndex(0)
    assert set(window.parameters.knobs) == {p.id for p in PAIRS.parameters}


@pytest.mark.usefixtures("course")
def test_the_view_knows_both_and_comes_back(window: Window, qtbot: QtBot) -> None:
    compare(window, OTHER, qtbot)
    view = window.recorder.record()
    assert view.compare_lesson == OTHER.id and parse(link(view)).compare_lesson == OTHER.id
    assert view.for_slide is view
    kernel = replace(view, compare_launch={"file": "a.cu"})
    assert kernel.for_slide.compared is False
    window.view.become(window.view.now.compare(False))
    window.recorder.show(view)
    assert window.view.now.compared and window.view.now.compare_lesson is OTHER
    window.recorder.show(replace(view, compare_lesson="", compare_values={}))
    assert window.view.now.compare_lesson is None and not window.view.now.compared


@pytest.mark.usefixtures("course")
def test_a_and_b_are_exchanged_and_another_lesson_forgets_b(window: Window, qtbot: QtBot) -> None:
    compare(window, OTHER, qtbot)
    window.actions_["compare.swap"].trigger()
    assert window.view.now.lesson is OTHER and window.view.now.compare_lesson is PAIRS
    window.course.open(next(one for one in window.course.lessons if one.id == PAIRS.id))
    assert window.view.now.compare_lesson is None


def test_a_kernel_beside_itself_launched_in_another_way(tmp_path: Path) -> None:
    launch = KernelLaunch(tmp_path / "f.cu", "f", "f", (4, 1, 1), (64, 1, 1), ())
    one, other = lesson_of(launch), lesson_of(replace(launch, block=(128, 1, 1)))
    from gpuviz.story.exhibit import Variant

    variants = tuple(Variant(lesson, lesson.defaults(), "sm_90", "sass") for lesson in (one, other))
    assert names_of(variants) == ("block 64,1,1", "block 128,1,1")
    assert one.id == other.id


def test_an_earlier_text_is_launched_as_the_file_is(tmp_path: Path) -> None:
    launch = KernelLaunch(tmp_path / "f.cu", "f", "f", (4, 1, 1), (64, 1, 1), ("i32=1",))
    kept = tmp_path / "kept" / "1700000000.cu"
    lesson = earlier(launch, Version(kept, 1700000000))
    (plan,) = lesson.plan(lesson.defaults())
    assert plan.kernel == str(kept) and plan.arguments == ("i32=1",)
    assert f"-I{tmp_path}" in plan.options and "f (f.cu, 2023-11-1" in lesson.title


def test_two_launches_of_a_kernel_are_exchanged(tmp_path: Path) -> None:
    launch = KernelLaunch(tmp_path / "f.cu", "f", "f", (4, 1, 1), (64, 1, 1), ())
    one, other = lesson_of(launch), lesson_of(replace(launch, block=(128, 1, 1)))
    shown = ViewState(one, one.defaults(), "sm_90").beside(other, other.defaults())
    shown = replace(shown, compare_arch="sm_80").swapped()
    assert (shown.lesson, shown.compare_lesson) == (other, one)
    assert (shown.arch, shown.compare_arch) == ("sm_80", "sm_90")
