"""Durations of the last launches as a line, and their histogram beside it.

pyqtgraph is loaded when there is something to plot: it takes long, and the window must not wait.
"""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpuviz.qt.look.theme import Theme, qcolor
from gpuviz.qt.running.activity import Loading
from gpuviz.results.timings import Series
from gpuviz.words.language import grouped, tr

HEIGHT = 118
BINS = 40
ALONE, COLORS = "good", ("accent", "warn", "shared", "good", "bad", "ink", "muted")
_SHARES = (0.0, 99.0)  # percentiles that are in view: one slow launch must not flatten the rest


def color_name(number: int, count: int) -> str:
    """The colour of one run of several: the only one is as its badge, others are told apart."""
    return ALONE if count == 1 else COLORS[number % len(COLORS)]


def span(series: Mapping[str, Series]) -> tuple[float, float]:
    """The durations to show, from the shortest to nearly the longest, with room around."""
    joined = np.concatenate([s.microseconds for s in series.values()])
    low, high = np.percentile(joined, _SHARES)
    room = max((high - low) * 0.12, high * 0.01)
    return float(max(low - room, 0.0)), float(high + room)


def spaced(tick: str) -> str:
    """A number of the axis, as all numbers on screen are written."""
    return grouped(int(tick)) if tick.isdecimal() else tick


class TimingPlot(QWidget):
    """Shows some series by name; nothing while there are none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._series: Mapping[str, Series] = {}
        self._view: Any = None
        self._lines: Any = None
        self._bars: Any = None
        self._items: list[tuple[Any, Any]] = []
        self.setAccessibleName(tr("Durations of the last launches"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._loading = Loading((partial(import_module, "pyqtgraph"),), self)
        self._loading.done.connect(self._ready)
        theme.changed.connect(self._restyle)
        self.hide()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, self._theme.look.px(HEIGHT))

    def show_series(self, series: Mapping[str, Series]) -> None:
        """Plot these durations, as soon as there is what plots."""
        self._series = series
        self.setVisible(bool(series))
        if series and self._view is None:
            self._loading.begin()
        else:
            self._plot()

    def shut(self) -> None:
        """Take the plot down; pyqtgraph's scenes must be gone before the interpreter is."""
        self._series = {}
        if self._view is not None:
            self._view.close()
            self._view.deleteLater()
            self._view = None

    def _ready(self) -> None:
        """The axes; what is plotted follows, as that takes as long."""
        if self._view is not None or not self._series:
            return
        import pyqtgraph

        self._view = pyqtgraph.GraphicsLayoutWidget()
        for widget in (self._view, self._view.viewport()):
            widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._view.ci.layout.setContentsMargins(0, 2, 0, 0)
        self._view.ci.layout.setHorizontalSpacing(4)
        self._lines, self._bars = self._view.addPlot(0, 0), self._view.addPlot(0, 1)
        self._view.ci.layout.setColumnStretchFactor(0, 4)
        self._view.ci.layout.setColumnStretchFactor(1, 1)
        for plot in (self._lines, self._bars):
            plot.setMouseEnabled(False, False)
            plot.setMenuEnabled(False)
            plot.hideButtons()
            plot.hideAxis("bottom")
        self._bars.hideAxis("left")
        axis = self._lines.getAxis("left")
        plain = axis.tickStrings
        axis.tickStrings = lambda *given: [spaced(text) for text in plain(*given)]
        self._bars.setYLink(self._lines)
        self._column.addWidget(self._view)
        self._restyle()
        QTimer.singleShot(0, self, self._plot)

    def _restyle(self) -> None:
        self.updateGeometry()
        if self._view is None:
            return
        look = self._theme.look
        self._view.setBackground(look.color("panel"))
        axis = self._lines.getAxis("left")
        axis.setStyle(tickFont=look.font(11), tickLength=0, maxTickLevel=0)
        axis.setPen(look.color("panel"))
        axis.setTextPen(look.color("muted"))
        axis.setWidth(look.px(46))
        self._lines.showGrid(y=True, alpha=0.15)
        if self._items:
            self._items = []  # their colours have changed
            self._plot()

    def _plot(self) -> None:
        """New data for the items that are there; new items when there are other runs."""
        if self._view is None or not self._series:
            return
        low, high = span(self._series)
        for plot in (self._lines, self._bars):
            plot.setYRange(low, high, padding=0)
        longest = max(len(s.microseconds) for s in self._series.values())
        self._lines.setXRange(0, max(longest - 1, 1), padding=0)
        if len(self._items) != len(self._series):
            self._make_items(len(self._series))
        for (line, bars), series in zip(self._items, self._series.values(), strict=True):
            line.setData(np.arange(len(series.microseconds)), series.microseconds)
            counts, edges = np.histogram(series.microseconds, BINS, (low, high))
            bars.setOpts(width=counts, y=(edges[1:] + edges[:-1]) / 2, height=np.diff(edges))

    def _make_items(self, count: int) -> None:
        """A line and a histogram for each of so many runs."""
        import pyqtgraph

        for plot in (self._lines, self._bars):
            plot.clear()
        self._items = []
        for number in range(count):
            color = getattr(self._theme.look.palette, color_name(number, count))
            line = self._lines.plot(pen=pyqtgraph.mkPen(qcolor(color), width=1), antialias=True)
            bars = pyqtgraph.BarGraphItem(
                x0=np.zeros(BINS),
                width=np.zeros(BINS),
                y=np.zeros(BINS),
                height=np.zeros(BINS),
                pen=None,
                brush=qcolor(color, 0.7),
            )
            self._bars.addItem(bars)
            self._items.append((line, bars))
