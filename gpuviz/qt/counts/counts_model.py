"""The counts as a Qt table: quantity, predicted for each run, and measured or compared."""

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpuviz.qt.controls.controls import plain_tip
from gpuviz.results.badges import BADGES
from gpuviz.results.count_columns import Column, Sheet
from gpuviz.results.quantities import Row
from gpuviz.results.table import Table
from gpuviz.words.language import THIN, tr

BADGE_ROLE = Qt.ItemDataRole.UserRole + 1
HEADING_ROLE = Qt.ItemDataRole.UserRole + 2
STATE_ROLE = Qt.ItemDataRole.UserRole + 3
Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_QUIET = ("–", "0", "", "1×")


class CountsModel(QAbstractTableModel):
    """The cells of a `Sheet`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sheet = Sheet()

    def show(self, sheet: Sheet) -> None:
        """Show other numbers; the table is made anew only when its shape changes."""
        same = (len(sheet.rows), sheet.columns) == (len(self.sheet.rows), self.sheet.columns)
        if not same:
            self.beginResetModel()
        self.sheet = sheet
        if not same:
            self.endResetModel()
        elif sheet.rows:
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(sheet.rows) - 1, len(sheet.columns) - 1)
            )

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of rows."""
        return 0 if parent.isValid() else len(self.sheet.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of columns."""
        return 0 if parent.isValid() else len(self.sheet.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        """Title, badge and hint of a column."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self.sheet.columns):
            return None
        column = self.sheet.columns[section]
        return {
            Qt.ItemDataRole.DisplayRole: column.title,
            BADGE_ROLE: column.badge,
            Qt.ItemDataRole.ToolTipRole: column.hint,
        }.get(role)

    def data(self, index: Index, role: int = 0) -> object:
        """One cell."""
        row, column = self.sheet.rows[index.row()], self.sheet.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.sheet.text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._tip(row, column))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_LEFT if column.kind == "name" else _RIGHT)
        if role == HEADING_ROLE:
            return not row.values
        if role == STATE_ROLE:
            return self._state(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.label} {column.title}: {self.sheet.text(row, column)}"
        return None

    def text(self, row: Row, column: int) -> str:
        """What a cell says."""
        return self.sheet.text(row, self.sheet.columns[column])

    def _tip(self, row: Row, column: Column) -> str:
        missing = column.kind == "measured" and row.values
        if missing and self.sheet.reading(row, column.run) is None:
            return self.sheet.why(row, column.run)
        return row.hint

    def _state(self, row: Row, column: Column) -> str:
        """How a cell looks: quiet, strong, off (measured is not predicted) or plain."""
        if column.kind in ("measured", "residual", "ratio"):
            if self.sheet.text(row, column) in _QUIET:
                return "quiet"
            told = column.kind == "residual" and not row.modelled  # it errs, and says how far
            off = told and self.sheet.residual(row, column.run)
            return "off" if off else "strong" if row.strong else "plain"
        return "strong" if row.strong and column.kind == "predicted" else "plain"


def as_text(model: CountsModel) -> str:
    """The whole table, columns parted by tabs."""
    lines = ["\t".join(_head(model))]
    for row in model.sheet.rows:
        lines.append("\t".join(_cells(model, row)) if row.values else row.label)
    return "\n".join(lines)


def as_table(model: CountsModel) -> Table:
    """The whole table; a row without numbers is a heading of those below it."""
    empty = [""] * (len(model.sheet.columns) - 1)
    rows = (_cells(model, r) if r.values else (r.label, *empty) for r in model.sheet.rows)
    return Table(_head(model), tuple(rows))


def _head(model: CountsModel) -> tuple[str, ...]:
    """Each column's title with the badge of its numbers."""
    columns = model.sheet.columns[1:]
    said = (f"{c.title} ({tr(BADGES[c.badge])})" if c.badge else c.title for c in columns)
    return (tr("quantity"), *said)


def _cells(model: CountsModel, row: Row) -> tuple[str, ...]:
    """What a row says, thousands not parted: other programs read it."""
    return tuple(model.sheet.text(row, c).replace(THIN, "") for c in model.sheet.columns)
