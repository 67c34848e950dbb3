"""What was saved opens again: dropped, pasted, chosen; what cannot be opened says why."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpuviz.base.errors import InputError
from gpuviz.course import lesson
from gpuviz.export.save import save
from gpuviz.qt.export.file_dialogs import ask_which
from gpuviz.qt.painting.qt_painter import QtPainter
from gpuviz.qt.running import view_recorder
from gpuviz.qt.window.window import Window
from gpuviz.recordings import recording
from gpuviz.recordings.measurement import Measurement, Timing
from gpuviz.story.lesson import Lesson, Values
from gpuviz.story.perform import Performance, perform
from gpuviz.story.sources import Sources
from gpuviz.traces import file as trace_file
from gpuviz.views.link import link
from gpuviz.views.provenance import Provenance
from tests.qt import fake_gpu
from tests.qt.fake_lesson import LESSONS, PTX, FakePerform, job_of, plan

CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
COPY = Qt.DropAction.CopyAction
TOLD = Provenance("sums", {"stride": 7}, "sm_80", "ptx", time=2.5)


@pytest.fixture
def fake(perform: FakePerform) -> FakePerform:
    """What the windows perform with, by a name that is not taken."""
    return perform


@pytest.fixture(autouse=True)
def fake_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    known, real = {one.id: one for one in LESSONS}, view_recorder.lesson_for

    def lesson_for(wanted: Provenance) -> object:
        if not wanted.launch and wanted.lesson not in known:
            raise InputError(f"there is no lesson {wanted.lesson!r}")
        return real(wanted) if wanted.launch else known[wanted.lesson]

    monkeypatch.setattr(view_recorder, "lesson_for", lesson_for)


def of_files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def of_text(text: str) -> QMimeData:
    data = QMimeData()
    data.setText(text)
    return data


def enter(over: QWidget, data: QMimeData) -> bool:
    event = QDragEnterEvent(QPoint(40, 40), COPY, data, LEFT, NONE)
    QApplication.sendEvent(over, event)
    return event.isAccepted()


def drop(window: Window, data: QMimeData, over: QWidget | None = None) -> None:
    """Drag over a part of the window, and let go."""
    assert enter(over or window, data)
    move = QDragMoveEvent(QPoint(50, 50), COPY, data, LEFT, NONE)
    QApplication.sendEvent(window, move)
    assert move.isAccepted()
    event = QDropEvent(QPointF(50, 50), COPY, data, LEFT, NONE)
    QApplication.sendEvent(window, event)
    assert event.isAccepted()


def refused(window: Window, qtbot: QtBot) -> str:
    qtbot.waitUntil(window.message.isVisible)
    assert window.message.title.text() == "This could not be opened"
    return window.message.text.toPlainText()


def told(window: Window, qtbot: QtBot) -> None:
    """The view of `TOLD` is shown."""
    qtbot.waitUntil(lambda: window.view.now.lesson.id == "sums" and window.player.t == 2.5)
    made = window.recorder.record()
    assert (made.values["stride"], made.arch, made.level) == (7, "sm_80", "ptx")


@pytest.mark.slow
@pytest.mark.parametrize(
    "suffix", [".png", ".svg", ".pdf", ".gif", ".apng", ".mp4", ".html", ".json"]
)
def test_every_exported_file_can_be_dropped(
    suffix: str, window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    if suffix == ".mp4":
        pytest.importorskip("av")
    with qtbot.waitSignal(window.director.performed):
        window.recorder.show(TOLD)
    view = window.recorder.view()
    made = replace(view.provenance, width=400, height=260, time=2.5, end=2.7)
    save(replace(view, provenance=made), tmp_path / f"a{suffix}", painter=QtPainter())
    with qtbot.waitSignal(window.director.performed):
        window.recorder.show(Provenance("pairs", {}, "sm_90"))
    drop(window, of_files(tmp_path / f"a{suffix}"))
    told(window, qtbot)
    assert window.status.running.text() != f"reading a{suffix} …"


def saved(
    window: Window,
    path: Path,
    launch: dict[str, str | int] | None = None,
    wanted: Provenance = TOLD,
) -> Path:
    """A picture whose record tells of a view."""
    view = window.recorder.view()
    made = replace(wanted, launch=launch or {})
    save(replace(view, provenance=made), path, painter=QtPainter())
    return path


def test_a_quiet_frame_says_what_a_drop_would_do(window: Window, tmp_path: Path) -> None:
    path, cue = saved(window, tmp_path / "a.png"), window.files.dropping.cue
    assert not cue.isVisible()
    assert enter(window, of_files(path))
    assert cue.isVisible() and cue.words == "Drop to open a.png"
    assert cue.size() == window.size() and cue.accessibleName() == cue.words
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not cue.isVisible()
    assert enter(window, of_text(link(TOLD))) and cue.words == "Drop to open a link to a view"


def test_what_cannot_be_opened_is_not_taken(window: Window, tmp_path: Path) -> None:
    for data in (
        of_text("hello"),
        of_files(tmp_path),
        of_files(tmp_path / "absent.png"),
        of_files(tmp_path / ("a" * 300)),
    ):
        assert not enter(window, data) and not window.files.dropping.cue.isVisible()


def test_a_drop_over_a_text_is_one_on_the_window(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    path = saved(window, tmp_path / "a.png")
    drop(window, of_files(path), window.source.view().viewport())
    told(window, qtbot)


def test_a_link_is_dropped_or_pasted(window: Window, qtbot: QtBot) -> None:
    drop(window, of_text(link(TOLD)))
    told(window, qtbot)
    with qtbot.waitSignal(window.director.performed):
        window.recorder.show(Provenance("pairs", {}, "sm_90"))
    QGuiApplication.clipboard().setText(f"  {link(TOLD)}\n")
    QTest.keyClick(window, Qt.Key.Key_V, CONTROL)
    told(window, qtbot)


def test_what_is_copied_as_a_picture_opens_again(window: Window, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.director.performed):
        window.recorder.show(TOLD)
    window.actions_["export.copy"].trigger()
    qtbot.waitUntil(lambda: not window.files.exporting.exports.busy)
    with qtbot.waitSignal(window.director.performed):
        window.recorder.show(Provenance("pairs", {}, "sm_90"))
    QTest.keyClick(window, Qt.Key.Key_V, CONTROL)
    told(window, qtbot)


def test_a_file_is_pasted(window: Window, tmp_path: Path, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().setMimeData(of_files(saved(window, tmp_path / "a.png")))
    QTest.keyClick(window, Qt.Key.Key_V, CONTROL)
    told(window, qtbot)


def test_nothing_to_paste(window: Window) -> None:
    QGuiApplication.clipboard().setText("just words")
    QTest.keyClick(window, Qt.Key.Key_V, CONTROL)
    assert window.status.running.text() == "Nothing that gpuviz can open has been copied."


def test_text_fields_keep_their_paste(window: Window, qtbot: QtBot) -> None:
    line = QLineEdit(window)
    line.show()
    line.setFocus()
    QGuiApplication.clipboard().setText(link(TOLD))
    QTest.keyClick(line, Qt.Key.Key_V, CONTROL)
    assert line.text() == link(TOLD) and window.view.now.lesson.id != "sums"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n\x1a\n and nothing else", "does not say which view"),
        (b'{"gpuviz view": 1, "lesson": "pa', "damaged"),
        (b'{"gpuviz view": 99, "lesson": "pairs"}', "update gpuviz"),
        (b'{"gpuviz view": 1, "lesson": "absent", "values": {}, "arch": "sm_90"}', "absent"),
        (b'{"gpuviz view": 1, "lesson": "pairs", "values": {"stride": 99}, "arch": "sm_90"}', "99"),
        (b"", "empty"),
        (b"PK\x03\x04 broken", "neither a trace nor a recording"),
    ],
)
def test_files_that_cannot_be_shown_say_why(
    content: bytes, words: str, window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    before = window.recorder.record()
    (tmp_path / "a.png").write_bytes(content)
    drop(window, of_files(tmp_path / "a.png"))
    assert words in refused(window, qtbot)
    assert window.recorder.record() == before


def test_bad_links_say_why(window: Window, qtbot: QtBot) -> None:
    drop(window, of_text("gpuviz://pairs?.t=never"))
    assert "no time in seconds" in refused(window, qtbot)


def test_a_picture_of_a_kernel_that_is_gone_names_its_file(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    launch: dict[str, str | int] = {
        "file": str(tmp_path / "mine.cu"),
        "entry": "k",
        "grid": "1",
        "block": "32",
    }
    path = saved(window, tmp_path / "a.png", launch)
    drop(window, of_files(path))
    said = refused(window, qtbot)
    assert str(tmp_path / "mine.cu") in said and "missing" in said


def test_a_picture_of_a_kernel_that_is_there_opens_it(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "mine.ptx").write_text(PTX)
    launch: dict[str, str | int] = {
        "file": str(tmp_path / "mine.ptx"),
        "entry": "pairs",
        "grid": "2",
        "block": "64",
        "shared": 0,
        "arguments": "f32[128]=arange f32[128]=zeros i32=1",
    }
    wanted = Provenance("kernel-x", {"warp": 1}, "sm_90")
    drop(window, of_files(saved(window, tmp_path / "a.png", launch, wanted)))
    qtbot.waitUntil(lambda: bool(window.view.now.lesson.launch))
    assert window.view.now.lesson.launch["file"].endswith("mine.ptx")
    assert window.view.now.values["warp"] == 1


def test_kernels_and_lectures_go_their_own_ways(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    asked: list[tuple[str, object]] = []
    reopening = window.files.reopening
    reopening.kernel_asked.disconnect()
    reopening.kernel_asked.connect(lambda path: asked.append(("kernel", path)))
    reopening.lecture_asked.connect(lambda path: asked.append(("lecture", path)))
    for name in ("a.cu", "b.PTX", "c.gpuviz-lecture"):
        (tmp_path / name).write_text("")
        drop(window, of_files(tmp_path / name))
    assert asked == [
        ("kernel", tmp_path / "a.cu"),
        ("kernel", tmp_path / "b.PTX"),
        ("lecture", tmp_path / "c.gpuviz-lecture"),
    ]


def test_open_asks_for_a_file(window: Window, tmp_path: Path, qtbot: QtBot) -> None:
    path = saved(window, tmp_path / "a.png")
    folders: list[str] = []

    def answer(parent: QWidget, folder: str) -> Path:
        folders.append(folder)
        return path

    window.files.reopening.ask_which = answer
    QTest.keyClick(window, Qt.Key.Key_O, CONTROL)
    told(window, qtbot)
    window.actions_["file.open"].trigger()
    assert folders == ["", str(tmp_path)]
    assert callable(ask_which)


def test_the_newest_wish_counts(window: Window, tmp_path: Path, qtbot: QtBot) -> None:
    first = saved(window, tmp_path / "a.png", wanted=replace(TOLD, lesson="strides"))
    second = saved(window, tmp_path / "b.png")
    opened: list[Provenance] = []
    window.files.reopening.view_asked.connect(opened.append)
    window.files.reopening.open(first)
    window.files.reopening.open(second)
    told(window, qtbot)
    assert [one.lesson for one in opened] == ["sums"]


def test_a_trace_is_opened_as_a_lesson(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    fake = FakePerform.__call__

    def performed(self: FakePerform, lesson: Lesson, values: Values, **how: Any) -> Performance:
        return (perform if lesson.launch else partial(fake, self))(lesson, values, **how)

    monkeypatch.setattr(FakePerform, "__call__", performed)
    trace = perform(lesson("coalescing"), {}).runs["copy"].trace
    trace_file.save(trace, tmp_path / "t.gputrace")
    drop(window, of_files(tmp_path / "t.gputrace"))
    qtbot.waitUntil(
        lambda: window.director.showing is not None and "kernel" in window.director.showing.runs,
        timeout=20_000,
    )
    assert window.view.now.lesson.title.endswith("(t.gputrace)") and not window.message.isVisible()
    assert window.player.story.title.startswith("One warp reads")
    assert "1 of 64 blocks" in window.counts.note.text()
    assert window.recorder.record().launch["trace"] == str(tmp_path / "t.gputrace")


def test_a_recording_answers_first_from_now_on(
    make: Callable[..., Window], fake: FakePerform, tmp_path: Path, qtbot: QtBot
) -> None:
    fake.planned = True
    window = make(Sources(None, job_of))
    assert not window.meter.known
    facts = replace(fake_gpu.facts(0), name="NVIDIA Mine")
    measured = Measurement("recorded", "2026-01-02", facts, timing=Timing(np.array([3.0, 4.0])))
    entry = recording.Entry(
        "pairs", "pairs", {}, recording.key_of(plan("pairs", {"stride": 2})), measured
    )
    recording.write(tmp_path / "mine.gpurec", recording.Recording(facts, (entry,)))
    drop(window, of_files(tmp_path / "mine.gpurec"))
    qtbot.waitUntil(lambda: "pairs" in window.meter.known)
    assert "1 launch recorded on NVIDIA Mine" in window.status.running.text()
    qtbot.waitUntil(lambda: "NVIDIA Mine" in window.timing.note.text())


def test_events_of_other_kinds_pass(window: Window) -> None:
    assert not window.files.dropping.eventFilter(window, QEvent(QEvent.Type.User))


def test_a_zip_of_another_kind(window: Window, tmp_path: Path, qtbot: QtBot) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("manifest.json", "[]")
    drop(window, of_files(tmp_path / "a.zip"))
    assert "neither a trace nor a recording" in refused(window, qtbot)


def test_pasting_from_an_empty_clipboard(window: Window) -> None:
    QGuiApplication.clipboard().clear()
    window.activateWindow()
    QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert "Nothing that gpuviz can open" in window.status.running.text()
