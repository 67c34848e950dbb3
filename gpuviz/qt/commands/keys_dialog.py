"""An overview of the keyboard, made from the table of commands."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from gpuviz.qt.commands.actions import COMMANDS, GROUPS, Actions
from gpuviz.qt.controls.controls import label
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.words.language import later, tr

Rows = Sequence[tuple[str, str]]

_COLUMNS = 3  # at most, where there is room
_WITHIN = (
    (later("Tab, Shift+Tab"), later("from control to control")),
    (later("Up, Down"), later("lessons, when the list has the focus")),
    (later("Arrows, Home, End"), later("values of a slider, number or list that has the focus")),
    (later("Shift+Left, Shift+Right"), later("a little along the timeline that has the focus")),
    (later("Space, Enter"), later("press the button that has the focus")),
)


class KeysDialog(QDialog):
    """Columns of groups, as many as the window has room for; Esc closes it."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        tables = list(_tables(actions))
        room = parent.size()
        self.area = QScrollArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the arrow keys scroll it
        self.area.setAccessibleName(tr("Keyboard shortcuts"))
        self.area.setAccessibleDescription(
            "; ".join(f"{keys}: {text}" for _, rows in tables for keys, text in rows)
        )
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for count in range(_COLUMNS, 0, -1):
            inside = _columns(tables, count, self)
            wanted = inside.sizeHint()
            if wanted.width() <= room.width() - 40 or count == 1:
                break
            inside.deleteLater()
        self.area.setWidget(inside)
        column_of(self.area, on=self)
        bar = self.area.verticalScrollBar().sizeHint().width()
        self.resize(
            min(wanted.width() + bar, room.width()), min(wanted.height(), room.height() - 20)
        )


def _tables(actions: Actions) -> Iterator[tuple[str, Rows]]:
    """Each group of commands that have keys, and what the keys do within a control."""
    native = QKeySequence.SequenceFormat.NativeText
    for group in GROUPS:
        rows = []
        for command in COMMANDS:
            keys = ", ".join(s.toString(native) for s in actions[command.id].shortcuts())
            if command.group == group and keys:
                rows.append((keys, tr(command.text)))
        yield tr(GROUPS[group]), rows
    yield tr("Within a control"), [(tr(row[0]), tr(row[1])) for row in _WITHIN]


def _columns(tables: Sequence[tuple[str, Rows]], count: int, parent: QWidget) -> QWidget:
    """The tables in so many columns of about the same height."""
    made = QWidget(parent)
    columns = row_of(on=made, gap=40, margins=(24, 16, 24, 14))
    share = sum(len(rows) + 2 for _, rows in tables) / count
    sides = [QVBoxLayout() for _ in range(count)]
    before = 0
    for name, rows in tables:
        middle = before + (len(rows) + 2) / 2
        sides[min(int(middle / share), count - 1)].addLayout(_table(name, rows))
        before += len(rows) + 2
    for side in sides:
        side.setSpacing(6)
        side.addStretch(1)
        columns.addLayout(side)
    return made


def _table(name: str, rows: Rows) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(5)  # else it takes that of the columns
    column.addWidget(label(name, "heading"))
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(1, 1)
    for row, (keys, text) in enumerate(rows):
        grid.addWidget(label(keys, "value"), row, 0, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(label(text), row, 1)
    column.addLayout(grid)
    column.addSpacing(6)
    return column
