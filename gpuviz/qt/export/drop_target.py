"""Files, pictures and links dropped on the window; a frame while they are over it."""

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from gpuviz.qt.export.file_opener import Asked, asked_by, called
from gpuviz.qt.look.theme import Theme
from gpuviz.words.language import tr


class DropCue(QWidget):
    """A frame around the window and a line that says what a drop would do."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._window, self._theme = window, theme
        self.words = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, words: str) -> None:
        """Show it over all of the window."""
        self.words = words
        self.setAccessibleName(words)
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The frame, and the words at the bottom of it."""
        painter, look = QPainter(self), self._theme.look
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(look.color("accent"), 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(3, 3, -3, -3), 8, 8)
        font = look.font(14, bold=True)
        wide = QFontMetrics(font).horizontalAdvance(self.words) + look.px(36)
        high = look.px(38)
        box = QRectF((self.width() - wide) / 2, self.height() - 2.2 * high, wide, high)
        painter.setPen(QPen(look.color("accent"), 1))
        painter.setBrush(look.color("cell"))
        painter.drawRoundedRect(box, high / 2, high / 2)
        painter.setFont(font)
        painter.setPen(look.color("ink"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.words)


class DropTarget(QObject):
    """Watches a window for what is dragged over it; `take` is given what is dropped."""

    def __init__(self, window: QWidget, theme: Theme, take: Callable[[Asked], None]) -> None:
        super().__init__(window)
        self._take = take
        self.cue = DropCue(window, theme)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what can be opened, and nothing else."""
        kind = event.type()
        if kind == QEvent.Type.DragEnter:
            return self._enter(cast(QDragEnterEvent, event))
        if kind == QEvent.Type.DragMove and self.cue.isVisible():
            cast(QDragMoveEvent, event).acceptProposedAction()
            return True
        if kind == QEvent.Type.DragLeave:
            self.cue.hide()
        elif kind == QEvent.Type.Drop:
            return self._drop(cast(QDropEvent, event))
        return False

    def _enter(self, event: QDragEnterEvent) -> bool:
        asked = asked_by(event.mimeData())
        if asked is None:
            event.ignore()
            return True
        self.cue.say(tr("Drop to open {what}", what=called(asked)))
        event.acceptProposedAction()
        return True

    def _drop(self, event: QDropEvent) -> bool:
        self.cue.hide()
        asked = asked_by(event.mimeData())
        if asked is not None:
            event.acceptProposedAction()
            self._take(asked)
        return True
