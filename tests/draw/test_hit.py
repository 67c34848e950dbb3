import numpy as np

from gpuviz.draw.hit import text_boxes, tip_at
from gpuviz.draw.marks import Boxes, Curves, Lines, Raster, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage

STAGE = Stage(200, 100, DARK)
RECTS = np.array([[0, 0, 10, 10], [20, 0, 10, 10]], np.float32)


def test_the_topmost_mark_answers() -> None:
    low = Boxes(RECTS, DARK.ink, tip=lambda i: f"low {i}")
    high = Boxes(RECTS[1:], DARK.ink, tip=lambda i: f"high {i}")
    silent = Boxes(RECTS, DARK.ink, tip=lambda i: "")
    frame = STAGE.frame(low, high, silent, Boxes(RECTS, DARK.ink))
    assert tip_at(frame, 5, 5) == "low 0"
    assert tip_at(frame, 25, 5) == "high 0"
    assert tip_at(frame, 15, 5) is None


def test_curves_answer_near_their_path() -> None:
    points = np.array([[[0, 0], [0, 50], [100, 50], [100, 100]]], np.float32)
    frame = STAGE.frame(Curves(points, DARK.ink, 2.0, tip=lambda i: "band"))
    assert tip_at(frame, 50, 50) == "band"
    assert tip_at(frame, 52, 51) == "band"
    assert tip_at(frame, 80, 20) is None
    none = STAGE.frame(Curves(points[:0], DARK.ink, tip=lambda i: "band"))
    assert tip_at(none, 50, 50) is None


def test_a_raster_answers_by_row_and_column() -> None:
    pixels = np.zeros((2, 4, 4), np.uint8)
    frame = STAGE.frame(Raster((10, 10, 40, 20), pixels, tip=lambda r, c: f"{r},{c}"))
    assert tip_at(frame, 49, 11) == "0,3"
    assert tip_at(frame, 11, 29) == "1,0"
    assert tip_at(frame, 51, 11) is None


def test_texts_answer_on_their_line() -> None:
    at = np.array([[100, 50]], np.float32)
    mark = Texts(at, ("label",), DARK.ink, 14, align="center", tip=lambda i: "said")
    assert tip_at(STAGE.frame(mark), 100, 50) == "said"
    x, _, width, _ = text_boxes(mark)[0]
    assert np.isclose(x + width / 2, 100)


def test_lines_never_answer() -> None:
    assert tip_at(STAGE.frame(Lines(np.zeros((1, 2, 2), np.float32), DARK.ink)), 0, 0) is None
