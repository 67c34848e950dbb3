"""The floor plan of memories: where variables are on their way, and what waits for the class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.course.shared_memory.memory_spaces.floor_plan import (
    FloorPlan,
    Place,
    Trip,
    _along,
    _part,
)
from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage

STAGE = Stage(900, 420, DARK)
AREA = Rect(20, 20, 860, 380)
PLAN = FloorPlan(
    ("warp 0",),
    {
        "shared": Place("shared", "row", ("29 cycles", "29"), "about shared"),
        "l1": Place("L1 cache"),
    },
    Place("L2", far=("237 cycles", "237")),
    {"global": Place("global", "in, out", ("431 cycles",))},
    frozenset({"shared", "global"}),
)
FAR = Trip("in", ("l1", "l2", "global"), 0.0)


def drawn(panel: FloorPlan, stage: Stage = STAGE) -> Frame:
    return stage.frame(*panel.draw(stage, AREA))


def placed(picture: Frame) -> dict[str, tuple[float, float]]:
    return {
        text: (float(x), float(y))
        for mark in picture.marks
        if isinstance(mark, Texts)
        for text, (x, y) in zip(mark.strings, mark.at.tolist(), strict=True)
    }


def test_a_load_is_asked_for_first_and_comes_back_the_same_way() -> None:
    shares = (0.25, 0.55, 0.75, 0.95)
    found = [placed(drawn(replace(PLAN, trips=(replace(FAR, share=s),)))).get("in") for s in shares]
    assert found[0] is None  # nothing comes before the request has arrived
    ways = [x for x, _ in found[1:]]  # type: ignore[misc]
    assert ways[0] > ways[1] > ways[2]  # from device memory to the lanes, which are left of it
    arrived = placed(drawn(replace(PLAN, trips=(replace(FAR, share=1.0),))))
    assert "in" not in arrived


def test_what_is_stored_leaves_at_once() -> None:
    trip = Trip("row", ("shared",), 0.2, stores=True)
    early, late = (
        placed(drawn(replace(PLAN, trips=(replace(trip, share=s),), seen=frozenset())))
        for s in (0.1, 0.9)
    )
    assert early["row"][1] < late["row"][1]  # down, from the lanes to the place


def test_places_on_the_way_are_outlined_until_it_is_over() -> None:
    def outlined(share: float) -> int:
        marks = drawn(replace(PLAN, trips=(replace(FAR, share=share),))).marks
        return (
            sum(isinstance(m, Boxes) and m.stroke is DARK.outline and m.radius == 5 for m in marks)
            - 1
        )  # the lanes have such a mark, too

    assert (outlined(0.5), outlined(1.0)) == (3, 0)


def test_distances_are_kept_back_while_a_class_is_asked_and_nothing_moves() -> None:
    asking = replace(STAGE, question="How far?", choices=("1", "2"))
    shown = replace(PLAN, clock="cycle 29")
    told, asked = placed(drawn(shown)), placed(drawn(shown, asking))
    assert {"29 cycles", "237", "cycle 29"} <= told.keys()
    assert not {"29 cycles", "237", "cycle 29"} & asked.keys()
    assert all(told[text] == at for text, at in asked.items())


def test_hovering_a_place_tells_of_it() -> None:
    picture = drawn(PLAN)
    at = placed(picture)["row"]
    assert tip_at(picture, *at) == "about shared"


def test_a_part_of_a_way_has_its_corners() -> None:
    path = np.array([(0, 0), (10, 0), (10, 10)], np.float32)
    assert _along(path, 0.75) == pytest.approx((10, 5))
    assert _part(path, 0.25, 0.75).tolist() == [[[5, 0], [10, 0]], [[10, 0], [10, 5]]]
