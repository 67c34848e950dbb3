"""The tab with the buffers of a run: before, after, what was expected, and where it differs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSignalBlocker,
    Qt,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpuviz.base.errors import InputError
from gpuviz.qt.controls.controls import (
    Combo,
    ElidedLabel,
    keep_arrows,
    label,
    set_look,
    show_words,
    text_line,
)
from gpuviz.qt.controls.layouts import boxed, column_of, row_of
from gpuviz.qt.running.activity import InThread
from gpuviz.words.language import grouped, later, tr, trn

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


if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme
    from gpuviz.results.buffers import BufferResult
    from gpuviz.run.run import Run

_ROW, _CELL = 22, 76
_NAMES = {
    "after": later("after"),
    "before": later("before"),
    "expected": later("expected"),
    "difference": later("difference"),
}
_INKS = {"worst": "bad", "wrong": "warn", "changed": "ink", "": "muted"}


class BuffersView(QWidget):
    """Which buffer, which of its values, what is expected of it; its elements below."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._run: Run | None = None
        self._results: tuple[BufferResult, ...] = ()
        self._expected: dict[str, str] = {}  # by buffer, as it was written
        self._work = InThread(self._take, self)
        self.names = Combo(tr("Buffer"), theme)
        kinds = ((tr(_NAMES[name]), name) for name in get_args(ValueKind))
        self.shown = Combo(tr("Values shown"), theme, kinds)
        for combo in (self.names, self.shown):
            combo.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToContents)
        tip = tr(
            "NumPy arithmetic over the arguments as they were before the launch, or a .npy or "
            ".bin file"
        )
        self.field = text_line(tr("Expected"), "", tr("expected: a * x + y, or file.npy"), tip)
        self.said = ElidedLabel("quiet")
        self.model = BuffersModel()
        self.focus = self.table = QTableView()
        self.empty = label("", "quiet", wraps=True)
        self.empty.setMargin(10)
        self._prepare()
        self._lay_out()
        self.names.currentIndexChanged.connect(self._show)
        self.shown.currentIndexChanged.connect(self._show)
        self.field.editingFinished.connect(self._expect)
        theme.changed.connect(self._fit)
        self.clear()

    def show_run(self, run: Run) -> None:
        """The buffers of a run; what is expected of buffers of the same names stays."""
        self._run = run
        missing = "" if run.outputs else tr("The arrays of this launch were not kept.")
        if not run.whole:
            missing = tr("Not all blocks were executed: what they leave behind is not known.")
        self._say(missing)
        self._find()

    def clear(self) -> None:
        """Nothing is shown."""
        self._run = None
        self._work.forget()
        self._put(())
        self._say(tr("Nothing has run yet."))

    def _find(self) -> None:
        """Compare with what is expected, in a thread: buffers may be large."""
        run = self._run
        if run is not None and not self.empty.text():
            wanted = {name: text for name, text in self._expected.items() if name in run.outputs}
            self._work.ask(partial(_results, run, wanted), run)

    def _take(self, run: Run | None, outcome: object) -> None:
        if isinstance(outcome, tuple):
            self._put(outcome)
        elif isinstance(outcome, InputError):
            self._complain(str(outcome))
            if run is not None:  # which is shown all the same, and what is wrong stays
                self._work.ask(partial(_results, run, {}), None)
        elif isinstance(outcome, BaseException):
            raise outcome
        if isinstance(outcome, tuple) and run is not None:
            self._complain("")

    def _complain(self, why: str) -> None:
        self._wrong = why
        set_look(self.field, "bad", bool(why))
        self._tell()

    def _put(self, results: tuple[BufferResult, ...]) -> None:
        chosen = self.names.currentText()
        self._results = results
        names = [one.name for one in results]
        with QSignalBlocker(self.names):
            self.names.clear()
            self.names.addItems(names)
            changed = (n for n, one in enumerate(results) if one.changed)
            at = names.index(chosen) if chosen in names else next(changed, 0)
            self.names.setCurrentIndex(at if names else -1)
        self._show()

    def _result(self) -> BufferResult | None:
        at = self.names.currentIndex()
        return self._results[at] if 0 <= at < len(self._results) else None

    def _show(self) -> None:
        result = self._result()
        self.model.show(result, self.shown.currentData())
        if result is not None:
            self.field.setText(self._expected.get(result.name, ""))
        if result is not None and result.worst is not None:
            place = self.model.place(result.worst)
            self.table.setCurrentIndex(place)
            self.table.scrollTo(place, QAbstractItemView.ScrollHint.PositionAtCenter)
        self._tell()

    def _expect(self) -> None:
        """Something else is expected of the buffer in view."""
        result, text = self._result(), self.field.text().strip()
        if result is None or text == self._expected.get(result.name, ""):
            return
        self._expected.pop(result.name, None)
        if text:
            self._expected[result.name] = text
        self._find()

    def _tell(self) -> None:
        result = self._result()
        self.said.say(self._wrong or (_summary(result) if result is not None else ""))

    def _say(self, why: str) -> None:
        show_words(self.empty, why)
        self._whole.setVisible(not why)

    def _prepare(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setItemDelegate(_Cell(self._theme, table))
        table.setAccessibleName(tr("Elements"))
        table.setObjectName("lines")
        table.setShowGrid(False)
        table.setCornerButtonEnabled(False)
        table.setTabKeyNavigation(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        for header in (table.horizontalHeader(), table.verticalHeader()):
            header.setSectionsClickable(False)
            header.setHighlightSections(False)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        keep_arrows(table)
        self._wrong = ""

    def _lay_out(self) -> None:
        fields = self.names, self.shown, (self.field, 2), (self.said, 4)
        head = row_of(*fields, gap=8, margins=(8, 4, 12, 2))
        self._whole = boxed(column_of(head, (self.table, 1), gap=2))
        column_of((self._whole, 1), (self.empty, 1), on=self)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._fit()

    def _fit(self) -> None:
        px = self._theme.look.px
        self.table.verticalHeader().setMinimumSectionSize(1)
        self.table.verticalHeader().setDefaultSectionSize(px(_ROW))
        self.table.horizontalHeader().setDefaultSectionSize(px(_CELL))


def _results(run: Run, expected: dict[str, str]) -> tuple[BufferResult, ...]:
    """Runs in a thread, and makes what is asked of each result there."""
    from gpuviz.results.buffers import results_of

    found = results_of(run, expected)
    for one in found:
        _ = one.changed, one.worst, one.wrong
    return found


def _summary(one: BufferResult) -> str:
    """What there is to say of a buffer in a line."""
    if one.expected is None:
        n, size = one.changed, grouped(one.after.size)
        if n is None:
            return trn("{n} element", "{n} elements", one.after.size, n=size)
        return tr("{n} of {size} elements changed", n=grouped(n), size=size)
    if one.worst is None or one.apart is None:
        return tr("every element is as expected")
    largest = tr(
        "largest difference {value} at [{at}]", value=short(one.apart[one.worst]), at=one.worst
    )
    if not one.wrong:
        return tr("as expected within rounding: {largest}", largest=largest)
    many = trn("{n} element is wrong", "{n} elements are wrong", one.wrong, n=grouped(one.wrong))
    return f"{many}: {largest}"


class _Cell(QStyledItemDelegate):
    """An element; what changed is plain, what did not is quiet, what is wrong is marked."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """One element."""
        look, rect = self._theme.look, QRect(option.rect)
        state, text = str(index.data(STATE_ROLE) or ""), str(index.data() or "")
        painter.save()
        if state in ("worst", "wrong"):
            strength = 0.6 if state == "worst" else 0.85
            painter.fillRect(rect, look.blend(_INKS[state], "panel", strength))
        painter.setPen(look.color("ink" if state == "worst" else _INKS[state]))
        painter.setFont(look.font(12.5, mono=True, bold=state == "worst"))
        inner = rect.adjusted(look.px(4), 0, -look.px(6), 0)
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inner, side, text)
        view = option.widget
        if isinstance(view, QTableView) and view.hasFocus() and view.currentIndex() == index:
            painter.setPen(look.color("accent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.restore()
