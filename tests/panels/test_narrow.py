"""Where two pictures stand side by side there is half the room: words stay apart all the same."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from gpuviz.draw.axis import linear
from gpuviz.draw.layout import Rect
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.count_boxes import CountBoxes
from gpuviz.panels.legend import Legend
from gpuviz.panels.panel import Panel
from gpuviz.panels.plot import Corner, Note, Plot
from gpuviz.qt.look.fonts import load_fonts
from tests.course.pictures import misplaced, words

STAGE = Stage(420, 200, DARK)
PITCHES = tuple(f"{16 * n} B" for n in range(2, 34))
ACROSS, HIGH = linear(("loads",), 0, 16, 4), linear(("warps",), 0, 64, 16)
CROWDED: dict[str, Panel] = {
    "legend": Legend("0.662 ms", "≥ 1.31 ms", "recorded"),
    "boxes": CountBoxes(PITCHES, np.full(32, 16), np.zeros(32), 32),
    "corner": Plot(
        ACROSS,
        HIGH,
        (Corner("top right", "above: every slot filled"), Note(12, 52, "24 warps, 13 needed")),
    ),
    "captions": Plot(ACROSS, HIGH, (), ("160: 94 %, 321: 86 %", "321: 86 %")),
}


@pytest.mark.parametrize("name", CROWDED)
@pytest.mark.parametrize("width", [170, 240, 409])
def test_words_stay_apart(name: str, width: int, qapp: QApplication) -> None:
    load_fonts()
    panel = CROWDED[name]
    high = max(panel.need(STAGE, width).height, 150.0)
    frame = Stage(width, high, DARK).frame(*panel.draw(STAGE, Rect(0, 0, width, high)))
    assert list(misplaced(frame)) == [] and words(frame)


def test_what_the_ramp_means_is_said_in_narrow_maps_too() -> None:
    legend = CROWDED["legend"]
    narrow, wide = (legend.need(STAGE, width).height for width in (170, 600))
    assert narrow == pytest.approx(2 * wide)
