"""A guided tour of the window: a card beside each part of it, gone through by keys or clicks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from gpuviz.qt.controls.controls import button, keep_arrows, label
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.qt.controls.message import Announcer
from gpuviz.words.language import texts, tr

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme

WIDTH, GAP = 330, 12


@dataclass(frozen=True)
class Stop:
    """A part of the window by its name, and what there is to know and to press."""

    part: str
    title: str
    text: str


STOPS = tuple(Stop(**row) for row in texts("tour")["stop"])


class Tour(QFrame):
    """The card; `find` gives the part of the window a stop is about, if it can be seen.

    Right or Enter goes on, Left goes back, Esc leaves; other keys are the window's.
    """

    ended = Signal()  # it was left, or gone through

    def __init__(
        self, window: QWidget, find: Callable[[str], QWidget | None], theme: Theme
    ) -> None:
        super().__init__(window)
        self._window, self._find, self._theme = window, find, theme
        self._at = 0
        self._part: QWidget | None = None  # that is stood beside
        self.setObjectName("card")
        self.setAccessibleName(tr("Guided tour"))
        self.title, self.text = label("", "value"), label("", wraps=True)
        self.place = label("", "quiet")
        self.skip = button(tr("Skip"), tr("Skip the tour"), "link", tr("Skip the tour  (Esc)"))
        self.back = button(tr("Back"), tr("Back"), "", tr("Back  (Left)"))
        self.on = button(tr("Next"), tr("Next"), "", tr("Next  (Right)"))
        for made, do in ((self.skip, self.leave), (self.back, self.go_back), (self.on, self.go_on)):
            made.clicked.connect(do)
            keep_arrows(made)
            made.installEventFilter(self)
        row = row_of(self.place, 1, self.skip, self.back, self.on)
        column_of(self.title, self.text, row, on=self, gap=8, margins=(16, 12, 16, 12))
        self.outline = _Outline(window)
        self.announcer = Announcer(self)
        window.installEventFilter(self)
        self.hide()

    @property
    def stop(self) -> Stop:
        """Where it is."""
        return STOPS[self._at]

    def begin(self) -> None:
        """From the first stop."""
        self._at = 0
        self.show()
        self._show_stop()

    def go_on(self) -> None:
        """The next stop; after the last one it is over."""
        if self._at == len(STOPS) - 1:
            self.leave()
            return
        self._at += 1
        self._show_stop()

    def go_back(self) -> None:
        """The stop before."""
        self._at = max(self._at - 1, 0)
        self._show_stop()

    def leave(self) -> None:
        """It is over."""
        self.hide()
        self.outline.hide()
        self.ended.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """It stays beside its part when that or the window changes; its keys."""
        if watched in (self._window, self._part):
            if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.isVisible():
                self._place()
            return False
        return isinstance(event, QKeyEvent) and self._key(event)

    def _key(self, event: QKeyEvent) -> bool:
        doing = {
            Qt.Key.Key_Right: self.go_on,
            Qt.Key.Key_Return: self.go_on,
            Qt.Key.Key_Enter: self.go_on,
            Qt.Key.Key_Left: self.go_back,
            Qt.Key.Key_Escape: self.leave,
        }
        do = doing.get(Qt.Key(event.key()))
        if do is None:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
        elif event.type() == QEvent.Type.KeyPress:
            do()
        return event.type() == QEvent.Type.KeyPress

    def _show_stop(self) -> None:
        stop = self.stop
        self.title.setText(tr(stop.title))
        self.text.setText(tr(stop.text))
        self.place.setText(tr("{n} of {all}", n=self._at + 1, all=len(STOPS)))
        self.back.setVisible(self._at > 0)
        self.skip.setVisible(self._at < len(STOPS) - 1)
        self.on.setText(tr("Done") if self._at == len(STOPS) - 1 else tr("Next"))
        self._place()
        self.on.setFocus(Qt.FocusReason.OtherFocusReason)
        self.announcer.say(f"{tr(stop.title)}. {tr(stop.text)}")

    def _place(self) -> None:
        """Beside its part, where there is room, and a line around that."""
        self.setFixedWidth(min(self._theme.look.px(WIDTH), self._window.width() - 2 * GAP))
        self.text.setFixedWidth(self.width() - 34)
        self.adjustSize()
        found = self._follow(self._find(self.stop.part))
        room = self._window.rect()
        if found is None or not found.isVisible():
            self.outline.hide()
            self.move(room.center() - self.rect().center())
        else:
            part = QRect(found.mapTo(self._window, QPoint(0, 0)), found.size()).intersected(room)
            self.outline.around(part)
            self.move(beside(part, self.size(), room))
        self.raise_()

    def _follow(self, part: QWidget | None) -> QWidget | None:
        """Hear when this part changes, which may be without the window; the last one no more."""
        if part is not self._part:
            if self._part is not None:
                self._part.removeEventFilter(self)
            if part is not None:
                part.installEventFilter(self)
            self._part = part
        return part


def beside(part: QRect, size: QSize, room: QRect) -> QPoint:
    """Where a card of a size lies beside a part of a window: to its side, else over its corner."""
    y = min(max(part.top(), room.top() + GAP), room.bottom() - size.height() - GAP)
    if part.right() + GAP + size.width() <= room.right():
        return QPoint(part.right() + GAP, y)
    if part.left() - GAP - size.width() >= room.left():
        return QPoint(part.left() - GAP - size.width(), y)
    x = min(max(part.left() + GAP, room.left() + GAP), room.right() - size.width() - GAP)
    if part.bottom() + GAP + size.height() <= room.bottom():
        return QPoint(x, part.bottom() + GAP)
    if part.top() - GAP - size.height() >= room.top():
        return QPoint(x, part.top() - GAP - size.height())
    return QPoint(x, min(part.bottom(), room.bottom()) - size.height() - GAP)


class _Outline(QFrame):
    """A line around the part that a stop is about; clicks go through it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("outline")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def around(self, part: QRect) -> None:
        """Show it around a part of the window."""
        self.setGeometry(part.adjusted(-1, -1, 1, 1))
        self.show()
        self.raise_()
