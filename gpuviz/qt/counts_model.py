"""The counts of a performance as a table: quantity, predicted for each run, measured, residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpuviz.qt.quantities import Row, shown

BADGE_ROLE = Qt.ItemDataRole.UserRole + 1
HEADING_ROLE = Qt.ItemDataRole.UserRole + 2
STATE_ROLE = Qt.ItemDataRole.UserRole + 3
Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Measured:
    """What a GPU counted: values of one run by key, or the reason why there are none."""

    badge: str
    reason: str
    values: tuple[tuple[str, int], ...] = ()

    def of(self, key: str) -> int | None:
        """The value of a key, None when it was not measured."""
        return dict(self.values).get(key)


NOT_MEASURED = Measured("unavailable", "unavailable: no GPU has run this launch")


@dataclass(frozen=True)
class Column:
    """A column: its title, the badge of its numbers, and what hovering the title says."""

    title: str
    badge: str = ""
    hint: str = ""


class CountsModel(QAbstractTableModel):
    """Rows from `quantities.rows_of`, columns from the runs and the measurement."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: Sequence[Row] = ()
        self.columns: Sequence[Column] = ()
        self._measured = NOT_MEASURED
        self._runs = 0

    def show(self, rows: Sequence[Row], runs: Sequence[str], measured: Measured) -> None:
        """Show the rows of runs with these names."""
        self.beginResetModel()
        self.rows, self._measured, self._runs = rows, measured, len(runs)
        titles = runs if len(runs) > 1 else ("predicted",)
        predicted = "Predicted by executing the kernel's code and modelling the memory system."
        self.columns = [Column("")] + [Column(t, "model", predicted) for t in titles]
        if measured.values:
            self.columns += [Column("measured", measured.badge, measured.reason), Column("Δ")]
        else:
            self.columns += [Column("measured", measured.badge, measured.reason)]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        """Title, badge and hint of a column."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        return {Qt.ItemDataRole.DisplayRole: column.title, BADGE_ROLE: column.badge,
                Qt.ItemDataRole.ToolTipRole: column.hint}.get(role)  # fmt: skip

    def data(self, index: Index, role: int = 0) -> object:
        """One cell."""
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(row, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_LEFT if index.column() == 0 else _RIGHT)
        if role == HEADING_ROLE:
            return not row.values
        if role == STATE_ROLE:
            return self._state(row, index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.label} {self.columns[index.column()].title}: " + self.text(
                row, index.column()
            )
        return None

    def text(self, row: Row, column: int) -> str:
        """What a cell says."""
        if column == 0:
            return row.label
        if not row.values:
            return ""
        if column <= self._runs:
            return shown(row.values[column - 1], row.percent)
        measured = self._measured.of(row.key)
        if column == self._runs + 1:
            return "–" if measured is None else shown(measured)
        predicted = row.values[0]
        return "" if measured is None or predicted is None else _signed(predicted - measured)

    def _tip(self, row: Row, column: int) -> str:
        if column > self._runs and row.values and self._measured.of(row.key) is None:
            return self._measured.reason
        return row.hint

    def _state(self, row: Row, column: int) -> str:
        """How a cell looks: quiet, strong or plain."""
        text = self.text(row, column)
        if column > self._runs and text in ("–", "0", ""):
            return "quiet"
        return "strong" if row.strong and 0 < column <= self._runs else "plain"


def _signed(value: float) -> str:
    return f"{value:+.0f}" if value else "0"


def as_text(model: CountsModel) -> str:
    """The whole table, columns parted by tabs."""
    head = [f"{c.title} ({c.badge})" if c.badge else c.title for c in model.columns]
    lines = ["\t".join(["quantity", *head[1:]])]
    for row in model.rows:
        cells = [model.text(row, c).replace("\u2009", "") for c in range(len(model.columns))]
        lines.append("\t".join(cells) if row.values else row.label)
    return "\n".join(lines)
