"""The lectures that ship, played through with nothing but the keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.draw.marks import Texts
from gpuviz.lectures.answer import shown as spelled
from gpuviz.lectures.bundle import shipped
from gpuviz.lectures.cues import cues
from gpuviz.lectures.reading import read
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources


def texts(shown: Presentation) -> list[str]:
    shown.screen.grab()
    assert shown.screen.frame is not None and not shown.screen.trouble
    return [s for mark in shown.screen.frame.marks if isinstance(mark, Texts) for s in mark.strings]


def arrive(shown: Presentation, qtbot: QtBot) -> None:
    """The slide shown has been performed."""
    slide = shown.conductor.lecture.slides[shown.conductor.slide]
    qtbot.waitUntil(
        lambda: slide.view is None or shown.conductor.shown.story is not None, timeout=60_000
    )
    assert not shown.conductor.shown.trouble


@pytest.mark.slow
@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_it_plays_from_the_first_slide_to_the_last_and_back(path: Path, qtbot: QtBot) -> None:
    load_fonts()
    lecture = read(path)
    shown = Presentation(lecture, perform, Sources())
    ended: list[int] = []
    shown.ended.connect(ended.append)
    shown.start()
    shown.screen.showNormal()
    shown.screen.resize(1280, 720)
    visited: list[tuple[int, int]] = []
    while not shown.conductor.blank:  # black: behind the last slide
        arrive(shown, qtbot)
        visited.append(shown.conductor.place)
        _look(shown)
        QTest.keyClick(shown.screen, Qt.Key.Key_PageDown)
    expected = [
        (number, cue)
        for number, slide in enumerate(lecture.slides)
        for cue in range(len(cues(slide, _story(shown, number))))
    ]
    assert visited == expected
    QTest.keyClick(shown.screen, Qt.Key.Key_PageUp)
    for place in reversed(expected):
        assert shown.conductor.place == place
        QTest.keyClick(shown.screen, Qt.Key.Key_PageUp)
    QTest.keyClick(shown.screen, Qt.Key.Key_Escape)
    assert ended == [0]
    shown.deleteLater()


def _story(shown: Presentation, number: int) -> object:
    made = shown.slide_runs.showing(number)
    return made.story if made is not None else None


def _look(shown: Presentation) -> None:
    """What the class sees of the cue: the question without its answer, then the answer."""
    conductor, question = shown.conductor, shown.conductor.shown.slide.question
    if question is None:
        assert len(texts(shown)) > 1
        if conductor.player.state.playing:
            QTest.keyClick(shown.screen, Qt.Key.Key_Space)
        return
    if conductor.cue.asks:
        said = " ".join(texts(shown))
        assert question.ask in said and "✓" not in said
        return
    if conductor.cue.reveals:
        assert "✓" not in texts(shown)
    QTest.keyClick(shown.screen, Qt.Key.Key_Space)  # to the end of what is being played
    assert not conductor.player.state.playing
    said = texts(shown)
    answer = conductor.shown.answer
    assert answer is not None and "✓" in said
    assert any(text.startswith(spelled(answer.value)) for text in said)
