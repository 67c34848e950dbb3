"""A slide of words written by keyboard and buttons, and seen while it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QPushButton
from pytestqt.qtbot import QtBot

from gpuviz.draw.marks import Outlines, Raster
from gpuviz.lectures.reading import read
from gpuviz.qt.lecture.slide_words_dialog import SlideWordsDialog
from gpuviz.qt.window.window import Window
from tests.course.pictures import words

pytestmark = pytest.mark.usefixtures("course")
LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def form(window: Window) -> SlideWordsDialog:
    window.lecture.saving.ask_unsaved = lambda: "discard"
    window.lecture.begin()
    (add,) = (b for b in window.lecture.pane.findChildren(QPushButton) if b.text() == "+ words")
    QTest.mouseClick(add, LEFT)
    found = window.lecture.slides.dialog
    assert isinstance(found, SlideWordsDialog) and found.isVisible()
    found.words.selectAll()
    return found


def click(form: SlideWordsDialog, name: str) -> None:
    (found,) = (b for b in form.findChildren(QPushButton) if b.accessibleName() == name)
    QTest.mouseClick(found, LEFT)


def seen(form: SlideWordsDialog) -> list[str]:
    assert form.preview.frame is not None
    return words(form.preview.frame)


def kinds(form: SlideWordsDialog) -> set[type]:
    assert form.preview.frame is not None
    return {type(mark) for mark in form.preview.frame.marks}


def test_the_slide_is_seen_while_it_is_written(
    form: SlideWordsDialog, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    QTest.keyClicks(form.words, "Each warp ")
    QTest.keyClick(form.words, Qt.Key.Key_B, CONTROL)
    QTest.keyClicks(form.words, "asks")  # over the example, which is chosen
    assert form.words.toPlainText() == "Each warp **asks**"
    QTest.keyClick(form.words, Qt.Key.Key_End, CONTROL)
    QTest.keyClick(form.words, Qt.Key.Key_Return)
    click(form, "formula")
    qtbot.waitUntil(lambda: "Each warp" in seen(form))
    assert "asks" in seen(form)
    assert Outlines in kinds(form)
    QTest.mouseClick(form.buttons.button(QDialogButtonBox.StandardButton.Ok), LEFT)
    file = tmp_path / "mine.gpuviz-lecture"
    window.lecture.document.save(file)
    (slide,) = read(file).slides
    assert slide.markdown and "**asks**" in slide.words and "$$\\frac" in slide.words


def test_what_cannot_be_shown_is_told_at_once(form: SlideWordsDialog, qtbot: QtBot) -> None:
    QTest.keyClicks(form.words, "![die](http://x.org/a.png) and $\\frac{$ too")
    qtbot.waitUntil(lambda: "elsewhere" in form.problem.text() and "\\frac{" in form.problem.text())
    QTest.mouseClick(form.markdown, LEFT, pos=form.markdown.rect().center())
    assert not form.markdown.isChecked() and form.problem.isHidden()
    assert not form.picture.isEnabled()


def test_a_picture_goes_with_the_lecture(
    form: SlideWordsDialog, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    photo = tmp_path / "elsewhere" / "a die.png"
    photo.parent.mkdir()
    Image.new("RGB", (90, 60), (9, 90, 200)).save(photo)
    form.ask_picture = lambda: photo
    click(form, "picture …")
    assert "![a die](<pictures/a die.png>)" in form.words.toPlainText()
    qtbot.waitUntil(lambda: Raster in kinds(form))
    form.accept()
    photo.unlink()
    talk = tmp_path / "talk"
    talk.mkdir()
    window.lecture.document.save(talk / "mine.gpuviz-lecture")
    assert (talk / "pictures" / "a die.png").is_file()
    (slide,) = read(talk / "mine.gpuviz-lecture").slides
    assert slide.problems == () and dict(slide.pictures)


def test_a_file_that_is_no_picture_is_refused(form: SlideWordsDialog, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("x")
    form.ask_picture = lambda: text
    click(form, "picture …")
    assert "notes.txt" in form.problem.text() and "![" not in form.words.toPlainText()
