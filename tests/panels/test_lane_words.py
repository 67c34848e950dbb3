"""Lanes and their words: who is served in which turn, and what hovering tells; ticks of turns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Curves, Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.lane_words import LaneWords
from gpuviz.panels.panel import Panel
from gpuviz.panels.ticks import Ticks, TicksLine

STAGE = Stage(900, 300, DARK)
AREA = Rect(20, 20, 860, 260)
LANES = np.arange(32)


def shown(panel: Panel, stage: Stage = STAGE) -> Frame:
    return stage.frame(*panel.draw(stage, AREA))


def words(served: float, sent: float = 1.0) -> LaneWords:
    """Four words, each of which comes in a turn of its own."""
    return LaneWords(LANES % 4 * 10, LANES % 4, "4 passes", sent, served)


def said(picture: Frame) -> list[str]:
    return [text for m in picture.marks if isinstance(m, Texts) for text in m.strings]


def test_hovering_tells_which_turn_serves_a_lane_and_a_word() -> None:
    lanes, boxes = (
        next(m for m in shown(words(0.0)).marks if isinstance(m, Boxes) and len(m.rect) == n)
        for n in (32, 4)
    )
    for rect, tip in (
        (lanes.rect[6], "lane 6 reads word 20 · turn 3 of 4 passes"),
        (boxes.rect[1], "word 10 · for 8 lanes · turn 2"),
    ):
        assert tip_at(shown(words(0.0)), rect[0] + 4, rect[1] + 4) == tip
    alone = shown(LaneWords(LANES, LANES, "32 passes", 1.0, 0.0))
    box = [m.rect[5] for m in alone.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == 32][
        1
    ]
    assert tip_at(alone, box[0] + 4, box[1] + 4) == "word 5 · for 1 lane · turn 6"


def test_bands_wait_come_and_rest() -> None:
    """Asked for and done, to the port and from it to the words; under way, out of it and past."""

    def curves(panel: LaneWords) -> list[int]:
        return [len(m.points) for m in shown(panel).marks if isinstance(m, Curves)]

    assert curves(words(0.0)) == [32, 0, 32, 0, 0, 0]
    assert curves(words(1.4)) == [16, 8, 16, 8, 8, 0]  # on its way to the port
    assert curves(words(1.6)) == [16, 8, 16, 8, 8, 8]  # and past it
    assert curves(words(4.0)) == [0, 32, 0, 32, 0, 0]


def test_words_that_share_a_port_leave_one_by_one_and_others_together() -> None:
    """One port for all words, or one for each of 32 banks."""

    def open_ports(panel: LaneWords) -> list[int]:
        accent = [m for m in shown(panel).marks if isinstance(m, Boxes) and m.fill is DARK.accent]
        return [len(m.rect) for m in accent]

    bank = LANES % 4
    at_once = LaneWords(LANES % 4 * 10, LANES * 0, "1 wavefront", 1.0, 0.5, bank, 32)
    assert open_ports(words(1.5)) == [1] and open_ports(at_once) == [4]
    assert open_ports(words(4.0)) == [0]
    gates = [m for m in shown(words(0.0)).marks if isinstance(m, Boxes) and len(m.rect) == 1]
    x, y = gates[0].rect[0, :2]
    assert tip_at(shown(words(0.0)), x + 4, y + 4) == "4 words leave here, one after the other"


def test_words_that_come_together_share_an_outline() -> None:
    together = LaneWords(LANES, LANES // 8 % 2, "2 sectors", 1.0, 0.5)
    outlines = [
        len(m.rect)
        for m in shown(together).marks
        if isinstance(m, Boxes) and m.stroke is DARK.outline and m.radius == 4
    ]
    assert outlines == [2]


def test_ticks_tell_how_many_are_over_and_hatch_those_beyond_the_ideal() -> None:
    marks = [m for m in shown(Ticks(8, 2, 5.5)).marks if isinstance(m, Boxes)]
    hatched = [len(m.rect) for m in marks if m.hatch is not None]
    solid = [len(m.rect) for m in marks if m.hatch is None and m.fill is not None]
    assert (solid, hatched) == ([0, 2], [3, 3])
    assert len(marks[-1].rect) == 1


def test_a_line_of_ticks_keeps_its_name_while_a_class_is_asked() -> None:
    line = TicksLine(
        ("shared memory",) * 2, (("shared memory",) * 2,), "3 of 8 wavefronts", Ticks(8, 1, 3.0)
    )
    assert {"shared memory", "3 of 8 wavefronts", "model"} == set(said(shown(line)))
    assert said(shown(line, replace(STAGE, question="How many?"))) == ["shared memory"]
