"""A report of Nsight Compute, opened: its launches are lessons, with what was counted beside."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.qt.window.window import Window
from gpuviz.run.run import Run
from gpuviz.story.perform import perform as really
from tests.cli.test_report import block
from tests.qt.fake_lesson import FakePerform

pytestmark = pytest.mark.slow


class Perform(FakePerform):
    """A user's own kernel is performed, in earnest; the lessons are not."""

    def __call__(self, lesson, values, **how):  # type: ignore[no-untyped-def]
        """The performance of a lesson."""
        return (really if lesson.launch else super().__call__)(lesson, values, **how)


@pytest.fixture
def perform() -> FakePerform:
    return Perform()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The report of the documentation."""
    file = tmp_path / "app.csv"
    file.write_text(block("csv"))
    return file


def shown(window: Window) -> Run | None:
    """The run of a kernel that is shown."""
    showing = window.director.showing
    return showing.runs.get("kernel") if showing else None


def test_its_counters_stand_beside_the_prediction(window: Window, qtbot: QtBot, page: Path) -> None:
    (page.parent / "app.cu").write_text(block("cuda"))
    window.files.reopening.open(page)
    qtbot.waitUntil(lambda: shown(window) is not None, timeout=60_000)
    run = shown(window)
    assert run is not None
    assert run.trace.launch.grid == (64, 1, 1) and run.measurement is not None
    read = run.measurement.values()
    assert read["global_load_sectors"] == run.counts.totals["global_load_sectors"] == 16_384
    assert run.measurement.file == "app.csv"


def test_without_its_source_it_says_what_lacks(window: Window, qtbot: QtBot, page: Path) -> None:
    window.files.reopening.open(page)
    qtbot.waitUntil(lambda: window.message.isVisible())
    assert "strided is not beside it" in window.message.text.toPlainText()
