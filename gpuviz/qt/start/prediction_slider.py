"""A number is predicted by dragging or with arrow keys; the answer comes to stand beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QSlider

from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.lectures.answer import shown
from gpuviz.lectures.prediction import Prediction, Reach, line
from gpuviz.qt.controls.controls import Ring, keep_arrows
from gpuviz.qt.painting.painter import paint
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent

    from gpuviz.qt.look.theme import Theme

_STEPS = 400  # places along the line
_HIGH, _SIDE = 46, 10  # pixels: its height, and what stays free at its ends


class PredictionSlider(QSlider):
    """"""

    predicted = Signal(float)  # it has been dragged to another number
    given = Signal()  # Enter says that this is the prediction

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._ring = theme, Ring()
        self._one = Prediction(Reach(1.0, True))
        self._answer: float | None = None
        self.setRange(0, _STEPS)
        self.setObjectName("prediction")  # its height stands in the style sheet
        self.setAccessibleName(tr("Your prediction"))
        self.setToolTip(tr("Drag to what you predict"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        keep_arrows(self)
        self.valueChanged.connect(self._move)

    def show_prediction(self, one: Prediction, answer: float | None) -> None:
        """Show what is predicted, and the answer once it is out: then nothing is dragged."""
        self._one, self._answer = one, answer
        self.setEnabled(answer is None)
        if one.value is not None:
            self.setAccessibleDescription(shown(one.value))
        self.update()

    def sizeHint(self) -> QSize:
        """As high as words, line and ticks."""
        look = self._theme.look
        return QSize(look.px(240), look.px(_HIGH))

    def minimumSizeHint(self) -> QSize:
        """Less wide."""
        return QSize(self._theme.look.px(140), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The line."""
        look = self._theme.look
        stage = Stage(float(self.width()), float(self.height()), look.palette, look.scale)
        area = Rect(0, 0, stage.width, stage.height).inset(look.px(_SIDE), 0)
        frame = stage.frame(*line(stage, area, self._one, self._answer))
        painter = QPainter(self)
        paint(painter, frame)
        self._ring.paint(painter, self, self._theme)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The disc comes to the pointer."""
        self._drag(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """And follows it."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._drag(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """It stays where it is."""
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go to the next number; Enter gives it."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}
        way = step.get(Qt.Key(event.key()))
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.given.emit()
        elif way is not None:
            self._step(way)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus when it came by the keyboard."""
        self._ring.enter(event.reason())
        super().focusInEvent(event)

    def _step(self, way: int) -> None:
        """To the next place where there is another number."""
        reach, before = self._one.reach, self._one.value
        for value in range(self.value() + way, _STEPS + 1 if way > 0 else -1, way):
            if reach.at(value / _STEPS) != before:
                self.setValue(value)
                return

    def _drag(self, event: QMouseEvent) -> None:
        side = self._theme.look.px(_SIDE)
        share = (event.position().x() - side) / max(self.width() - 2 * side, 1)
        before = self.value()
        self.setValue(round(share * _STEPS))
        if self.value() == before:
            self._move(before)  # a click on where it stands is a prediction, too
        event.accept()

    def _move(self, value: int) -> None:
        self.predicted.emit(self._one.reach.at(value / _STEPS))
