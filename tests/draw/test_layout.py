import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.draw import ease
from gpuviz.draw.layout import Rect, around, cell_size, centers, elide, fit_size, grid, wrap
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import backwards, bands, partly

counts, gaps = st.integers(1, 20), st.floats(0, 3)
AREA = Rect(10, 20, 300, 200)


@given(counts, counts, gaps)
def test_a_grid_fills_its_area(rows: int, columns: int, gap: float) -> None:
    cells = grid(AREA, rows, columns, gap)
    assert cells.shape == (rows * columns, 4)
    assert np.allclose(around(cells), AREA, atol=1e-3)
    assert np.allclose(cells[:, 2], cells[0, 2]) and np.allclose(cells[:, 3], cells[0, 3])


@given(counts, counts, gaps)
def test_square_cells_fit(rows: int, columns: int, gap: float) -> None:
    side = cell_size(AREA, rows, columns, gap)
    wide, high = columns * (side + gap) - gap, rows * (side + gap) - gap
    assert wide <= AREA.width + 1e-6 and high <= AREA.height + 1e-6


def test_cut_areas_share_the_whole() -> None:
    top, rest = AREA.above(50, gap=10)
    assert (top.bottom, rest.y, rest.bottom) == (70, 80, AREA.bottom)
    left, right = AREA.beside(100, gap=5)
    assert (left.right, right.x, right.right) == (110, 115, AREA.right)
    assert AREA.columns(3, 6)[2].right == AREA.right and AREA.rows(4, 2)[3].bottom == AREA.bottom
    assert AREA.inset(10).center == AREA.center
    assert centers(AREA.array()).tolist() == [[160, 120]]


def test_text_is_made_to_fit() -> None:
    text = "One warp reads every second float"
    wide = text_width(text, 26, bold=True)
    assert fit_size(text, wide + 1, 26, 10, bold=True) == 26
    assert text_width(text, fit_size(text, 200, 26, 10, bold=True), bold=True) <= 200
    assert elide(text, wide + 1, 26, bold=True) == text
    short = elide(text, 100, 14)
    assert short.endswith("…") and text_width(short, 14) <= 100
    lines = wrap(text, 120, 14)
    assert " ".join(lines) == text and max(text_width(line, 14) for line in lines) <= 120


@given(st.floats(-1, 2))
def test_easing_stays_between_rest_and_rest(share: float) -> None:
    for curve in (ease.smooth, ease.out):
        assert 0 <= curve(share) <= 1
    assert ease.smooth(0.0) == 0 and ease.smooth(1.0) == 1


@given(st.floats(0, 1), st.integers(1, 40), st.floats(0, 0.9))
def test_staggered_items_start_in_order_and_all_end(share: float, count: int, lap: float) -> None:
    items = ease.staggered(share, count, lap)
    assert (np.diff(items) <= 1e-12).all()
    assert np.allclose(ease.staggered(1.0, count, lap), 1)


def test_progress_of_an_empty_stretch_jumps() -> None:
    assert ease.progress(0.5, 1.0, 1.0) == 0 and ease.progress(1.5, 1.0, 1.0) == 1


def test_part_of_a_band_is_on_the_band() -> None:
    start, end = np.array([[0, 0]], np.float32), np.array([[50, 100]], np.float32)
    whole = bands(start, end)
    assert np.allclose(partly(whole, np.ones(1)), whole)
    half = partly(whole, np.full(1, 0.5))
    assert np.allclose(half[0, 3], [25, 50]) and np.allclose(half[0, 0], start)
    assert np.allclose(backwards(whole)[0, 0], end)


@given(st.floats(300, 4000), st.floats(200, 2200), st.floats(0.8, 2))
def test_a_roomy_stage_never_shrinks_letters_below_scale_one(
    width: float, height: float, scale: float
) -> None:
    roomy = Stage(width, height, DARK, scale).roomy()
    assert roomy.scale >= min(scale, 1.0)
    assert (roomy.width, roomy.height) == (width, height)
