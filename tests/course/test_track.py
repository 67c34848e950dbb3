"""A track of phases: which parts are named, and how they look over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.course.together.matmul_common.access_table import Part, Track
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, color

STAGE = Stage(760, 480, DARK)
INKS: tuple[tuple[str, Ink], ...] = (("load", "load"), ("barrier", "barrier"))
PARTS = (
    *(Part(name, ink, phase) for phase in range(2) for name, ink in INKS),
    Part("store", "store", -1),
)


def words(width: float, now: int, slim: bool = False) -> list[str]:
    panel = Track(PARTS, now, slim)
    area = Rect(0, 0, width, panel.need(STAGE, width).height)
    return [t for m in panel.draw(STAGE, area) if isinstance(m, Texts) for t in m.strings]


def boxes(panel: Track, stage: Stage = STAGE) -> list[Boxes]:
    return [m for m in panel.draw(stage, Rect(0, 0, 700, 49)) if isinstance(m, Boxes)]


def test_a_track_shows_all_phases_or_the_one_under_way() -> None:
    names = ["load", "barrier"]
    assert words(700, 2) == [*names, *names, "store", "phase 1", "phase 2"]
    assert words(260, 2) == [*names, "store", "phase 2 of 2"]
    assert words(260, 0, slim=True) == [*names, "store"]


@pytest.mark.parametrize("now", [0, 3, 5])
def test_a_track_is_full_then_outlined_then_dim(now: int) -> None:
    drawn = boxes(Track(PARTS, now))
    fill, outlines = drawn[0].fill, drawn[1]
    assert fill is not None and len(outlines.rect) == (now < 5)
    for number, part in enumerate(PARTS):
        full = color(STAGE, part.ink)
        assert np.array_equal(fill[number], DARK.todo(full)) == (number > now)
        assert np.array_equal(fill[number], full) == (number == now)


def test_skipped_parts_are_hatched_whatever_the_time_unless_a_class_is_asked() -> None:
    parts = tuple(replace(part, skipped=part.phase == 1) for part in PARTS)
    for now in (0, 3, 5):
        drawn = boxes(Track(parts, now))
        assert [len(m.rect) for m in drawn if m.hatch is not None] == [2]
        assert len(drawn[0].rect) == 3
    assert not any(
        m.hatch is not None for m in boxes(Track(parts, 0), replace(STAGE, question="?"))
    )
