"""The tab that ranks the lines by what they cost; a row goes to its line and its moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeySequence, QPainter, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpuviz.memory.line_costs import AccessCost
from gpuviz.qt.controls.controls import keep_arrows, label, plain_tip, show_words
from gpuviz.qt.controls.layouts import column_of
from gpuviz.results.line_rows import LineRow, head
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme

Index = QModelIndex | QPersistentModelIndex
SHARE, RATIO, LINE, ACCESS, REQUESTS, COST, IDEAL, REASON, LESSON = range(9)
_NUMBERS = (RATIO, LINE, REQUESTS, COST, IDEAL)
_ROW, _SECOND = 24, 19  # heights of the row, and of the words below what is not fine
_WIDTHS = {SHARE: 64, RATIO: 60, LINE: 42, REQUESTS: 72, COST: 122, IDEAL: 60, LESSON: 132}


class LinesModel(QAbstractTableModel):
    """Rows of expressions, the most expensive line first; some opened to their instructions."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[LineRow] = []

    def show(self, rows: list[LineRow]) -> None:
        """Other rows, none of them opened."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def turn(self, number: int) -> None:
        """Open a row to the instructions that it became, or close it."""
        inner = self.rows[number].instructions
        end = number + 1
        while end < len(self.rows) and self.rows[end].inner:
            end += 1
        if end > number + 1:
            self.beginRemoveRows(QModelIndex(), number + 1, end - 1)
            self.rows = self.rows[: number + 1] + self.rows[end:]
            self.endRemoveRows()
        elif inner:
            self.beginInsertRows(QModelIndex(), number + 1, number + len(inner))
            self.rows = self.rows[: number + 1] + inner + self.rows[number + 1 :]
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of accesses."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of columns."""
        return 0 if parent.isValid() else len(head())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        """The title of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        return head()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = 0) -> object:
        """One cell; the tip has the line of the source, and all that is known of the access."""
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.cells[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            more = tr("A click on the expression, or the key *, opens it to its instructions.")
            opens = f"\n{more}" if row.access.copies else ""
            return plain_tip(f"{row.line.text}\n{row.told}{opens}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.cells[index.column()]
        return _side(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None


def _side(column: int) -> Qt.AlignmentFlag:
    right = column in _NUMBERS
    across = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return across | Qt.AlignmentFlag.AlignVCenter


_LEFT = _side(SHARE)


def _ink(column: int, fine: bool) -> str:
    """The colour of a cell's words: of what is fine all are quiet."""
    if column == LESSON:
        return "accent"
    return "muted" if fine else "warn" if column == COST else "ink"


class LinesView(QWidget):
    """The table, or why there is none."""

    pointed = Signal(str, AccessCost)  # role and `AccessCost` of the row that was chosen
    source_asked = Signal()  # its line is to be seen in the source
    lesson_asked = Signal(str)  # the id of a lesson

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._role = ""
        self.model = LinesModel()
        self.focus = self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setItemDelegate(_Cell(theme, self.table))
        self.table.setAccessibleName(tr("Lines by cost"))
        self.table.setObjectName("lines")
        self.table.setColumnHidden(REASON, True)  # its words stand below the row
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.clicked.connect(self._click)
        open_row = QShortcut(QKeySequence(Qt.Key.Key_Asterisk), self.table)
        open_row.setContext(Qt.ShortcutContext.WidgetShortcut)
        open_row.activated.connect(lambda: self._turn(self.table.currentIndex()))
        self.table.activated.connect(lambda index: self.source_asked.emit())
        self.table.selectionModel().currentRowChanged.connect(lambda at, before: self._point(at))
        keep_arrows(self.table)
        self.empty = label("", "quiet")
        self.empty.setMargin(10)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        column_of((self.table, 1), (self.empty, 1), on=self)
        theme.changed.connect(self._fit)
        self.clear()

    def show_rows(self, role: str, rows: list[LineRow]) -> None:
        """The lines of a run; the place in the table stays where it is of the same run."""
        row = self.table.currentIndex().row() if role == self._role else -1
        self._role = role
        self.model.show(rows)
        self.table.setColumnHidden(RATIO, all(one.ratio is None for one in rows))
        self._say(tr("This kernel accesses no memory.") if not self.model.rows else "")
        self._fit()
        if 0 <= row < len(self.model.rows):
            with QSignalBlocker(self.table.selectionModel()):
                self.table.selectRow(row)

    def clear(self) -> None:
        """Nothing is shown."""
        self.model.show([])
        self._say(tr("Nothing has run yet."))

    def _say(self, why: str) -> None:
        show_words(self.empty, why)
        self.table.setVisible(not why)

    def _fit(self) -> None:
        px = self._theme.look.px
        down = self.table.verticalHeader()
        down.setMinimumSectionSize(1)
        down.setDefaultSectionSize(px(_ROW))
        for number, row in enumerate(self.model.rows):
            down.resizeSection(number, px(_ROW + (0 if row.fine else _SECOND)))
        across = self.table.horizontalHeader()
        across.setSectionsClickable(False)
        across.setFixedHeight(px(_ROW))
        for column in range(self.model.columnCount()):
            fixed = column in _WIDTHS
            kind = QHeaderView.ResizeMode
            across.setSectionResizeMode(column, kind.Interactive if fixed else kind.Stretch)
            if fixed:
                self.table.setColumnWidth(column, px(_WIDTHS[column]))

    def _click(self, index: QModelIndex) -> None:
        lesson = self.model.rows[index.row()].access.reason.lesson
        if index.column() == LESSON and lesson:
            self.lesson_asked.emit(lesson)
        else:
            self._point(index)
            if index.column() == ACCESS:
                self._turn(index)

    def _turn(self, index: QModelIndex) -> None:
        if index.isValid():
            self.model.turn(index.row())
            self._fit()

    def _point(self, index: QModelIndex) -> None:
        if index.isValid():
            self.pointed.emit(self._role, self.model.rows[index.row()].access)


class _Cell(QStyledItemDelegate):
    """A cell; shares are bars, lessons links, what is fine is quiet."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The width of the text."""
        look = self._theme.look
        text = QFontMetrics(look.font(12.5)).horizontalAdvance(str(index.data()))
        return QSize(text + look.px(12), look.px(_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """One cell, a hairline above the first access of a line."""
        look, rect = self._theme.look, QRect(option.rect)
        model = index.model()
        assert isinstance(model, LinesModel)
        row, view = model.rows[index.row()], option.widget
        painter.save()
        if isinstance(view, QTableView) and view.currentIndex().row() == index.row():
            painter.fillRect(rect, look.blend("accent_soft", "panel", 0.3))
        if row.share is not None:
            painter.setPen(look.blend("border", "panel", 0.4))
            painter.drawLine(rect.topLeft(), rect.topRight())
        column = index.column()
        first = rect.adjusted(0, 0, 0, look.px(_ROW) - rect.height())
        if column == SHARE and row.share is not None:
            self._bar(painter, first, row.share)
        if column == LESSON and not row.fine and isinstance(view, QTableView):
            below = rect.adjusted(0, look.px(_ROW) - look.px(3), -look.px(8), 0)
            below.setLeft(view.columnViewportPosition(ACCESS) + look.px(8))
            painter.setPen(look.color("muted"))
            self._say(painter, below, _LEFT, row.access.reason.said)
        painter.setPen(look.color(_ink(column, row.fine)))
        inner = first.adjusted(look.px(8), 0, -look.px(8), 0)
        said = "" if column == LINE and row.share is None else str(index.data())
        if column == ACCESS and row.inner:
            inner.setLeft(inner.left() + look.px(16))
        self._say(painter, inner, _side(column), said, mono=column == ACCESS)
        painter.restore()

    def _say(
        self, painter: QPainter, rect: QRect, side: Qt.AlignmentFlag, text: str, mono: bool = False
    ) -> None:
        painter.setFont(self._theme.look.font(12.5, mono=mono))
        cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, side, cut)

    def _bar(self, painter: QPainter, rect: QRect, share: float) -> None:
        look = self._theme.look
        inner = QRectF(rect).adjusted(look.px(4), look.px(4), -look.px(4), -look.px(4))
        inner.setWidth(max(inner.width() * share, 2.0))
        painter.fillRect(inner, look.blend("warn", "panel", 0.6))
