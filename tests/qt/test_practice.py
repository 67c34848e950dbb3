"""Exercises in the window: the task above the picture, a click on the line that is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.files import folders
from gpuviz.lectures.exercises import exercises, guilty
from gpuviz.qt.window.window import Window
from gpuviz.story.perform import perform as real
from tests.qt.fake_lesson import FakePerform


@pytest.fixture
def perform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePerform:
    """Exercises are run by the emulator; their copies lie in a folder of the test."""
    monkeypatch.setattr(folders, "data", lambda: tmp_path)
    fake = FakePerform()

    class Either:
        def __call__(self, lesson, values, **rest):  # type: ignore[no-untyped-def]
            return (real if lesson.launch else fake)(lesson, values, **rest)

    return Either()  # type: ignore[return-value]


def opened(window: Window, name: str, qtbot: QtBot) -> None:
    window.actions_[f"exercise.{name}"].trigger()
    qtbot.waitUntil(lambda: bool(window.features.practice._run), timeout=30_000)


@pytest.mark.slow
def test_the_line_is_clicked(window: Window, qtbot: QtBot) -> None:
    opened(window, "sums", qtbot)
    practice, words = window.features.practice, window.panes.guide.words
    assert words.text() == exercises()["sums"].task and practice.secret
    practice.choose(4)
    assert words.text().endswith("✗ It is not line 4.") and practice.secret
    assert practice.exercise is not None and practice._run is not None
    (line,) = guilty(practice.exercise, practice._run)
    window.source.views[0].chosen.emit(line)
    assert words.text().startswith(f"✓ Line {line}.") and not practice.secret
    window.actions_["open.pairs"].trigger()
    assert words.text() == "How the stride multiplies the sectors."


@pytest.mark.slow
def test_a_kernel_is_judged_when_it_has_run(window: Window, qtbot: QtBot) -> None:
    opened(window, "column", qtbot)
    assert window.panes.guide.words.text().endswith("32 wavefronts a request; wanted: at most 1")
    path = folders.data() / "exercises" / "column.cu"
    path.write_text(path.read_text().replace("tile[32][32]", "tile[32][33]"))
    window.director.again()
    said = window.panes.guide.words
    qtbot.waitUntil(lambda: said.text().startswith("✓ Solved: 1 wavefront"), timeout=30_000)
