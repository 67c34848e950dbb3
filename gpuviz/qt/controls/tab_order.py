"""The Tab key goes through a window in the order in which it is read."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QScrollArea, QWidget

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
