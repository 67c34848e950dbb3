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
from gpuviz.qt.window.window import Window
from gpuviz.story import perform as performing
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
    qtbot.waitUntil(lambda: window.counts.level.text() == "sm_90 · sass")
    assert window.player.t == 2.0
    assert not window.message.isVisible()


def test_without_prebuilt_ptx_the_first_picture_is_the_whole_one(
    window: Window, perform: FakePerform
) -> None:
    assert window.counts.level.text() == "sm_90 · sass"
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
