import numpy as np
import pytest

from gpuviz.draw.axis import linear, logarithmic, short
from gpuviz.draw.layout import Rect
from gpuviz.draw.palette import DARK
from gpuviz.draw.plot import Plot, axes, columns, lay_out, points, spread, stairs
from gpuviz.draw.stage import Stage

STAGE = Stage(760, 480, DARK)


def test_logarithmic_decades_are_equally_far_apart() -> None:
    axis = logarithmic(("x",), 0.1, 1000)
    assert axis.ticks == pytest.approx((0.1, 1, 10, 100, 1000))
    assert np.diff(axis.share(axis.ticks)) == pytest.approx([0.25] * 4)
    assert axis.share([0.0])[0] == 0


def test_points_lie_where_the_axes_say() -> None:
    plot = Plot(Rect(10, 20, 100, 50), linear(("x",), 0, 4, 1), linear(("y",), 0, 10, 5))
    assert plot.at([0, 4, 2], [0, 10, 5]).tolist() == [[10, 70], [110, 20], [60, 45]]
    assert points(plot, 2, 5, DARK.ink, 3).rect.tolist() == [[57, 42, 6, 6]]


def test_stairs_keep_their_height() -> None:
    plot = Plot(Rect(0, 0, 30, 10), linear(("",), 0, 3, 1), linear(("",), 0, 1, 1))
    path = stairs(plot, [0, 1, 3], [1, 0.5], DARK.ink).points
    assert path.tolist() == [[[0, 0], [10, 0]], [[10, 0], [10, 5]], [[10, 5], [30, 5]]]
    assert columns(plot, [0, 1, 3], [1, 0.5], DARK.ink).rect.tolist() == [
        [0, 0, 10, 10],
        [10, 5, 20, 5],
    ]


def test_everything_stays_inside() -> None:
    area = Rect(0, 0, 300, 200)
    plot = lay_out(STAGE, area, linear(("a",), 0, 1024, 64), linear(("b",), 0, 1, 0.25))
    assert plot.area.x > 0 and plot.area.bottom < 200 and plot.area.right < 300
    assert axes(STAGE, plot)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.25, "0.25"), (16, "16"), (4000, "4\u202f000"), (65536, "65\u202f536"), (2.5e12, "2.5T")],
)
def test_short_numbers(value: float, text: str) -> None:
    assert short(value) == text


def test_labels_are_moved_apart_within_bounds() -> None:
    moved = sorted(spread([50, 50, 52, 98], 10, 0, 100))
    assert min(np.diff(moved)) >= 10 and moved[0] >= 0 and moved[-1] <= 100
