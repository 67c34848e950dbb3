"""A buffer as a table, some elements a row; only what is seen is made into texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from gpuviz.words.language import grouped, tr

if TYPE_CHECKING:
    import numpy as np

    from gpuviz.results.buffers import BufferResult

Index = QModelIndex | QPersistentModelIndex
ValueKind = Literal["after", "before", "expected", "difference"]
COLUMNS = 8
STATE_ROLE = Qt.ItemDataRole.UserRole + 1


class BuffersModel(QAbstractTableModel):
    """The elements of one buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.result: BufferResult | None = None
        self.shown: ValueKind = "after"

    def show(self, result: BufferResult | None, shown: ValueKind) -> None:
        """Another buffer, or other values of it."""
        self.beginResetModel()
        self.result, self.shown = result, shown
        self.endResetModel()

    def place(self, element: int) -> QModelIndex:
        """The cell of an element."""
        return self.index(*divmod(element, COLUMNS))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Rows of `COLUMNS` elements."""
        if parent.isValid() or self.result is None:
            return 0
        return int(-(-self.result.after.size // COLUMNS))

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Elements of a row."""
        return 0 if parent.isValid() else COLUMNS

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        """Rows have the index of their first element, columns what is to be added to it."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        down = orientation == Qt.Orientation.Vertical
        return grouped(section * COLUMNS) if down else f"+{section}"

    def data(self, index: Index, role: int = 0) -> object:
        """One element: its text, all its values as a tip, and its state."""
        at, result = index.row() * COLUMNS + index.column(), self.result
        if result is None or at >= result.after.size:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(result, at)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _told(result, at)
        if role == STATE_ROLE:
            return state_of(result, at)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _text(self, result: BufferResult, at: int) -> str:
        values = {
            "after": result.after,
            "before": result.before,
            "expected": result.expected,
            "difference": result.apart,
        }[self.shown]
        return "" if values is None else short(values[at])


def state_of(result: BufferResult, at: int) -> str:
    """What is to be seen of an element: "worst", "wrong", "changed" or ""."""
    if result.apart is not None:
        if at == result.worst:
            return "worst"
        if result.apart[at] > result.bound:
            return "wrong"
    before = result.before
    same = before is None or before[at : at + 1].tobytes() == result.after[at : at + 1].tobytes()
    return "" if same else "changed"


def short(value: np.generic) -> str:
    """An element in few letters."""
    return f"{value:.6g}" if value.dtype.kind == "f" else str(value)


def _told(result: BufferResult, at: int) -> str:
    """All that is known of an element."""
    said = [f"{result.name}[{grouped(at)}]", tr("after: {value}", value=result.after[at])]
    if result.before is not None:
        said.insert(1, tr("before: {value}", value=result.before[at]))
    if result.expected is not None and result.apart is not None:
        said.append(tr("expected: {value}", value=result.expected[at]))
        said.append(tr("difference: {value}", value=short(result.apart[at])))
    return "\n".join(said)
