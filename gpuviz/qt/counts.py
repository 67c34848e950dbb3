"""The counts panel: predicted, measured, residual, or runs beside each other; what to expect."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gpuviz.arch import architecture
from gpuviz.qt.controls import Combo, button, keep_arrows, keep_space, label, restyle
from gpuviz.qt.count_views import Measured, Sheet, View, columns_of, views_of
from gpuviz.qt.counts_model import BADGE_ROLE, HEADING_ROLE, STATE_ROLE, CountsModel, as_text
from gpuviz.qt.quantities import rows_for, rows_of
from gpuviz.qt.residuals import all_verdicts
from gpuviz.qt.showing import Showing
from gpuviz.qt.theme import Look, Theme

ROW, HEADING, HEADER = 24, 28, 42
NAME = 120  # least width of the names of the quantities
_COLOR = {"quiet": "faint", "strong": "ink", "plain": "ink", "off": "warn"}
_BADGES = {"model": "accent", "live": "good"}


class Counts(QWidget):
    """Totals of the runs shown, beside what a GPU counted or beside each other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._showing: Showing | None = None
        self._measured: dict[str, Measured] = {}
        self._views: list[View] = []
        self._view = ""
        self.model = CountsModel(self)
        self.table = _Table(self.model, theme)
        self.level = label("", "badge")
        self.view = Combo("Columns of the counts", theme)
        self.view.setToolTip("All runs beside each other, or one against its measurement")
        self.view.activated.connect(lambda i: self._choose(self._views[i]))
        self.verdict, self.expected, self.note = label("", "quiet"), label(""), label("", "quiet")
        for words in (self.note, self.expected, self.verdict):
            words.setWordWrap(True)
            words.hide()
        self.copied = button("copy", "Copy counts as text", "link", "Copy the table as text")
        self.copied.clicked.connect(self.copy)
        for widget in (self.copied, self.view):
            keep_space(widget)
        keep_arrows(self.view)
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(self._heading())
        for widget in (self.view, self.table, self.verdict, self.expected, self.note):
            column.addWidget(widget)

    def show_runs(self, showing: Showing) -> None:
        """Show the counts of a performance, or of two."""
        self._showing = showing
        self._measured = {}
        self._views = views_of(showing)
        self._fill_views()
        first = next(iter(showing.runs.values()))
        archs = dict.fromkeys(run.arch for run in showing.runs.values())
        self.level.setText(f"{' | '.join(archs)} · {first.level}")
        self.level.setToolTip("Architecture, and whose memory instructions are counted: "
                              "those of the assembled code (sass) or of the PTX.")  # fmt: skip
        notes = dict.fromkeys(r.level_note for r in showing.runs.values() if r.level_note)
        _say(self.note, "\n".join(notes))
        _say(self.expected, showing.story.expected)
        self._fill()
        self.show()

    def show_measured(self, key: str, measured: Measured) -> None:
        """Show what a GPU counted in one of the runs."""
        if self._showing is not None and key in self._showing.runs:
            self._measured[key] = measured
            self._fill()

    def text(self) -> str:
        """The table as text, parted by tabs."""
        return as_text(self.model)

    def copy(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _heading(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(label("Counts, this launch", "heading"))
        row.addWidget(self.level, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        row.addWidget(self.copied)
        return row

    def _fill_views(self) -> None:
        """The list of views; the one looked at is kept if there still is one of its name."""
        titles = [view.title for view in self._views]
        self.view.clear()
        self.view.addItems(titles)
        index = titles.index(self._view) if self._view in titles else 0
        self.view.setCurrentIndex(index)
        self.view.setVisible(len(titles) > 1)

    def _choose(self, view: View) -> None:
        self._view = view.title
        self._fill()

    def _fill(self) -> None:
        """Rows, columns and verdicts of the view chosen."""
        showing = self._showing
        assert showing is not None
        runs, keys = list(showing.runs.values()), list(showing.runs)
        sectors = all(architecture(run.arch).has_sectors for run in runs)
        view = self._views[max(self.view.currentIndex(), 0)]
        titles = {key: showing.title(key) for key in keys}
        indices = {key: number for number, key in enumerate(keys)}
        rows = rows_of([run.counts.totals for run in runs], sectors)
        rows = rows_for(rows, [indices[key] for key in view.runs])
        sheet = Sheet(tuple(rows), tuple(columns_of(view, titles, indices, self._measured)),
                      tuple(keys), self._measured, view)  # fmt: skip
        self.model.show(sheet)
        verdicts = all_verdicts(sheet, runs, list(titles.values()))
        _say(self.verdict, "\n".join(v.text for v in verdicts))
        self.verdict.setProperty("off", not all(v.equal for v in verdicts))
        restyle(self.verdict)
        self.table.fit()


def _say(words: QWidget, text: str) -> None:
    """Show a label's text, or hide it when there is none."""
    words.setProperty("text", text)
    words.setVisible(bool(text))


class _Table(QTableView):
    """All rows visible; the panel scrolls, not the table."""

    def __init__(self, model: CountsModel, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setModel(model)
        self.setAccessibleName("Counts")
        self.setItemDelegate(_Cell(theme, self))
        self.setHorizontalHeader(_Header(theme, self))
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self.fit)
        keep_arrows(self)

    def fit(self) -> None:
        """Rows and height for what the model holds; headings span the columns."""
        model, look = self.model(), self._theme.look
        total = look.px(HEADER)
        self.clearSpans()
        for row in range(model.rowCount()):
            heading = model.index(row, 0).data(HEADING_ROLE)
            height = look.px(HEADING if heading else ROW)
            self.setRowHeight(row, height)
            total += height
            if heading and model.columnCount() > 1:
                self.setSpan(row, 0, 1, model.columnCount())
        self._size_columns()
        numbers = sum(self._column(c) for c in range(1, model.columnCount()))
        self.setMinimumWidth(look.px(NAME) + numbers)
        self.setFixedHeight(total + 4)

    def _column(self, column: int) -> int:
        """What a column of numbers needs: for its cells, and for its title and badge."""
        title = self.horizontalHeader().sectionSizeHint(column)
        return max(self.sizeHintForColumn(column), title)

    def _size_columns(self) -> None:
        """The first column takes what the numbers leave."""
        header = self.horizontalHeader()
        model = self.model()
        if model.columnCount() == 0:
            return
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)


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
        width = max(words, measure.horizontalAdvance(badge) + look.px(10))
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


def _badge(painter: QPainter, look: Look, rect: QRect, text: str) -> None:
    """An outlined word at the right edge; the model's in the accent."""
    color = look.color(_BADGES.get(text, "muted"))
    painter.setFont(look.font(10.5))
    width = QFontMetrics(painter.font()).horizontalAdvance(text) + look.px(10)
    box = QRectF(rect.right() - width, rect.top() + 0.5, width, rect.height() - 1)
    painter.setPen(QPen(color, 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _current(option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> bool:
    """Whether a cell lies in the row that the keyboard is at."""
    view = option.widget
    if not isinstance(view, QTableView):
        return False
    return view.hasFocus() and index.row() == view.currentIndex().row()


class _Cell(QStyledItemDelegate):
    """A cell with a hairline below; headings muted and bold."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem,
                 index: QModelIndex | QPersistentModelIndex) -> QSize:
        """The width of the text; a heading spans the columns and asks for none."""
        look = self._theme.look
        if index.data(HEADING_ROLE):
            return QSize(0, look.px(HEADING))
        text = QFontMetrics(look.font(13, bold=True)).horizontalAdvance(str(index.data()))
        return QSize(text + look.px(10), look.px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem,
              index: QModelIndex | QPersistentModelIndex) -> None:
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
        painter.setFont(look.font(12 if heading else 13, bold=heading or state == "strong"))
        painter.setPen(look.color("muted" if heading else _COLOR[state]))
        inner = rect.adjusted(look.px(3), look.px(6) if heading else 0, -look.px(3), 0)
        words = QFontMetrics(painter.font()).elidedText(
            str(index.data()), Qt.TextElideMode.ElideRight, inner.width()
        )
        flags = index.data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(inner, int(flags), words)
        painter.restore()
