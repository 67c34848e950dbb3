"""Small controls the panels are made of: labels, icon buttons, a combo box, a switch."""

from __future__ import annotations

from functools import reduce
from html import escape
from operator import or_
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from gpuviz.qt.look.icons import paint_icon
from gpuviz.words.language import tr
from gpuviz.words.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gpuviz.qt.look.theme import Theme


def plain_tip(text: str) -> str:
    """A text as it is for a tip: Qt takes one with `<b>` for HTML, and would fetch its pictures."""
    shown = visible(text)
    if not {"<", "&"} & set(shown):
        return shown
    return f'<p style="white-space: pre-wrap">{escape(shown)}</p>'


def label(text: str, role: str = "", parent: QWidget | None = None, wraps: bool = False) -> QLabel:
    """A label; `role` picks its looks in the style sheet."""
    made = QLabel(text, parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setProperty("role", role)
    made.setWordWrap(wraps)
    return made


def show_words(made: QLabel, text: str, sign: str = "") -> None:
    """Show a text behind a sign, or hide the label where there is none."""
    made.setText(f"{sign}{text}" if text else "")
    made.setVisible(bool(text))


def set_look(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet selects by."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        restyle(widget)


def text_line(name: str, text: str = "", example: str = "", tip: str = "") -> QLineEdit:
    """A line to type in, read from its beginning, with the name that screen readers say."""
    made = QLineEdit(text)
    made.setAccessibleName(name)
    made.setPlaceholderText(example)
    made.setToolTip(tip)
    made.setCursorPosition(0)
    return made


def timer(parent: QObject, after_ms: int, do: Callable[[], object]) -> QTimer:
    """A timer that runs out once, so long after it was started last."""
    made = QTimer(parent)
    made.setSingleShot(True)
    made.setInterval(after_ms)
    made.timeout.connect(do)
    return made


class ClippedLabel(QLabel):
    """A line of text as wide as it is, painted with an ellipsis where it gets less room."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setMinimumWidth(1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """What there is room for."""
        room, end = self.contentsRect(), Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self.text(), end, room.width())
        align, enabled = self.alignment(), self.isEnabled()
        painter = QStylePainter(self)
        painter.drawItemText(room, align, self.palette(), enabled, shown, self.foregroundRole())


FEW_LETTERS = 5  # of a text that is cut, which say nothing any more


class ElidedLabel(QLabel):
    """A line of text, cut at its end when there is no room; the tip has it in full."""

    def __init__(
        self, role: str = "", align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.said = ""
        self.setProperty("role", role)
        self.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(24)

    def say(self, text: str) -> None:
        """Show a text."""
        self.said = visible(text)
        self._cut()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width shows more, or less."""
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        room = self.contentsRect().width()
        shown = self.fontMetrics().elidedText(self.said, Qt.TextElideMode.ElideRight, room)
        self.setText(shown if shown == self.said or len(shown) > FEW_LETTERS else "")
        self.setToolTip(plain_tip(self.said) if shown != self.said else "")


def button(text: str, name: str, role: str = "", tip: str = "") -> QPushButton:
    """A push button with the name that screen readers say."""
    made = QPushButton(text)
    made.setProperty("role", role)
    made.setAccessibleName(name)
    made.setToolTip(tip)
    return made


def answers(dialog: QDialog, ok: str) -> QDialogButtonBox:
    """The two buttons that end a dialog: the one named, which accepts, and Cancel."""
    kinds = QDialogButtonBox.StandardButton
    made = QDialogButtonBox(kinds.Ok | kinds.Cancel)
    made.button(kinds.Ok).setText(ok)
    made.button(kinds.Cancel).setText(tr("Cancel"))
    made.accepted.connect(dialog.accept)
    made.rejected.connect(dialog.reject)
    return made


def restyle(widget: QWidget) -> None:
    """Read the style sheet again after a property it selects by has changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


class Ring:
    """Whether a painted widget shows its focus: when it came by the keyboard, not by a click."""

    _REASONS = (
        Qt.FocusReason.TabFocusReason,
        Qt.FocusReason.BacktabFocusReason,
        Qt.FocusReason.ShortcutFocusReason,
    )

    def __init__(self) -> None:
        self.shown = False

    def enter(self, reason: Qt.FocusReason) -> None:
        """The focus came, for this reason."""
        self.shown = reason in self._REASONS

    def paint(self, painter: QPainter, widget: QWidget, theme: Theme) -> None:
        """Outline the widget if it has the focus."""
        if self.shown and widget.hasFocus():
            painter.setPen(QPen(theme.look.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5))


class IconButton(QToolButton):
    """A flat button with a painted icon; a checked one carries the accent."""

    def __init__(self, icon: str, name: str, tip: str, theme: Theme, side: int = 32) -> None:
        super().__init__()
        self.icon_name = icon
        self._theme = theme
        self._side = side
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("role", "link")
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """A square that grows with the text."""
        side = self._theme.look.px(self._side)
        return QSize(side, side)

    def show_icon(self, icon: str) -> None:
        """Change the picture (play becomes pause)."""
        self.icon_name = icon
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Frame by the style, then the icon."""
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        painter = QPainter(self)
        self.style().drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option, painter, self)
        name = "accent" if self.isChecked() else "ink" if self.isEnabled() else "faint"
        inset = self.width() * 0.19
        rect = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        paint_icon(painter, self.icon_name, rect, self._theme.look.color(name))


def _paint_chevron(widget: QWidget, theme: Theme) -> None:
    look = theme.look
    side = look.px(14)
    box = QRectF(widget.width() - side - look.px(6), (widget.height() - side) / 2, side, side)
    paint_icon(QPainter(widget), "chevron", box, look.color("muted"))


class Combo(QComboBox):
    """A combo box with a painted chevron. The wheel scrolls the panel, not the value.

    On Linux Qt tells a screen reader the value instead of the name: the description has it, too.
    """

    def __init__(self, name: str, theme: Theme, items: Iterable[tuple[str, object]] = ()) -> None:
        """`items` are words and values."""
        super().__init__()
        self._theme = theme
        self.setAccessibleName(name)
        self.setAccessibleDescription(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.add(items)

    def add(self, items: Iterable[tuple[str, object]]) -> None:
        """Further words and values."""
        for words, value in items:
            self.addItem(words, value)

    def add_refused(self, words: str, remedy: str) -> None:
        """A row that cannot be chosen; a pointer on it is told what helps."""
        self.addItem(words)
        quiet, role = self._theme.look.color("muted"), Qt.ItemDataRole
        flags = role.UserRole - 1  # those of an item: it is not enabled
        for which, value in ((role.ToolTipRole, remedy), (role.ForegroundRole, quiet), (flags, 0)):
            self.setItemData(self.count() - 1, value, which)

    def choose(self, value: object) -> None:
        """Show a value, if the list has it."""
        if (index := self.findData(value)) >= 0:
            self.setCurrentIndex(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The style's box, the text with an ellipsis where it is cut, the chevron."""
        option, painter = QStyleOptionComboBox(), QStylePainter(self)
        self.initStyleOption(option)
        box, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(box, option, field, self).width()
        end = Qt.TextElideMode.ElideRight
        said = option.currentText or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(said, end, room)
        painter.drawComplexControl(box, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
        _paint_chevron(self, self._theme)

    def showPopup(self) -> None:
        """The list is as wide as its entries, though the box may be too narrow for them."""
        view = self.view()
        bar = view.verticalScrollBar().sizeHint().width()
        view.setMinimumWidth(view.sizeHintForColumn(0) + bar)
        super().showPopup()

    def wheelEvent(self, event: QEvent) -> None:
        """Leave the wheel to the scroll area."""
        event.ignore()


class MenuButton(QToolButton):
    """A boxed button that opens a menu. Where there is no room the end of its text is left out.

    Its text is what is chosen: to a screen reader it describes what has the name.
    """

    def __init__(self, name: str, theme: Theme, tip: str = "") -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("role", "box")
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def setText(self, text: str) -> None:
        """Show what is chosen."""
        super().setText(text)
        self.setAccessibleDescription(text)

    def sizeHint(self) -> QSize:
        """Room for the chevron."""
        hint = super().sizeHint()
        return QSize(hint.width() + self._theme.look.px(18), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Room for a short word."""
        hint = self.sizeHint()
        return QSize(min(hint.width(), self._theme.look.px(92)), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Box, text to the left, chevron."""
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        text, option.text = option.text, ""
        painter = QPainter(self)
        self.style().drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option, painter, self)
        painter.setPen(self._theme.look.color("good" if self.property("live") else "ink"))
        box = self.rect().adjusted(self._theme.look.px(11), 0, -self._theme.look.px(22), 0)
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.end()
        _paint_chevron(self, self._theme)


class Switch(QCheckBox):
    """A check box drawn as a switch."""

    def __init__(self, name: str, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(name)

    def sizeHint(self) -> QSize:
        """Twice as wide as high."""
        return QSize(self._theme.look.px(38), self._theme.look.px(22))

    def hitButton(self, pos: object) -> bool:
        """All of it can be clicked."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Track and knob; the accent when on, an outline when focused."""
        look = self._theme.look
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(1, (self.height() - look.px(18)) / 2, look.px(34), look.px(18))
        edge = "accent" if self.hasFocus() else "border"
        painter.setPen(QPen(look.color(edge), 1.2))
        painter.setBrush(look.color("accent_soft" if self.isChecked() else "cell"))
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        knob = track.height() - 6
        x = track.right() - knob - 3 if self.isChecked() else track.left() + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("accent" if self.isChecked() else "muted"))
        painter.drawEllipse(QRectF(x, track.top() + 3, knob, knob))


class KeepKeys(QObject):
    """Event filter: the keys named go to the focused control, not to the window's shortcuts."""

    def __init__(self, keys: Iterable[Qt.Key], parent: QObject) -> None:
        super().__init__(parent)
        self._keys = frozenset(keys)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim a plain key before it is looked up as a shortcut."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = event.modifiers() in (
                Qt.KeyboardModifier.NoModifier,
                Qt.KeyboardModifier.ShiftModifier,
                Qt.KeyboardModifier.KeypadModifier,
            )
            if plain and Qt.Key(event.key()) in self._keys:
                event.accept()
        return False


_ARROWS = (
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
)


def keep_arrows(widget: QWidget) -> None:
    """Arrows, Home and End move within this control while it has the focus."""
    widget.installEventFilter(KeepKeys(_ARROWS, widget))


def keep_space(widget: QWidget) -> None:
    """Space presses this control while it has the focus."""
    widget.installEventFilter(KeepKeys((Qt.Key.Key_Space,), widget))


def question(
    window: QWidget, asked: str, words: Mapping[QMessageBox.StandardButton, str], more: str = ""
) -> QMessageBox:
    """A question with these answers, in plain text: names of files are a stranger's words."""
    box = QMessageBox(QMessageBox.Icon.Question, "gpuviz", asked, parent=window)
    box.setStandardButtons(reduce(or_, words))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(more)
    for kind, text in words.items():
        box.button(kind).setText(text)
    return box


_KINDS = QMessageBox.StandardButton


def unsaved_question(window: QWidget, asked: str) -> QMessageBox:
    """Asks what becomes of changes that are not saved; see `what_to_do`."""
    save, discard, cancel = tr("Save"), tr("Do not save"), tr("Cancel")
    words = {_KINDS.Save: save, _KINDS.Discard: discard, _KINDS.Cancel: cancel}
    return question(window, asked, words)


def what_to_do(unsaved: QMessageBox) -> str:
    """The answer to `unsaved_question`: "save", "discard" or "cancel"."""
    return {_KINDS.Save: "save", _KINDS.Discard: "discard"}.get(_KINDS(answer(unsaved)), "cancel")


def ask(dialog: QDialog) -> None:
    """Open a dialog; what it signals tells the answer."""
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def answer(dialog: QDialog) -> int:
    """Open a dialog and wait for the answer, which is what its `exec` returns."""
    try:
        return dialog.exec()
    finally:
        dialog.deleteLater()
