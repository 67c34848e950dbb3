import numpy as np

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Lines, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.swimlanes import LaneBar, height_of, swimlanes

STAGE = Stage(700, 330, DARK)
AREA = Rect(0, 0, 600, 200)
BARS = (
    LaneBar(0, 0, 2, ("load everything there is to load", "load"), DARK.load),
    LaneBar(1, 2, 4, ("×",), DARK.compute, marked=True),
    LaneBar(-1, 4, 5, (), DARK.barrier),
)


def drawn(t: float, area: Rect = AREA) -> list[object]:
    return list(swimlanes(STAGE, area, ("warp 0", "warp 1"), BARS, t, lambda i: f"bar {i}"))


def test_bars_lie_in_their_rows_along_time() -> None:
    boxes = next(m for m in drawn(0) if isinstance(m, Boxes))
    x, y, wide, high = boxes.rect.T
    assert y[0] == y[2] and y[1] > y[0] and high[2] > 1.9 * high[0]
    assert np.allclose(np.diff(x)[0], np.diff(x)[1], atol=0.1)
    assert np.isclose((x + wide)[-1], 600 - 2, atol=0.5)
    assert boxes.tip is not None and boxes.tip(1) == "bar 1"


def test_states_are_full_quiet_and_dim() -> None:
    at = [np.array(next(m for m in drawn(t) if isinstance(m, Boxes)).fill) for t in (1, 3)]
    assert np.array_equal(at[0][0], DARK.load) and np.array_equal(at[1][1], DARK.compute)
    assert np.array_equal(at[0][1], DARK.todo(DARK.compute))
    assert np.array_equal(at[1][0], DARK.soft(DARK.load, 0.45))


def test_marked_bars_are_hatched_once_they_begin() -> None:
    hatched = [
        [len(m.rect) for m in drawn(t) if isinstance(m, Boxes) and m.hatch is not None]
        for t in (1, 3)
    ]
    assert hatched == [[0], [1]]


def test_words_are_as_long_as_there_is_room() -> None:
    said = [s for m in drawn(0) if isinstance(m, Texts) for s in m.strings]
    assert said == ["warp 0", "warp 1", "load everything there is to load", "×"]
    low = drawn(0, Rect(0, 0, 600, 20))
    assert not [m for m in low if isinstance(m, Texts)]
    assert height_of(STAGE, 2) == 2 * height_of(STAGE, 1)


def test_a_line_stands_at_now() -> None:
    line = next(m for m in drawn(99) if isinstance(m, Lines))
    assert np.isclose(line.points[0, :, 0], 600).all()
