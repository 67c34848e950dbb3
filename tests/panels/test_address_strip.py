import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.draw.layout import Rect
from gpuviz.memory.request import Strip, cut
from gpuviz.panels.address_strip import height_of, place

LANES = np.arange(32)


def strided(stride: int, width: int, offset: int = 0) -> Strip:
    address = (LANES * stride + offset) * width
    start = np.unique(address // 32 * 32)
    serves = address // 32 * 32 == start[:, None]
    return cut(start, np.full(len(start), 32), serves, address, width)


strips = st.builds(
    strided, st.integers(0, 40), st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 31)
)


@given(strips)
def test_every_byte_has_a_cell_and_every_asked_byte_a_lane(strip: Strip) -> None:
    assert len(strip.cell_at) * strip.unit == strip.size.sum()
    byte = strip.start[strip.cell_box] + strip.cell_at
    asked = set(byte[strip.cell_lane >= 0].tolist())
    first = strip.start[strip.lane_box] + strip.lane_at
    wanted = {int(f) + k for f in first for k in range(0, strip.width, strip.unit)}
    assert asked == wanted
    assert strip.used.sum() == len(wanted) * strip.unit


@given(strips, st.floats(250, 1900), st.floats(60, 400), st.floats(1, 2))
def test_boxes_and_cells_stay_where_they_belong(
    strip: Strip, width: float, height: float, scale: float
) -> None:
    area = Rect(20, 30, width, height)
    placed = place(strip, area, scale)
    boxes, cells = placed.boxes, placed.cells
    assert (boxes[:, 0] >= area.x - 0.01).all()
    assert (boxes[:, 0] + boxes[:, 2] <= area.right + 0.01).all()
    assert (np.diff(boxes[:, 0]) > boxes[:-1, 2]).all(), "boxes overlap"
    assert (cells[:, 2:] > 0).all()
    home = boxes[strip.cell_box]
    assert (cells[:, :2] >= home[:, :2] - 0.01).all()
    assert (cells[:, :2] + cells[:, 2:] <= home[:, :2] + home[:, 2:] + 0.01).all()
    target = placed.target[:, 0]
    mine = boxes[strip.lane_box]
    assert (target >= mine[:, 0]).all() and (target <= mine[:, 0] + mine[:, 2]).all()


def test_an_inactive_lane_asks_for_nothing() -> None:
    address = LANES * 4
    serves = (address // 32 * 32 == np.arange(4)[:, None] * 32) & (LANES != 3)
    strip = cut(np.arange(4) * 32, np.full(4, 32), serves, address, 4)
    assert strip.lane_box[3] == -1 and strip.lane_box[4] == 0
    assert strip.used.tolist() == [28, 32, 32, 32]


@pytest.mark.parametrize(
    ("stride", "width", "folded"), [(1, 4, False), (3, 4, False), (32, 4, True), (1, 16, False)]
)
def test_boxes_fold_when_cells_would_be_too_narrow(stride: int, width: int, folded: bool) -> None:
    strip = strided(stride, width)
    assert place(strip, Rect(0, 0, 720, 100), 1.0).folded is folded
    assert (height_of(strip, 720, 260, 1.0) > 100) is folded
