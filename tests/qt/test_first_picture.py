"""The first picture waits for no compiler; what was asked for takes its place unnoticed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.base.errors import UnavailableError
from gpuviz.compile import Program, gallery, nvrtc
from gpuviz.course import SCENES
from gpuviz.draw.stage import Stage
from gpuviz.qt.running import director
from gpuviz.qt.window.window import Window
from gpuviz.story import perform as performing
from gpuviz.story.exhibit import Exhibit
from gpuviz.story.lesson import Story
from gpuviz.views.playback import told
from tests.qt.fake_lesson import FakePerform

needs_nvrtc = pytest.mark.skipif(not nvrtc.libraries(), reason="no NVRTC for this system")
FIRST = SCENES[0]


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A compiler that answers when the event is set; what it makes of the first lesson ships."""
    go = threading.Event()
    made = {p.kernel: gallery(p.kernel, dict(p.defines)) for p in FIRST.plan(FIRST.defaults())}

    def slowly(kernel: str, defines: Mapping[str, str], arch: str) -> Program:
        go.wait(60)
        return made[kernel]

    monkeypatch.setattr(performing, "gallery", slowly)
    monkeypatch.setattr(performing, "shipped", lambda kernel, defines: made.get(kernel))
    yield go
    go.set()


@pytest.mark.machine_code
@needs_nvrtc
def test_the_prebuilt_ptx_is_performed_while_the_compiler_is_at_work(
    compiler: threading.Event,
) -> None:
    quick = performing.perform(FIRST, {}, level="ptx", prebuilt=True)
    compiler.set()
    whole = performing.perform(FIRST, {})
    run, other = next(iter(quick.runs.values())), next(iter(whole.runs.values()))
    assert (run.level, run.listing, other.level) == ("ptx", None, "sass")
    assert run.counts.totals == other.counts.totals
    assert quick.story.title == whole.story.title


def test_what_does_not_ship_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performing, "shipped", lambda kernel, defines: None)
    with pytest.raises(UnavailableError, match="hierarchy.cu is not shipped prebuilt"):
        performing.perform(FIRST, {}, prebuilt=True)


def test_the_swap_keeps_time_and_clock(
    make: Callable[[], Window], perform: FakePerform, qtbot: QtBot
) -> None:
    wait = threading.Event()
    perform.ships, perform.slow = True, lambda values: not wait.wait(20)
    window = make()
    assert window.counts.level.text() == "sm_90 · ptx"
    assert window.director.performer.busy
    QTest.keyClick(window.stage, Qt.Key.Key_Right)
    QTest.keyClick(window.stage, Qt.Key.Key_Right)
    wait.set()
    qtbot.waitUntil(lambda: window.counts.level.text().startswith("sm_90 · sass"))
    assert window.player.t == 2.0
    assert not window.message.isVisible()


def test_without_prebuilt_ptx_the_first_picture_is_the_whole_one(
    window: Window, perform: FakePerform
) -> None:
    assert window.counts.level.text().startswith("sm_90 · sass")
    assert len(perform.asked) == 1


def test_an_own_choice_is_not_hurried(
    make: Callable[[], Window], perform: FakePerform, qtbot: QtBot
) -> None:
    perform.ships = True
    window = make()
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    before = len(perform.asked)
    window.view.set_values({"stride": 5})
    qtbot.waitUntil(lambda: "word 5" in window.player.story.title)  # type: ignore[union-attr]
    assert len(perform.asked) == before + 1


def test_what_only_a_table_needs_follows_the_picture(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.later = ("table",)
    before: list[tuple[str, ...]] = []
    window.director.performed.connect(lambda showing: before.append(tuple(showing.runs)))
    with qtbot.waitSignal(window.director.updated) as told:
        window.view.set_values({"stride": 3})
    assert before == [("pairs",)]
    assert tuple(told.args[0].runs) == ("pairs", "table")
    roles = window.source.roles
    assert [roles.itemData(n) for n in range(roles.count())] == ["pairs", "table"]
    assert not window.director.performer.busy


def test_it_is_told_again_until_nothing_waits(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.later, perform.planned, perform.beside = ("table",), True, 1
    told: list[tuple[str, ...]] = []
    window.director.updated.connect(lambda showing: told.append(tuple(showing.runs)))
    with qtbot.waitSignal(window.director.performed):
        window.view.set_values({"stride": 3})
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    assert len(told[-1]) == 3


def test_what_is_shown_is_told_and_laid_out_by_the_thread_that_performs(
    window: Window, perform: FakePerform, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tellers: list[threading.Thread] = []
    real = director.going_on

    def going_on(before: Exhibit | None, made: Exhibit) -> Exhibit:
        tellers.append(threading.current_thread())
        return real(before, made)

    monkeypatch.setattr(director, "going_on", going_on)
    asked: list[tuple[float, bool]] = []
    picture = window.stage.foresee

    def foresee(story: Story, keeps: bool) -> None:
        picture(story, keeps)
        asked.append((story.duration, keeps))
        tellers.append(threading.current_thread())

    window.director.foresee = foresee
    with qtbot.waitSignal(window.director.performed):
        window.view.set_values({"stride": 3})
    assert len(tellers) == 2 and threading.main_thread() not in tellers
    with qtbot.waitSignal(window.director.performed):
        window.course.open(window.course.lessons[1])
    assert [keeps for _, keeps in asked] == [True, False]


def test_the_picture_foreseen_is_the_one_that_is_shown(window: Window, qtbot: QtBot) -> None:
    """A story lays out a moment once for a stage: it must be the same."""
    made: list[tuple[float, Stage]] = []
    window.director.foresee = lambda story, keeps: made.append(
        (told(window.player.state, story, keeps).t, window.stage.stage())
    )
    window.player.seek(2.5)
    with qtbot.waitSignal(window.director.performed):
        window.view.set_values({"stride": 3})
    assert made == [(window.player.t, window.stage.stage())]


def test_a_picture_that_cannot_be_foreseen_is_the_stages_to_tell(
    window: Window, qtbot: QtBot
) -> None:
    def broken(story: Story, keeps: bool) -> None:
        raise ValueError("no picture")

    window.director.foresee = broken
    with qtbot.waitSignal(window.director.performed):
        window.view.set_values({"stride": 3})
    assert window.message.isHidden()


def test_a_stage_is_the_same_until_it_changes(window: Window) -> None:
    """What a story laid out for it is asked for again wherever the pointer goes."""
    stage = window.stage.stage()
    assert window.stage.stage() is stage
    window.stage.ask("Which?")
    assert window.stage.stage() is not stage
    window.stage.ask("")
    window.theme.set_mode("light" if window.theme.look.palette.name != "light" else "dark")
    assert window.stage.stage() is not stage
