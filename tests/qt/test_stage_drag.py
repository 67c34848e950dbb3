"""What a click on the picture chose can be dragged on."""

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gpuviz.draw.stage import Stage
from gpuviz.qt.window.window import Window
from gpuviz.story.lesson import Values

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def in_halves(t: float, stage: Stage, x: float, y: float) -> Values | None:
    """The upper half of the picture has two values, the lower one none."""
    return {"width": 8 if x < stage.width / 2 else 16} if y < stage.height / 2 else None


def test_dragging_chooses_what_the_pointer_comes_to_once_each(window: Window) -> None:
    player, stage = window.player, window.stage
    assert player.story is not None
    player.tell(replace(player.story, pick=in_halves))
    chosen: list[Values] = []
    stage.picked.disconnect()
    stage.picked.connect(lambda values, right: chosen.append(values))
    left, right = stage.width() // 4, 3 * stage.width() // 4
    QTest.mousePress(stage, LEFT, NONE, QPoint(left, 20))
    for x in (left + 5, right, right + 5):
        QTest.mouseMove(stage, QPoint(x, 20))
    assert chosen == [{"width": 8}, {"width": 16}]
    QTest.mouseRelease(stage, LEFT, NONE, QPoint(right, 20))
    QTest.mouseMove(stage, QPoint(left, 20))
    QTest.mousePress(stage, LEFT, NONE, QPoint(left, stage.height() - 20))
    QTest.mouseMove(stage, QPoint(left, 20))
    assert len(chosen) == 2, "a drag begins where a click does something"
