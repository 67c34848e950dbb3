"""Memory spaces as columns: what is told of those that were seen, and what waits for the class."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Curves, Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Panel
from gpuviz.panels.spaces import Space, Spaces

STAGE = Stage(900, 520, DARK)
AREA = Rect(20, 20, 860, 480)
SHARED = Space("shared", "row", "", True, ("its block",), "117", ("1", "wavefront"), "about shared")
LOCAL = Space("local", "L1 cache", "kept", False, ("one thread",), "32", ("4", "sectors"), "", True)


def spaces(now: int | None, share: float = 0.25, *, seen: bool = True) -> Spaces:
    shown = SHARED, replace(LOCAL, seen=seen)
    return Spaces("warp 0", ("seen by",), shown, now, share)


def drawn(panel: Panel, stage: Stage = STAGE, area: Rect = AREA) -> Frame:
    return stage.frame(*panel.draw(stage, area))


def said(picture: Frame) -> list[str]:
    return [text for m in picture.marks if isinstance(m, Texts) for text in m.strings]


def test_facts_of_what_was_seen_are_told_and_costs_wait_for_the_class() -> None:
    told = said(drawn(spaces(0)))
    assert {"its block", "117", "1 wavefront", "one thread", "4 sectors"} <= set(told)
    unseen = said(drawn(spaces(0, seen=False)))
    assert {"local", "kept"} <= set(unseen)
    assert "one thread" not in unseen and "4 sectors" not in unseen
    asked = said(drawn(spaces(0), replace(STAGE, question="How many?")))
    assert "its block" in asked and "117" not in asked and "1 wavefront" not in asked


def test_units_have_a_row_of_their_own_where_columns_are_narrow() -> None:
    narrow = said(drawn(spaces(0), area=AREA._replace(width=220)))
    assert {"1", "wavefront"} <= set(narrow) and "1 wavefront" not in narrow


def test_where_variables_live_is_pointed_out_while_it_is_in_use() -> None:
    def outlined(now: int | None) -> list[float]:
        marks = drawn(spaces(now)).marks
        boxes = [m for m in marks if isinstance(m, Boxes) and m.stroke_width == 2.5]
        return [float(m.rect[0, 1]) for m in boxes]

    (chip,), (device,) = outlined(0), outlined(1)
    assert chip < device and outlined(None) == []


def test_data_goes_down_to_a_space_and_comes_up_from_one_that_is_only_read() -> None:
    def bands(now: int | None) -> list[Curves]:
        return [m for m in drawn(spaces(now)).marks if isinstance(m, Curves)]

    down, up = bands(0)[0].points, bands(1)[0].points
    assert (down[:, 0, 1] < down[:, 3, 1]).all() and (up[:, 0, 1] > up[:, 3, 1]).all()
    assert bands(None) == []


def test_hovering_a_box_tells_of_its_space() -> None:
    picture = drawn(spaces(None))
    box = next(m.rect[0] for m in picture.marks if isinstance(m, Boxes) and m.tip)
    assert tip_at(picture, box[0] + 5, box[1] + 5) == "about shared"


def test_all_of_it_has_room_in_what_it_needs() -> None:
    panel = spaces(0)
    for high in (panel.need(STAGE, 860).height, panel.need(STAGE, 860).least):
        picture = drawn(panel, area=AREA._replace(height=high))
        low = max(m.at[:, 1].max() for m in picture.marks if isinstance(m, Texts))
        assert low <= AREA.y + high
