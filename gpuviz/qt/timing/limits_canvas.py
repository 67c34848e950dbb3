"""What limits a launch as a widget: bars in cycles, and what would be without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.qt.painting.painter import paint
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.panels.limit_bars import LimitBars, WhatIfs
    from gpuviz.qt.look.theme import Theme
    from gpuviz.timing.explained import Explained

_GAP = 10.0


class LimitsCanvas(QWidget):
    """As high as it needs.

    Signals
    -------
    pointed : the line of the source of the bar that was clicked
    """

    pointed = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[LimitBars, WhatIfs] | None = None
        self._frame: Frame | None = None
        self.setAccessibleName(tr("What limits"))
        self.setMouseTracking(True)
        theme.changed.connect(self._fit)

    def show_explained(self, e: Explained | None) -> None:
        """Show a launch, or nothing."""
        from gpuviz.panels.limit_bars import LimitBars, WhatIfs, bars_of
        from gpuviz.panels.limit_words import what_if_words

        self._shown = None
        if e is not None:
            bars = LimitBars(bars_of(e), e.prediction.cycles, e.limits.limiter)
            self._shown = bars, WhatIfs(e)
            self.setAccessibleDescription(
                " ".join(what_if_words(e, one) + "." for one in e.what_ifs)
            )
        self._fit()

    def resizeEvent(self, event: QEvent) -> None:
        """Another width is another picture."""
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, or the ground."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.look.color("ground"))
        if self._shown is not None and self._frame is None:
            stage = self._stage()
            marks = [m for one, area in self._parts(stage) for m in one.draw(stage, area)]
            self._frame = stage.frame(*marks)
        if self._frame is not None:
            paint(painter, self._frame)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a bar goes to its line."""
        if line := self._line(event.position().y()):
            self.pointed.emit(line)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A hand where a click would do something."""
        there = bool(self._line(event.position().y()))
        self.setCursor(Qt.CursorShape.PointingHandCursor if there else Qt.CursorShape.ArrowCursor)

    def _line(self, y: float) -> int:
        if self._shown is None:
            return 0
        stage = self._stage()
        return self._shown[0].line_at(stage, self._parts(stage)[0][1], y)

    def _stage(self) -> Stage:
        look = self._theme.look
        return Stage(float(self.width()), float(self.height()), look.palette, look.scale * 0.9)

    def _parts(self, stage: Stage) -> list[tuple[LimitBars | WhatIfs, Rect]]:
        assert self._shown is not None
        y, found = 4.0, list[tuple["LimitBars | WhatIfs", Rect]]()
        for one in self._shown:
            high = one.need(stage, self.width() - 2 * _GAP).height
            found.append((one, Rect(_GAP, y, self.width() - 2 * _GAP, high)))
            y += high + _GAP
        return found

    def _fit(self, *_: object) -> None:
        self._frame = None
        if self._shown is not None:
            last = self._parts(self._stage())[-1][1]
            self.setMinimumHeight(round(last.bottom + 4))
        self.update()
