"""Fonts and laid out texts belong to the thread that made them."""

import threading

import numpy as np

from gpuviz.qt.look.fonts import font, per_thread
from tests.export.pictures import by_qt, middle


def in_thread(work: object) -> object:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(work()))  # type: ignore[operator]
    thread.start()
    thread.join()
    return found[0]


def test_each_thread_keeps_its_own() -> None:
    made: list[int] = []

    @per_thread(2)
    def twice(value: int) -> list[int]:
        made.append(value)
        return [2 * value]

    assert twice(3) is twice(3) and made == [3]
    assert in_thread(lambda: twice(3)) is not twice(3) and made == [3, 3]
    for value in (4, 5, 3):
        twice(value)
    assert made == [3, 3, 4, 5, 3], "of two kept results the oldest goes"


def test_fonts_are_not_shared(qapp: object) -> None:
    assert font(14.0) is font(14.0) and in_thread(lambda: font(14.0)) is not font(14.0)


def test_a_thread_paints_the_same_picture(qapp: object) -> None:
    frame = middle("banks")
    assert np.array_equal(in_thread(lambda: by_qt(frame, 2)), by_qt(frame, 2))
