"""Panels that keep their shape: what they leave to others, which layout they prefer, what moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from gpuviz.base.arrays import F32
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import Node, at_least, columns, first, largest, place, rows, share
from gpuviz.panels.panel import Need, Panel
from gpuviz.panels.picture import Movement, Picture, longest, placed
from gpuviz.story.script import Script, pace

STAGE = Stage(560, 380, DARK)
AREA = Rect(10, 20, 400, 300)


@dataclass(frozen=True, eq=False)
class Square(Panel):
    """A panel as wide as high."""

    share: ClassVar[float] = 1.0
    name: str

    def need(self, stage: Stage, width: float) -> Need:
        return Need(20, 20, 20)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        yield label(*area.center, self.name, stage.palette.ink, 14)

    def used(self, stage: Stage, area: Rect) -> Rect:
        side = self.zoom(stage, area)
        return Rect(area.x, area.y, side, side)

    def zoom(self, stage: Stage, area: Rect) -> float:
        return min(area.width, area.height)

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        return grid(self.used(stage, area), 2, 2) if name == self.name else None


def spans(node: Node, area: Rect = AREA) -> list[Rect]:
    return [piece for _, piece in place(node, STAGE, area)]


def test_what_a_square_leaves_goes_to_those_after_it() -> None:
    low = Rect(0, 0, 400, 100)
    assert [r[0::2] for r in spans(columns(Square("a"), Square("b"), gap=0), low)] == [
        (0, 200),
        (100, 300),
    ]
    assert spans(rows(Square("a"), Square("b")), Rect(0, 0, 50, 300))[1].y == 50


def test_it_is_not_moved_for_those_that_want_no_more() -> None:
    low = Rect(0, 0, 400, 100)
    assert spans(columns(Square("a"), share(0, Square("b")), gap=0), low)[1].x == 380


def test_the_layout_in_which_panels_come_out_larger_is_taken() -> None:
    both = largest(columns(Square("a"), Square("b"), gap=0), rows(Square("a"), Square("b")))
    for area, upright in ((Rect(0, 0, 400, 100), False), (Rect(0, 0, 100, 400), True)):
        one, other = spans(both, area)
        assert (other.y > one.y) == upright


@pytest.mark.parametrize(
    ("node", "wide", "high"),
    [
        (at_least(Square("large"), height=20), 400, 280),
        (at_least(Square("large"), width=20), 280, 300),
        (at_least(Square("large"), aspect=1.3), 390, 300),
    ],
)
def test_a_layout_for_large_or_wide_areas_only(node: Node, wide: float, high: float) -> None:
    def shown(area: Rect) -> str:
        (panel, _), *_ = place(first(node, Square("small")), STAGE, area)
        assert isinstance(panel, Square)
        return panel.name

    assert shown(Rect(0, 0, wide, high)) == "large"
    assert shown(Rect(0, 0, min(wide, 279), min(high, 279))) == "small"


def test_things_move_from_panel_to_panel_while_both_are_there() -> None:
    start, end = np.array([0]), np.array([3])
    moves = (
        Movement("a", start, "b", end, 0.5, "load"),
        Movement("a", start, "c", end, 0.5, "load"),
    )
    body = columns(Square("a"), Square("b"))
    marks = placed(Picture("Title", "Sentence.", body, moving=moves), STAGE).frame().marks
    (box,) = (mark for mark in marks if isinstance(mark, Boxes))
    names = [m.at[0, 0] for m in marks if isinstance(m, Texts) and m.strings[0] in ("a", "b")]
    assert names[0] < box.rect[0, 0] + box.rect[0, 2] / 2 < names[1]
    assert box.fill is not None and (box.fill[..., 3] < 200).all()  # words below are read


def test_the_longest_sentences_are_few() -> None:
    said = ("one", "one", "a longer one", "by far the longest of all of them", "two")
    assert len(longest(said)) == 3 and {said[2], said[3]} < set(longest(said))


def test_a_script_keeps_a_pace_and_knows_the_act_under_way() -> None:
    seconds = (1.0, 3.0)
    assert pace(seconds, 8, 24) == 2 and pace(seconds, 0, 2) == 0.5 and pace(seconds, 1, 9) == 1
    script = Script("main", pace(seconds, 8, 24))
    for one in seconds:
        script.act(one, "load", "load")
    assert [(s.start, s.end) for s in script.steps] == [(0, 2), (2, 8)]
    for number, step in enumerate(script.steps):
        assert script.at(step.start) == (number, 0)
    assert script.at(3.5) == (1, pytest.approx(0.25)) and script.at(99) == (1, 1)
