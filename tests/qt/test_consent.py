"""A stranger's kernels run on the GPU when the user says so, and not in front of a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from gpuviz.gpu.client import Gpu
from gpuviz.gpu.consent import Code, ConsentList
from gpuviz.launch.job import Job
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.qt.running.consent_dialog import ConsentDialog
from gpuviz.qt.window.window import Window
from gpuviz.run.session import LectureContents, Library
from gpuviz.story.lesson import Plan
from gpuviz.story.sources import Sources
from gpuviz.views.provenance import Provenance
from tests.qt import fake_gpu
from tests.qt.fake_lesson import FakePerform, job_of

LEFT = Qt.MouseButton.LeftButton
NOT_AGREED = "not run on the GPU: from pairs.cu, not agreed"
Make = Callable[..., Window]


def strangers(plan: Plan, arch: str, library: Library | None = None) -> Job:
    """Every launch is one that a file brought; each size of a launch is other code."""
    job = job_of(plan, arch, library=library)
    code = repr(plan.arguments).encode()
    return replace(job, program=replace(job.program, cubin=code), whose="stranger")


@pytest.fixture
def window(make: Make, perform: FakePerform, qtbot: QtBot, tmp_path: Path) -> Window:
    perform.planned = True

    def gpu(device: int) -> Gpu:
        return Gpu(device, arguments=fake_gpu.arguments())

    made = make(Sources(gpu, strangers, ConsentList(tmp_path / "agreed.json")))
    qtbot.waitUntil(lambda: made.meter.state.device is not None, timeout=20_000)
    return made


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[ConsentDialog]:
    """Every question that was asked: one that is answered is gone from the window."""
    asked: list[ConsentDialog] = []
    made = ConsentDialog.__init__

    def counted(self: ConsentDialog, *given: Any, **named: Any) -> None:
        asked.append(self)
        made(self, *given, **named)

    monkeypatch.setattr(ConsentDialog, "__init__", counted)
    return asked


def dialog(window: Window, qtbot: QtBot) -> ConsentDialog:
    """The question that is open."""
    found = lambda: [one for one in window.findChildren(ConsentDialog) if one.isVisible()]  # noqa: E731
    qtbot.waitUntil(lambda: bool(found()), timeout=20_000)
    return found()[-1]


def rested(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.meter.state.activity == "idle", timeout=20_000)


def test_nothing_runs_before_a_yes_and_a_yes_is_remembered(
    window: Window, qtbot: QtBot, questions: list[ConsentDialog]
) -> None:
    window.meter.run_once()
    asked = dialog(window, qtbot)
    rested(window, qtbot)
    assert not window.timing.series and window.timing.refused.text() == NOT_AGREED
    QTest.mouseClick(asked.yes, LEFT)
    qtbot.waitUntil(lambda: "pairs" in window.timing.series, timeout=20_000)
    rested(window, qtbot)
    assert not window.timing.refused.isVisible() and not window.timing.ask.isVisible()
    before = len(questions)
    window.meter.run_once()
    rested(window, qtbot)
    assert len(questions) == before


@pytest.mark.slow
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_return_and_esc_say_no_and_the_panel_offers_to_ask_again(
    window: Window, qtbot: QtBot, key: Qt.Key
) -> None:
    window.meter.run_once()
    QTest.keyClick(dialog(window, qtbot), key)
    rested(window, qtbot)
    assert not window.timing.series
    assert window.timing.refused.isVisible() and window.timing.refused.text() == NOT_AGREED
    QTest.mouseClick(window.timing.ask, LEFT)
    QTest.mouseClick(dialog(window, qtbot).yes, LEFT)
    qtbot.waitUntil(lambda: "pairs" in window.timing.series, timeout=20_000)


@pytest.mark.slow
def test_running_on_and_on_asks_about_other_code_and_not_twice_about_what_was_refused(
    window: Window, qtbot: QtBot, questions: list[ConsentDialog]
) -> None:
    window.meter.run_continuously()
    QTest.mouseClick(dialog(window, qtbot).yes, LEFT)
    qtbot.waitUntil(lambda: "pairs" in window.timing.series, timeout=20_000)
    window.view.set_values({"stride": 5})
    QTest.mouseClick(dialog(window, qtbot).no, LEFT)
    asked = len(questions)
    for stride in (4, 5):
        window.view.set_values({"stride": stride})
        if stride == 4:
            QTest.mouseClick(dialog(window, qtbot).no, LEFT)
        qtbot.waitUntil(lambda: window.timing.refused.isVisible(), timeout=20_000)
        qtbot.wait(300)
    assert len(questions) == asked + 1
    assert not window.timing.series


def lecture(folder: Path) -> Lecture:
    (folder / "own.cu").write_text('extern "C" __global__ void own(int* x) { x[threadIdx.x] = 1; }')
    launch = {
        "file": str(folder / "own.cu"),
        "entry": "own",
        "grid": "1",
        "block": "32",
        "arguments": "i32[32]=zeros",
    }
    return Lecture("Mine", (Slide("own", Provenance("", {}, "sm_90", launch=launch)),) * 2)


@pytest.mark.parametrize("agree", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_before_presenting_all_is_asked_at_once(
    window: Window, qtbot: QtBot, questions: list[ConsentDialog], tmp_path: Path, agree: bool
) -> None:
    before, began = window.lecture.presenting.before, []
    before.settle(lecture(tmp_path), window.session.library(), lambda: began.append(1))
    asked = dialog(window, qtbot)
    assert began == [] and asked.no.text() == "Present without"
    QTest.mouseClick(asked.yes if agree else asked.no, LEFT)
    assert began == [1]
    seen = len(questions)
    before.settle(lecture(tmp_path), window.session.library(), lambda: began.append(2))
    if not agree:
        QTest.keyClick(dialog(window, qtbot), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: began == [1, 2], timeout=20_000)
    assert len(questions) == seen + (not agree)


def test_nothing_is_asked_where_all_is_of_the_course(window: Window) -> None:
    began: list[int] = []
    one = Slide("course", Provenance("pairs", {}, "sm_90"))
    window.lecture.presenting.before.settle(
        Lecture("Ours", (one,)), window.session.library(), lambda: began.append(1)
    )
    assert began == [1]


def test_a_long_list_of_kernels_is_scrolled(window: Window) -> None:
    codes = [Code(str(n), f"kernel_{n}", "talk.gpuviz-lecture", "a.cu") for n in range(60)]
    made = ConsentDialog(codes, window.theme, window)
    assert made.sizeHint().height() < 600
    made.deleteLater()


def test_in_front_of_a_class_nobody_is_asked(
    qtbot: QtBot, course: None, perform: FakePerform, tmp_path: Path
) -> None:
    perform.planned = True
    view = Provenance("pairs", {"stride": 2, "element": "float", "guard": False}, "sm_90")
    sources = Sources(lambda device: Gpu(device, arguments=fake_gpu.arguments()), strangers)
    shown = Presentation(Lecture("Theirs", (Slide("one", view),)), perform, sources)
    shown.start()
    qtbot.waitUntil(lambda: shown.measurements.words == NOT_AGREED, timeout=20_000)
    assert not [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog)]
    (showing,) = (shown.slide_runs.showing(0),)
    assert showing is not None and not shown.measurements.of(showing)
    shown.close()
    shown.deleteLater()


@pytest.mark.slow
def test_the_lecture_that_brought_a_kernel_is_named(window: Window, qtbot: QtBot) -> None:
    file = Path("talk.gpuviz-lecture")
    window.session.open_lecture(file, LectureContents())
    window.view.set(lecture=file)
    qtbot.waitUntil(lambda: window.director.showing.library.file == file.name)  # type: ignore[union-attr]
    window.meter.run_once()
    dialog(window, qtbot)
    assert [code.file for code in window.meter.state.unagreed] == [file.name]
