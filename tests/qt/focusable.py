"""What a window has for the keyboard and for screen readers, found as these find it."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QComboBox, QWidget

_ENOUGH = 150  # presses of Tab go round every window


def focusable(window: QWidget) -> list[QWidget]:
    """The widgets of a window that can be gone to by Tab; the parts of one are not counted."""
    return [
        w
        for w in window.findChildren(QWidget)
        if w.window() is window
        and w.isVisible()
        and w.isEnabled()
        and w.focusPolicy() & Qt.FocusPolicy.TabFocus
        and w.focusProxy() is None
        and not isinstance(w.parent(), QComboBox | QAbstractScrollArea)
        and w.objectName() != "qt_spinbox_lineedit"
    ]


def spoken(widget: QWidget) -> tuple[str, str]:
    """Role and name, as a screen reader says them. Qt gives a combo box's value for its name."""
    found = QAccessible.queryAccessibleInterface(widget)
    name = found.text(QAccessible.Text.Name)
    if isinstance(widget, QComboBox):
        name = found.text(QAccessible.Text.Description)
        assert widget.accessibleName() and widget.accessibleName() in name
    return found.role().name, name


def unnamed(window: QWidget) -> list[QWidget]:
    """Those that say nothing of what they are."""
    return [w for w in focusable(window) if not spoken(w)[1].strip()]


def twice(window: QWidget) -> list[tuple[str, str]]:
    """What is said of more than one."""
    return [said for said, n in Counter(map(spoken, focusable(window))).items() if n > 1]


def walk(window: QWidget, key: Qt.Key = Qt.Key.Key_Tab) -> list[QWidget]:
    """Where the key leads, from where the focus is until it is there again."""
    found: list[QWidget] = []
    for _ in range(_ENOUGH):
        at = QApplication.focusWidget()
        assert at is not None
        if at in found:
            assert at is found[0], f"stuck at {at} {at.accessibleName()}"
            return found
        found.append(at)
        QTest.keyClick(at, key)
    raise AssertionError("Tab does not come back")
