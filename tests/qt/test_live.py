"""A GPU measures what is shown by itself, and the picture is told with what it measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.draw.marks import Texts
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.live_thread import Trouble
from gpuviz.launch.job import Job
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.qt.running import live_story
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.window.window import Window
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run.session import Library
from gpuviz.story.exhibit import Exhibit, Variant, measurements_of, showing
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import Performance
from gpuviz.story.sources import Sources
from gpuviz.views.provenance import Provenance
from tests.qt import fake_gpu
from tests.qt.fake_lesson import LESSONS, FakePerform, job_of, plan, run

Make = Callable[..., Window]
LIVE = "pairs: live 2.2"


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_story, "INTERVAL", 0.05)


def gpus(behaviour: str = "well") -> Sources:
    return Sources(lambda device: Gpu(device, arguments=fake_gpu.arguments(behaviour)), job_of)


@pytest.fixture
def window(make: Make, perform: FakePerform) -> Window:
    """With a GPU that it has not found yet."""
    perform.planned = True
    return make(gpus(), by_itself=True)


def written(window: Window) -> str:
    """What is written in the picture on the stage."""
    window.stage.grab()
    frame = window.stage.frame
    assert frame is not None
    return "\n".join(s for mark in frame.marks if isinstance(mark, Texts) for s in mark.strings)


def told_live(window: Window) -> bool:
    return LIVE in written(window)


def test_numbers_stay_live_while_the_same_launch_is_performed_anew(
    window: Window, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    found: list[str] = []

    def look(shown: Exhibit) -> None:
        found.extend(one.source for one in measurements_of(shown).values())

    window.director.performed.connect(look)
    with qtbot.waitSignal(window.director.performed, timeout=20_000):
        window.director.again()
    assert found == ["live"] and told_live(window)
    found.clear()
    with qtbot.waitSignal(window.director.performed, timeout=20_000):
        window.view.set_values({"stride": 4})  # another launch
    assert "live" not in found


def test_the_first_live_number_waits_for_nothing(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    monkeypatch.setattr(live_story, "INTERVAL", 60.0)
    with qtbot.waitSignal(window.director.performed, timeout=20_000):
        window.view.set_values({"stride": 4})
    qtbot.waitUntil(lambda: told_live(window), timeout=10_000)


def test_it_begins_by_itself_and_the_picture_says_live_when_and_where(
    window: Window, qtbot: QtBot
) -> None:
    begun: list[object] = []
    window.director.performer.started.connect(begun.append)
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    assert window.meter.state.activity == "continuous" and window.meter.state.use == 0.1
    assert window.toolbar.device.text() == "● NVIDIA Test 0 · live"
    assert "NVIDIA Test 0" in written(window)
    view = window.recorder.view()
    assert view is not None
    found = view.runs["pairs"].measurement
    assert found is not None and found.source == "live" and found.date
    assert f"NVIDIA Test 0, {found.date}" in view.provenance.badges["measured"]
    assert len(begun) <= 1  # nothing is emulated anew for it


@pytest.mark.slow
def test_other_values_are_measured_too_and_the_place_in_the_story_stays(
    window: Window, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    window.player.seek(2.5)
    window.view.set_values({"stride": 5})
    qtbot.waitUntil(lambda: "every word 5" in written(window), timeout=20_000)
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    assert window.player.t == 2.5
    assert window.meter.state.activity == "continuous"


@pytest.mark.slow
def test_one_click_stops_it_and_the_next_start_knows(
    window: Window, make: Make, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    QTest.mouseClick(window.timing.again, Qt.MouseButton.LeftButton)
    assert window.meter.state.activity == "idle"
    window.view.set_values({"stride": 5})
    qtbot.waitUntil(lambda: "every word 5" in written(window), timeout=20_000)
    qtbot.wait(300)
    assert not told_live(window) and window.meter.state.activity == "idle"
    window.close()
    again = make(gpus(), by_itself=True)
    qtbot.waitUntil(lambda: again.meter.state.device is not None, timeout=20_000)
    qtbot.wait(300)
    assert again.meter.state.activity == "idle" and not again.meter.by_itself


def test_a_gpu_without_counters_is_not_measured_with_unasked(
    make: Make, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.planned = True
    window = make(gpus("denied"), by_itself=True)
    qtbot.waitUntil(lambda: window.meter.state.device is not None, timeout=20_000)
    qtbot.wait(300)
    assert window.meter.state.activity == "idle" and not window.meter.known
    assert "not measured yet" in window.timing.note.text()


@pytest.mark.slow
def test_a_launch_that_fails_runs_once_by_itself_and_its_words_stay(
    make: Make, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.planned = True
    window = make(gpus("fault"), by_itself=True)
    begun: list[object] = []
    window.meter._live._landed.connect(
        lambda outcome: begun.append(outcome) if isinstance(outcome.value, Trouble) else None
    )
    qtbot.waitUntil(lambda: "illegal address" in window.meter.state.trouble, timeout=20_000)
    window.view.set_values({"guard": True})  # of the same launch
    qtbot.waitUntil(
        lambda: window.director.showing.sides[0].variant.values["guard"] is True,  # type: ignore[union-attr]
        timeout=20_000,
    )
    qtbot.wait(300)
    assert len(begun) == 1 and "illegal address" in window.timing.trouble.text()
    window.view.set_values({"stride": 5})  # which may do better
    qtbot.waitUntil(lambda: len(begun) == 2, timeout=20_000)
    assert "illegal address" in window.timing.trouble.text()


@pytest.mark.slow
def test_the_same_launches_go_on_while_another_part_is_shown(window: Window, qtbot: QtBot) -> None:
    """The lane that is followed changes nothing of what runs."""
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    before = window.meter.known["pairs"]
    window.view.set_values({"guard": True})
    qtbot.waitUntil(
        lambda: window.director.showing.sides[0].variant.values["guard"] is True,  # type: ignore[union-attr]
        timeout=20_000,
    )
    after = window.meter.known["pairs"]
    assert after.source == "live" and after.timing is not None and before.timing is not None
    assert len(after.timing.microseconds) >= len(before.timing.microseconds)
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)


@pytest.mark.slow
def test_a_gpu_that_went_leaves_no_live_numbers_in_the_picture(
    window: Window, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: told_live(window), timeout=20_000)
    window.meter.pause()  # its process has ended
    window.meter._find((), None, "it is gone")
    qtbot.waitUntil(lambda: "live" not in written(window))


def test_strangers_are_neither_run_nor_asked_about_by_itself(
    make: Make, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.planned = True

    def theirs(plan, arch, library=None):  # type: ignore[no-untyped-def]
        return replace(job_of(plan, arch), whose="stranger", file="theirs")

    window = make(replace(gpus(), job_of=theirs), by_itself=True)
    asked: list[object] = []
    window.meter.questioned.connect(asked.append)
    qtbot.waitUntil(lambda: bool(window.meter.state.unagreed), timeout=20_000)
    assert asked == [] and not window.meter.known
    assert "not agreed" in window.timing.refused.text()
    window.timing.ask.click()
    assert len(asked) == 1


def test_a_lesson_that_cannot_be_told_with_live_numbers_stays_and_says_so(
    make: Make, perform: FakePerform, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    perform.planned = True
    broken = "gpuviz.qt.running.director.with_measurements"
    monkeypatch.setattr(broken, lambda shown, found: 1 / 0)
    window = make(gpus(), by_itself=True)
    qtbot.waitUntil(lambda: window.message.isVisible(), timeout=20_000)
    assert "every word 2" in written(window)


def test_in_front_of_a_class_the_picture_is_live_and_again_when_come_back_to(
    perform: FakePerform, qtbot: QtBot, course: None
) -> None:
    perform.planned = True
    views = [
        Provenance("pairs", {"stride": n, "element": "float", "guard": False}, "sm_90")
        for n in (2, 3)
    ]
    lecture = Lecture("Two", tuple(Slide(f"{n}", view) for n, view in enumerate(views)))
    shown = Presentation(lecture, perform, gpus())

    def live() -> bool:
        shown.screen.grab()
        frame = shown.screen.frame
        texts = [s for m in frame.marks if isinstance(m, Texts) for s in m.strings] if frame else []
        return any(LIVE in text for text in texts)

    try:
        shown.start()
        qtbot.waitUntil(live, timeout=20_000)
        shown.conductor.go(1)
        assert not live()
        qtbot.waitUntil(live, timeout=20_000)
        shown.conductor.go(0)
        assert live()  # as it was left
        showing = shown.slide_runs.showing(0)
        assert showing is not None and not measurements_of(showing)
    finally:
        shown.close()
        shown.deleteLater()


def test_who_stopped_it_presents_without_it(
    perform: FakePerform, qtbot: QtBot, course: None, tmp_path: Path
) -> None:
    perform.planned = True
    view = Provenance("pairs", {"stride": 2, "element": "float", "guard": False}, "sm_90")
    shown = Presentation(Lecture("One", (Slide("one", view),)), perform, gpus(), use=0.0)
    found: list[DeviceFacts] = []
    shown.measurements._meter.found.connect(found.append)
    try:
        shown.start()
        qtbot.waitUntil(lambda: bool(found), timeout=20_000)
        qtbot.wait(300)
        assert shown.measurements._meter.state.activity == "idle"
        shown.measurements.again()
        assert shown.measurements._meter.state.activity == "once"
    finally:
        shown.close()
        shown.deleteLater()


@pytest.mark.slow
def test_whatever_is_asked_for_is_measured_at_once_however_much_was_before(
    make: Make, perform: FakePerform, qtbot: QtBot
) -> None:
    """At the pace of an H200; what was spent before does not keep anybody waiting."""
    perform.planned, perform.roles, perform.beside = True, ("pairs", "others"), 1
    paced = fake_gpu.arguments(pace=1.0)
    window = make(Sources(lambda device: Gpu(device, arguments=paced), job_of), by_itself=True)

    def all_live(stride: int) -> bool:
        showing = window.director.showing
        assert showing is not None
        known = [window.meter.known.get(key) for key in showing.plans]
        shown = showing.sides[0].variant.values["stride"] == stride
        return shown and all(one is not None and one.source == "live" for one in known)

    qtbot.waitUntil(lambda: all_live(2), timeout=20_000)
    for stride in (3, 4, 5):
        window.view.set_values({"stride": stride})
        qtbot.waitUntil(
            lambda stride=stride: all_live(stride), timeout=8_000
        )  # 3 launches of 1.3 s
    assert window.meter.state.activity == "continuous"


@pytest.mark.slow
def test_one_launch_that_fails_keeps_the_others_live(
    make: Make, perform: FakePerform, qtbot: QtBot
) -> None:
    """Also when another part of them is looked at, where those that failed are not run again."""
    perform.planned, perform.roles = True, ("pairs", "others")

    def fails(plan, arch, library=None):  # type: ignore[no-untyped-def]
        made = job_of(plan, arch)
        return replace(made, entry="full") if plan.role == "others" else made

    window = make(replace(gpus(), job_of=fails), by_itself=True)
    qtbot.waitUntil(lambda: told_live(window) and bool(window.meter.state.trouble), timeout=20_000)
    window.view.set_values({"guard": True})
    qtbot.waitUntil(
        lambda: window.director.showing.sides[0].variant.values["guard"] is True,  # type: ignore[union-attr]
        timeout=20_000,
    )
    assert window.meter.state.activity == "continuous"
    assert "others" in window.meter.state.trouble
    assert window.meter.known["pairs"].source == "live"


def test_what_was_measured_of_a_text_is_not_shown_of_another(qtbot: QtBot, tmp_path: Path) -> None:
    """A kernel of the user's own is launched alike before and after an edit."""
    lesson, values = LESSONS[0], LESSONS[0].defaults()
    own = replace(plan("mine", values), kernel=str(tmp_path / "mine.cu"))

    def shown(text: str) -> Exhibit:
        made = run(values, "sm_90", "sass", ())
        runs = {"mine": replace(made, trace=replace(made.trace, source=text))}
        performance = Performance(lesson.narrate(values, runs), runs, (own,))
        return showing((Variant(lesson, values, "sm_90", "sass"),), (performance,))

    def mine(plan: Plan, arch: str, library: Library | None = None) -> Job:
        return replace(job_of(plan, arch), whose="course")

    def live() -> bool:
        found = meter.known.get("mine")
        return found is not None and found.source == "live"

    meter = Meter(replace(gpus(), job_of=mine))
    try:
        meter.look()
        meter.show(shown("first"))
        qtbot.waitUntil(live, timeout=20_000)
        meter.show(shown("first"))
        assert live()
        meter.show(shown("second"))
        assert not live()
        qtbot.waitUntil(live, timeout=20_000)
    finally:
        meter.close()
