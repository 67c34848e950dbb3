"""A lecture made in the window, as a user does it: keys, buttons, drags, dialogs."""

from __future__ import annotations

import gc
import json
import weakref
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuviz.files import folders
from gpuviz.lectures.ink import Ink, Stroke
from gpuviz.lectures.reading import read
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.save_commands import SaveCommands
from gpuviz.qt.lecture.slide_dialog import SlideDialog
from gpuviz.qt.lecture.slide_words_dialog import SlideWordsDialog
from gpuviz.qt.window.window import Window
from gpuviz.recordings import recording
from gpuviz.recordings.measurement import Measurement, Timing
from gpuviz.recordings.recording import Entry, Recording, key_of
from gpuviz.run.session import Session, shipped
from tests.qt import fake_gpu
from tests.qt.fake_lesson import FakePerform, plan

pytestmark = pytest.mark.usefixtures("course")
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton
K = Qt.Key
TEXT = """gpuviz-lecture = 1
title = "Pairs"

# the first one
[[slide]]
lesson = "pairs"
values = { stride = 4 }
notes = "Look."

[[slide]]
lesson = "strides"

[[slide]]
lesson = "nowhere"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.gpuviz-lecture"
    path.write_text(TEXT)
    return path


@pytest.fixture
def opened(window: Window, file: Path, qtbot: QtBot) -> Window:
    window.lecture.ask_which = window.lecture.saving.ask_where = lambda: file
    window.lecture.saving.ask_unsaved = lambda: "discard"
    key(window, K.Key_O, CONTROL | SHIFT)
    assert window.message.isVisible() and "line 14" in window.message.text.toPlainText()
    key(window, K.Key_Escape)
    idle(window, qtbot)
    return window


def key(
    window: Window,
    key: Qt.Key,
    modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    where: QWidget | None = None,
) -> None:
    window.activateWindow()
    QApplication.processEvents()
    QTest.keyClick(where or QApplication.focusWidget() or window, key, modifier)


def idle(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.director.performer.busy)


def names(window: Window) -> list[str]:
    slides = window.lecture.pane.list
    return [slides.item(row).text() for row in range(slides.count())]


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dialog would wait for ever; tests that ask say so."""
    monkeypatch.setattr(SaveCommands, "_ask_unsaved", lambda self: "discard")
    monkeypatch.setattr(SaveCommands, "_ask_packing", lambda self, name, packing: True)


def press(window: Window, text: str) -> None:
    (found,) = (b for b in window.lecture.pane.findChildren(QPushButton) if b.text() == text)
    QTest.mouseClick(found, LEFT)


def test_opening_shows_the_slides_and_the_first_view(opened: Window) -> None:
    assert names(opened)[:2] == ["1  Coalescing", "2  Strides, offsets, groups"]
    assert "line 14" in names(opened)[2] and names(opened)[2].endswith("▲")
    assert opened.view.now.values["stride"] == 4
    pane = opened.lecture.pane
    assert pane.isVisible() and pane.notes.toPlainText() == "Look."
    assert "3 slides" in pane.state.said and "1 problem" in pane.state.said


def test_the_arrow_keys_go_through_the_slides(opened: Window, qtbot: QtBot) -> None:
    key(opened, K.Key_8, CONTROL)
    assert QApplication.focusWidget() is opened.lecture.pane.list
    key(opened, K.Key_Down)
    idle(opened, qtbot)
    assert opened.view.now.lesson.id == "strides"
    key(opened, K.Key_Down)  # a broken slide has no view to show
    assert opened.view.now.lesson.id == "strides" and not opened.message.isVisible()


def test_a_view_is_added_as_it_is_shown(window: Window, qtbot: QtBot) -> None:
    assert not window.panes.left.tabs.isVisible()
    window.view.set_values({"stride": 9})
    idle(window, qtbot)
    window.player.seek(2.0)
    key(window, K.Key_A, CONTROL | SHIFT)
    assert names(window) == ["1  Coalescing"] and window.panes.left.tabs.isVisible()
    assert "1 slide ·" in f"{window.lecture.pane.state.said} ·"
    lecture = window.lecture.document.lecture
    assert lecture is not None
    (slide,) = lecture.slides
    assert slide.view is not None and slide.view.values["stride"] == 9 and slide.stops == (2.0,)
    window.lecture.document.give_up()


def test_slides_are_duplicated_moved_and_removed(opened: Window) -> None:
    press(opened, "copy")
    assert [n[3:] for n in names(opened)[:3]] == [
        "Coalescing",
        "Coalescing",
        "Strides, offsets, groups",
    ]
    assert opened.lecture.pane.slide == 1
    press(opened, "↓")
    assert [n[3:] for n in names(opened)[:3]] == [
        "Coalescing",
        "Strides, offsets, groups",
        "Coalescing",
    ]
    key(opened, K.Key_Up, CONTROL | SHIFT)
    assert opened.lecture.pane.slide == 1
    press(opened, "×")
    assert [n[3:] for n in names(opened)[:2]] == ["Coalescing", "Strides, offsets, groups"]
    slides = opened.lecture.pane.list
    slides.setFocus()
    for _ in range(4):
        key(opened, K.Key_Z, CONTROL, slides)
    assert len(names(opened)) == 3 and not opened.lecture.document.dirty
    key(opened, K.Key_Y, CONTROL, slides)
    assert len(names(opened)) == 4


def test_dragging_a_slide_moves_it(opened: Window) -> None:
    slides = opened.lecture.pane.list
    model = slides.model()
    # What a drop does, without the drag's own event loop.
    assert model.moveRow(slides.rootIndex(), 0, slides.rootIndex(), 2)
    assert [n[:3] for n in names(opened)] == ["1  ", "2  ", "3  "]
    assert [n[3:] for n in names(opened)[:2]] == ["Strides, offsets, groups", "Coalescing"]
    lecture = opened.lecture.document.lecture
    assert lecture is not None and [s.view.lesson for s in lecture.slides[:2] if s.view] == [
        "strides",
        "pairs",
    ]


def test_notes_are_kept_as_they_are_typed(opened: Window, file: Path) -> None:
    notes = opened.lecture.pane.notes
    QTest.mouseClick(notes.viewport(), LEFT)
    notes.selectAll()
    QTest.keyClicks(notes, "Say this.")
    assert "not saved" in opened.lecture.pane.state.said
    key(opened, K.Key_S, CONTROL)
    assert 'notes = "Say this."' in file.read_text() and "# the first one" in file.read_text()
    assert 'lesson = "nowhere"' in file.read_text(), "what is broken is kept"
    assert not opened.lecture.document.dirty


def test_notes_are_undone_as_they_were_typed_not_by_letters(opened: Window) -> None:
    notes, slides = opened.lecture.pane.notes, opened.lecture.pane.list
    QTest.mouseClick(notes.viewport(), LEFT)
    notes.selectAll()
    QTest.keyClicks(notes, "All of this at once.")
    slides.setFocus()
    key(opened, K.Key_Z, CONTROL, slides)
    assert notes.toPlainText() == "Look." and not opened.lecture.document.dirty


def test_the_title(opened: Window, file: Path) -> None:
    title = opened.lecture.pane.title
    title.selectAll()
    QTest.keyClicks(title, "Better")
    QTest.keyClick(title, K.Key_Return)
    key(opened, K.Key_S, CONTROL)
    assert read(file).title == "Better"


def dialog(window: Window) -> SlideDialog:
    press(window, "edit …")
    found = window.lecture.slides.dialog
    assert isinstance(found, SlideDialog) and found.isVisible()
    return found


def fill(line: QWidget, text: str) -> None:
    line.setFocus()
    line.selectAll()  # type: ignore[attr-defined]
    QTest.keyClicks(line, text)


def test_a_question_is_asked_by_the_form(opened: Window, file: Path) -> None:
    form = dialog(opened)
    fill(form.ask, "How many?")
    assert form.problem.isVisible() and "choices" in form.problem.text()
    fill(form.choices, "4, 16, 32")
    assert form.problem.isHidden(), form.problem.text()
    form.count.setCurrentIndex(form.count.findData("global_load_sectors"))
    fill(form.stops, "2, 1")
    assert "grow" in form.problem.text()
    fill(form.stops, "1, 2")
    fill(form.numbers, "global_load_sectors, tim")
    assert "tim" in form.problem.text()
    fill(form.numbers, "global_load_sectors, time")
    QTest.keyClick(form, K.Key_Return)
    assert names(opened)[0] == "1  Coalescing ?"
    key(opened, K.Key_S, CONTROL)
    (slide, *_) = read(file).slides
    assert slide.question is not None and slide.question.choices == (4, 16, 32)
    assert slide.stops == (1.0, 2.0) and slide.numbers == ("global_load_sectors", "time")
    assert slide.notes == "Look."


def test_the_form_puts_a_lesson_or_a_plot_beside_it(opened: Window, file: Path) -> None:
    form = dialog(opened)
    beside = form.beside
    assert beside.values.isHidden() and beside.count.isHidden()
    beside.what.setCurrentIndex(beside.what.findData("banks"))
    assert beside.values.isVisible() and beside.count.isHidden()
    fill(beside.values, "stride=99")
    assert "stride" in form.problem.text()
    fill(beside.values, "stride=4")
    assert form.problem.isHidden(), form.problem.text()
    QTest.keyClick(form, K.Key_Return)
    key(opened, K.Key_S, CONTROL)
    view = read(file).slides[0].view
    assert view is not None and view.compare_lesson == "banks"
    assert view.compare_values["stride"] == 4
    beside = dialog(opened).beside
    assert beside.what.currentData() == "banks" and beside.values.text() == "stride=4"
    beside.what.setCurrentIndex(beside.what.findData("plot"))
    fill(beside.values, "stride=1..8*2")
    beside.count.setCurrentIndex(beside.count.findData("global_load_sectors"))
    QTest.keyClick(beside.parent(), K.Key_Return)
    key(opened, K.Key_S, CONTROL)
    (slide, *_) = read(file).slides
    assert slide.plot is not None and slide.view is not None and not slide.view.compared
    assert (slide.plot.vary, slide.plot.count) == ("stride=1..8*2", "global_load_sectors")
    beside = dialog(opened).beside
    beside.what.setCurrentIndex(0)
    QTest.keyClick(beside.parent(), K.Key_Return)
    key(opened, K.Key_S, CONTROL)
    assert not read(file).slides[0].halved


def test_the_form_tells_the_answer(opened: Window) -> None:
    form = dialog(opened)
    assert form.answer.isHidden()
    fill(form.ask, "How many?")
    fill(form.choices, "4, 16, 32")
    assert "the answer is 1, which is none of the choices" in form.answer.text()
    assert form.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()
    form.count.setCurrentIndex(form.count.findData("global_load_sectors"))
    assert form.answer.text() == "The answer is 16 sectors a request: choice b."
    form.per.setCurrentIndex(1)
    assert "which is none of the choices" in form.answer.text()
    QTest.keyClick(form, K.Key_Escape)


def test_the_form_tells_no_answer_of_another_view(opened: Window, qtbot: QtBot) -> None:
    opened.view.set_values({"stride": 1})
    idle(opened, qtbot)
    form = dialog(opened)
    fill(form.ask, "How many?")
    fill(form.choices, "4, 16, 32")
    assert form.answer.isHidden()
    QTest.keyClick(form, K.Key_Escape)


def test_the_form_stops_at_the_moment_shown(opened: Window) -> None:
    opened.player.seek(3.0)
    form = dialog(opened)
    (here,) = (b for b in form.findChildren(QPushButton) if b.text() == "+ 3.0 s")
    QTest.mouseClick(here, LEFT)
    QTest.mouseClick(here, LEFT)
    assert form.stops.text() == "3"
    QTest.keyClick(form, K.Key_Escape)
    lecture = opened.lecture.document.lecture
    assert lecture is not None and lecture.slides[0].stops == ()


def test_the_form_leaves_the_time_line_to_be_scrubbed(opened: Window) -> None:
    form = dialog(opened)
    assert not form.isModal()
    opened.player.seek(2.0)
    assert form.here.text() == "+ 2.0 s"
    QTest.mouseClick(form.here, LEFT)
    opened.player.seek(4.5)
    QTest.mouseClick(form.here, LEFT)
    assert form.stops.text() == "2, 4.5"
    QTest.keyClick(form, K.Key_Escape)


def test_a_stop_beyond_the_storys_end_is_refused(opened: Window) -> None:
    form = dialog(opened)
    fill(form.stops, "1, 99")
    assert form.problem.text() == "▲ the story ends at 6.0 s: there is no stop at 99 s"
    assert not form.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()
    fill(form.stops, "1, 6")
    assert form.problem.isHidden()
    QTest.keyClick(form, K.Key_Escape)


def test_stops_are_set_by_clicks_while_it_plays(opened: Window, qtbot: QtBot) -> None:
    form, line, player = dialog(opened), opened.timeline, opened.player
    QTest.mouseClick(form.by_clicks, LEFT)
    player.seek(0.0)
    player.toggle()
    assert player.state.playing
    end = player.state.end

    def click(t: float) -> None:
        QTest.mouseClick(line, LEFT, pos=QPoint(round(line.x_of(t)), line.height() // 3))

    click(end / 2)
    click(end / 4)
    assert player.state.playing  # what plays goes on
    found = [float(part) for part in form.stops.text().split(",")]
    assert found == pytest.approx([end / 4, end / 2], abs=end / 50)
    before = line.grab().toImage()
    click(end / 4)
    assert [float(part) for part in form.stops.text().split(",")] == found[1:]
    player.pause()
    QTest.mouseClick(form.by_clicks, LEFT)
    assert line.grab().toImage() != before
    click(end / 4)
    assert player.t == pytest.approx(end / 4, abs=end / 50)  # a click goes there again
    assert form.stops.text() == f"{found[1]:g}"


def test_the_end_of_a_story_that_is_not_told_yet_is_not_known(opened: Window) -> None:
    """Stops of a slide that is being run were held against the end of the story before."""
    opened.player.forget()
    form = dialog(opened)
    assert not form.by_clicks.isEnabled()
    fill(form.stops, "0, 500")
    assert form.problem.isHidden()


def test_the_form_is_of_the_slide_it_was_opened_for(opened: Window) -> None:
    """Another slide may be chosen while it is open, or come before it."""
    form = dialog(opened)
    fill(form.title, "Renamed")
    opened.lecture.slides._move(1)
    QTest.keyClick(form, K.Key_Return)
    assert names(opened)[1].endswith("Renamed")


def test_a_slide_of_words(opened: Window) -> None:
    press(opened, "+ words")
    form = opened.lecture.slides.dialog
    assert isinstance(form, SlideWordsDialog)
    fill(form.title, "Remember")
    form.words.selectAll()
    QTest.keyClicks(form.words, "One line a warp.")
    QTest.keyClick(form.title, K.Key_Return)
    assert names(opened)[1] == "2  Remember"


@pytest.mark.parametrize("number", [0, 1])
def test_forms_set_minutes_and_lose_nothing_that_has_no_field(
    opened: Window, file: Path, number: int
) -> None:
    if number:
        press(opened, "+ words")
        fill(opened.lecture.slides.dialog.title, "Remember")
        QTest.keyClick(opened.lecture.slides.dialog.title, K.Key_Return)
    document = opened.lecture.document
    ink = Ink(800.0, 450.0, 1.0, (Stroke("pen", ((1.0, 2.0), (3.0, 4.0))),))
    slides = list(document.lecture.slides)
    slides[number] = replace(slides[number], taken=90.0, ink=ink, minutes=2.5)
    document.change(lambda lecture: replace(lecture, slides=tuple(slides)), number)
    press(opened, "edit …")
    form = opened.lecture.slides.dialog
    assert form.minutes.text() == "2.5"
    fill(form.minutes, "4")
    QTest.keyClick(form.title, K.Key_Return)
    slide = opened.lecture.document.lecture.slides[number]
    assert (slide.minutes, slide.taken, slide.ink) == (4.0, 90.0, ink)


def test_a_slide_is_given_the_view_shown(opened: Window, qtbot: QtBot) -> None:
    opened.view.set_values({"stride": 11})
    press(opened, "set view")
    lecture = opened.lecture.document.lecture
    assert lecture is not None and lecture.slides[0].view is not None
    assert lecture.slides[0].view.values["stride"] == 11 and lecture.slides[0].notes == "Look."


def test_going_through_slides_is_nothing_to_undo(opened: Window, qtbot: QtBot) -> None:
    key(opened, K.Key_Down)
    idle(opened, qtbot)
    qtbot.wait(700)  # longer than changes of one kind are taken for one
    assert not opened.actions_["edit.undo"].isEnabled()


@pytest.mark.parametrize(
    ("answer", "closed", "saved"),
    [("save", True, True), ("discard", True, False), ("cancel", False, False)],
)
def test_closing_asks_for_what_is_not_saved(
    opened: Window, file: Path, answer: str, closed: bool, saved: bool
) -> None:
    press(opened, "copy")
    asked: list[int] = []
    opened.lecture.saving.ask_unsaved = lambda: asked.append(1) or answer  # type: ignore[func-returns-value]
    opened.close()
    assert opened.isVisible() is not closed and asked == [1]
    assert (len(read(file).slides) == 4) is saved
    opened.lecture.saving.ask_unsaved = lambda: "discard"


def test_what_was_not_saved_is_there_after_a_crash(
    opened: Window, make: Callable[[], Window], file: Path, qtbot: QtBot
) -> None:
    press(opened, "copy")
    crash(opened)
    again = make()
    qtbot.waitUntil(lambda: again.lecture.document.lecture is not None)
    assert len(names(again)) == 4 and again.lecture.document.dirty
    assert again.lecture.document.path == file
    again.lecture.document.give_up()


def test_a_folder_that_cannot_be_written_is_a_message(opened: Window, tmp_path: Path) -> None:
    opened.lecture.ask_which = opened.lecture.saving.ask_where = lambda: (
        tmp_path / "absent" / "a.gpuviz-lecture"
    )
    opened.actions_["lecture.save_as"].trigger()
    assert opened.message.isVisible() and "cannot write" in opened.message.text.toPlainText()


def test_presenting_the_lecture_and_coming_back(opened: Window, qtbot: QtBot) -> None:
    key(opened, K.Key_F5)
    given = opened.lecture.presenting.presentation
    assert given is not None and given.screen.isVisible()
    qtbot.waitUntil(lambda: given.conductor.shown.story is not None)
    QTest.keyClick(given.screen, K.Key_2)
    qtbot.waitUntil(lambda: given.conductor.shown.story is not None)
    QTest.keyClick(given.screen, K.Key_Escape)
    assert opened.lecture.presenting.presentation is None and opened.lecture.pane.slide == 1


def test_presenting_from_the_slide_chosen(opened: Window, qtbot: QtBot) -> None:
    opened.lecture.pane.select(1)
    key(opened, K.Key_F5, SHIFT)
    given = opened.lecture.presenting.presentation
    assert given is not None and given.conductor.slide == 1


def test_presenting_the_view_shown(window: Window, qtbot: QtBot) -> None:
    QTest.mouseClick(window.toolbar.present, LEFT)
    given = window.lecture.presenting.presentation
    assert given is not None and given.conductor.shown.story is window.player.story
    assert len(given.conductor.cues) == 1 + len(window.player.story.steps)  # type: ignore[union-attr]
    QTest.keyClick(given.screen, K.Key_Escape)


def test_a_bundle_is_saved_and_opened_again(window: Window, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "all.gpuviz-lecture"
    window.lecture.ask_which = window.lecture.saving.ask_where = lambda: path
    key(window, K.Key_A, CONTROL | SHIFT)
    with qtbot.waitSignal(window.lecture.packer.packed, timeout=20_000):
        window.actions_["lecture.pack"].trigger()
    assert path.read_bytes()[:2] == b"PK" and not window.lecture.document.dirty
    window.lecture.document.close()
    window.lecture.open(path)
    assert names(window) == ["1  Coalescing"] and window.lecture.document.bundled


def test_lectures_that_ship_are_commands(window: Window) -> None:
    titles = [command.text for command, _ in window.actions_ if "Lecture: " in command.text]
    from gpuviz.lectures.bundle import shipped

    assert len(titles) == len(shipped())


def test_screen_readers_are_told(opened: Window) -> None:
    pane = opened.lecture.pane
    for widget in (pane.title, pane.list, pane.notes, *pane.findChildren(QPushButton)):
        assert widget.accessibleName(), widget


def test_slides_stay_in_a_narrow_window_when_one_compares(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "two.gpuviz-lecture"
    path.write_text(
        'gpuviz-lecture = 1\ntitle = "Two"\n[[slide]]\nlesson = "pairs"\n'
        '[[slide]]\nlesson = "pairs"\ncompare = { stride = 8 }\n'
        '[[slide]]\nlesson = "strides"\n'
    )
    window.resize(1280, 720)
    window.lecture.open(path)
    key(window, K.Key_8, CONTROL)
    key(window, K.Key_Down)
    idle(window, qtbot)
    assert window.view.now.compared and window.lecture.pane.list.hasFocus()
    key(window, K.Key_Down)
    idle(window, qtbot)
    assert window.view.now.lesson.id == "strides"


def test_an_unfinished_bundle_is_not_said_to_be_under_way(
    opened: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    opened.lecture.ask_which = opened.lecture.saving.ask_where = lambda: (
        tmp_path / "no" / "such" / "folder"
    )
    opened.actions_["lecture.pack"].trigger()
    qtbot.waitUntil(lambda: opened.message.isVisible())
    assert "cannot write" in opened.message.text.toPlainText()
    assert opened.status.running.text() == "nothing was saved"


def test_a_lecture_is_saved_as_pages_to_print(
    opened: Window, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_at_once = partial(FakePerform(), progress=lambda share: None, cancel=lambda: False)
    monkeypatch.setattr("gpuviz.story.perform.perform", made_at_once)
    exporting = opened.files.exporting
    exporting.ask_where = lambda parent, question: tmp_path / question.proposed.name
    with qtbot.waitSignal(exporting.exports.saved, timeout=5_000):
        opened.actions_["lecture.print"].trigger()
    made = (tmp_path / "mine.pdf").read_bytes()
    assert made.startswith(b"%PDF")
    assert made.count(b"/Type /Page\n") == 5  # two clicks for each view, one for what is broken


def test_a_lecture_is_given_once(opened: Window, qtbot: QtBot) -> None:
    key(opened, K.Key_F5)
    given = opened.lecture.presenting.presentation
    opened.actions_["present.start"].trigger()
    assert given is not None and opened.lecture.presenting.presentation is given
    qtbot.waitUntil(lambda: given.conductor.shown.story is not None)
    QTest.keyClick(given.screen, K.Key_2)
    QTest.keyClick(given.screen, K.Key_Escape)
    assert opened.lecture.presenting.presentation is None


def test_the_view_presented_has_the_values_chosen_last(window: Window, qtbot: QtBot) -> None:
    idle(window, qtbot)
    before = window.player.story
    window.view.set_values({"stride": 9})
    QTest.mouseClick(window.toolbar.present, LEFT)
    given = window.lecture.presenting.presentation
    assert given is not None and given.conductor.shown.story is not before
    qtbot.waitUntil(lambda: given.conductor.shown.story is not None)
    QTest.keyClick(given.screen, K.Key_Escape)


def test_a_title_is_kept_as_it_is_typed(opened: Window, file: Path) -> None:
    title = opened.lecture.pane.title
    title.selectAll()
    QTest.keyClicks(title, "Better")
    assert title.text() == "Better" and "not saved" in opened.lecture.pane.state.said
    key(opened, K.Key_S, CONTROL, title)
    assert read(file).title == "Better"


def test_notes_keep_their_spaces(window: Window, file: Path) -> None:
    file.write_text(TEXT.replace("Look.", "Vraiment\N{NO-BREAK SPACE}?"), encoding="utf-8")
    window.lecture.open(file)
    notes = window.lecture.pane.notes
    notes.moveCursor(notes.textCursor().MoveOperation.End)
    QTest.keyClicks(notes, " Oui.")
    key(window, K.Key_S, CONTROL)
    assert read(file).slides[0].notes == "Vraiment\N{NO-BREAK SPACE}? Oui."


def test_a_bundle_ready_late_is_not_taken_for_the_lecture_open_then(
    opened: Window, file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    bundled, other = tmp_path / "all.gpuviz-lecture", tmp_path / "other.gpuviz-lecture"
    other.write_text(TEXT.replace("Pairs", "Other"))
    opened.lecture.ask_which = opened.lecture.saving.ask_where = lambda: bundled
    with qtbot.waitSignal(opened.lecture.packer.packed, timeout=20_000):
        opened.actions_["lecture.pack"].trigger()
        opened.lecture.open(other)
    document = opened.lecture.document
    assert document.path == other and not document.dirty and not document.bundled
    assert bundled.is_file()


def test_what_another_program_wrote_is_not_overwritten(
    opened: Window, file: Path, tmp_path: Path
) -> None:
    press(opened, "copy")
    theirs = TEXT + "\n# written elsewhere\n"
    file.write_text(theirs)
    key(opened, K.Key_S, CONTROL)
    assert file.read_text() == theirs and opened.lecture.document.dirty
    assert "another program" in opened.message.text.toPlainText()
    opened.actions_["lecture.save_as"].trigger()  # onto itself, as the user was asked
    assert file.read_text() != theirs and not opened.lecture.document.dirty
    press(opened, "copy")
    key(opened, K.Key_S, CONTROL)
    assert not opened.lecture.document.dirty


def crash(window: Window) -> None:
    """What is left of a window that ended badly: the copy, and a lock of nobody."""
    window.lecture.document.keep()  # as its timer does
    window.lecture.document._keep.stop()  # nobody is alive to do it again
    window.lecture.document.lock.unlock()


def test_a_lecture_opened_first_leaves_what_was_not_saved(opened: Window, file: Path) -> None:
    press(opened, "copy")
    crash(opened)
    first, second = Document(Session()), Document(Session())
    first.open(file)  # as by a double click, before anything is recovered
    assert not first.recover() and not first.dirty
    first.close()
    assert second.recover()
    assert second.lecture is not None and len(second.lecture.slides) == 4
    second.give_up()


@pytest.mark.parametrize("elsewhere", [True, False])
def test_what_is_recovered_knows_whether_another_window_has_saved_since(
    elsewhere: bool, opened: Window, file: Path
) -> None:
    press(opened, "copy")
    crash(opened)
    if elsewhere:
        other = Document(Session())
        other.open(file)
        other.retitle("Of the other window")
        other.save(file)
    again = Document(Session())
    assert again.recover() and again.path == file
    assert again.changed_elsewhere is elsewhere
    again.give_up()


@pytest.mark.slow
def test_what_was_recovered_outlives_another_crash(
    opened: Window, make: Callable[[], Window], qtbot: QtBot
) -> None:
    press(opened, "copy")
    crash(opened)
    for _ in range(2):
        again = make()
        qtbot.waitUntil(lambda: again.lecture.document.lecture is not None)  # noqa: B023
        assert len(names(again)) == 4 and again.lecture.document.dirty
        crash(again)
    again.lecture.document.give_up()


@pytest.mark.parametrize("beside", [None, b"", b"\x00", b"\xff\xfe", b"x" * 200_000])
def test_a_copy_is_opened_again_though_nothing_says_whose_it_is(
    opened: Window, file: Path, beside: bytes | None
) -> None:
    press(opened, "copy")
    crash(opened)
    (name,) = (folders.data() / "lectures").glob("*.json")
    assert json.loads(name.read_text())["path"] == str(file)
    name.unlink() if beside is None else name.write_bytes(beside)
    again = Document(Session())
    assert again.recover()
    assert again.lecture is not None and len(again.lecture.slides) == 4
    again.give_up()


@pytest.mark.slow
def test_two_windows_keep_copies_of_their_own(
    opened: Window, make: Callable[[], Window], tmp_path: Path, qtbot: QtBot
) -> None:
    press(opened, "copy")
    opened.lecture.document.keep()
    other = make()
    qtbot.wait(50)
    assert other.lecture.document.lecture is None  # it is not what was left by a crash
    other.lecture.document.new()
    other.lecture.document.retitle("Other")
    other.lecture.document.keep()
    other.lecture.document.give_up()
    crash(opened)
    third = make()
    qtbot.waitUntil(lambda: third.lecture.document.lecture is not None)
    assert len(names(third)) == 4
    third.lecture.document.give_up()


def test_a_bundle_recovered_stays_a_bundle(
    window: Window, make: Callable[[], Window], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "all.gpuviz-lecture"
    window.lecture.ask_which = window.lecture.saving.ask_where = lambda: path
    key(window, K.Key_A, CONTROL | SHIFT)
    with qtbot.waitSignal(window.lecture.packer.packed, timeout=20_000):
        window.actions_["lecture.pack"].trigger()
    press(window, "copy")
    crash(window)
    again = make()
    qtbot.waitUntil(lambda: again.lecture.document.lecture is not None)
    assert again.lecture.document.path == path
    with qtbot.waitSignal(again.lecture.packer.packed, timeout=20_000):
        again.actions_["lecture.save"].trigger()
    assert path.read_bytes()[:2] == b"PK"


def test_nothing_of_a_lecture_stays_when_it_is_over(opened: Window, qtbot: QtBot) -> None:
    key(opened, K.Key_F5)
    given = opened.lecture.presenting.presentation
    assert given is not None
    qtbot.waitUntil(lambda: given.conductor.shown.story is not None)
    left = [weakref.ref(one) for one in (given.screen, given.speaker, given.slide_runs)]
    QTest.keyClick(given.screen, K.Key_Escape)
    given = None
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    assert [one() for one in left] == [None, None, None]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A lecture of one slide that carries a recording of its launch."""
    facts = replace(fake_gpu.facts(0), name="NVIDIA Lent")
    made = Measurement("recorded", "2026-01-02", facts, timing=Timing(np.array([3.0, 4.0])))
    entry = Entry("pairs", "pairs", {}, key_of(plan("pairs", {"stride": 4})), made)
    recording.write(tmp_path / "a.gpurec", Recording(facts, (entry,)))
    path = tmp_path / "lent.gpuviz-lecture"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lecture.gpuviz-lecture", TEXT.split('\n[[slide]]\nlesson = "strides"')[0])
        archive.write(tmp_path / "a.gpurec", "recordings/0.gpurec")
    return path


def test_what_a_bundle_carries_is_told_on_its_slides_and_goes_with_it(
    window: Window, bundle: Path, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.planned = True

    def measured_on() -> list[str]:
        return [found.device.name for found in window.meter.known.values()]

    for _ in range(3):
        window.lecture.open(bundle)
        idle(window, qtbot)
    assert measured_on() == ["NVIDIA Lent"]
    qtbot.waitUntil(lambda: "NVIDIA Lent" in window.timing.note.text())
    window.actions_["open.sums"].trigger()  # the same launch, but no slide
    idle(window, qtbot)
    window.view.set_values({"stride": 4})
    idle(window, qtbot)
    assert window.meter.known == {} and window.lecture.document.file == bundle
    window.lecture.pane.looked_at.emit(0)
    idle(window, qtbot)
    assert measured_on() == ["NVIDIA Lent"]
    window.actions_["lecture.close"].trigger()
    idle(window, qtbot)
    assert window.meter.known == {}
    assert window.session.library(bundle) is shipped()


def test_another_lecture_takes_the_place_of_what_one_carried(
    window: Window, bundle: Path, file: Path
) -> None:
    window.lecture.open(bundle)
    assert window.session.library(bundle) is not shipped()
    bundle.with_name("damaged.gpuviz-lecture").write_bytes(b"PK\x03\x04")
    window.lecture.open(bundle.with_name("damaged.gpuviz-lecture"))
    assert window.message.isVisible() and window.session.library(bundle) is not shipped()
    window.lecture.open(file)
    assert window.session.library(bundle) is shipped()


def test_two_windows_do_not_see_what_the_other_has_opened(
    make: Callable[[], Window], bundle: Path
) -> None:
    one, other = make(), make()
    one.lecture.open(bundle)
    assert one.session.library(bundle) is not shipped()
    assert other.session.library(bundle) is shipped()


def test_a_rehearsal_from_the_menu_is_shown_in_the_pane_and_can_be_undone(
    opened: Window, qtbot: QtBot
) -> None:
    opened.actions_["present.rehearse"].trigger()
    given = opened.lecture.presenting.presentation
    assert given is not None and given.speaker.isVisible()
    qtbot.waitUntil(given.speaker.isActiveWindow)
    given.times._since -= 95  # as if so many seconds had passed
    QTest.keyClick(given.speaker, K.Key_Escape)
    assert opened.lecture.presenting.presentation is None
    pane, document = opened.lecture.pane, opened.lecture.document
    assert "1:35" in pane.list.item(0).text() and "rehearsed in 1:35" in pane.state.said
    assert document.dirty
    document.undo()
    assert "1:35" not in pane.list.item(0).text() and not document.dirty


def test_ink_that_is_kept_while_presenting_is_a_change_of_the_lecture(
    opened: Window, qtbot: QtBot, file: Path
) -> None:
    key(opened, K.Key_F5)
    given = opened.lecture.presenting.presentation
    assert given is not None
    given.screen.showNormal()
    given.screen.resize(960, 540)
    qtbot.waitUntil(lambda: given.conductor.shown.story is not None)
    QTest.keyClick(given.screen, K.Key_D)
    QTest.mouseClick(given.screen, LEFT)
    QTest.keyClick(given.screen, K.Key_K)
    assert "save the lecture" in given.speaker.gpu.text()
    given.close()
    lecture = opened.lecture.document.lecture
    assert lecture is not None and lecture.slides[0].ink is not None
    key(opened, K.Key_S, CONTROL)
    assert read(file).slides[0].ink == lecture.slides[0].ink
