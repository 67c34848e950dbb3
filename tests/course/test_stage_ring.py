"""Stages side by side: what is in them, their mbarriers, and what is kept back from a class."""

from __future__ import annotations

from gpuviz.course.matrix_products.producer_consumer.stages import Counter, Slot, StageRing
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage

FULL, EMPTY = Counter("full", 3, 1, 1, 4096), Counter("empty", 2, 0, 8)
BOTH = Slot("stage 1", ("tile 4 is read, tile 7 comes", "4, 7"), "compute", True, (FULL, EMPTY))
RING = StageRing((Slot("stage 0", ("empty",), "cell", False, (FULL, EMPTY)), BOTH))
ASKS = Stage(900, 400, DARK, question="Which parity?")


def drawn(stage: Stage, width: float = 900) -> list[Mark]:
    return list(RING.draw(stage, Rect(0, 0, width, RING.need(stage, width).height)))


def words(marks: list[Mark]) -> list[str]:
    return [s for one in marks if isinstance(one, Texts) for s in one.strings]


def test_what_is_lacking_is_said_as_there_is_room() -> None:
    said = words(drawn(Stage(900, 400, DARK)))
    assert (
        "1 of 1 arrived, 4\N{NARROW NO-BREAK SPACE}096 bytes to come" in said
        and "0 of 8 arrived" in said
    )
    assert "1/1, 4\N{NARROW NO-BREAK SPACE}096 B" in words(drawn(Stage(900, 400, DARK), 400))
    assert FULL.parity == 1 and EMPTY.parity == 0
    tips = {
        one.tip(0) for one in drawn(Stage(900, 400, DARK)) if isinstance(one, Boxes) and one.tip
    }
    assert "phase 3 of full is under way: parity 1" in tips


def test_a_class_that_is_asked_sees_neither_parity_nor_arrivals_nor_what_is_wrong() -> None:
    told, asked = drawn(Stage(900, 400, DARK)), drawn(ASKS)
    assert not any("arrived" in word or " B" in word for word in words(asked))
    assert any(isinstance(one, Boxes) and one.hatch is not None for one in told)
    assert not any(isinstance(one, Boxes) and one.hatch is not None for one in asked)
    tips = [one.tip(0) for one in asked if isinstance(one, Boxes) and one.tip]
    assert not any("parity" in tip for tip in tips)
