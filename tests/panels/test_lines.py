"""Lines of text: their wordings, their room, and what is kept back."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.lines import Heading, Line, Lines
from gpuviz.panels.panel import Answer, Panel
from gpuviz.panels.picture import Picture, placed

STAGE = Stage(760, 480, DARK)
LONG, SHORT = "a rather long wording of what is to be said", "in short"


def words(panel: Panel, width: float, height: float, stage: Stage = STAGE) -> list[str]:
    marks = panel.draw(stage, Rect(0, 0, width, height))
    return [text for mark in marks if isinstance(mark, Texts) for text in mark.strings]


def test_the_longest_wording_that_fits_is_taken_and_the_last_one_wrapped() -> None:
    one = Lines((Line((LONG, SHORT)),))
    assert words(one, 700, 40) == [LONG] and words(one, 100, 40) == [SHORT]
    broken = words(Lines((Line((LONG,)),)), 150, 90)
    assert len(broken) > 1 and " ".join(broken) == LONG


def test_lines_that_have_no_room_are_left_out() -> None:
    both = Lines((Line((LONG,)), Line((SHORT,), bold=True)))
    assert words(both, 700, both.need(STAGE, 700).height) == [LONG, SHORT]
    assert words(both, 700, 30) == [LONG]
    assert words(Lines((Line(("unbreakable" * 9,)),)), 100, 90) == []


def test_room_that_is_kept_does_not_depend_on_what_is_said() -> None:
    kept = [Lines((Line((text,)),), 4.0, 12.0).need(STAGE, 150) for text in (LONG, SHORT)]
    assert kept[0] == kept[1] and kept[0].width == 12 * 14


def test_a_heading_gives_up_its_note_for_its_badge_and_its_name() -> None:
    head = Heading((LONG, SHORT), ("a note",), "model")
    assert words(head, 700, 30) == ["model", LONG, "a note"]
    assert words(head, 140, 30) == ["model", SHORT]
    asks = replace(STAGE, question="How many?")
    assert words(head, 700, 30, asks) == [LONG]


def test_an_answer_waits_for_the_class() -> None:
    picture = Picture("Title", "Sentence.", Answer(Lines((Line((SHORT,)),))))
    for stage, shown in ((STAGE, True), (replace(STAGE, question="What?"), False)):
        texts = [
            t
            for m in placed(picture, stage).frame().marks
            if isinstance(m, Texts)
            for t in m.strings
        ]
        assert (SHORT in texts) == shown
