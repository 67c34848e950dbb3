"""The editor by itself: keys, indentation."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.qt.code.editor import Editor
from gpuviz.qt.look.theme import Theme
from gpuviz.results import editing
from gpuviz.results.editing import shifted

KEYS = Qt.Key


@pytest.fixture
def editor(qtbot: QtBot) -> Editor:
    made = Editor("source", "cuda", Theme())
    qtbot.addWidget(made)
    made.edit("")
    return made


def test_lines_are_indented_as_they_are_typed(editor: Editor) -> None:
    for text, key in (("void f() {", KEYS.Key_Return), ("int i;", KEYS.Key_Return)):
        QTest.keyClicks(editor, text)
        QTest.keyClick(editor, key)
    QTest.keyClicks(editor, "}")
    assert editor.text == "void f() {\n    int i;\n}"


def test_tab_and_backspace_go_by_steps(editor: Editor) -> None:
    QTest.keyClicks(editor, "ab")
    QTest.keyClick(editor, KEYS.Key_Tab)
    assert editor.text == "ab  "
    editor.edit("")
    QTest.keyClick(editor, KEYS.Key_Tab)
    QTest.keyClick(editor, KEYS.Key_Tab)
    QTest.keyClick(editor, KEYS.Key_Backspace)
    assert editor.text == "    "


def test_selected_lines_move_together_and_back_in_one_undo(editor: Editor) -> None:
    editor.edit("a\n\n  b\nc")
    editor.selectAll()
    QTest.keyClick(editor, KEYS.Key_Tab)
    assert editor.text == "    a\n\n      b\n    c"
    editor.undo()
    assert editor.text == "a\n\n  b\nc"
    editor.selectAll()
    QTest.keyClick(editor, KEYS.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert editor.text == "a\n\nb\nc"


def test_only_what_is_typed_is_told(editor: Editor, qtbot: QtBot) -> None:
    told: list[str] = []
    editor.typed.connect(told.append)
    editor.edit("int a; /* x */")
    assert told == []
    QTest.keyClicks(editor, "f")
    qtbot.wait(200)  # the colours are read anew meanwhile
    assert told == ["fint a; /* x */"]
    editor.edit("int b;", undoable=True)
    assert len(told) == 1
    editor.undo()
    assert told[-1] == "fint a; /* x */"


@pytest.mark.parametrize(
    ("line", "out"), [("      x", "    x"), ("    x", "x"), ("  x", "x"), ("\tx", "x"), ("x", "x")]
)
def test_a_line_goes_one_step_out(line: str, out: str) -> None:
    assert editing.outdented(line) == out


def test_lines_are_known_again_after_edits() -> None:
    before = ["a", "b", "c", "d", "e"]
    assert shifted(before, ["a", "x", "b", "c", "e"]) == {1: 1, 2: 3, 3: 4, 5: 5}
    assert shifted(before, before) == {n: n for n in range(1, 6)}
    assert shifted(before, []) == {}
