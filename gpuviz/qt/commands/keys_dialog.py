"""An overview of the keyboard, made from the table of commands."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpuviz.qt.commands.actions import COMMANDS, GROUPS, Actions, Command
from gpuviz.qt.controls.controls import label
from gpuviz.words import later, tr

_RIGHT = ("GPU", "View", "Help")
_WITHIN = (
    (later("Tab, Shift+Tab"), later("from control to control")),
    (later("Up, Down"), later("lessons, when the list has the focus")),
    (later("Arrows, Home, End"), later("values of a slider, number or list that has the focus")),
    (later("Space, Enter"), later("press the button that has the focus")),
)


class KeysDialog(QDialog):
    """Two columns of groups; Esc closes it."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        columns = QHBoxLayout(self)
        columns.setContentsMargins(24, 18, 24, 20)
        columns.setSpacing(44)
        sides = (QVBoxLayout(), QVBoxLayout())
        for group in GROUPS:
            side = sides[1] if group in _RIGHT else sides[0]
            side.addLayout(_group(group, [(c, actions) for c in COMMANDS if c.group == group]))
        sides[1].addLayout(_table(tr("Within a control"), [(tr(r[0]), tr(r[1])) for r in _WITHIN]))
        for side in sides:
            side.setSpacing(8)
            side.addStretch(1)
            columns.addLayout(side)


def _group(name: str, commands: list[tuple[Command, Actions]]) -> QVBoxLayout:
    native = QKeySequence.SequenceFormat.NativeText
    rows = []
    for command, actions in commands:
        keys = ", ".join(s.toString(native) for s in actions[command.id].shortcuts())
        if keys:
            rows.append((keys, tr(command.text)))
    return _table(tr(GROUPS[name]), rows)


def _table(name: str, rows: Sequence[tuple[str, str]]) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(6)  # else it takes that of the columns
    column.addWidget(label(name, "heading"))
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(1, 1)
    for row, (keys, text) in enumerate(rows):
        grid.addWidget(label(keys, "value"), row, 0, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(label(text), row, 1)
    column.addLayout(grid)
    column.addSpacing(10)
    return column
