"""Boxes with counts, with words, and with code: what stands in them when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuviz.course.shared_memory.memory_spaces.automatic_array import WordBoxes
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.count_boxes import CountBoxes
from gpuviz.panels.listing import CodeListing, Listings
from gpuviz.panels.panel import Panel

STAGE = Stage(900, 500, DARK)
AREA = Rect(20, 20, 860, 400)
ASKS = replace(STAGE, question="How many?")


def drawn(panel: Panel, stage: Stage = STAGE, area: Rect = AREA) -> Frame:
    return stage.frame(*panel.draw(stage, area))


def said(picture: Frame) -> list[str]:
    return [text for m in picture.marks if isinstance(m, Texts) for text in m.strings]


def counts(filled: float, picked: int = -1) -> CountBoxes:
    names = tuple(f"s{i}" for i in range(16))
    return CountBoxes(names, np.arange(100, 116), np.linspace(0, 1, 16), filled, picked)


def test_counts_stand_in_the_boxes_that_are_filled_and_in_none_while_a_class_is_asked() -> None:
    assert [text for text in said(drawn(counts(2.0))) if text[0] == "1"] == ["100", "101"]
    assert [text for text in said(drawn(counts(2.0), ASKS)) if text[0] == "1"] == []
    assert "s15" in said(drawn(counts(2.0), ASKS))


def test_the_box_that_is_filled_next_and_the_one_that_is_picked_are_outlined() -> None:
    def outlined(panel: CountBoxes) -> list[float]:
        marks = drawn(panel).marks
        return [m.stroke_width for m in marks if isinstance(m, Boxes) and m.fill is None]

    assert outlined(counts(2.0, 0)) == [3, 2]
    assert outlined(counts(2.0, 5)) == [2]
    assert outlined(counts(16.0, 5)) == [3]


def test_boxes_stand_in_fewer_rows_where_there_is_little_height() -> None:
    def rows(high: float) -> int:
        boxes = next(
            m
            for m in drawn(counts(0.0), area=AREA._replace(height=high)).marks
            if isinstance(m, Boxes)
        )
        return len(np.unique(boxes.rect[:, 1]))

    assert (rows(200), rows(60)) == (2, 1)


def test_short_words_stand_in_narrow_boxes() -> None:
    panel = WordBoxes(tuple(f"kept[{i}]" for i in range(6)), tuple(map(str, range(6))))
    assert said(drawn(panel))[0] == "kept[0]"
    assert said(drawn(panel, area=AREA._replace(width=200)))[0] == "0"


def test_a_listing_shows_what_has_room_and_keeps_back_how_often_a_line_is_there() -> None:
    code = CodeListing("indexed", "sum += a[k];", ("4 × ld.local.f32", "st.local.f32"))
    panel = Listings((code, CodeListing("unrolled", "sum += a[k];", ())))
    assert {"indexed", "4 × ld.local.f32", "st.local.f32"} <= set(said(drawn(panel)))
    assert {"ld.local.f32"} <= set(said(drawn(panel, ASKS)))
    assert "4 × ld.local.f32" not in said(drawn(panel, ASKS))
    need = panel.need(STAGE, 860)
    low = said(drawn(panel, area=AREA._replace(height=need.least)))
    assert "4 × ld.local.f32" in low and "st.local.f32" not in low
    assert replace(panel, whole=True).need(STAGE, 860).least == need.height
