"""A picture in words."""

from __future__ import annotations

import numpy as np

from gpuviz.draw.marks import Boxes, Frame, Raster, Texts
from gpuviz.draw.spoken import hints, lines

INK = np.zeros((1, 4), np.uint8)


def texts(*placed: tuple[float, float, str]) -> Texts:
    at = np.array([p[:2] for p in placed], np.float32)
    return Texts(at, tuple(p[2] for p in placed), INK, 14.0)


def frame(*marks: object) -> Frame:
    return Frame(400.0, 300.0, INK[0], marks)  # type: ignore[arg-type]


def test_texts_are_read_line_by_line_whatever_the_order_of_drawing() -> None:
    made = frame(
        texts((200.0, 51.0, "right"), (10.0, 90.0, "below")),
        texts((10.0, 50.0, "left"), (10.0, 120.0, " ")),
    )
    assert lines(made) == ("left · right", "below")


def test_hints_are_told_once_and_in_order() -> None:
    rect = np.array([[0, 0, 9, 9]] * 3, np.float32)
    boxes = Boxes(rect, tip=lambda i: ("lane 10", "", "lane 2\nword 4")[i])
    pixels = np.zeros((2, 3, 4), np.uint8)
    raster = Raster((0.0, 0.0, 30.0, 20.0), pixels, lambda row, column: f"{row}, {column}")
    assert hints(frame(boxes, boxes, raster)) == (
        "0, 0",
        "0, 1",
        "0, 2",
        "1, 0",
        "1, 1",
        "1, 2",
        "lane 2 · word 4",
        "lane 10",
    )
    assert len(hints(frame(boxes, raster), most=2)) == 2


def test_a_large_raster_is_not_told_cell_by_cell() -> None:
    asked: list[int] = []
    pixels = np.zeros((1000, 1000, 4), np.uint8)
    raster = Raster((0.0, 0.0, 30.0, 20.0), pixels, lambda row, column: asked.append(row) or "x")
    assert hints(frame(raster)) == ("x",) and len(asked) < 2000
