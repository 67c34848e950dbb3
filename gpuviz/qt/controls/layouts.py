"""Rows, columns and forms, each said in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFormLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

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
