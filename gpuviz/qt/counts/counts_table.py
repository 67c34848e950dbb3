"""The table of counts: rows with hairlines, column titles with the badge of their numbers."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QScrollArea,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpuviz.draw.heading import ink_of, is_live
from gpuviz.qt.controls.controls import keep_arrows
from gpuviz.qt.counts.counts_model import BADGE_ROLE, HEADING_ROLE, STATE_ROLE, CountsModel
from gpuviz.qt.look.theme import Look, Theme
from gpuviz.results.badges import BADGES
from gpuviz.words.language import tr

ROW, HEADING, HEADER = 24, 28, 42
NAME = (120, 190)  # width of the names of the quantities, least and most
MOST = 345  # of the table, until the user gives it more: further columns are scrolled to
_WHOLE = 10_000  # pixels: a heading is never so long
_COLOR = {"quiet": "faint", "strong": "ink", "plain": "ink", "off": "warn"}


class CountsTable(QTableView):
    """All rows visible; the panel scrolls to them, the table to columns that have no room. The
    names of the quantities stay."""

    def __init__(self, model: CountsModel, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._numbers: list[int] = []  # widths of the columns of numbers
        self.setHorizontalHeader(_Header(theme, self))
        _prepare(self, model, theme)
        self.setAccessibleName(tr("Counts"))
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.names = _Names(self, model, theme)
        theme.changed.connect(self.fit)
        keep_arrows(self)

    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """It is the panel around the table that scrolls to a row."""
        self._scroll_across(self.visualRect(index))
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        inside = area.widget() if isinstance(area, QScrollArea) else None
        if isinstance(area, QScrollArea) and inside is not None:
            rect = self.visualRect(index)
            at = self.viewport().mapTo(inside, rect.center())
            area.ensureVisible(0, at.y(), 0, 2 * rect.height())

    def _scroll_across(self, cell: QRect) -> None:
        """A cell is seen when it is neither past the edge nor under the names."""
        bar, hidden = self.horizontalScrollBar(), self.columnWidth(0)
        beyond = cell.right() - self.viewport().width() + 1
        if cell.left() < hidden:
            bar.setValue(bar.value() + cell.left() - hidden)
        elif beyond > 0:
            bar.setValue(bar.value() + beyond)

    def fit(self) -> None:
        """Rows and height for what the model holds; headings span the columns."""
        model = self.model()
        self.clearSpans()
        for row in range(model.rowCount()):
            heading = model.index(row, 0).data(HEADING_ROLE)
            height = self._theme.look.px(HEADING if heading else ROW)
            for table in (self, self.names):
                table.setRowHeight(row, height)
            if heading and model.columnCount() > 1:
                self.setSpan(row, 0, 1, model.columnCount())
        self._numbers = self._numbers_widths()  # every cell is asked: once, and not when resized
        wanted = self._names_width() + sum(self._numbers)
        self.setMinimumWidth(min(wanted, self._theme.look.px(MOST)))
        self._divide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The names take what the numbers leave."""
        super().resizeEvent(event)
        self._divide()

    def _names_width(self) -> int:
        least, most = (self._theme.look.px(width) for width in NAME)
        return max(least, min(self.sizeHintForColumn(0), most))

    def _numbers_widths(self) -> list[int]:
        """What each column of numbers needs: for its cells, and for its title and badge."""
        head = self.horizontalHeader()
        return [
            max(self.sizeHintForColumn(column), head.sectionSizeHint(column))
            for column in range(1, self.model().columnCount())
        ]

    def _divide(self) -> None:
        """The width among the columns: names may be cut so that all numbers are seen; where that is
        not enough, they are whole, and there is a bar to scroll with.
        """
        if self.model().columnCount() != 1 + len(self._numbers):
            return  # other columns, which `fit` is about to measure
        numbers, room = self._numbers, self.viewport().width()
        names = room - sum(numbers)
        if names < self._theme.look.px(NAME[0]):
            names = self._names_width()
        for column, width in enumerate((names, *numbers)):
            self.setColumnWidth(column, width)
        scrolls = names + sum(numbers) > room
        bar = self.horizontalScrollBar().sizeHint().height() if scrolls else 0
        rows = sum(map(self.rowHeight, range(self.model().rowCount())))
        self.setFixedHeight(self._theme.look.px(HEADER) + rows + 4 + bar)
        self.names.setVisible(scrolls)
        self.names.setColumnWidth(0, names)
        corner = self.horizontalHeader().pos()
        self.names.setGeometry(QRect(corner, QSize(names, self._theme.look.px(HEADER) + rows)))


class _Names(QTableView):
    """The names of the quantities, which stay while the columns of numbers are scrolled."""

    def __init__(self, table: CountsTable, model: CountsModel, theme: Theme) -> None:
        super().__init__(table)
        self.setObjectName("names")
        self.setHorizontalHeader(_Header(theme, self))
        _prepare(self, model, theme)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionModel(table.selectionModel())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Counts"))
        self._theme = theme
        table.horizontalScrollBar().valueChanged.connect(lambda: self.viewport().update())
        self.hide()

    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """They stay, whatever is current in the table."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """The names, and an edge under which the numbers go."""
        super().paintEvent(event)
        painter, look = QPainter(self.viewport()), self._theme.look
        painter.setPen(look.color("border"))
        painter.drawLine(self.viewport().rect().topRight(), self.viewport().rect().bottomRight())


def _prepare(table: QTableView, model: CountsModel, theme: Theme) -> None:
    """Its looks, and how it behaves."""
    table.setModel(model)
    table.setItemDelegate(_Cell(theme, table))
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # their ends tell loads from stores
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)


class _Header(QHeaderView):
    """Column titles, each with the badge of its numbers below."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self.setSectionsClickable(False)
        self.setMinimumSectionSize(24)

    def sizeHint(self) -> QSize:
        """Two lines."""
        return QSize(super().sizeHint().width(), self._theme.look.px(HEADER))

    def sectionSizeFromContents(self, section: int) -> QSize:
        """Wide enough for title and badge."""
        look = self._theme.look
        measure = QFontMetrics(look.font(12))
        title, badge = self._words(section)
        words = measure.horizontalAdvance(title)
        width = max(words, measure.horizontalAdvance(_word(badge)) + look.px(10))
        return QSize(width + look.px(10), look.px(HEADER))

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Title above badge, to the right."""
        look = self._theme.look
        title, badge = self._words(section)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(look.font(12))
        painter.setPen(look.color("muted"))
        half = rect.height() // 2
        upper = rect.adjusted(0, 0, -look.px(3), -half)
        painter.drawText(upper, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, title)
        if badge:
            _badge(painter, look, rect.adjusted(0, half, -look.px(3), -look.px(3)), badge)
        painter.restore()

    def _words(self, section: int) -> tuple[str, str]:
        model, across = self.model(), Qt.Orientation.Horizontal
        title = model.headerData(section, across, Qt.ItemDataRole.DisplayRole)
        return str(title or ""), str(model.headerData(section, across, BADGE_ROLE) or "")


def _word(badge: str) -> str:
    return tr(BADGES[badge]) if badge else ""


def _badge(painter: QPainter, look: Look, rect: QRect, badge: str) -> None:
    """An outlined word at the right edge, in the colour of its source; filled while it is live."""
    text = _word(badge)
    color, live = look.color(ink_of(text)), is_live(text)
    painter.setFont(look.font(10.5))
    width = QFontMetrics(painter.font()).horizontalAdvance(text) + look.px(10)
    box = QRectF(rect.right() - width, rect.top() + 0.5, width, rect.height() - 1)
    painter.setPen(QPen(color, 1))
    painter.setBrush(color if live else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    painter.setPen(look.color("ground") if live else color)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _current(option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> bool:
    """Whether a cell lies in the row that the keyboard is at."""
    view = option.widget
    table = view.parentWidget() if isinstance(view, _Names) else view
    if not isinstance(table, QTableView):
        return False
    return table.hasFocus() and index.row() == table.currentIndex().row()


def _goes_on(option: QStyleOptionViewItem) -> bool:
    """Whether a heading beside the numbers goes on above them: where none is scrolled away."""
    table = option.widget.parentWidget() if isinstance(option.widget, _Names) else None
    return isinstance(table, QTableView) and table.horizontalScrollBar().value() == 0


class _Cell(QStyledItemDelegate):
    """A cell with a hairline below; headings muted and bold."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """The width of the text; a heading spans the columns and asks for none."""
        look = self._theme.look
        if index.data(HEADING_ROLE):
            return QSize(0, look.px(HEADING))
        text = QFontMetrics(look.font(13, bold=True)).horizontalAdvance(str(index.data()))
        return QSize(text + look.px(10), look.px(ROW))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """One cell."""
        look = self._theme.look
        heading = bool(index.data(HEADING_ROLE))
        state = str(index.data(STATE_ROLE))
        rect: QRect = option.rect
        painter.save()
        if _current(option, index):
            painter.fillRect(rect, look.blend("accent_soft", "panel", 0.4))
        painter.setPen(look.blend("border", "panel", 0.55))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if index.column() > 1 and not heading:  # numbers of two runs are not to be read as one
            painter.drawLine(rect.topLeft(), rect.bottomLeft())
        painter.setFont(look.font(12 if heading else 13, bold=heading or state == "strong"))
        painter.setPen(look.color("muted" if heading else _COLOR[state]))
        inner = rect.adjusted(look.px(3), look.px(6) if heading else 0, -look.px(3), 0)
        if heading and _goes_on(option):
            inner.setWidth(_WHOLE)
        words = QFontMetrics(painter.font()).elidedText(
            str(index.data()), Qt.TextElideMode.ElideMiddle, inner.width()
        )
        flags = index.data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(inner, int(flags), words)
        painter.restore()
