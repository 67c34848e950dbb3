"""Rows, columns and forms, each said in one go."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFormLayout,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

Box = TypeVar("Box", bound=QBoxLayout)
Item = QWidget | QLayout
# What stands in a row: an item, one with its stretch, one with its side, or a stretch alone.
Part = Item | tuple[Item, int | Qt.AlignmentFlag] | int
Margins = tuple[int, int, int, int]
NONE: Margins = (0, 0, 0, 0)
DIALOG: Margins = (18, 16, 18, 14)


def row_of(
    *parts: Part, on: QWidget | None = None, gap: int | None = None, margins: Margins = NONE
) -> QHBoxLayout:
    """Parts beside each other, as the layout `on` a widget; the style's gap by default."""
    return _filled(QHBoxLayout(on) if on is not None else QHBoxLayout(), parts, gap, margins)


def column_of(
    *parts: Part, on: QWidget | None = None, gap: int | None = None, margins: Margins = NONE
) -> QVBoxLayout:
    """Parts below each other, as `row_of`."""
    return _filled(QVBoxLayout(on) if on is not None else QVBoxLayout(), parts, gap, margins)


def form_of(rows: Iterable[tuple[str, Item]], gap: int | None = None) -> QFormLayout:
    """Names to the left of what is filled in."""
    made = QFormLayout()
    made.setHorizontalSpacing(14)
    if gap is not None:
        made.setVerticalSpacing(gap)
    for name, item in rows:
        made.addRow(name, item)
    return made


def boxed(layout: QLayout) -> QWidget:
    """A widget around a layout: it is hidden as one."""
    made = QWidget()
    made.setLayout(layout)
    return made


def _filled(made: Box, parts: Iterable[Part], gap: int | None, margins: Margins) -> Box:
    made.setContentsMargins(*margins)
    if gap is not None:
        made.setSpacing(gap)
    for part in parts:
        if isinstance(part, int):
            made.addStretch(part)
            continue
        item, how = part if isinstance(part, tuple) else (part, 0)
        if isinstance(item, QLayout):
            made.addLayout(item, int(how))
        elif isinstance(how, Qt.AlignmentFlag):
            made.addWidget(item, 0, how)
        else:
            made.addWidget(item, how)
    return made


if TYPE_CHECKING:
    from collections.abc import Iterator


def tab_as_laid_out(whole: QWidget) -> None:
    """Go from control to control as the layout of `whole` has them, not as they were made."""
    layout = whole.layout()
    if layout is None:
        return
    for before, after in pairwise(_controls(layout)):
        QWidget.setTabOrder(before, after)


def tab_after(before: QWidget, panel: QWidget) -> None:
    """Go through the controls of a panel that was added late after those of another one."""
    *_, last = _within(before)
    for one, following in pairwise((last, *_within(panel))):
        QWidget.setTabOrder(one, following)


def _within(widget: QWidget) -> Iterator[QWidget]:
    """What takes the focus by Tab of a widget: itself, and what is laid out in it."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if (layout := widget.layout()) is not None:
        yield from _controls(layout)


def _controls(layout: QLayout) -> Iterator[QWidget]:
    """What takes the focus by Tab, depth first."""
    for index in range(layout.count()):
        item = layout.itemAt(index)
        assert item is not None
        inner, widget = item.layout(), item.widget()
        if inner is not None:
            yield from _controls(inner)
        elif isinstance(widget, QScrollArea) and (inside := widget.widget()) is not None:
            yield from _within(inside)
        elif widget is not None and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget
        elif widget is not None and (within := widget.layout()) is not None:
            yield from _controls(within)


class FlowLayout(QLayout):
    """Left to right, and on to the next line when the width is used up."""

    def __init__(self, gap: int) -> None:
        super().__init__()
        self._gap = gap
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item."""
        self._items.append(item)

    def count(self) -> int:
        """Number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """An item, None beyond the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove an item."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It takes no more than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Narrower is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all lines."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Put every item into its place."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """As small as it can be."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The largest item."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, move: bool) -> int:
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            size = item.sizeHint()
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y, line = rect.x(), y + line + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            line = max(line, size.height())
        return y + line - rect.y()
