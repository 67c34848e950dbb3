"""The window in another language: every text of its own is translated where it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QTabBar, QWidget

from gpuviz.qt.commands.keys_dialog import KeysDialog
from gpuviz.qt.commands.palette_dialog import PaletteDialog
from gpuviz.qt.window.window import Window
from gpuviz.traces.trace import Finding
from gpuviz.words import language
from tests.qt.fake_lesson import FakePerform


@pytest.fixture
def spanish() -> Iterator[Mapping[str, tuple[str, ...]]]:
    language.choose("es")
    yield language.catalogue("es").texts
    language.choose(language.ENGLISH)


def said_by(widget: QWidget) -> Iterator[str]:
    """Everything a widget says, shown or not."""
    yield from (widget.toolTip(), widget.accessibleName(), widget.windowTitle())
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    if isinstance(widget, QLineEdit):
        yield widget.placeholderText()
    if isinstance(widget, QTabBar):
        yield from (widget.tabText(i) for i in range(widget.count()))


def all_said(window: Window) -> set[str]:
    widgets = [window, *window.findChildren(QWidget)]
    actions = (action.text() for action in window.findChildren(QAction))
    return {text for w in widgets for text in said_by(w)} | set(actions)


def test_nothing_that_is_translated_is_shown_in_english(
    spanish: Mapping[str, tuple[str, ...]], make: Callable[..., Window], perform: FakePerform
) -> None:
    perform.findings = (Finding("warning", "race", "x", 3, 15, (0, 0, 0), (1, 0, 0), 4, 16),) * 2
    window = make()
    QTest.keyClick(window.stage, Qt.Key.Key_F1)
    QTest.keyClick(window.stage, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    said = all_said(window)
    own = {text for text, forms in spanish.items() if text not in forms and len(text) > 2}
    # The fake lesson's own texts are not in the catalogue, but for its parameter.
    assert said & own - {form for forms in spanish.values() for form in forms} == set()
    assert {"Parámetros", "Recuentos", "código", "Archivo", "Paso siguiente", "▲ 2 avisos"} <= said
    for dialog in (*window.findChildren(KeysDialog), *window.findChildren(PaletteDialog)):
        dialog.close()


def test_counts_and_notes_are_translated(
    spanish: Mapping[str, tuple[str, ...]], make: Callable[..., Window]
) -> None:
    window = make()
    lines = window.counts.text().splitlines()
    assert lines[0] == "cantidad\tpredicho (modelo)\tmedido (no disponible)"
    assert "sectores de carga\t4096\t–" in lines
    assert window.source.views[0].note(3) == (
        "ld 8 sectores / solicitud · st 4 sectores / solicitud"
    )
    assert window.toolbar.level.text() == "Recuentos SASS"
    assert window.actions_["theme.dark"].text() == "Tema: oscuro"


def test_names_of_counts_are_not_cut(
    spanish: Mapping[str, tuple[str, ...]], make: Callable[..., Window], perform: FakePerform
) -> None:
    perform.roles = ("naive", "shared", "padded", "swizzled")
    window = make()
    window.resize(1280, 720)
    table = window.counts.table
    wanted = table.fontMetrics().horizontalAdvance("solicitudes de escritura")
    assert table.columnWidth(0) >= wanted
