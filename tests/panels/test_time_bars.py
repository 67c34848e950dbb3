"""Launches on one axis of time: lengths are times, who is measured is told from who is modelled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.time_bars import TimeBar, TimeBars

STAGE, AREA = Stage(960, 540, DARK), Rect(20, 80, 920, 440)
BARS = (
    TimeBar(("one stage", "1"), 80.0, "recorded", ("4 bytes",)),
    TimeBar(("two stages", "2"), 20.0, "recorded", ("8 bytes",)),
    TimeBar(("three stages", "3"), 40.0, "model"),
)
SHOWN = TimeBars(BARS, ("time of a launch: NVIDIA H200",), 1, picks=({"n": 1}, {"n": 2}, {"n": 3}))


def marks(panel: TimeBars, stage: Stage = STAGE, area: Rect = AREA) -> list[Mark]:
    return list(panel.draw(stage, area))


def words(panel: TimeBars, stage: Stage = STAGE, area: Rect = AREA) -> list[str]:
    return [s for m in marks(panel, stage, area) if isinstance(m, Texts) for s in m.strings]


def bars(panel: TimeBars, stage: Stage = STAGE, area: Rect = AREA) -> list[Boxes]:
    found = [m for m in marks(panel, stage, area) if isinstance(m, Boxes)]
    return [m for m in found if m.radius == 2]


def test_a_bar_is_as_long_as_its_time() -> None:
    wide = [float(bar.rect[0, 2]) for bar in bars(SHOWN)]
    assert np.allclose(np.array(wide) / wide[0], [1.0, 0.25, 0.5], atol=1e-3)
    assert len({float(bar.rect[0, 0]) for bar in bars(SHOWN)}) == 1, "all begin at 0"


def test_names_times_the_device_and_what_differs_are_said() -> None:
    said = words(SHOWN)
    assert {"one stage", "80.0\u202fµs", "4 bytes", "recorded", "model"} <= set(said)
    assert "time of a launch: NVIDIA H200" in said and "0" in said


def test_who_is_modelled_is_hollow_and_who_is_shown_stands_out() -> None:
    one, now, modelled = bars(SHOWN)
    assert one.stroke is None and modelled.stroke is not None
    assert (now.fill == DARK.good).all() and not (one.fill == DARK.good).all()


def test_a_launch_is_done_when_its_time_has_passed() -> None:
    half = replace(SHOWN, over=0.5)
    assert {"20.0\u202fµs", "40.0\u202fµs"} < set(words(half))
    assert "80.0\u202fµs" not in words(half)
    long, _, same = (float(bar.rect[0, 2]) for bar in bars(half))
    assert long == pytest.approx(same)


def test_an_unknown_time_is_no_bar() -> None:
    some = replace(SHOWN, bars=(*BARS, TimeBar(("four stages",), None)))
    assert len(bars(some)) == 3 and "not measured" in words(some)
    none = replace(SHOWN, bars=(TimeBar(("four stages",), None),), now=None)
    assert not bars(none) and not none.scales()


def test_a_logarithmic_axis_has_a_line_for_each_power_of_ten() -> None:
    spread = (TimeBar(("slow",), 35_000.0, "recorded"), TimeBar(("fast",), 30.0, "recorded"))
    shown = TimeBars(spread, ("device",), log=True)
    assert {"10\u202fµs", "100\u202fµs", "1\u202fms", "10\u202fms"} <= set(words(shown))
    slow, fast = (float(bar.rect[0, 2]) for bar in bars(shown))
    assert 0.05 < fast / slow < 0.2


def test_side_by_side_they_share_their_scale() -> None:
    beside = replace(STAGE, scales={"time of a launch": 160.0})
    alone, shared = (bars(SHOWN, stage)[0].rect[0, 2] for stage in (STAGE, beside))
    assert shared == pytest.approx(alone / 2, rel=0.02)


def test_where_there_is_no_room_those_around_the_one_shown_are_left() -> None:
    many = tuple(TimeBar((f"rung {n}",), 10.0 + n, "recorded") for n in range(30))
    low = words(TimeBars(many, ("device",), 20), area=AREA._replace(height=160))
    assert "rung 20" in low and "rung 0" not in low and "rung 29" not in low


def test_a_click_chooses_the_launch_of_its_row() -> None:
    y = [float(bar.rect[0, 1] + bar.rect[0, 3] / 2) for bar in bars(SHOWN)]
    assert [SHOWN.pick(STAGE, AREA, 100, at) for at in y] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert SHOWN.pick(STAGE, AREA, 100, AREA.y) is None
    assert replace(SHOWN, picks=()).pick(STAGE, AREA, 100, y[0]) is None
