"""Ways of strangers to a GPU: each tried with a made-up one that remembers what it launched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuviz.files import folders
from gpuviz.gpu.client import Gpu, GpuLaunch
from gpuviz.gpu.consent import ConsentList, asked
from gpuviz.launch.capture import CapturedLaunch
from gpuviz.launch.job import Job
from gpuviz.lectures import exercises
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.qt.window.window import Window
from gpuviz.run.session import Library
from gpuviz.story.kernel_launch import launch_of
from gpuviz.story.lesson import Plan
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import job_of as real_job_of
from gpuviz.story.sources import Sources
from gpuviz.sweeps.cell import Launch as SentLaunch
from gpuviz.views.provenance import Provenance
from tests.qt import fake_gpu
from tests.qt.fake_lesson import FakePerform, job_of

Make = Callable[..., Window]


def strangers(plan: Plan, arch: str, library: Library | None = None) -> Job:
    """One code for all launches: only what it is given differs."""
    return replace(job_of(plan, arch, library=library), whose="stranger")


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of what came as far as a GPU."""
    found: list[str] = []
    keep = Gpu._keep

    def kept(self: Gpu, launch: GpuLaunch, *given: object) -> str:
        found.append(launch.key)
        return keep(self, launch, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Gpu, "_keep", kept)
    return found


@pytest.fixture
def open_window(
    make: Make, perform: FakePerform, qtbot: QtBot, tmp_path: Path
) -> Callable[[], Window]:
    """Opens windows that share what was agreed to, as two of one user do."""
    perform.planned = True

    def opened() -> Window:
        agreed = ConsentList(tmp_path / "agreed.json")
        gpus = lambda device: Gpu(device, arguments=fake_gpu.arguments())  # noqa: E731
        window = make(Sources(gpus, strangers, agreed))
        qtbot.waitUntil(lambda: window.meter.state.device is not None, timeout=20_000)
        return window

    return opened


def rested(window: Window, qtbot: QtBot) -> None:
    idle = lambda: window.meter.state.activity == "idle"  # noqa: E731
    qtbot.waitUntil(lambda: idle() and not window.director.performer.busy, timeout=20_000)


def runs(window: Window, qtbot: QtBot) -> bool:
    """Whether what is shown runs when it is asked for; a question is answered with no."""
    window.meter.run_once()
    rested(window, qtbot)
    left_out = bool(window.meter.state.unagreed)
    if left_out:
        window.features.consent.reject()
    return not left_out


def agree(window: Window, qtbot: QtBot, widely: bool = False) -> None:
    window.meter.run_once()
    rested(window, qtbot)
    window.features.consent.widely.setChecked(widely)
    window.features.consent.accept()
    rested(window, qtbot)
    assert "pairs" in window.timing.series


def changed(window: Window, qtbot: QtBot, stride: int) -> None:
    window.view.set_values({"stride": stride})
    rested(window, qtbot)


@pytest.mark.slow
def test_a_yes_is_for_the_arguments_that_were_asked_about(
    open_window: Callable[[], Window], qtbot: QtBot, launched: list[str]
) -> None:
    window = open_window()
    agree(window, qtbot)
    ran = set(launched)
    assert len(ran) == 1
    changed(window, qtbot, 7)
    assert not runs(window, qtbot) and set(launched) == ran
    changed(window, qtbot, 2)
    assert runs(window, qtbot) and set(launched) == ran


@pytest.mark.slow
def test_a_wide_yes_is_for_other_arguments_until_it_is_withdrawn(
    open_window: Callable[[], Window], qtbot: QtBot, launched: list[str]
) -> None:
    window = open_window()
    agree(window, qtbot, widely=True)
    changed(window, qtbot, 7)
    assert runs(window, qtbot) and len(set(launched)) == 2
    window.meter.withdraw()
    before = len(launched)
    assert not runs(window, qtbot) and len(launched) == before


@pytest.mark.slow
def test_what_one_window_withdraws_stops_in_the_other(
    open_window: Callable[[], Window], qtbot: QtBot, launched: list[str]
) -> None:
    """It runs on and on there at that moment."""
    first, second = open_window(), open_window()
    agree(first, qtbot)
    first.meter.run_continuously()
    qtbot.waitUntil(lambda: first.meter.state.activity == "continuous", timeout=20_000)
    second.meter.withdraw()
    rested(first, qtbot)
    before = len(launched)
    assert not runs(second, qtbot) and not runs(first, qtbot)
    qtbot.wait(300)
    assert len(launched) == before


@pytest.mark.slow
def test_in_the_presenter_a_yes_is_not_for_other_values(
    open_window: Callable[[], Window],
    perform: FakePerform,
    course: None,
    qtbot: QtBot,
    launched: list[str],
) -> None:
    window = open_window()
    agree(window, qtbot)
    views = [
        Provenance("pairs", {"stride": n, "element": "float", "guard": False}, "sm_90")
        for n in (2, 9)
    ]
    slides = tuple(Slide(str(n), view) for n, view in enumerate(views))
    shown = Presentation(Lecture("Theirs", slides), perform, window.meter.sources)
    ran = set(launched)
    shown.start(1)
    qtbot.waitUntil(lambda: "not agreed" in shown.measurements.words, timeout=20_000)
    shown.measurements.again()
    qtbot.wait(300)
    assert set(launched) == ran
    assert not [one for one in QApplication.topLevelWidgets() if one.isModal() and one.isVisible()]
    shown.close()
    shown.deleteLater()


def test_a_kernel_named_by_a_record_is_a_strangers_by_every_door(tmp_path: Path) -> None:
    """Of links, pictures, pages, sessions and lectures: all make the same plan of a file."""
    file = tmp_path / "k.cu"
    file.write_text('extern "C" __global__ void k(int* x) { x[threadIdx.x] = 1; }')
    record = {"file": str(file), "entry": "k", "grid": "1", "block": "32"}
    record |= {"arguments": "i32[32]=zeros", "whose": "course", "agreed": "yes"}
    lesson = lesson_of(launch_of(record))
    (plan,) = lesson.plan(lesson.defaults())
    job = real_job_of(plan, "sm_90")
    assert job.whose == "stranger" and asked(job) is not None


def test_an_exercise_that_was_edited_is_no_code_of_the_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies where whatever the user starts may write to."""
    monkeypatch.setattr(folders, "data", lambda: tmp_path)
    exercise = next(iter(exercises.exercises().values()))
    lesson = lesson_of(exercises.launch_of(exercise))
    plan = lesson.plan(lesson.defaults())[0]
    assert real_job_of(plan, "sm_90").whose == "stranger"


def test_what_a_notebook_captured_and_gave_away_is_a_strangers(tmp_path: Path) -> None:
    launch = CapturedLaunch(tmp_path / "k.ptx", "k", (1, 1, 1), (32, 1, 1), (), 0, (), ())
    ptx = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
    launch.path.write_text(ptx)
    assert asked(launch.job()) is not None


def test_a_sweep_sent_to_its_process_stays_a_strangers() -> None:
    job = strangers(Plan("", "pairs", "pairs", (1, 1, 1), (32, 1, 1), ()), "sm_90")
    assert SentLaunch.of("", job).job.whose == "stranger"
