"""A number is predicted by dragging along a line: it says where it is, how far off, and no more."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from gpuviz.draw.layout import Rect
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.lectures.answer import Answer
from gpuviz.lectures.prediction import Prediction, Reach, is_right, line, reach_of, said
from gpuviz.qt.look.fonts import load_fonts
from tests.course.pictures import misplaced, words

STAGE = Stage(460, 48, DARK)


@pytest.mark.parametrize("choices", [(4, 8, 16, 32), (0, 7, 15), (1.0, 2.5, 9.5), (10**6, 10**8)])
def test_every_choice_can_be_dragged_to_and_the_end_is_none_of_them(
    choices: tuple[float, ...],
) -> None:
    reach = reach_of(choices)
    assert reach is not None and reach.high > max(choices)
    shares = [reach.share(one) for one in choices]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] < 1
    assert all(is_right(reach.at(share), one) for share, one in zip(shares, choices, strict=True))
    places = [reach.at(n / 400) for n in range(401)]
    assert places == sorted(places) and places[0] == 0


def test_what_is_no_number_is_chosen() -> None:
    assert reach_of(("one for each lane", 8)) is None and reach_of(()) is None


def test_how_far_off_it_is() -> None:
    answer = Answer(8.0, 1, "sectors a request")
    assert said(8.0, answer) == "✓ Right: 8 sectors a request"
    assert said(4.0, answer) == "✗ You said 4, 2 × too few; it is 8 sectors a request"
    assert said(12.0, answer) == "✗ You said 12, 1.5 × too many; it is 8 sectors a request"
    assert said(0.0, answer) == "✗ You said 0; it is 8 sectors a request"


@pytest.mark.parametrize("value", [None, 8.0, 7.0, 60.0, 0.0])
@pytest.mark.parametrize("predicted", [None, 0.0, 8.0, 64.0])
@pytest.mark.parametrize("high", [24.0, 48.0])
def test_words_stay_apart_and_inside(
    value: float | None, predicted: float | None, high: float, qapp: QApplication
) -> None:
    load_fonts()
    area = Rect(10, 0, 440, high)
    frame = STAGE.frame(*line(STAGE, area, Prediction(Reach(64.0, True), predicted), value))
    assert list(misplaced(frame)) == []
    told = words(frame)
    assert ("✓ 8" in told) == (value == 8.0)
