"""The command palette: type a few letters of any command, Enter does it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.controls.layouts import column_of
from gpuviz.qt.controls.message import Announcer
from gpuviz.qt.look.theme import Theme
from gpuviz.words.fuzzy import score
from gpuviz.words.language import tr

Entry = tuple[Command, QAction]
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_ACTION = Qt.ItemDataRole.UserRole + 1
_GROUP = Qt.ItemDataRole.UserRole + 2


def matches(wanted: str, commands: Sequence[Entry]) -> list[Entry]:
    """The commands that fit, best first; all of them, in their order, when nothing is typed."""
    rated = [(score(wanted, f"{c.text} {c.group}"), c, a) for c, a in commands if a.isEnabled()]
    fitting = [(s, c, a) for s, c, a in rated if s is not None]
    if wanted.strip():
        fitting.sort(key=lambda f: -f[0])
    return [(c, a) for _, c, a in fitting]


class PaletteDialog(QDialog):
    """A line to type in and the commands that fit it; `offer` has more for what is typed."""

    def __init__(
        self,
        actions: Actions,
        theme: Theme,
        parent: QWidget,
        offer: Callable[[str], Sequence[Entry]] = lambda text: (),
    ) -> None:
        super().__init__(parent)
        self._commands, self._offer = list(actions), offer
        self.setWindowTitle(tr("Commands"))
        self.setModal(True)
        self.line = QLineEdit()
        self.line.setPlaceholderText(tr("Find a command, a lesson, an architecture …"))
        self.line.setAccessibleName(tr("Find a command"))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Commands found"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(_Delegate(theme, self.list))
        column_of(self.line, self.list, on=self, margins=(10, 10, 10, 10))
        self.line.textChanged.connect(self._find)
        self.line.returnPressed.connect(self._do)
        self.line.installEventFilter(self)
        self.list.itemClicked.connect(lambda item: self._do())
        self.announcer = Announcer(self.line)  # the list never has the focus
        self.list.currentItemChanged.connect(self._tell)
        look = theme.look
        self.resize(min(look.px(560), parent.width() - 40), min(look.px(420), parent.height() - 80))
        self._find("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys move in the list while the line keeps the focus."""
        pressed = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if isinstance(event, QKeyEvent) and pressed and Qt.Key(event.key()) in _MOVES:
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def found(self) -> list[str]:
        """What the list says, from top to bottom."""
        return [self.list.item(i).text() for i in range(self.list.count())]

    def _find(self, wanted: str) -> None:
        self.list.clear()
        for command, action in self._offer(wanted) or matches(wanted, self._commands):
            item = QListWidgetItem(tr(command.text))
            item.setData(_ACTION, action)
            item.setData(_GROUP, tr(command.group))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, _spoken(action, tr(command.group)))
            self.list.addItem(item)
        self.list.setCurrentRow(0)

    def _tell(self, item: QListWidgetItem | None) -> None:
        self.announcer.say(item.data(Qt.ItemDataRole.AccessibleTextRole) if item else "")

    def _do(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            action: QAction = item.data(_ACTION)
            if not action.isEnabled():
                return
            self.accept()
            action.trigger()


def _spoken(action: QAction, group: str) -> str:
    """What the delegate paints, in words."""
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    on = tr("on") if action.isCheckable() and action.isChecked() else ""
    return ", ".join(part for part in (action.text(), on, group, keys) if part)


class _Delegate(QStyledItemDelegate):
    """Text, group, keys; a mark before what is on."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: object) -> QSize:
        """One line."""
        return QSize(100, self._theme.look.px(30))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: object) -> None:
        """One command."""
        look = self._theme.look
        rect: QRect = option.rect
        action: QAction = index.data(_ACTION)  # type: ignore[attr-defined]
        group = str(index.data(_GROUP))  # type: ignore[attr-defined]
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, look.color("accent_soft"))
        inner = rect.adjusted(look.px(10), 0, -look.px(10), 0)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        painter.setPen(look.color("muted"))
        painter.setFont(look.font(12))
        painter.drawText(inner, right, keys or group)
        taken = painter.fontMetrics().horizontalAdvance(keys or group) + look.px(14)
        painter.setFont(look.font(13))
        painter.setPen(look.color("ink"))
        mark = "✓ " if action.isCheckable() and action.isChecked() else ""
        words = cut(mark + action.text(), painter.fontMetrics(), inner.width() - taken)
        painter.drawText(inner, left, words)
        painter.restore()


def cut(text: str, measure: QFontMetrics, room: int) -> str:
    """As much of a text as has room: its end stays, where what tells views apart stands."""
    return measure.elidedText(text, Qt.TextElideMode.ElideMiddle, room)
