from itertools import combinations, pairwise

import numpy as np
import pytest

from gpuviz.draw.hit import text_boxes
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.table import Column, Table, height_of, lay_out

STAGE = Stage(1000, 400, DARK)
COLUMNS = (
    Column(("",), ("first", "second"), "left", "model"),
    Column(("a rather long title of many words", "short title"), ("1", "1 000")),
    Column(("bytes",), ("16 MB", "4 kB"), "left", optional=1),
    Column(("another column",), ("12.5 ms", "–"), badge="recorded", ink="good", optional=2),
)


@pytest.mark.parametrize("width", [180, 260, 330, 420, 560, 900])
def test_words_stay_inside_and_apart(width: int) -> None:
    area = Rect(10, 20, width, height_of(STAGE, 2, 2, True))
    last = lay_out(STAGE, area, COLUMNS).cell(1, 0)
    assert last is not None
    marks = [m for m in Table(COLUMNS, 1).draw(STAGE, area) if isinstance(m, Texts)]
    boxes = np.concatenate([text_boxes(m) for m in marks])
    assert (boxes[:, 0] >= area.x - 1).all() and (boxes[:, 0] + boxes[:, 2] <= area.right + 1).all()
    assert boxes[:, 1].min() >= area.y - 1 and last.bottom <= area.bottom + 1
    for a, b in combinations(boxes.tolist(), 2):
        apart = (
            a[0] + a[2] <= b[0] + 0.1
            or b[0] + b[2] <= a[0] + 0.1
            or a[1] + a[3] * 0.8 <= b[1]
            or b[1] + b[3] * 0.8 <= a[1]
        )
        assert apart


NEEDED = tuple(
    Column((title,), ("1 107 296 256", "16 777 216"), bold=True)
    for title in ("first", "asked", "L2", "turns", "time")
)


@pytest.mark.parametrize("width", [150, 300, 409, 480])
def test_columns_that_have_to_be_there_are_smaller_or_fewer_before_they_overlap(width: int) -> None:
    area = Rect(0, 0, width, 120)
    laid = lay_out(STAGE, area, NEEDED)
    ends = [(x, x + wide) for x, wide in laid.spans]
    assert laid.kept[0] == 0 and len(laid.kept) > 0 and ends[-1][1] <= width + 1
    assert all(one[1] < other[0] for one, other in pairwise(ends))
    assert laid.size >= STAGE.text(12)


def test_optional_columns_go_first() -> None:
    narrow, wide = (lay_out(STAGE, Rect(0, 0, w, 120), COLUMNS) for w in (260, 900))
    assert narrow.kept == (0, 1, 2) and wide.kept == (0, 1, 2, 3)
    assert narrow.cell(0, 3) is None
    assert wide.titles[1] == ("a rather long title of many words",)


def test_rows_to_come_are_not_drawn() -> None:
    marks = Table(COLUMNS, shown=1).draw(STAGE, Rect(0, 0, 900, 120))
    words = [s for m in marks if isinstance(m, Texts) for s in m.strings]
    assert "first" in words and "second" not in words
