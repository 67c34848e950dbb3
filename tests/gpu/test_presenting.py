"""A lecture given on a machine with a GPU: measured live, and not stopped by a GPU that fails."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

pytest.importorskip("pytestqt")
pytest.importorskip("PySide6")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuviz.gpu.client import Gpu
from gpuviz.lectures.bundle import find
from gpuviz.lectures.reading import read
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.story.lesson import SIZES
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources
from tests.vitals import workers

pytestmark = pytest.mark.gpu
KEY = Qt.Key
WAIT = 60_000


@pytest.fixture
def given(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Presentation]:
    monkeypatch.delenv(SIZES, raising=False)  # recordings are of the sizes that slides show
    load_fonts()
    shown = Presentation(read(find("coalescing-and-banks")), perform, Sources(Gpu))
    shown.start(2)  # stride 2, with a question
    qtbot.waitUntil(lambda: shown.conductor.shown.story is not None, timeout=WAIT)
    yield shown
    shown.close()
    shown.deleteLater()


def origin(shown: Presentation) -> str:
    """Where the measured count beside the answer is from."""
    answer = shown.conductor.shown.answer
    return answer.origin.source if answer is not None and answer.origin is not None else ""


def test_answers_are_measured_live(given: Presentation, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: origin(given) == "live", timeout=WAIT)
    answer = given.conductor.shown.answer
    assert answer is not None and answer.measured == answer.value == 8
    assert "measured on" in given.speaker.gpu.text()


def test_a_gpu_that_fails_is_replaced_by_the_recording(given: Presentation, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: origin(given) == "live", timeout=WAIT)
    said: list[str] = []
    given.measurements.said.connect(said.append)
    QTest.keyClick(given.screen, KEY.Key_M)

    def lost() -> bool:  # one that dies idle is replaced in silence: until one dies in the midst
        for pid in () if said_so() else workers():
            os.kill(pid, signal.SIGKILL)
        return said_so()

    def said_so() -> bool:
        return any("lost" in words for words in said)

    qtbot.waitUntil(lost, timeout=WAIT)
    qtbot.waitUntil(lambda: origin(given) == "recorded", timeout=WAIT)
    others = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
    assert set(others) <= {given.screen, given.speaker}, "no dialog before the class"
    QTest.keyClick(given.screen, KEY.Key_M)  # and the next launch starts it again
    qtbot.waitUntil(lambda: origin(given) == "live", timeout=WAIT)
    QTest.keyClick(given.screen, KEY.Key_PageDown)
    assert given.conductor.cue.reveals
