"""The window driven as a user would: clicks, keys, drags."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuviz.base.errors import LaunchError
from gpuviz.draw.marks import Boxes, Frame
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.qt.code.code_view import CodeView
from gpuviz.qt.commands.actions import COMMANDS
from gpuviz.qt.commands.keys_dialog import KeysDialog
from gpuviz.qt.commands.palette_dialog import PaletteDialog
from gpuviz.qt.controls.knobs import ChoiceKnob, NumberKnob, SwitchKnob
from gpuviz.qt.look.theme import qcolor
from gpuviz.qt.window.window import Window
from gpuviz.story.lesson import Lesson
from gpuviz.traces.trace import Finding
from gpuviz.words import language
from tests.qt.fake_lesson import LESSONS, FakePerform

Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton


def press(widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(widget, key)


def number(window: Window) -> NumberKnob:
    made = window.parameters.knobs["stride"]
    assert isinstance(made, NumberKnob)
    return made


def stage_text(window: Window) -> str:
    return window.stage.accessibleDescription()


def test_space_plays_and_pauses(window: Window, qtbot: QtBot) -> None:
    press(window.stage, Key.Key_Space)
    qtbot.waitUntil(lambda: window.player.t > 0.05)
    press(window.stage, Key.Key_Space)
    t = window.player.t
    qtbot.wait(60)
    assert t > 0.0
    assert window.player.t == t


def test_buttons_do_what_the_keys_do(window: Window) -> None:
    buttons = window.transport.buttons
    for id, t in (("play.forward", 1.0), ("play.last", 6.0), ("play.back", 4.0), ("play.first", 0)):
        QTest.mouseClick(buttons[id], LEFT)
        assert window.player.t == t
    QTest.mouseClick(buttons["play.toggle"], LEFT)
    assert window.player.state.playing
    assert buttons["play.toggle"].icon_name == "pause"
    assert buttons["play.toggle"].accessibleName() == "Pause"


def test_arrows_step_and_home_and_end_jump(window: Window) -> None:
    at = []
    for key in (Key.Key_Right, Key.Key_Right, Key.Key_Left, Key.Key_End, Key.Key_Home):
        press(window.timeline, key)
        at.append(window.player.t)
    assert at == [1.0, 2.0, 1.0, 6.0, 0.0]


def test_loop_and_speed_by_key_show_in_the_transport(window: Window) -> None:
    press(window.stage, Key.Key_L, Key.Key_BracketRight)
    assert window.player.state.loop
    assert window.player.state.speed == 2.0
    assert window.transport.buttons["play.loop"].isChecked()
    assert window.transport.speed.currentText() == "2×"


def test_scrubbing_follows_the_pointer(window: Window) -> None:
    line = window.timeline
    start, end = (QPoint(round(line.x_of(t)), 20) for t in (1.5, 5.0))
    QTest.mousePress(line, LEFT, Qt.KeyboardModifier.NoModifier, start)
    assert window.player.t == pytest.approx(1.5, abs=0.05)
    QTest.mouseMove(line, end)
    QTest.mouseRelease(line, LEFT, Qt.KeyboardModifier.NoModifier, end)
    assert window.player.t == pytest.approx(5.0, abs=0.05)
    assert "store" in line.accessibleDescription()


def test_stepping_back_shows_the_very_same_picture(window: Window) -> None:
    window.player.seek(1.0)
    before = window.stage.grab().toImage()
    press(window.stage, Key.Key_Right)
    assert window.stage.grab().toImage() != before
    press(window.stage, Key.Key_Left)
    assert window.stage.grab().toImage() == before


def test_the_stage_paints_only_when_something_changed(window: Window, qtbot: QtBot) -> None:
    window.stage.grab()
    frame = window.stage.frame
    window.stage.repaint()
    assert window.stage.frame is frame
    window.player.seek(2.5)
    window.stage.repaint()
    assert window.stage.frame is not frame


def test_hovering_a_lane_names_it(window: Window) -> None:
    window.stage.grab()
    frame = window.stage.frame
    assert frame is not None
    boxes = frame.marks[1]
    assert isinstance(boxes, Boxes)
    x, y = boxes.rect[3, :2] + 4
    assert window.stage.tip(float(x), float(y)) == "lane 3 reads word 6"
    assert window.stage.tip(1.0, 1.0) == ""


def test_a_slider_changes_the_picture(window: Window, qtbot: QtBot) -> None:
    slider = number(window).slider
    slider.setFocus()
    press(slider, Key.Key_Right)
    assert window.view.now.values["stride"] == 3
    qtbot.waitUntil(lambda: "every word 3" in window.player.story.title)  # type: ignore[union-attr]
    window.stage.grab()
    assert "every word 3" in stage_text(window)


def test_a_number_outside_its_range_cannot_be_typed(window: Window) -> None:
    spin = number(window).spin
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, "99")
    press(spin, Key.Key_Return)
    assert window.view.now.values["stride"] in (2, 9)


def test_choice_switch_preset_and_reset(window: Window) -> None:
    knobs = window.parameters.knobs
    choice, switch = knobs["element"], knobs["guard"]
    assert isinstance(choice, ChoiceKnob) and isinstance(switch, SwitchKnob)
    press(choice.combo, Key.Key_Down)
    QTest.mouseClick(switch.switch, LEFT)
    assert window.view.now.values == {"stride": 2, "element": "double", "guard": True}
    QTest.mouseClick(window.parameters.presets[0][1], LEFT)
    assert window.view.now.values == {"stride": 1, "element": "float", "guard": False}
    assert window.parameters.presets[0][1].isChecked()
    QTest.mouseClick(window.parameters.reset, LEFT)
    assert window.view.now.values == LESSONS[0].defaults()
    assert number(window).spin.value() == 2


def test_values_that_make_no_sense_are_explained_and_not_run(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    window.view.set_values({"element": "double"})
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    window.view.set_values({"stride": 9})
    assert "leaves the buffer" in window.parameters.problem.text()
    assert window.parameters.problem.isVisible()
    qtbot.wait(50)
    assert not any(v["stride"] == 9 for v in perform.asked)
    window.view.set_values({"stride": 8})
    assert not window.parameters.problem.isVisible()


def test_a_change_cancels_the_run_it_made_obsolete(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    titles: list[str] = []
    window.player.story_changed.connect(lambda: titles.append(window.player.story.title))  # type: ignore[union-attr]
    perform.slow = lambda values: values["stride"] != 7
    for stride in (5, 6, 7):
        window.view.set_values({"stride": stride})
        qtbot.wait(30)
    qtbot.waitUntil(lambda: any("word 7" in t for t in titles))
    assert titles == ["One warp reads every word 7"]
    assert [v["stride"] for v in perform.cancelled] == [5, 6]


def test_the_newest_wish_wins_when_many_come_at_once(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.slow = lambda values: values["stride"] != 20
    for stride in range(3, 21):
        window.view.set_values({"stride": stride})
    qtbot.waitUntil(lambda: "word 20" in window.player.story.title)  # type: ignore[union-attr]
    assert len(perform.cancelled) == 1


def test_a_long_run_shows_progress_and_can_be_cancelled(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    story = window.player.story
    perform.slow = lambda values: True
    window.view.set_values({"stride": 4})
    qtbot.waitUntil(lambda: window.status.progress.isVisible())
    qtbot.waitUntil(lambda: window.status.progress.value() > 0)
    press(window.stage, Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    assert not window.status.progress.isVisible()
    assert window.player.story is story
    assert not window.message.isVisible()


def test_an_error_is_shown_over_the_last_good_picture(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    window.stage.grab()
    frame = window.stage.frame
    perform.error = lambda values: LaunchError("block of 2048 threads: sm_90 takes at most 1024")
    window.view.set_values({"stride": 4})
    qtbot.waitUntil(lambda: window.message.isVisible())
    assert "at most 1024" in window.message.text.toPlainText()
    assert window.stage.frame is frame
    press(window.stage, Key.Key_Escape)
    assert not window.message.isVisible()
    perform.error = lambda values: None
    window.view.set_values({"stride": 5})
    qtbot.waitUntil(lambda: "word 5" in window.player.story.title)  # type: ignore[union-attr]


def test_an_unexpected_exception_can_be_copied(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.error = lambda values: ZeroDivisionError("division by zero")
    window.view.set_values({"stride": 4})
    qtbot.waitUntil(lambda: window.message.isVisible())
    QTest.mouseClick(window.message.copied, LEFT)
    copied = QGuiApplication.clipboard().text()
    assert "Traceback" in copied and "ZeroDivisionError: division by zero" in copied


def test_a_lesson_that_fails_does_not_keep_the_picture_of_another(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.error = lambda values: LaunchError("no compiler here")
    window.actions_["lesson.next"].trigger()
    qtbot.waitUntil(lambda: window.message.isVisible())
    assert window.player.story is None and window.director.showing is None
    assert window.counts.isHidden()
    assert window.source.views[0].toPlainText() == ""
    window.stage.grab()
    assert window.stage.frame is None
    press(window.stage, Key.Key_Space, Key.Key_Right, Key.Key_End)
    assert not window.player.state.playing
    perform.error = lambda values: None
    window.actions_["run.again"].trigger()
    qtbot.waitUntil(lambda: window.player.story is not None)
    assert not window.counts.isHidden()


def test_a_picture_that_cannot_be_made_leaves_the_last_good_one(window: Window) -> None:
    story = window.player.story
    assert story is not None
    window.stage.grab()
    frame = window.stage.frame

    def broken(t: float, stage: Stage) -> Frame:
        raise IndexError("index 32 is out of bounds")

    window.player.tell(replace(story, frame=broken))
    window.stage.grab()
    assert window.message.isVisible()
    assert "index 32" in window.message.text.toPlainText()
    assert window.stage.frame is frame


def test_findings_are_a_click_away(make: Callable[[], Window], perform: FakePerform) -> None:
    perform.findings = (
        Finding("warning", "race", "line 3: nobody wrote it", 3, 15, (0, 0, 0), (1, 0, 0), 4, 16),
    )
    window = make()
    assert "1 warning" in window.status.findings.text()
    QTest.mouseClick(window.status.findings, LEFT)
    assert "line 3: nobody wrote it (seen 16 times)" in window.message.text.toPlainText()


def test_that_a_large_launch_is_not_checked_is_said(
    make: Callable[[], Window], perform: FakePerform, qtbot: QtBot
) -> None:
    perform.engine = "compiled"
    window = make()
    assert window.status.findings.isVisible()
    assert window.status.findings.text() == "not checked"
    QTest.mouseClick(window.status.findings, LEFT)
    assert "gpuviz count --check all" in window.message.text.toPlainText()
    window.view.set(checks=())
    qtbot.waitUntil(lambda: not window.status.findings.isVisible())


def test_findings_lead_to_their_line_and_its_moment(
    make: Callable[[], Window], perform: FakePerform
) -> None:
    found = Finding("error", "race", "x", 3, 15, (0, 0, 0), (1, 0, 0), 4, 1, "race", "wait")
    perform.findings = (found,)
    window = make()
    steps = window.player.story.steps
    about = next(step for step in steps if step.line == 3)
    window.player.seek(window.player.state.end)
    QTest.mouseClick(window.status.findings, LEFT)
    assert window.player.t == about.start
    assert 3 in window.panes.source.views[0].lit
    assert window.message.text.toPlainText().endswith("\nwait")


def test_what_is_looked_for_is_chosen_in_the_menu(window: Window, perform: FakePerform) -> None:
    assert perform.checked[-1] == ("memory", "race", "init", "sync")
    command = window.actions_["check.race"]
    assert command.isChecked()
    command.trigger()
    assert perform.checked[-1] == ("memory", "init", "sync") and not command.isChecked()
    assert window.view.now.checks == ("memory", "init", "sync")
    command.trigger()
    assert window.view.now.checks == ("memory", "race", "init", "sync") and command.isChecked()


def test_ctrl_k_finds_and_triggers_a_command(window: Window, qtbot: QtBot) -> None:
    QTest.keyClick(window.stage, Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    dialog = next(d for d in window.findChildren(PaletteDialog) if d.isVisible())
    QTest.keyClicks(dialog.line, "theme light")
    assert dialog.found()[0] == "Theme: light"
    press(dialog.line, Key.Key_Return)
    assert window.theme.mode == "light"
    assert not dialog.isVisible()


def test_every_lesson_architecture_and_preset_is_a_command(window: Window) -> None:
    texts = {command.text for command, _ in window.actions_}
    assert {"Coalescing", "CC 9.0 Hopper", "CC 1.0 Tesla", "Preset: a line a lane"} <= texts


def test_every_command_does_something(window: Window) -> None:
    bound = [a for _, a in window.actions_ if a.receivers("2triggered(bool)") > 0]
    assert len(bound) == len(list(window.actions_))
    assert len(COMMANDS) == len({c.id for c in COMMANDS})
    keys = [k for c in COMMANDS for k in c.keys]
    assert len(keys) == len(set(keys))


def test_f1_lists_every_key(window: Window) -> None:
    press(window.stage, Key.Key_F1)
    dialog = next(d for d in window.findChildren(KeysDialog) if d.isVisible())
    said = {found.text() for found in dialog.findChildren(QLabel)}
    assert {c.text for c in COMMANDS if c.keys} <= said
    dialog.close()


def test_the_list_chooses_lessons_by_key_and_click(window: Window, qtbot: QtBot) -> None:
    window.lessons.setFocus()
    press(window.lessons, Key.Key_Down)
    assert window.view.now.lesson.id == "strides"
    rect = window.lessons.visualRect(window.lessons.model().index(4, 0))
    QTest.mouseClick(window.lessons.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, rect.center())
    assert window.view.now.lesson.id == "sums"
    assert window.toolbar.lesson.text() == "Matmul: tiled"
    press(window.lessons, Key.Key_Space)
    assert not window.player.state.playing or window.view.now.lesson.id == "sums"


def picture(window: Window, lesson: Lesson) -> QImage | None:
    """A lesson's thumbnail."""
    found = window.thumbnails.picture(lesson.id, QSize(48, 27))
    return None if found is None else found.toImage()


def test_thumbnails_come_in_idle_time(window: Window, qtbot: QtBot) -> None:
    there = lambda: all(picture(window, one) is not None for one in LESSONS)  # noqa: E731
    qtbot.waitUntil(there, timeout=8000)


@pytest.mark.slow
def test_in_another_theme_thumbnails_are_made_anew(window: Window, qtbot: QtBot) -> None:
    there = lambda: all(picture(window, one) is not None for one in LESSONS)  # noqa: E731
    qtbot.waitUntil(there)
    before = [picture(window, one) for one in LESSONS]
    window.actions_["theme.light"].trigger()
    now = lambda: [picture(window, one) for one in LESSONS]  # noqa: E731
    qtbot.waitUntil(lambda: all(a != b for a, b in zip(before, now(), strict=True)))


def test_a_lesson_that_is_not_shown_any_more_holds_no_run(window: Window, qtbot: QtBot) -> None:
    """Its thumbnail had held its story, and that all of its runs: of thirty lessons a gigabyte."""
    qtbot.waitUntil(lambda: picture(window, LESSONS[0]) is not None, timeout=8000)
    gone = weakref.ref(window.player.story)
    for lesson in LESSONS[1:3]:
        with qtbot.waitSignal(window.director.performed, timeout=8000):
            window.course.open(lesson)
    qtbot.waitUntil(lambda: not gc.collect() and gone() is None, timeout=8000)


def test_counts_are_grouped_named_and_never_invented(window: Window) -> None:
    rows = dict(line.split("\t")[:2] for line in window.counts.text().splitlines() if "\t" in line)
    assert rows["load sectors"] == "4096"
    assert rows["store sectors"] == "2048"
    assert rows["load asked / moved"] == "50%"
    assert "atomic requests" not in rows
    assert "measured (unavailable)" in window.counts.text()
    measured = [line.split("\t")[-1] for line in window.counts.text().splitlines()[2:]]
    assert set(measured) == {"–"}
    model = window.counts.model
    assert model.text(model.sheet.rows[2], 1) == "4\u202f096"


def test_runs_stand_side_by_side(make: Callable[[], Window], perform: FakePerform) -> None:
    perform.roles = ("naive", "tiled")
    window = make()
    head = window.counts.text().splitlines()[0].split("\t")
    assert head == ["quantity", "ratio", "naive (model)", "tiled (model)"]
    QTest.keyClick(window.counts.view, Key.Key_Down)
    head = window.counts.text().splitlines()[0].split("\t")
    assert head == ["quantity", "predicted (model)", "measured (unavailable)"]
    assert [window.source.roles.itemText(i) for i in range(2)] == ["naive", "tiled"]
    names = window.counts.table.columnWidth(0)
    assert names >= window.counts.fontMetrics().horizontalAdvance("store asked / moved")


def test_an_older_architecture_counts_segments(window: Window, qtbot: QtBot) -> None:
    window.actions_["arch.sm_13"].trigger()
    qtbot.waitUntil(lambda: "sm_13" in window.counts.level.text())
    assert window.toolbar.arch.text() == "CC 1.3 Tesla"
    assert "load segments" in window.counts.text()
    assert window.actions_["arch.sm_13"].isChecked()
    assert not window.actions_["arch.sm_90"].isChecked()


def test_copying_the_counts(window: Window) -> None:
    QTest.mouseClick(window.counts.copied, LEFT)
    assert QGuiApplication.clipboard().text() == window.counts.text()


def test_the_current_line_is_lit_in_source_and_ptx(window: Window) -> None:
    window.player.seek(1.5)
    cuda, ptx, _ = window.source.views
    assert cuda.lit == {3}
    assert not ptx.toPlainText() and not ptx.lit  # nobody looks at it
    window.source.tabs.setCurrentIndex(1)
    lit = [ptx.document().findBlockByNumber(line - 1).text() for line in sorted(ptx.lit)]
    assert lit[1] == "ld.global.f32 %f1, [%rd1];"
    assert "st.global.f32 [%rd2], %f1;" in lit
    assert cuda.note(3) == "ld 8 sectors / request · st 4 sectors / request"
    assert ptx.note(15) == "ld 8 sectors / request"


def test_code_that_is_not_in_view_is_not_filled(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled: list[str] = []
    for view in window.source.views:
        name = view.accessibleName()
        monkeypatch.setattr(view, "show_code", lambda text, notes, name=name: filled.append(name))
    monkeypatch.setattr(window.source.places, "show_role", lambda role: filled.append("SMs"))
    with qtbot.waitSignal(window.director.performed):
        window.view.set_values({"stride": 5})
    assert filled == ["source"]
    window.source.tabs.setCurrentIndex(1)
    window.source.tabs.setCurrentIndex(0)
    window.source.tabs.setCurrentIndex(1)
    assert filled == ["source", "PTX"]
    window.source.tabs.setCurrentIndex(6)
    assert filled == ["source", "PTX", "SMs"]


def test_code_that_comes_into_view_has_its_lights(window: Window) -> None:
    window.source.point_at("", 3)
    window.source.point_at(window.source._role, 3)
    ptx = window.source.views[1]
    assert not ptx.lit
    window.source.tabs.setCurrentIndex(1)
    assert ptx.lit and ptx.lit == window.source._codes[1].lines[3]


def test_tabs_by_key(window: Window) -> None:
    QTest.keyClick(window.stage, Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.source.stack.currentWidget() is window.source.views[1]


def ground_of(window: Window) -> QImage:
    return window.stage.grab().toImage()


def test_the_theme_switches_everywhere(window: Window) -> None:
    for mode, palette in (("light", LIGHT), ("dark", DARK)):
        window.actions_[f"theme.{mode}"].trigger()
        corner = ground_of(window).pixelColor(2, 2)
        assert corner == qcolor(palette.ground)
        assert window.counts.grab().toImage().pixelColor(2, 2).lightness() > 128 or mode == "dark"


def test_settings_are_restored(make: Callable[[], Window], qtbot: QtBot) -> None:
    first = make()
    first.resize(1100, 700)
    first.panes.middle.setSizes([300, 350])
    first.actions_["open.strides"].trigger()
    first.view.set_values({"stride": 11})
    first.actions_["theme.light"].trigger()
    first.actions_["show.lessons"].trigger()
    first.actions_["arch.sm_80"].trigger()
    press(first.stage, Key.Key_BracketRight, Key.Key_L)
    qtbot.waitUntil(lambda: not first.director.performer.busy)
    qtbot.wait(1)  # what has arrived is laid out
    sizes = first.panes.middle.sizes()
    first.close()
    second = make()
    # The offscreen display is only 800 pixels wide: just the height can be restored there.
    assert second.height() == 700
    # Words below the picture may have come to a line more or less by then.
    assert second.panes.middle.sizes() == pytest.approx(sizes, abs=20)
    assert second.view.now.lesson.id == "strides"
    assert second.view.now.values["stride"] == 11
    assert second.theme.mode == "light"
    assert second.panes.list.isHidden()
    assert second.view.now.arch == "sm_80"
    assert (second.player.state.speed, second.player.state.loop) == (2.0, True)


def test_damaged_settings_are_ignored(make: Callable[[], Window]) -> None:
    first = make()
    kept = first.settings
    first.close()
    damaged = (
        ("theme", "purple"),
        ("scale", "x"),
        ("lesson", "gone"),
        ("arch", "sm_1"),
        ("values/pairs", '{"stride": 900, "element": 3, "guard": "yes"}'),
    )
    for key, value in damaged:
        kept.keep(key, value)
    second = make()
    assert second.view.now.lesson.id == "pairs"
    assert second.view.now.values == LESSONS[0].defaults()
    assert second.theme.mode == "system"


def tab_chain(window: Window) -> list[QWidget]:
    window.stage.setFocus()
    found: list[QWidget] = []
    for _ in range(80):
        widget = QApplication.focusWidget()
        if widget is None or widget in found:
            break
        found.append(widget)
        QTest.keyClick(widget, Key.Key_Tab)
    return found


def test_tab_reaches_every_control_in_order(window: Window, qtbot: QtBot) -> None:
    window.actions_["open.strides"].trigger()
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    chain = tab_chain(window)
    knobs = window.parameters.knobs
    choice, switch = knobs["element"], knobs["guard"]
    assert isinstance(choice, ChoiceKnob) and isinstance(switch, SwitchKnob)
    wanted: list[QWidget] = [
        window.stage,
        window.transport.buttons["play.first"],
        window.transport.speed,
        window.timeline,
        window.source.tabs,
        window.source.views[0],
        window.parameters.reset,
        window.parameters.presets[0][1],
        number(window).slider,
        number(window).spin,
        choice.combo,
        switch.switch,
        window.counts.copied,
        window.counts.table,
        window.toolbar.main,
        window.toolbar.lesson,
        window.toolbar.arch,
        window.toolbar.level,
        window.toolbar.commands,
        window.lessons,
    ]
    assert [w for w in chain if w in wanted] == wanted
    unnamed = [w for w in chain if not w.accessibleName()]
    assert not unnamed


def test_panes_are_reached_by_key(window: Window) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    targets = {
        Key.Key_1: window.lessons,
        Key.Key_2: window.stage,
        Key.Key_3: window.timeline,
        Key.Key_4: window.source.views[0],
        Key.Key_5: number(window).slider,
        Key.Key_6: window.counts.table,
    }
    for key, target in targets.items():
        QTest.keyClick(window, key, control)
        assert QApplication.focusWidget() is target


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_nothing_overlaps_or_sticks_out(window: Window, size: tuple[int, int]) -> None:
    window.resize(*size)
    QApplication.processEvents()
    assert (window.width(), window.height()) == size
    parts = [
        window.toolbar,
        window.panes.list,
        window.stage,
        window.transport,
        window.timeline,
        window.source,
        window.panes.side,
        window.status,
    ]
    rects = [part.rect().translated(part.mapTo(window, QPoint())) for part in parts]
    for i, rect in enumerate(rects):
        assert window.rect().contains(rect)
        assert not any(rect.intersects(other) for other in rects[i + 1 :])


def test_the_lit_pixels_of_the_lanes_grow_with_time(window: Window) -> None:
    """The picture really is that of the time shown."""

    def bright(t: float) -> int:
        window.player.seek(t)
        image = window.stage.grab().toImage().convertToFormat(QImage.Format.Format_RGBA8888)
        pixels = np.asarray(image.constBits()).reshape(image.height(), -1, 4)
        return int((pixels[90:150, :, :3].max(axis=2) > 120).sum())

    window.theme.set_mode("dark")
    assert bright(0.0) < bright(3.0) < bright(6.0)


def test_a_language_is_chosen_for_the_next_start(window: Window) -> None:
    assert window.actions_["language.en"].isChecked()
    window.actions_["language.es"].trigger()
    assert "starts again" in window.message.text.toPlainText()
    assert window.settings.text("language", "") == "es"
    assert not window.actions_["language.es"].isChecked()


def test_what_a_lesson_declares_is_shown_in_the_language_chosen(
    make: Callable[[], Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    spanish = {"Coalescing": "Coalescencia", "stride": "paso", "a line a lane": "una línea"}
    texts = {text: (form,) for text, form in spanish.items()}
    rule = language.plural_rule("nplurals=2; plural=(n != 1);")
    monkeypatch.setattr(language, "catalogue", lambda name: language.Catalogue(texts, rule))
    window = make()
    assert window.toolbar.lesson.text() == "Coalescencia"
    assert window.lessons.model().index(1, 0).data() == "Coalescencia"
    assert window.parameters.presets[1][1].text() == "una línea"
    assert number(window).slider.accessibleName() == "paso"


def inked(view: CodeView, line: int) -> bool:
    """Whether anything is painted at the right end of a line."""
    rect = next(box for number, box in view.visible_lines() if number == line)
    image = view.viewport().grab().toImage()
    middle = round(rect.center().y())
    columns = range(image.width() - 60, image.width() - 14)
    return len({image.pixel(x, middle + dy) for x in columns for dy in range(-4, 4)}) > 1


def test_long_lines_run_to_the_edge_but_for_their_notes(window: Window) -> None:
    view = window.source.views[0]
    view.show_code("\n".join(["x" * 400, "short", "short"]), {3: ("said", "said")})
    assert [inked(view, line) for line in (1, 2, 3)] == [True, False, True]


def test_the_machine_code_is_explained_or_its_absence(window: Window) -> None:
    view = window.source.views[2]
    window.source.tabs.setCurrentIndex(2)
    assert view.toPlainText() == ""
    assert view.placeholderText() == "No machine code: SASS equals the PTX here."
