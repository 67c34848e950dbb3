"""With the keyboard and a screen reader alone: names, the order of Tab, keys that do not clash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpuviz.qt.commands.actions import COMMANDS
from gpuviz.qt.commands.keys_dialog import KeysDialog
from gpuviz.qt.commands.palette_dialog import PaletteDialog
from gpuviz.qt.lecture.save_commands import unsaved_box
from gpuviz.qt.lecture.slide_dialog import SlideDialog
from gpuviz.qt.lecture.slide_words_dialog import SlideWordsDialog
from gpuviz.qt.playing.spoken_steps import WordsDialog
from gpuviz.qt.window.window import Window
from gpuviz.traces.trace import Finding
from tests.qt.fake_lesson import PTX, SOURCE, FakePerform
from tests.qt.focusable import focusable, spoken, twice, unnamed, walk

pytestmark = pytest.mark.usefixtures("course")
NONE = Qt.KeyboardModifier.NoModifier
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
K = Qt.Key
Shown = TypeVar("Shown", bound=QWidget)
LECTURE = """gpuviz-lecture = 1
title = "Pairs"

[[slide]]
lesson = "pairs"
values = { stride = 4 }
notes = "Look."

[slide.question]
ask = "How many?"
choices = [4, 8]
count = "global_load_sectors"

[[slide]]
lesson = "strides"

[[slide]]
title = "Words"
words = "That was it."
"""


@pytest.fixture
def full(
    make: Callable[..., Window], perform: FakePerform, tmp_path: Path, qtbot: QtBot
) -> Iterator[Window]:
    """A window that shows all it has: two sides, two runs, findings, a lecture, a message."""
    perform.roles, perform.planned = ("naive", "tiled"), True
    perform.findings = (Finding("warning", "race", "x", 3, 15, (0, 0, 0), (1, 0, 0), 4, 16),)
    path = tmp_path / "mine.gpuviz-lecture"
    path.write_text(LECTURE)
    window = make()
    window.resize(1500, 900)
    window.lecture.open(path)
    window.lecture.saving.ask_unsaved = lambda: "discard"
    window.actions_["compare.toggle"].trigger()
    window.message.say("note", "A title", "A text", stays=True)
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    yield window
    window.lecture.document.give_up()


def opened(window: Window, id: str, kind: type[QDialog] = QDialog) -> QDialog:
    """The dialog that a command opens."""
    window.activateWindow()
    window.actions_[id].trigger()
    (found,) = (d for d in window.findChildren(kind) if d.isVisible())
    return active(found)


def active(shown: Shown) -> Shown:
    """The window, when it has the keyboard."""
    shown.activateWindow()
    for _ in range(100):
        if QApplication.activeWindow() is shown:
            break
        QTest.qWait(5)
    assert QApplication.activeWindow() is shown
    return shown


def press(window: Window, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)


def test_everything_in_the_window_has_a_name_of_its_own(full: Window) -> None:
    assert len(focusable(full)) > 40
    assert unnamed(full) == [] and twice(full) == []
    full.panes.left.show_tab(0)
    for tab in range(full.source.tabs.count()):
        full.source.tabs.setCurrentIndex(tab)
        assert unnamed(full) == [] and twice(full) == []


def test_what_is_painted_is_described(full: Window) -> None:
    full.stage.grab()
    story = full.player.story
    assert story is not None and story.title in full.stage.accessibleDescription()
    assert story.sentence in full.stage.accessibleDescription()
    assert full.timeline.accessibleDescription()
    assert full.toolbar.lesson.accessibleDescription() == "Coalescing"
    assert full.toolbar.arch.accessibleDescription() == "CC 9.0 Hopper"


DIALOGS = (
    "edit.preferences",
    "file.link",
    "export.still",
    "export.film",
    "export.page",
    "lecture.edit",
    "help.keys",
    "help.commands",
    "view.words",
)


@pytest.mark.parametrize("id", DIALOGS)
def test_a_dialog_has_names_and_is_gone_through_by_tab(id: str, full: Window) -> None:
    dialog = opened(full, id)
    assert unnamed(dialog) == [] and twice(dialog) == []
    assert dialog.windowTitle()
    wanted = focusable(dialog)
    there, back = walk(dialog), walk(dialog, K.Key_Backtab)
    assert set(there) == set(wanted) and there[1:] == back[:0:-1]
    assert _reading(dialog, there) == there
    dialog.close()


def test_a_slide_of_words_has_names(full: Window) -> None:
    full.lecture.pane.select(2)
    dialog = opened(full, "lecture.edit", SlideWordsDialog)
    assert unnamed(dialog) == [] and "Words" in [spoken(w)[1] for w in focusable(dialog)]
    dialog.close()


def test_the_form_of_a_kernel(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "pairs.cu").write_text(SOURCE)
    file = tmp_path / "pairs.ptx"
    file.write_text(PTX)
    window.kernel_opener.open(file, "sm_90")
    qtbot.waitUntil(lambda: window.kernel_opener.dialog is not None)
    dialog = window.kernel_opener.dialog
    assert dialog is not None
    active(dialog)
    assert unnamed(dialog) == [] and twice(dialog) == []
    there = walk(dialog)
    assert set(there) == set(focusable(dialog)) and _reading(dialog, there) == there
    dialog.close()


def _reading(window: QWidget, widgets: list[QWidget]) -> list[QWidget]:
    """The widgets from top to bottom where they lie below each other."""
    tops = {w: w.mapTo(window, QPoint(0, 0)).y() for w in widgets}
    first = min(range(len(widgets)), key=lambda i: tops[widgets[i]])
    around = widgets[first:] + widgets[:first]
    assert all(tops[b] > tops[a] - 25 for a, b in zip(around, around[1:], strict=False))
    return widgets


def test_tab_goes_once_to_everything_and_back(full: Window) -> None:
    full.toolbar.main.setFocus()
    there = walk(full)
    assert set(there) == set(focusable(full)) and len(there) == len(set(there))
    full.toolbar.main.setFocus()
    back = walk(full, K.Key_Backtab)
    assert back[1:] == there[:0:-1]


def test_tab_goes_from_pane_to_pane(full: Window) -> None:
    full.toolbar.main.setFocus()
    panes = (
        full.toolbar,
        full.panes.list,
        full.panes.guide,
        full.stage,
        full.transport,
        full.timeline,
        full.source,
        full.parameters,
        full.counts,
        full.timing,
        full.status,
    )
    order = [
        next(i for i, pane in enumerate(panes) if pane is w or pane.isAncestorOf(w))
        for w in walk(full)
    ]
    assert order == sorted(order) and set(order) == set(range(11))


def test_the_message_is_reached_behind_the_stage(full: Window) -> None:
    full.stage.setFocus()
    press(full, K.Key_Tab)
    assert QApplication.focusWidget() is full.message.text
    full.message.closed.setFocus()
    press(full, K.Key_Space)
    assert not full.message.isVisible()


def test_every_command_is_in_the_menu_and_in_the_palette(window: Window) -> None:
    def in_menu(menu: QMenu) -> Iterator[QAction]:
        for action in menu.actions():
            inner = action.menu()
            if isinstance(inner, QMenu):
                yield from in_menu(inner)
            yield action

    reached = set(in_menu(window.toolbar.menu))
    assert [c.id for c in COMMANDS if window.actions_[c.id] not in reached] == []
    palette = opened(window, "help.commands", PaletteDialog)
    assert isinstance(palette, PaletteDialog)
    assert len(palette.found()) == sum(a.isEnabled() for _, a in window.actions_)
    palette.close()


def test_the_lectures_that_ship_are_in_the_menu(window: Window) -> None:
    menu = window.toolbar.group_menu("Lecture")
    (inner,) = (a.menu() for a in menu.actions() if a.menu() is not None)
    assert isinstance(inner, QMenu)
    inner.actions()[0].trigger()
    lecture = window.lecture.document.lecture
    assert lecture is not None and lecture.title == inner.actions()[0].text()


def test_no_key_is_given_to_two_commands(full: Window) -> None:
    keys = [s.toString() for _, a in full.actions_ for s in a.shortcuts()]
    assert len(keys) == len(set(keys)) > 40


TYPED = "L[]l 9"


def fields(window: Window) -> list[QWidget]:
    spins = window.parameters.findChildren(QSpinBox)
    return [window.lecture.pane.title, window.lecture.pane.notes, spins[0]]


@pytest.mark.parametrize("number", range(3))
def test_no_shortcut_takes_what_a_text_field_needs(number: int, full: Window) -> None:
    fired: list[str] = []
    for command, action in full.actions_:
        action.triggered.connect(lambda checked=False, id=command.id: fired.append(id))
    field = fields(full)[number]
    field.setFocus()
    for letter in TYPED:
        QTest.keyClick(field, letter)
    for key in (
        K.Key_Home,
        K.Key_Right,
        K.Key_Left,
        K.Key_End,
        K.Key_Up,
        K.Key_Down,
        K.Key_Backspace,
    ):
        QTest.keyClick(field, key)
    for key in (K.Key_A, K.Key_C, K.Key_V, K.Key_Z):
        QTest.keyClick(field, key, CONTROL)
    assert fired == []


def test_what_is_typed_into_notes_is_there(full: Window) -> None:
    notes = full.lecture.pane.notes
    notes.setFocus()
    notes.selectAll()
    for letter in TYPED:
        QTest.keyClick(notes, letter)
    lecture = full.lecture.document.lecture
    assert lecture is not None and lecture.slides[0].notes == TYPED
    QTest.keyClick(notes, K.Key_A, CONTROL)
    QTest.keyClick(notes, K.Key_C, CONTROL)
    QTest.keyClick(notes, K.Key_End)
    QTest.keyClick(notes, K.Key_V, CONTROL)
    assert notes.toPlainText() == TYPED + TYPED
    QTest.keyClick(notes, K.Key_Z, CONTROL)
    assert notes.toPlainText() == TYPED


@pytest.mark.slow
@pytest.mark.parametrize("key", ["Ctrl+K", "Ctrl+E", "Ctrl+S", "Ctrl+Shift+A", "F5", "F1"])
def test_commands_work_while_notes_are_typed(key: str, full: Window) -> None:
    done: list[bool] = []
    (action,) = (a for _, a in full.actions_ if key in [s.toString() for s in a.shortcuts()])
    action.triggered.disconnect()  # what it does is not what is tested
    action.triggered.connect(lambda checked=False: done.append(checked))
    notes = full.lecture.pane.notes
    notes.setFocus()
    sequence = QKeySequence(key)[0]
    QTest.keyClick(notes, sequence.key(), sequence.keyboardModifiers())
    assert len(done) == 1 and notes.toPlainText() == "Look."


def test_the_timeline_is_scrubbed_by_keys(window: Window) -> None:
    line, player = window.timeline, window.player
    line.setFocus()
    QTest.keyClick(line, K.Key_Right, SHIFT)
    assert player.t == pytest.approx(0.06)
    QTest.keyClick(line, K.Key_PageDown)
    assert player.t == pytest.approx(0.66)
    QTest.keyClick(line, K.Key_PageUp)
    QTest.keyClick(line, K.Key_Left, SHIFT)
    assert player.t == pytest.approx(0.0)
    QTest.keyClick(line, K.Key_Right)
    assert player.t == 1.0  # a step, as everywhere


def test_steps_and_stories_are_told(window: Window, qtbot: QtBot) -> None:
    said: list[str] = []
    window.stage.spoken.announcer.said.connect(said.append)
    press(window, K.Key_Right)
    qtbot.waitUntil(lambda: len(said) > 0 and "step 2 of 5: sector 1" in said[-1])
    window.view.set_values({"stride": 7})
    qtbot.waitUntil(lambda: "One warp reads every word 7" in said[-1])


def test_a_message_is_told(window: Window, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.message.announcer.said) as told:
        window.message.say("error", "A title", "What is wrong")
    assert told.args == ["A title. What is wrong"]


def test_what_the_bar_says_is_told_but_not_every_run(window: Window, qtbot: QtBot) -> None:
    said: list[str] = []
    window.status.announcer.said.connect(said.append)
    window.view.set_values({"stride": 5})
    qtbot.wait(400)
    assert said == []
    window.actions_["edit.link"].trigger()
    qtbot.waitUntil(lambda: len(said) == 1)
    assert said == [window.status.running.text()]


def test_the_palette_tells_what_is_chosen(window: Window, qtbot: QtBot) -> None:
    palette = opened(window, "help.commands", PaletteDialog)
    assert isinstance(palette, PaletteDialog)
    for letter in "theme":
        QTest.keyClick(palette.line, letter)
    with qtbot.waitSignal(palette.announcer.said) as told:
        pass
    assert told.args is not None and told.args[0].startswith("Theme: ")
    first = told.args
    with qtbot.waitSignal(palette.announcer.said) as told:
        QTest.keyClick(palette.line, K.Key_Down)
    assert told.args is not None and told.args[0].endswith(", View") and told.args != first
    palette.close()


def test_the_list_of_keys_fits_the_window_and_scrolls_by_keys(window: Window) -> None:
    window.resize(1280, 720)
    window.theme.set_scale(1.5)
    QApplication.processEvents()
    dialog = opened(window, "help.keys", KeysDialog)
    assert isinstance(dialog, KeysDialog)
    assert dialog.height() <= window.height() and dialog.width() <= window.width()
    assert "Ctrl+K: Find a command" in dialog.area.accessibleDescription()
    QTest.keyClick(dialog.area, K.Key_PageDown)
    assert dialog.area.verticalScrollBar().value() > 0
    dialog.close()


def test_a_lecture_leaves_the_window_as_narrow_as_it_was(full: Window) -> None:
    full.actions_["compare.toggle"].trigger()
    full.theme.set_scale(1.5)
    QApplication.processEvents()
    assert full.minimumSizeHint().width() <= 1280


def test_both_windows_of_a_presentation(full: Window, qtbot: QtBot) -> None:
    full.actions_["present.start"].trigger()
    shown = full.lecture.presenting.presentation
    assert shown is not None
    shown.speaker.show()
    qtbot.waitUntil(lambda: shown.conductor.shown.story is not None)
    shown.screen.grab()
    assert shown.screen.accessibleName() and shown.screen.accessibleDescription()
    assert unnamed(shown.screen) == [] and unnamed(shown.speaker) == []
    assert twice(shown.speaker) == []
    speaker = shown.speaker
    active(speaker)
    assert QApplication.focusWidget() is speaker  # Space goes on, it does not press a button
    QTest.keyClick(speaker, K.Key_Tab)
    assert {w for w in walk(speaker) if w is not speaker} == set(focusable(speaker))
    speaker.notes.setFocus()
    assert isinstance(speaker.notes, QPlainTextEdit)
    with qtbot.waitSignal(shown.screen.announcer.said) as told:
        QTest.keyClick(speaker.notes, K.Key_PageDown)  # as a clicker does
    assert shown.conductor.cue.reveals
    speaker.slides.setFocus()
    QTest.keyClick(speaker.slides, K.Key_Down)
    QTest.keyClick(speaker.slides, K.Key_Return)
    assert shown.conductor.slide == 1
    QTest.keyClick(speaker.slides, K.Key_Escape)
    assert full.lecture.presenting.presentation is None
    assert told.args is not None and "Pairs" not in told.args


def test_the_question_about_changes_can_be_answered_by_keys(full: Window) -> None:
    full.lecture.document.retitle("Other")
    box = unsaved_box(full, full.lecture.document.name)
    box.show()
    active(box)
    assert unnamed(box) == [] and twice(box) == []
    assert len(walk(box)) == 3
    box.close()


def test_line_edits_of_forms_keep_their_keys(full: Window) -> None:
    dialog = opened(full, "lecture.edit", SlideDialog)
    assert isinstance(dialog, SlideDialog)
    line = dialog.title
    assert isinstance(line, QLineEdit)
    line.setFocus()
    line.clear()
    for letter in TYPED:
        QTest.keyClick(line, letter)
    assert line.text() == TYPED
    dialog.close()


def test_the_picture_is_told_in_words(window: Window) -> None:
    window.player.seek(1.5)
    dialog = opened(window, "view.words", WordsDialog)
    assert isinstance(dialog, WordsDialog) and dialog.text.hasFocus()
    said = dialog.text.toPlainText().splitlines()
    assert said[:2] == ["One warp reads every word 2", "What lies between is fetched for nothing."]
    assert said[2].startswith("step 2 of 5: sector 1. ")
    assert "lane 31 reads word 62" in said
    QTest.keyClick(dialog.text, K.Key_Escape)
    assert not dialog.isVisible()
