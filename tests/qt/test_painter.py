import ctypes

import numpy as np
import pytest
from PySide6.QtGui import QFontInfo, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6.Shiboken import getCppPointer

from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Raster, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import font
from gpuviz.qt.painting import painter

pytestmark = pytest.mark.usefixtures("qapp")
STAGE = Stage(100, 60, DARK)
RED, GREEN = np.array([255, 0, 0, 255], np.uint8), np.array([0, 255, 0, 255], np.uint8)


def pixels(frame: Frame, scale: float = 1.0) -> np.ndarray:
    """(H, W, 4) RGBA of a painted frame."""
    image = painter.to_image(frame, scale).convertToFormat(QImage.Format.Format_RGBA8888)
    flat = np.frombuffer(image.constBits(), np.uint8)
    return flat.reshape(image.height(), image.bytesPerLine() // 4, 4)[:, : image.width()].copy()


def painted(*marks: Mark, scale: float = 1.0) -> np.ndarray:
    return pixels(STAGE.frame(*marks), scale)


def box(x: float, y: float, width: float, height: float) -> np.ndarray:
    return np.array([[x, y, width, height]], np.float32)


def test_an_empty_frame_is_its_ground() -> None:
    assert (painted() == DARK.ground).all()


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_boxes_cover_exactly_their_pixels(scale: float) -> None:
    image = painted(Boxes(box(10, 20, 30, 15), RED), scale=scale)
    s = int(scale)
    assert (image[20 * s : 35 * s, 10 * s : 40 * s] == RED).all()
    assert (image == RED).all(axis=2).sum() == 30 * 15 * s * s


def test_each_box_has_its_own_colour() -> None:
    cells = grid(Rect(0, 0, 100, 60), 6, 10)
    colors = np.stack([RED, GREEN])[np.arange(60) % 2]
    image = painted(Boxes(cells, colors))
    centre = image[5::10, 5::10].reshape(60, 4)
    assert (centre == colors).all()


def test_many_boxes_are_painted_as_few_are() -> None:
    cells = grid(Rect(0, 0, 100, 60), 60, 100)
    colors = np.stack([RED, GREEN])[np.arange(6000) % 3 % 2]
    assert (painted(Boxes(cells, colors, radius=4)).reshape(-1, 4) == colors).all()


def test_a_thin_box_never_vanishes() -> None:
    assert (painted(Boxes(box(10.4, 10, 0.1, 20), RED))[15] == RED).all(axis=1).sum() == 1


def test_strokes_stay_inside_the_box() -> None:
    image = painted(Boxes(box(10, 10, 40, 30), stroke=RED, stroke_width=2))
    touched = (image != DARK.ground).any(axis=2)
    assert touched[10:40, 10:50].sum() == touched.sum() > 0
    assert not touched[13:37, 13:47].any()


@pytest.mark.parametrize("radius", [0.0, 6.0])
@pytest.mark.parametrize("width", [9, 90])
def test_hatching_covers_part_of_a_box_and_runs_on(radius: float, width: int) -> None:
    hatched = painted(Boxes(box(5, 5, width, 40), DARK.panel, hatch=RED, radius=radius))
    inside = hatched[10:40, 8 : width + 2]
    share = (inside[..., 0] > DARK.panel[0] + 20).mean()
    assert 0.15 < share < 0.6
    assert (hatched[:, width + 6 :] == DARK.ground).all()
    whole = painted(Boxes(box(0, 0, 100, 60), DARK.panel, hatch=RED))
    assert (inside == whole[10:40, 8 : width + 2]).all()


def test_a_curve_joins_its_ends_and_a_line_is_sharp() -> None:
    curve = np.array([[[10, 5], [10, 30], [80, 30], [80, 55]]], np.float32)
    image = painted(Curves(curve, RED, 3))
    assert (image[7, 9:11] == RED).all() and (image[53, 79:81] == RED).all()
    line = np.array([[[10, 30.2], [90, 30.2]]], np.float32)
    image = painted(Lines(line, RED))
    assert (image == RED).all(axis=2).sum(axis=0).tolist() == [0] * 10 + [1] * 80 + [0] * 10


def test_an_arrow_has_a_head_at_its_second_end() -> None:
    line = np.array([[[10, 30], [90, 30]]], np.float32)
    columns = (painted(Lines(line, RED, 2, arrow=True))[..., 0] > 128).sum(axis=0)
    assert columns[82:86].max() > 2 >= columns[:75].max()


def test_a_raster_is_painted_cell_by_cell() -> None:
    cells = np.stack([RED, GREEN, GREEN, RED]).reshape(2, 2, 4)
    image = painted(Raster((0, 0, 100, 60), cells))
    assert (image[:30, :50] == RED).all() and (image[:30, 50:] == GREEN).all()
    assert (image[30:, 50:] == RED).all()


@pytest.mark.parametrize(
    ("align", "columns"), [("left", (50, 80)), ("right", (20, 50)), ("center", (35, 65))]
)
def test_texts_are_anchored_at_the_middle_of_their_capitals(
    align: str, columns: tuple[int, int]
) -> None:
    at = np.array([[50, 30]], np.float32)
    image = painted(Texts(at, ("HI",), DARK.ink, 20, align))  # type: ignore[arg-type]
    rows, cols = np.nonzero((image != DARK.ground).any(axis=2))
    assert abs((rows.min() + rows.max() + 1) / 2 - 30) <= 1
    assert columns[0] <= cols.min() and cols.max() < columns[1]


def test_the_shipped_fonts_are_used_with_figures_of_equal_width() -> None:
    assert QFontInfo(font(14)).family() == "Inter"
    assert QFontInfo(font(14, mono=True)).family() == "JetBrains Mono"
    metrics = QFontMetricsF(font(40))
    assert metrics.horizontalAdvance("1111") == pytest.approx(metrics.horizontalAdvance("8888"))


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("text", ["One warp reads every second float", "8 of 8 sectors · 0x0080"])
def test_width_without_qt_is_the_width_with_it(text: str, bold: bool) -> None:
    for size in (14.0, 26.0):
        measured = QFontMetricsF(font(size, bold)).horizontalAdvance(text)
        assert text_width(text, size, bold) == pytest.approx(measured, rel=0.03)
        mono = QFontMetricsF(font(size, mono=True)).horizontalAdvance(text)
        assert text_width(text, size, mono=True) == pytest.approx(mono, rel=0.01)


def test_painting_twice_gives_the_same_picture(qtbot: QtBot) -> None:
    marks = (
        Boxes(grid(Rect(0, 0, 100, 30), 2, 8, 2), DARK.lanes[:16], hatch=RED, radius=3),
        Texts(np.array([[5, 45]], np.float32), ("same",), DARK.ink, 14),
    )
    assert (painted(*marks, scale=1.5) == painted(*marks, scale=1.5)).all()


def test_what_qt_had_at_an_address_does_not_turn_up_in_a_picture() -> None:
    """As a layout's item that Qt deleted did, whose memory became an array's."""
    holder = QWidget()
    layout = QHBoxLayout(holder)
    layout.addWidget(QWidget())
    item = layout.itemAt(0)
    (address,) = getCppPointer(item)
    there = np.frombuffer((ctypes.c_double * 4).from_address(address)).reshape(1, 4)
    image = QImage(8, 8, QImage.Format.Format_ARGB32_Premultiplied)
    qt_painter = QPainter(image)
    try:
        painter._draw_rects(qt_painter, there)
        painter._draw_lines(qt_painter, there.reshape(1, 2, 2))
    finally:
        qt_painter.end()


def test_many_boxes_are_painted_in_pieces() -> None:
    rects = np.array([[x % 100, x // 100, 1, 1] for x in range(6000)], np.float32)
    image = painted(Boxes(rects, RED))
    assert (image == RED).all()
