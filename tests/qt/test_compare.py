"""Two variants beside each other, driven as a user would."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.memory.counts import Count
from gpuviz.qt.commands.palette_dialog import matches
from gpuviz.qt.controls.knobs import NumberKnob
from gpuviz.qt.window.window import Window
from gpuviz.results.count_columns import Column, Readout, Sheet, View, ratio
from gpuviz.results.quantities import rows_of
from gpuviz.views.state import AS_A, another
from tests.qt.fake_lesson import LESSONS, FakePerform

CONTROL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton


def compared(window: Window) -> bool:
    return window.director.showing is not None and window.director.showing.compared


def table(window: Window) -> list[list[str]]:
    return [line.split("\t") for line in window.counts.text().splitlines()]


def compare(window: Window, qtbot: QtBot) -> None:
    QTest.keyClick(window.stage, Qt.Key.Key_B, CONTROL)
    qtbot.waitUntil(lambda: compared(window) and not window.director.performer.busy)


def test_ctrl_b_shows_another_preset_beside(window: Window, qtbot: QtBot) -> None:
    compare(window, qtbot)
    assert window.player.story is not None
    assert window.player.story.title == "stride 2 | every word"
    assert window.view.now.compare_values["stride"] == 1
    assert window.toolbar.compare.isChecked()
    head, *rows = table(window)
    assert head == ["quantity", "B / A", "A (model)", "B (model)"]
    assert ["load sectors", "0.5×", "4096", "2048"] in rows
    QTest.mouseClick(window.toolbar.compare, LEFT)
    qtbot.waitUntil(lambda: not compared(window))
    assert table(window)[0][1] == "predicted (model)"


def test_only_the_side_that_changed_is_performed_again(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    compare(window, qtbot)
    asked = len(perform.asked)
    window.view.set_values({"stride": 5}, right=True)
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    assert [v["stride"] for v in perform.asked[asked:]] == [5]


def test_the_knobs_are_those_of_the_tab(window: Window, qtbot: QtBot) -> None:
    compare(window, qtbot)
    knob = window.parameters.knobs["stride"]
    assert isinstance(knob, NumberKnob)
    assert window.parameters.sides.currentIndex() == 1 and knob.spin.value() == 1
    knob.slider.setFocus()
    QTest.keyClick(knob.slider, Qt.Key.Key_Right)
    assert (window.view.now.values["stride"], window.view.now.compare_values["stride"]) == (2, 2)
    QTest.mouseClick(window.parameters.presets[1][1], LEFT)
    assert window.view.now.compare_values["stride"] == 32
    window.parameters.sides.setCurrentIndex(0)
    assert knob.spin.value() == 2
    QTest.keyClick(knob.slider, Qt.Key.Key_Right)
    assert (window.view.now.values["stride"], window.view.now.compare_values["stride"]) == (3, 32)
    assert window.parameters.sides.tabText(1) == "B · a line a lane"


def test_the_same_launch_under_two_architectures(window: Window, qtbot: QtBot) -> None:
    window.actions_["compare.arch.sm_13"].trigger()
    qtbot.waitUntil(lambda: compared(window) and not window.director.performer.busy)
    showing = window.director.showing
    assert showing is not None
    assert [run.arch for run in showing.runs.values()] == ["sm_90", "sm_13"]
    assert showing.sides[0].name == "Hopper (9.0)"
    assert dict(window.view.now.compare_values) == dict(window.view.now.values)
    assert not window.parameters.arch.isHidden()
    window.parameters.arch.combo.setCurrentIndex(0)
    qtbot.waitUntil(lambda: window.director.showing.sides[1].variant.arch == "sm_90")  # type: ignore[union-attr]


def test_both_sides_are_cancelled_together(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    compare(window, qtbot)
    story = window.player.story
    perform.slow = lambda values: values["stride"] in (8, 9)
    window.view.set_values({"stride": 8})
    window.view.set_values({"stride": 9}, right=True)
    qtbot.wait(60)
    window.view.set_values({"stride": 10})
    window.view.set_values({"stride": 11}, right=True)
    qtbot.waitUntil(lambda: window.player.story is not story)
    assert {v["stride"] for v in perform.cancelled} == {8}
    assert not any(v["stride"] == 9 for v in perform.asked)
    assert window.player.story is not None
    assert window.player.story.title == "stride 10 | stride 11"


def test_a_problem_names_its_side(window: Window, qtbot: QtBot) -> None:
    compare(window, qtbot)
    window.view.set_values({"stride": 9, "element": "double"}, right=True)
    assert "B: A double" in window.parameters.problem.text()


def test_the_source_follows_the_side_or_is_switched(window: Window, qtbot: QtBot) -> None:
    compare(window, qtbot)
    roles = window.source.roles
    assert [roles.itemText(i) for i in range(roles.count())] == ["A", "B"]
    window.player.seek(1.5)
    cuda = window.source.views[0]
    assert cuda.lit == {3} and cuda.note(3).startswith("ld 8 sectors")
    roles.setFocus()
    QTest.keyClick(roles, Qt.Key.Key_Down)
    assert cuda.note(3).startswith("ld 4 sectors")


def test_a_and_b_are_exchanged(window: Window, qtbot: QtBot) -> None:
    compare(window, qtbot)
    window.actions_["compare.swap"].trigger()
    qtbot.waitUntil(lambda: window.player.story.title == "every word | stride 2")  # type: ignore[union-attr]
    assert (window.view.now.values["stride"], window.view.now.compare_values["stride"]) == (1, 2)


def test_the_comparison_is_remembered(make: Callable[[], Window], qtbot: QtBot) -> None:
    first = make()
    compare(first, qtbot)
    first.view.set_values({"stride": 7}, right=True)
    first.view.set(compare_arch="sm_80")
    first.actions_["open.strides"].trigger()
    assert first.view.now.compare_values["stride"] == 1
    assert first.view.now.compare_arch == AS_A  # chosen for the lesson before
    first.view.set(compare_arch="sm_80")
    first.close()
    second = make()
    assert compared(second) and second.toolbar.compare.isChecked()
    assert second.view.now.compare_arch == "sm_80"
    second.actions_["open.pairs"].trigger()
    assert second.view.now.compare_values["stride"] == 7


def test_narrow_windows_give_the_room_of_the_list_to_the_pictures(
    window: Window, qtbot: QtBot
) -> None:
    window.resize(1280, 720)
    compare(window, qtbot)
    assert window.panes.list.isHidden()
    QTest.keyClick(window.stage, Qt.Key.Key_B, CONTROL)
    assert not window.panes.list.isHidden()


def test_the_palette_offers_what_to_compare_with(window: Window) -> None:
    found = [c.id for c, _ in matches("compare line", list(window.actions_))]
    assert found[0] == "compare.preset.1"


def test_b_is_never_what_a_is_already() -> None:
    lesson = LESSONS[0]
    every = {**lesson.defaults(), "stride": 1}
    assert another(lesson, lesson.defaults())["stride"] == 1
    assert another(lesson, every)["stride"] == 32


def test_sectors_are_not_divided_by_segments() -> None:
    """A row of sectors beside one of segments has no ratio, and no measurement of the other's."""
    totals = [dict.fromkeys(Count, 8)] * 2
    rows = {row.key: row for row in rows_of(totals, False) if row.key}
    view = View("A | B", ("A", "B"), ratio=True)
    found = Readout("recorded", "", {count.value: 8.0 for count in Count}, {}, "sm_90")
    sheet = Sheet((), (), ("A", "B"), {"A": found, "B": found}, view, ("sm_90", "sm_10"))
    sectors, requests = (rows[f"global_load_{name}"] for name in ("sectors", "requests"))
    divided = Column("ratio")
    assert sheet.text(sectors, divided) == "–" and sheet.text(requests, divided) == "1×"
    assert [sheet.reading(sectors, run) for run in (0, 1)] == [8.0, None]
    assert "32 bytes" in sheet.why(sectors, 1) and sheet.reading(requests, 1) == 8.0


def test_ratios() -> None:
    assert [ratio(4, 8), ratio(3, 1), ratio(1, 1234), ratio(0, 4), ratio(None, 1)] == [
        "2×",
        "0.333×",
        "1234×",
        "–",
        "–",
    ]
