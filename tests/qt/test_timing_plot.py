"""The plot of times: loaded off the GUI thread, and shown as soon as it is there."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from gpuviz.qt.look.theme import Theme
from gpuviz.qt.timing import timing_plot
from gpuviz.qt.timing.timing_plot import TimingPlot
from gpuviz.results.timings import Series

SERIES = {"a": Series(np.array([1.0, 2.0, 3.0]), "live", "")}


@pytest.fixture
def plot(qtbot: QtBot) -> Iterator[TimingPlot]:
    made = TimingPlot(Theme())
    qtbot.addWidget(made)
    yield made
    made.shut()


def test_what_plots_is_not_loaded_by_the_thread_of_the_window(
    plot: TimingPlot, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaders: list[threading.Thread] = []
    monkeypatch.setattr(
        timing_plot, "import_module", lambda name: loaders.append(threading.current_thread())
    )
    made = TimingPlot(Theme())
    qtbot.addWidget(made)
    made.show_series(SERIES)
    assert made._view is None and not made.isHidden()
    qtbot.waitUntil(lambda: len(made._items) == 1)
    assert loaders and threading.main_thread() not in loaders
    made.shut()


def test_what_is_asked_for_meanwhile_is_plotted(plot: TimingPlot, qtbot: QtBot) -> None:
    plot.show_series(SERIES)
    plot.show_series({})
    qtbot.waitUntil(lambda: not plot._loading._thread.is_alive())
    qtbot.wait(1)
    assert plot._view is None and plot.isHidden()
    plot.show_series({**SERIES, "b": SERIES["a"]})
    qtbot.waitUntil(lambda: len(plot._items) == 2)
    plot.show_series(SERIES)
    assert len(plot._items) == 1


def test_nothing_is_made_once_it_is_shut(plot: TimingPlot, qtbot: QtBot) -> None:
    plot.show_series(SERIES)
    plot.shut()
    qtbot.waitUntil(lambda: not plot._loading._thread.is_alive())
    qtbot.wait(1)
    assert plot._view is None
