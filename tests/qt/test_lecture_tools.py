"""A lecture is duplicated, and a text in it replaced, from the menu."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox

from gpuviz.lectures.reading import read
from gpuviz.qt.lecture.replace_dialog import ReplaceDialog
from gpuviz.qt.window.window import Window
from tests.qt.test_open_lecture import LEFT, file, names, opened

__all__ = ["file", "opened"]  # fixtures
pytestmark = pytest.mark.usefixtures("course")


def test_a_lecture_is_duplicated(opened: Window, file: Path, tmp_path: Path) -> None:
    before = file.read_text()
    opened.actions_["lecture.copy"].trigger()
    document = opened.lecture.document
    assert document.path is None and document.dirty and not document.undoes
    assert document.lecture is not None and document.lecture.title == "Pairs, a copy"
    document.save(tmp_path / "copy.gpuviz-lecture")
    made = read(tmp_path / "copy.gpuviz-lecture")
    assert len(made.slides) == 3 and made.slides[0].notes == "Look."
    assert file.read_text() == before


def test_a_text_is_replaced_and_taken_back(opened: Window) -> None:
    opened.actions_["lecture.replace"].trigger()
    (dialog,) = opened.findChildren(ReplaceDialog)
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert not ok.isEnabled()
    QTest.keyClicks(dialog.wanted, "pairs")
    assert "1" in dialog.found.text() and ok.isEnabled()
    QTest.keyClicks(dialog.by, "Couples")
    QTest.mouseClick(ok, LEFT)
    lecture = opened.lecture.document.lecture
    assert lecture is not None and lecture.title == "Couples"
    opened.lecture.document.undo()
    assert opened.lecture.document.lecture is not None
    assert opened.lecture.document.lecture.title == "Pairs" and names(opened)
