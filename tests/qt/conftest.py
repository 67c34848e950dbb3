"""A window over the fake lessons, with settings of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partialmethod
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.qt.window.window import Window
from gpuviz.run.session import Session
from gpuviz.story.sources import Sources
from gpuviz.views import make_view
from tests.qt.fake_lesson import COURSE, LESSONS, FakePerform

LONG_MS = 60_000


class Patient(QtBot):
    """Waits as long as a busy machine may take: what never comes fails all the same."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=LONG_MS)
    waitSignal = partialmethod(QtBot.waitSignal, timeout=LONG_MS)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return Patient(request)


@pytest.fixture(autouse=True)
def nothing_left(qapp: QApplication) -> Iterator[None]:
    """A test leaves no window behind, which every later change of the theme would style anew.

    What it leaves on the clipboard outlives Python, and would be destroyed without it.
    """
    before = set(QApplication.topLevelWidgets())
    yield
    QApplication.clipboard().clear()
    for left in set(QApplication.topLevelWidgets()) - before:
        left.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def perform() -> FakePerform:
    return FakePerform()


@pytest.fixture
def make(qtbot: QtBot, tmp_path: Path, perform: FakePerform) -> Iterator[Callable[..., Window]]:
    """Makes windows that share one settings file; each is shown and has its first story."""
    load_fonts()
    made: list[Window] = []

    def window(
        sources: Sources | None = None,
        state: Path | None = None,
        session: Session | None = None,
        by_itself: bool = False,
    ) -> Window:
        settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
        if not settings.contains("gpu_live"):
            settings.setValue("gpu_live", by_itself)
        if not settings.contains("tour"):
            settings.setValue("tour", "seen")
        shown = Window(perform, COURSE, settings, sources, state, session=session)
        made.append(shown)
        shown.show()
        qtbot.waitExposed(shown)
        shown.activateWindow()
        qtbot.waitUntil(lambda: shown.player.story is not None)
        return shown

    yield window
    for shown in made:
        shown.close()
        shown.deleteLater()


@pytest.fixture
def window(make: Callable[[], Window]) -> Window:
    return make()


@pytest.fixture
def present() -> Iterator[Callable[..., Presentation]]:
    """Begins presentations, each on a screen that is a window of this size."""
    load_fonts()
    begun: list[Presentation] = []

    def present(shown: Presentation, width: int = 960, height: int = 540) -> Presentation:
        begun.append(shown)
        shown.start()
        shown.screen.showNormal()
        shown.screen.resize(width, height)
        return shown

    yield present
    for shown in begun:
        shown.close()
        for one in (shown.screen, shown.speaker, shown):
            one.deleteLater()


@pytest.fixture
def course(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links, exported files and lectures find the fake lessons, too."""
    found = {one.id: one for one in LESSONS}
    real = make_view.lesson
    monkeypatch.setattr(make_view, "lesson", lambda name: found.get(name) or real(name))
