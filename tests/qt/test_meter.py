"""The GPU panels over a worker process that only pretends to own a GPU."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuviz.gpu.client import Gpu
from gpuviz.gpu.live_thread import pause
from gpuviz.qt.window.window import Window
from gpuviz.recordings.lookup import NOT_RECORDED
from gpuviz.recordings.measurement import CounterValue, Measurement, Peaks, Timing
from gpuviz.recordings.recording import Entry, Recording, key_of
from gpuviz.results.timings import KEPT, Series, lines_of
from gpuviz.run.session import Session
from gpuviz.run.throughput import Work
from gpuviz.story.sources import Sources
from gpuviz.words.language import duration
from tests.qt import fake_gpu
from tests.qt.fake_lesson import LESSONS, FakePerform, job_of, plan

Make = Callable[..., Window]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def live(make: Make, perform: FakePerform, qtbot: QtBot) -> Callable[..., Window]:
    """A window whose GPU behaves as told, found already."""

    def window(behaviour: str = "well", limit: float = 20.0) -> Window:
        perform.planned = True

        def gpu(device: int) -> Gpu:
            return Gpu(device, limit=limit, arguments=fake_gpu.arguments(behaviour))

        made = make(Sources(gpu, job_of))
        qtbot.waitUntil(
            lambda: (
                made.meter.state.activity == "idle"
                and (made.meter.state.device is not None or behaviour == "none")
            ),
            timeout=20_000,
        )
        return made

    return window


def table(window: Window) -> list[list[str]]:
    return [line.split("\t") for line in window.counts.text().splitlines()]


def once(window: Window, qtbot: QtBot) -> None:
    QTest.keyClick(window.stage, Qt.Key.Key_F9)
    assert window.meter.state.activity == "once"
    qtbot.waitUntil(lambda: window.meter.state.activity == "idle", timeout=20_000)
    qtbot.wait(250)


def test_f9_measures_and_unequal_rows_are_explained(
    live: Callable[..., Window], qtbot: QtBot
) -> None:
    window = live()
    assert window.toolbar.device.text() == "NVIDIA Test 0"
    qtbot.waitUntil(lambda: "not measured yet" in window.timing.note.text())
    once(window, qtbot)
    head, *rows = table(window)
    assert head == ["quantity", "predicted (model)", "measured (live)", "Δ"]
    assert ["load sectors", "4096", "4096", "0"] in rows
    assert ["store sectors", "2048", "2049", "+1"] in rows
    assert ["load asked / moved", "50%", "50%", ""] in rows
    assert "1 of 5 counters differ" in window.counts.verdict.text()
    assert "store sectors +1: no cause is known" in window.counts.verdict.text()
    times = window.timing.table.text()
    assert times.startswith("median\t2.2") and "GB/s" in times and "result\tequal" in times
    assert window.timing.badge.text() == "live"
    assert "200 launches" in window.timing.shown.text()
    assert "mostly launch overhead (2.10\u202fµs)" in window.timing.note.text()
    quiet = [
        c.text() for c in window.timing.table.findChildren(QLabel) if c.property("role") == "quiet"
    ]
    assert any(text.startswith("2.2") for text in quiet)
    assert window.status.counters.text() == "● counters available"
    assert "SM 1\u202f980 MHz · 45 °C · 148 W" in window.status.device.text()


def fresh(window: Window) -> int:
    series = window.timing.series.get("pairs")
    return series.launches if series else 0


@pytest.mark.slow
def test_f10_runs_on_and_on_while_the_story_plays(
    live: Callable[..., Window], qtbot: QtBot
) -> None:
    window = live()
    QTest.keyClick(window.stage, Qt.Key.Key_F10)
    qtbot.waitUntil(lambda: "pairs" in window.timing.series, timeout=20_000)
    launches = window.timing.series["pairs"].launches
    QTest.keyClick(window.stage, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.timing.series["pairs"].launches > launches + KEPT)
    assert len(window.timing.series["pairs"].microseconds) == KEPT
    assert window.player.t > 0.0
    assert window.toolbar.device.text() == "● NVIDIA Test 0 · live"
    assert window.actions_["gpu.continuous"].isChecked() and window.timing.again.isChecked()
    window.view.set_values({"stride": 5})
    many = window.timing.series["pairs"].launches
    qtbot.waitUntil(lambda: 0 < fresh(window) < many, timeout=20_000)
    QTest.mouseClick(window.timing.again, LEFT)
    assert window.meter.state.activity == "idle"
    launches = window.timing.series["pairs"].launches
    qtbot.wait(150)
    assert window.timing.series["pairs"].launches == launches


@pytest.mark.slow
def test_two_sides_are_timed_with_their_ratio(live: Callable[..., Window], qtbot: QtBot) -> None:
    window = live()
    window.actions_["compare.toggle"].trigger()
    qtbot.waitUntil(lambda: "A pairs" in window.director.showing.runs)  # type: ignore[union-attr]
    once(window, qtbot)
    lines = [line.split("\t") for line in window.timing.table.text().splitlines()]
    assert [cell[-1] for cell in lines[0]] == ["A", "B"]
    assert lines[1][0] == "median" and lines[1][3].endswith("×")
    shown = window.timing.table.findChildren(QLabel)
    marked = [one for one in shown if "<span" in one.text()]  # the squares in their colours
    assert [one.textFormat() for one in marked] == [Qt.TextFormat.RichText] * 2
    assert all(one.sizeHint().width() < 60 for one in marked)
    assert window.counts.verdict.text().count("measured on NVIDIA Test 0") == 2
    sides = [f"{side} ({badge})" for side in "AB" for badge in ("model", "live")]
    assert table(window)[0] == ["quantity", "B / A", *sides]


def test_a_companion_is_timed_in_place_of_the_launch_drawn_and_counted_beside_it(
    live: Callable[..., Window], perform: FakePerform, qtbot: QtBot
) -> None:
    perform.beside = 1
    window = live()
    role = "pairs, real size"
    qtbot.waitUntil(lambda: role in window.director.showing.runs)  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    assert window.status.running.text().startswith("emulated")
    once(window, qtbot)
    assert set(window.meter.known) == {"pairs", role}
    assert window.timing.launch_size.text() == "2^20 words"
    assert window.counts.launch_size.text() == "64 blocks of 256 threads"
    views = [window.counts.view.itemText(n) for n in range(window.counts.view.count())]
    assert views == ["pairs", "pairs, 2^20 words"]
    window.counts.view.setCurrentIndex(1)
    window.counts.view.activated.emit(1)
    assert window.counts.launch_size.text() == "2^20 words"
    assert table(window)[0] == ["quantity", "predicted (model)", "measured (live)", "Δ"]


@pytest.mark.parametrize(
    ("behaviour", "limit", "said"),
    [
        ("fault", 20.0, "illegal address"),
        pytest.param("die", 20.0, "was lost", marks=pytest.mark.slow),
        pytest.param("hang", 0.5, "did not answer within 0.5 s", marks=pytest.mark.slow),
    ],
)
def test_what_a_kernel_does_to_its_process_the_window_survives(
    live: Callable[..., Window], qtbot: QtBot, behaviour: str, limit: float, said: str
) -> None:
    window = live(behaviour, limit)
    for _ in range(2):
        once(window, qtbot)
        assert said in window.meter.state.trouble
        assert window.timing.trouble.isVisible() and said in window.timing.trouble.text()
        assert window.message.isVisible() and said in window.message.text.toPlainText()
        QTest.keyClick(window.stage, Qt.Key.Key_Escape)
    assert window.player.story is not None
    assert table(window)[0] == ["quantity", "predicted (model)", "measured (unavailable)"]
    window.view.set_values({"stride": 4})
    qtbot.waitUntil(lambda: not window.meter.state.trouble)


@pytest.mark.slow
def test_a_hanging_kernel_can_be_stopped(live: Callable[..., Window], qtbot: QtBot) -> None:
    window = live("hang")
    QTest.keyClick(window.stage, Qt.Key.Key_F10)
    qtbot.wait(300)
    QTest.keyClick(window.stage, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    assert window.meter.state.activity == "idle"
    assert not window.meter.state.trouble


def test_denied_counters_leave_the_times(live: Callable[..., Window], qtbot: QtBot) -> None:
    window = live("denied")
    once(window, qtbot)
    assert "pairs" in window.timing.series
    measured = window.counts.model.sheet.columns[2]
    assert measured.badge == "unavailable" and "ask the administrator" in measured.hint
    assert window.status.counters.text() == "▲ counters unavailable"
    assert "ask the administrator" in window.status.counters.toolTip()


def test_without_a_gpu_the_panels_say_why(live: Callable[..., Window], qtbot: QtBot) -> None:
    window = live("none")
    assert window.toolbar.device.text() == "no GPU · predicted"
    assert "no NVIDIA driver" in window.toolbar.device.toolTip()
    qtbot.waitUntil(lambda: window.timing.note.text() != "")
    assert window.timing.note.text() == f"unavailable: no GPU, and {NOT_RECORDED}"
    assert window.timing.once.isHidden()
    QTest.keyClick(window.stage, Qt.Key.Key_F9)
    assert "no NVIDIA driver" in window.timing.trouble.text()


def test_another_gpu_can_be_chosen(live: Callable[..., Window], qtbot: QtBot) -> None:
    window = live()
    asked: list[int] = []
    window.meter.look = asked.append  # type: ignore[method-assign]
    window.toolbar.device.show_state(window.meter.state)
    choices = [a for a in window.toolbar.device.menu_.actions() if "NVIDIA Test" in a.text()]
    assert [a.isChecked() for a in choices] == [True, False]
    choices[1].trigger()
    assert asked == [1]


def recorded() -> Session:
    """A session in which a recording of the first preset has been opened."""
    facts = replace(fake_gpu.facts(0), name="NVIDIA H200")
    readings = {k: CounterValue(v) for k, v in fake_gpu.COUNTS.items()}
    timing = Timing(np.linspace(2.0, 3.0, 101))
    made = Measurement("recorded", "2026-11-20", facts, readings, timing)
    entry = Entry("pairs", "pairs", {}, key_of(plan("pairs", {"stride": 1})), made)
    session = Session()
    session.open_recording(Path("h200.gpurec"), Recording(facts, (entry,)))
    return session


@pytest.mark.slow
def test_recordings_stand_in_for_a_gpu(make: Make, perform: FakePerform, qtbot: QtBot) -> None:
    perform.planned = True
    window = make(session=recorded())
    qtbot.wait(250)
    assert table(window)[0][2] == "measured (unavailable)"
    QTest.mouseClick(window.parameters.presets[0][1], LEFT)
    qtbot.waitUntil(lambda: table(window)[0][2] == "measured (from a file)")
    assert window.timing.badge.text() == "from a file"
    said = "recorded on NVIDIA H200, 2026-11-20, from h200.gpurec"
    assert said in window.timing.note.text() and window.status.counters.text() == said
    assert window.toolbar.device.text() == "no GPU · recorded"
    window.actions_["arch.sm_80"].trigger()
    qtbot.waitUntil(lambda: "not compared" in window.counts.verdict.text())
    assert table(window)[-1][-1] == ""


def test_the_architecture_of_the_gpu_is_taken_until_one_is_chosen(
    live: Callable[..., Window], qtbot: QtBot
) -> None:
    window = live()
    window.features.suit(replace(fake_gpu.facts(0), capability="8.0"))
    assert window.view.now.arch == "sm_80"
    window.actions_["arch.sm_75"].trigger()
    window.features.suit(fake_gpu.facts(0))
    assert window.view.now.arch == "sm_75"


@pytest.mark.slow
def test_the_panels_keep_their_width(live: Callable[..., Window], qtbot: QtBot) -> None:
    window = live()
    window.resize(1280, 720)
    before = window.panes.across.sizes()
    once(window, qtbot)
    assert window.panes.across.sizes() == before
    rect = window.timing.rect().translated(window.timing.mapTo(window.panes.side, QPoint()))
    assert rect.right() <= window.panes.side.width()


def test_times_are_rates_and_percentages() -> None:
    series = Series(
        np.full(9, 2.0), "live", "", 9, Work(100_000, 200_000, 4_000), Peaks(1e12, 1e13)
    )
    found = {line.name: line.cells for line in lines_of([series])}
    assert found["useful GB/s"] == ("50.0  5.00\u202f%",)
    assert found["moved GB/s"] == ("100",)
    assert found["GFLOP/s"] == ("2.00  < 0.1\u202f%",)
    two = lines_of([series, replace(series, microseconds=np.full(9, 3.0))])
    assert two[0].cells[-1] == "1.5×"


def test_durations_have_three_digits() -> None:
    assert [duration(t).replace("\u202f", " ") for t in (0.5, 2.345, 1234.0, 5e6)] == [
        "0.500 µs",
        "2.35 µs",
        "1.23 ms",
        "5.00 s",
    ]


def test_the_cap_on_use_makes_pauses() -> None:
    assert pause(0.2, 0.5) == pytest.approx(0.2)
    assert pause(0.2, 0.1) == pytest.approx(1.8)
    assert 0 < pause(0.2, 1.0) < 0.1


def test_lessons_of_the_fake_have_plans() -> None:
    assert job_of(plan("pairs", LESSONS[0].defaults()), "sm_90").grid == (64, 1, 1)


@pytest.mark.slow
def test_closing_does_not_wait_for_the_gpu_to_be_let_go(
    live: Callable[..., Window], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a presentation ends: the window is there again at once."""
    window = live()
    let_go = threading.Event()

    def close(gpu: Gpu) -> None:
        time.sleep(1.0)
        let_go.set()

    monkeypatch.setattr(Gpu, "close", close)
    begun = time.monotonic()
    window.meter.close()
    assert time.monotonic() - begun < 0.5
    assert let_go.wait(5)
