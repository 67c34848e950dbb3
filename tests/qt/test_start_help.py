"""What helps at the start: the tour, what to look for, a guess before the picture tells."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.course import lesson
from gpuviz.lectures.answer import answer
from gpuviz.lectures.desk_question import desk_question
from gpuviz.qt.start.tour import STOPS, beside
from gpuviz.qt.window.window import Window
from tests.course.performed import performed
from tests.qt.fake_lesson import FakePerform

LEFT = Qt.MouseButton.LeftButton
K = Qt.Key


@pytest.fixture
def first(make: Callable[[], Window], tmp_path: object) -> Window:
    """A window that is opened for the very first time."""
    settings = QSettings(f"{tmp_path}/gpuviz.ini", QSettings.Format.IniFormat)
    settings.setValue("tour", "")
    settings.sync()
    return make()


def test_the_first_start_offers_the_tour_and_the_next_one_does_not(
    first: Window, make: Callable[[], Window], qtbot: QtBot
) -> None:
    tour = first.features.tour
    assert tour is not None and tour.isVisible() and "Space" in tour.text.text()
    qtbot.waitUntil(tour.on.hasFocus)
    QTest.keyClick(tour.on, K.Key_Escape)
    assert not tour.isVisible() and not tour.outline.isVisible()
    first.close()
    again = make()
    assert again.features.tour is None
    again.actions_["help.tour"].trigger()
    assert again.features.tour is not None and again.features.tour.isVisible()


def test_the_line_around_a_part_follows_it_where_the_window_stays(window: Window) -> None:
    """The picture gives way to the numbers beside it when these come."""
    window.features.show_tour()
    tour, stage = window.features.tour, window.stage
    assert tour is not None and tour.outline.size() == stage.size() + QSize(2, 2)
    stage.resize(stage.width() - 40, stage.height() - 20)
    assert tour.outline.size() == stage.size() + QSize(2, 2)


def test_keys_and_clicks_go_through_it(window: Window, qtbot: QtBot) -> None:
    window.features.show_tour()
    tour = window.features.tour
    assert tour is not None
    seen = [tour.stop.part]
    for number in range(1, len(STOPS)):
        if number % 2:
            QTest.keyClick(tour.on, K.Key_Right)
        else:
            QTest.mouseClick(tour.on, LEFT)
        seen.append(tour.stop.part)
        assert window.rect().contains(tour.geometry())
    assert seen == [stop.part for stop in STOPS]
    QTest.keyClick(tour.on, K.Key_Left)
    assert tour.stop is STOPS[-2]
    tour.go_on()
    tour.go_on()
    assert not tour.isVisible()


def test_the_windows_keys_work_meanwhile(window: Window, qtbot: QtBot) -> None:
    window.features.show_tour()
    assert window.features.tour is not None
    QTest.keyClick(window.features.tour.on, K.Key_Space)
    assert window.player.state.playing and window.features.tour.stop is STOPS[0]
    window.player.pause()


@pytest.mark.parametrize(
    ("part", "at"),
    [
        (QRect(0, 40, 236, 600), QPoint(248, 40)),  # to its right
        (QRect(900, 40, 380, 600), QPoint(558, 40)),  # to its left
        (QRect(240, 40, 1000, 300), QPoint(252, 352)),  # below it
    ],
)
def test_the_card_is_beside_its_part(part: QRect, at: QPoint) -> None:
    found = beside(part, QSize(330, 150), QRect(0, 0, 1280, 720))
    assert (found.x(), found.y()) == pytest.approx((at.x(), at.y()), abs=2)


def test_what_to_look_for_stands_above_the_picture(window: Window) -> None:
    words = window.panes.guide.words
    assert words.text() == "How the stride multiplies the sectors." and words.isVisible()


def test_a_lesson_asks_before_it_tells(window: Window) -> None:
    guess, bar = window.features.guess, window.panes.guide
    QTest.mouseClick(bar.asked, LEFT)
    assert guess.asks and window.stage.stage().asks
    assert not window.counts.isVisible() and window.timeline.tip(100) == ""
    assert [one.text() for one in bar.choices] == ["4", "8", "16", "32"]
    QTest.mouseClick(bar.choices[0], LEFT)
    assert not window.stage.stage().asks and window.counts.isVisible()
    assert bar.words.text().endswith("? (Global memory) ✗ You said 4; it is 8 sectors a request")
    assert bar.choices[1].text() == "✓ 8"
    assert window.player.state.playing
    window.player.pause()
    QTest.mouseClick(bar.asked, LEFT)
    assert bar.words.text() == "How the stride multiplies the sectors."
    window.actions_["lesson.guess"].trigger()
    QTest.keyClick(bar.choices[1], K.Key_Space)
    assert bar.words.text().endswith("? (Global memory) ✓ Right: 8 sectors a request")
    window.player.pause()


def test_a_number_is_predicted_by_dragging(window: Window) -> None:
    guess, bar = window.features.guess, window.panes.guide
    guess.ask()
    line = bar.line
    assert line is not None and line.isVisible() and not bar.given.isEnabled()
    QTest.mousePress(line, LEFT, pos=QPoint(20, 20))
    QTest.mouseMove(line, QPoint(line.width() // 2, 20))
    assert guess.asks and guess.prediction is not None
    QTest.mouseRelease(line, LEFT)
    for key in [K.Key_Home, *[K.Key_Right] * 16]:  # to 16, number by number
        QTest.keyClick(line, key)
    assert guess.prediction.value == 16 and not window.counts.isVisible()
    QTest.mouseClick(bar.given, LEFT)
    window.player.pause()
    assert not guess.asks and window.counts.isVisible() and not line.isEnabled()
    assert bar.words.text().endswith("✗ You said 16, 2 × too many; it is 8 sectors a request")
    QTest.mouseClick(bar.asked, LEFT)
    assert bar.line is None and not bar.given.isVisible()
    guess.ask()
    assert bar.line is not None and guess.prediction is not None
    assert guess.prediction.value is None and bar.line.isEnabled()
    QTest.mouseClick(bar.choices[1], LEFT)
    window.player.pause()
    assert bar.words.text().endswith("? (Global memory) ✓ Right: 8 sectors a request")


def test_other_values_are_another_question(
    window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    window.features.guess.ask()
    window.view.set_values({"stride": 5})
    qtbot.waitUntil(lambda: window.features.guess.question is None)
    assert window.counts.isVisible() and not window.stage.stage().asks


@pytest.mark.parametrize(
    ("name", "values", "right"),
    [
        pytest.param("banks", {"pattern": "stride", "stride": 8}, 8, marks=pytest.mark.slow),
        ("coalescing", {"stride": 32}, 32),
        pytest.param("matrix-layout", {"each": "row"}, 32, marks=pytest.mark.slow),
    ],
)
def test_questions_are_about_what_a_launch_does_worst(
    name: str, values: dict[str, int], right: int
) -> None:
    made = performed(lesson(name), values)
    runs, question = made.runs, desk_question(made.runs, made.story)
    assert question is not None and len(set(question.choices)) == len(question.choices) >= 3
    found = answer(question, runs, {})
    assert found.value == pytest.approx(right, rel=0.2)
    assert float(question.choices[found.right]) == found.value


def test_nothing_is_asked_of_a_launch_without_requests() -> None:
    assert desk_question({}, performed(lesson("banks"), {}).story) is None


def test_a_question_is_about_the_kernel_and_the_request_that_the_picture_shows() -> None:
    """Of transpose that is its load of a column, not the stores of another variant."""
    made = performed(lesson("transpose"), {"variant": "shared"})
    question = desk_question(made.runs, made.story)
    assert question is not None and question.run == "shared"
    assert question.count == "shared_load_wavefronts"
    constant = performed(lesson("constant-memory"), {"distinct": 8})
    question = desk_question(constant.runs, constant.story)
    assert question is not None and question.count == "constant_load_wavefronts"
