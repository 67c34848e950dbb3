"""Planned and taken: shares of the minutes, and how far behind a speaker is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuviz.lectures import pace
from gpuviz.lectures.lecture import Lecture, Slide

A, B, C = (Slide(name, words="w", minutes=4 * (name == "b")) for name in "abc")
LECTURE = Lecture("T", (A, B, C), minutes=10)


def test_slides_share_what_is_left_of_the_minutes() -> None:
    assert pace.planned(LECTURE) == (180.0, 240.0, 180.0)
    assert pace.planned(replace(LECTURE, minutes=0.0)) == (0.0, 240.0, 0.0)
    assert pace.planned(replace(LECTURE, minutes=3.0)) == (0.0, 240.0, 0.0)


@pytest.mark.parametrize(
    ("slide", "passed", "late", "words"),
    [
        (0, 100, 0, "on time"),
        (0, 200, 20, "0:20 behind"),
        (1, 170, -10, "on time"),
        (1, 60, -120, "2:00 ahead"),
        (2, 700, 100, "1:40 behind"),
    ],
)
def test_behind_and_ahead(slide: int, passed: float, late: float, words: str) -> None:
    found = pace.behind(pace.planned(LECTURE), slide, passed)
    assert found == late and pace.told(found) == words


def test_a_table_of_what_was_shown() -> None:
    lines = list(pace.table(LECTURE, {0: 95.0, 2: 200.0}))
    assert [line.split() for line in lines] == [
        ["1", "1:35", "of", "3:00", "a"],
        ["3", "3:20", "of", "3:00", "c"],
        ["4:55", "of", "10:00"],
    ]
