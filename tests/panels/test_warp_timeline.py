from dataclasses import replace

import pytest

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Raster, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.state_inks import NAMES, TOLD, colors
from gpuviz.panels.warp_timeline import WarpTimeline
from gpuviz.timing.warp_states import State
from tests.timing.launches import made

pytestmark = pytest.mark.machine_code
STAGE, AREA = Stage(1280, 720, DARK), Rect(20, 20, 1240, 680)


def panel(name: str = "copy1_2e18") -> WarpTimeline:
    """All of a launch."""
    record = made(name)[1]
    return WarpTimeline(record, 0.0, record.cycles)


def test_every_state_has_a_colour_and_words() -> None:
    assert set(NAMES) == set(TOLD) == set(State)
    assert len({tuple(ink) for ink in colors(STAGE).tolist()}) == len(State)


def test_pointing_at_a_wait_says_what_is_waited_for_and_on_which_line() -> None:
    shown = panel()
    boxes = next(m for m in shown.draw(STAGE, AREA) if isinstance(m, Boxes) and m.tip)
    assert boxes.tip is not None
    said = [boxes.tip(n) for n in range(len(boxes.rect))]
    assert any("waits for memory · LDG" in text and "line 1" in text for text in said)
    assert any("issues LDG" in text and "sectors found in L1" in text for text in said)


def test_many_spans_are_a_raster_that_says_the_same() -> None:
    shown = panel("shloop_32")
    raster = next(m for m in shown.draw(STAGE, AREA) if isinstance(m, Raster))
    assert raster.tip is not None
    assert raster.pixels.shape[0] == shown.record.places
    assert "until L1 and shared memory have served others" in raster.tip(3, 400)


def test_zooming_keeps_what_is_pointed_at_and_ends_at_single_instructions() -> None:
    shown = panel()
    row = shown.span_at(STAGE, AREA, 700, 100)
    cycle = shown.cycle_at(STAGE, AREA, 700)
    near = shown
    for _ in range(40):
        near = near.zoomed(cycle, 1.25)
    assert near.end - near.begin == 12
    assert near.cycle_at(STAGE, AREA, 700) == pytest.approx(cycle)
    assert near.span_at(STAGE, AREA, 700, 100) == row >= 0
    assert near.moved(1e9).end == shown.record.cycles and near.moved(-1e9).begin == 0
    words = [w for m in near.draw(STAGE, AREA) if isinstance(m, Texts) for w in m.strings]
    assert "cycles" in words


def test_shares_are_kept_back_while_a_class_is_asked() -> None:
    asked = Stage(1280, 720, DARK, question="what is waited for?")
    for stage, told in ((STAGE, True), (asked, False)):
        marks = panel().draw(stage, AREA)
        words = [w for m in marks if isinstance(m, Texts) for w in m.strings]
        assert any("%" in word for word in words) == told


def test_what_is_still_to_come_is_shown_in_no_track() -> None:
    """A class that is asked what limits must not read it off the tracks."""
    whole = panel()

    def highest(now: float | None) -> float:
        marks = replace(whole, now=now).draw(STAGE, AREA)
        tracks = [m.rect for m in marks if isinstance(m, Boxes) and m.tip and len(m.rect) > 50]
        return max(float(rects[:, 3].max()) for rects in tracks[-4:])

    assert highest(None) > 10
    assert highest(whole.begin) == 0


def test_what_begins_at_the_very_end_stands_inside() -> None:
    """Boxes are painted a pixel wide at the least, and stood as specks right of the lanes."""
    whole = panel()
    spans = whole.record.spans
    start = float(spans.start[spans.start > 500][0])
    lanes, *_ = whole._parts(STAGE, AREA)
    shown = replace(whole, end=start + 1e-3).draw(STAGE, AREA)
    boxes = next(m for m in shown if isinstance(m, Boxes) and m.tip)
    assert len(boxes.rect) and boxes.rect[:, 0].max() <= lanes.right - 1
