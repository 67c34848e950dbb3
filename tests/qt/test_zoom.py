"""The picture enlarged: by wheel, keys and drag, painted anew, clicks where they are seen."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpuviz.draw.zoom import MOST, Zoom
from gpuviz.qt.painting.painter import to_image
from gpuviz.qt.painting.qt_painter import rgba
from gpuviz.qt.window.window import Window


def wheel(window: Window, at: QPointF, notches: int) -> None:
    none, way = QPoint(), QPoint(0, 120 * notches)
    buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    place = window.stage.mapToGlobal(at)
    phase = Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, place, none, way, buttons, keys, phase, False)
    QApplication.sendEvent(window.stage, event)


def test_what_is_under_the_pointer_stays_there() -> None:
    zoom = Zoom().about(300, 100, 2.0, 800, 400)
    assert zoom.inside(300, 100) == pytest.approx((300, 100)) and zoom.factor == 2
    further = zoom.about(500, 300, 1.5, 800, 400)
    assert further.inside(500, 300) == pytest.approx(zoom.inside(500, 300))


def test_it_never_leaves_the_picture() -> None:
    zoom = Zoom().about(0, 0, 100.0, 800, 400)
    assert zoom.factor == MOST
    assert zoom.moved(500, 500, 800, 400) == zoom  # at the top left already
    far = zoom.moved(-1e6, -1e6, 800, 400)
    assert far.inside(800, 400) == pytest.approx((800, 400))
    assert Zoom(2, 100, 100).about(0, 0, 0.1, 800, 400) == Zoom()


def test_wheel_keys_and_lessons(window: Window) -> None:
    stage = window.stage
    wheel(window, QPointF(100, 60), 2)
    assert stage.zoom.inside(100, 60) == pytest.approx((100, 60)) and stage.zoom.factor > 1.5
    QTest.keyClick(stage, Qt.Key.Key_0)
    assert not stage.zoom.on
    QTest.keyClick(stage, Qt.Key.Key_Plus)
    before = stage.zoom
    QTest.keyClick(stage, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert stage.zoom.left > before.left and window.player.t == 0
    QTest.keyClick(stage, Qt.Key.Key_Minus)
    assert not stage.zoom.on
    wheel(window, QPointF(100, 60), 3)
    window.actions_["open.strides"].trigger()
    assert not stage.zoom.on


def test_an_enlarged_picture_is_dragged_and_a_double_click_shows_all(window: Window) -> None:
    stage, left = window.stage, Qt.MouseButton.LeftButton
    wheel(window, QPointF(200, 100), 4)
    at = stage.zoom.inside(200, 200)
    QTest.mousePress(stage, left, pos=QPoint(200, 200))
    QTest.mouseMove(stage, QPoint(160, 190))
    assert stage.zoom.inside(160, 190) == pytest.approx(at)
    QTest.mouseRelease(stage, left, pos=QPoint(160, 190))
    QTest.mouseDClick(stage, left, pos=QPoint(160, 190))
    assert not stage.zoom.on


def test_tips_are_those_of_what_is_seen(window: Window) -> None:
    stage = window.stage
    stage.grab()
    x = 20 + 3.5 * (stage.width() - 40) / 32  # in the bar of lane 3
    wheel(window, QPointF(x, 100), 3)
    inside = stage.zoom.inside(x, 100)
    assert stage.tip(*inside).startswith("lane 3 ")


@pytest.mark.slow
def test_it_is_painted_anew_not_scaled_up(window: Window) -> None:
    """What is seen is a piece of the picture painted four times as large."""
    stage = window.stage
    stage.grab()
    stage.enlarge(4, QPointF(40, 32))
    assert stage.frame is not None
    left, top = round(stage.zoom.left * 4), round(stage.zoom.top * 4)
    whole = rgba(to_image(stage.frame, 4))[top:, left:, :3].astype(int)
    seen = rgba(stage.grab().toImage())[40:, :, :3].astype(int)  # below the words in the corner
    part = whole[40 : stage.height(), : stage.width()]
    assert np.mean(np.abs(seen - part).max(axis=2) > 40) < 0.01
    assert np.ptp(seen) > 200
