"""Panels in rows and columns: who gets how much room, who is left out, who answers a click."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import Node, columns, first, place, rows, share, spare
from gpuviz.panels.panel import Need, Panel, Values
from gpuviz.panels.picture import Picture, placed
from gpuviz.story.script import Script

STAGE = Stage(560, 380, DARK)
AREA = Rect(10, 20, 400, 300)


@dataclass(frozen=True, eq=False)
class Sheet(Panel):
    """A panel that says its name."""

    name: str
    high: float = 0.0
    least: float = 0.0
    wide: float = 0.0

    def need(self, stage: Stage, width: float) -> Need:
        return Need(self.high, self.least or self.high, self.wide)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        yield label(*area.center, self.name, stage.palette.ink, 14)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values:
        return {"picked": self.name}


@dataclass(frozen=True, eq=False)
class Elastic(Sheet):
    share: ClassVar[float] = 1.0


@dataclass(frozen=True, eq=False)
class Answer(Sheet):
    answers: ClassVar[bool] = True


def spans(node: Node, area: Rect = AREA) -> dict[str, Rect]:
    return {panel.name: piece for panel, piece in place(node, STAGE, area)}  # type: ignore[attr-defined]


def test_the_elastic_get_what_the_others_leave() -> None:
    found = spans(rows(Sheet("a", 50), Elastic("b"), Sheet("c", 30)))
    assert [(r.y, r.height) for r in found.values()] == [(20, 50), (70, 220), (290, 30)]
    assert all((r.x, r.width) == (10, 400) for r in found.values())


def test_shares_are_weights_and_never_less_than_a_wish() -> None:
    found = spans(rows(share(3, Sheet("a")), Elastic("b")))
    assert [r.height for r in found.values()] == [225, 75]
    found = spans(rows(share(3, Sheet("a")), Elastic("b", 100), Sheet("c", 40)))
    assert [r.height for r in found.values()] == [160, 100, 40]


def test_wishes_shrink_to_what_is_needed_and_spare_parts_go_by_rank() -> None:
    found = spans(rows(Sheet("a", 300, 100), Sheet("b", 100)))
    assert [r.height for r in found.values()] == [200, 100]
    full = rows(Sheet("a", 200), spare(Sheet("b", 60)), spare(Sheet("c", 60), 2))
    assert list(spans(full)) == ["a", "b"]
    assert list(spans(full, Rect(0, 0, 400, 210))) == ["a"]
    assert list(spans(full, Rect(0, 0, 400, 320))) == ["a", "b", "c"]


def test_columns_get_the_width_they_need_and_share_the_rest() -> None:
    found = spans(columns(Sheet("a", wide=100), Elastic("b", wide=50), gap=1.0))
    assert [(r.x, r.width) for r in found.values()] == [(10, 100), (124, 286)]


def test_the_first_layout_that_fits_is_taken_the_last_where_none_does() -> None:
    wide, high = (
        columns(Sheet("a", 10, wide=300), Sheet("b", 10, wide=300)),
        rows(Sheet("a", 200), Sheet("b", 200)),
    )
    small = Sheet("c", 500)
    assert list(spans(first(wide, small), Rect(0, 0, 800, 50))) == ["a", "b"]
    assert list(spans(first(wide, high, small), Rect(0, 0, 500, 400))) == ["a", "b"]
    assert list(spans(first(wide, high, small), Rect(0, 0, 500, 300))) == ["c"]


def said(picture: Picture, stage: Stage) -> set[str]:
    marks = placed(picture, stage).frame().marks
    return {text for mark in marks if isinstance(mark, Texts) for text in mark.strings}


def test_answers_wait_for_the_class_and_their_room_stays() -> None:
    picture = Picture("Title", "Sentence.", rows(Elastic("seen"), Answer("told", 40)))
    asks = replace(STAGE, question="How many?", choices=("1", "2"))
    assert {"seen", "told"} <= said(picture, STAGE)
    assert "seen" in said(picture, asks) and "told" not in said(picture, asks)
    revealed = placed(picture, replace(asks, revealed=True)).frame()
    places = [
        [m.at.tolist() for m in shown.marks if isinstance(m, Texts) and m.strings == ("seen",)]
        for shown in (placed(picture, asks).frame(), revealed)
    ]
    assert places[0] == places[1]


def test_a_click_goes_to_the_panel_under_it() -> None:
    picture = Picture("Title", "Sentence.", columns(Elastic("left"), Elastic("right")))
    assert placed(picture, STAGE).pick(100, 300) == {"picked": "left"}
    assert placed(picture, STAGE).pick(500, 300) == {"picked": "right"}
    assert placed(picture, STAGE).pick(100, 5) is None


def test_acts_follow_each_other_and_tell_how_far_they_are() -> None:
    script = Script("main")
    load, add = script.act(2, "load", "load"), script.act(4, "compute", "add", line=7)
    assert [(s.start, s.end, s.role) for s in script.steps] == [(0, 2, "main"), (2, 6, "main")]
    assert (load.share(1), load.share(5), add.share(1)) == (0.5, 1, 0)
    assert add.counted(3, 8) == 2 and load.until(add).share(3) == 0.5
    assert script.done(4) == 1.5
    assert add.staggered(6, 3).tolist() == [1, 1, 1]
    assert script.end == pytest.approx(6)
    first, rest = add.cut(1)
    assert (first.share(2.5), rest.share(2.5), rest.share(4.5)) == (0.5, 0, 0.5)


def test_where_there_is_too_little_room_the_elastic_give_way() -> None:
    found = spans(rows(Elastic("a", 250), Sheet("b", 60), Sheet("c", 60)))
    assert [r.height for r in found.values()] == [180, 60, 60]
    assert spans(rows(Sheet("a", 200), Sheet("b", 200)))["b"].y == 220


def test_another_picture_is_shown_where_the_body_has_no_room() -> None:
    picture = Picture(
        "Title", "Sentence.", Sheet("all", 500), low=Picture("Low", "Less.", Sheet("part", 20))
    )
    assert {"Low", "part"} <= said(picture, STAGE)
    assert {"Title", "all"} <= said(picture, replace(STAGE, height=900))
