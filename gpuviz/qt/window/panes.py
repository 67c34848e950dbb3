"""Where the parts of the window lie: one grid of splitters, no floating panes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSplitter, QVBoxLayout, QWidget

from gpuviz.qt.code.source import Source
from gpuviz.qt.playing.stage_view import StageView
from gpuviz.qt.playing.timeline import Timeline
from gpuviz.qt.playing.transport import Transport
from gpuviz.qt.window.left_tabs import LeftTabs
from gpuviz.qt.window.lesson_list import LessonList
from gpuviz.qt.window.status import Status
from gpuviz.qt.window.toolbar import Toolbar

HANDLE = 1  # pixels between two panes; Qt makes five of them grabbable
LIST, SIDE = 236, 352  # widths to begin with
CODE_SHARE = 0.30  # of the height in the middle


class Panes(QWidget):
    """Toolbar; lessons | stage, time line, code | panels at the side; status bar.

    The order of construction is the order of the Tab key.
    """

    def __init__(
        self,
        toolbar: Toolbar,
        lessons: LessonList,
        stage: StageView,
        transport: Transport,
        timeline: Timeline,
        source: Source,
        side: tuple[QWidget, ...],
        status: Status,
        lecture: QWidget,
    ) -> None:
        super().__init__()
        self.left = LeftTabs(lessons, lecture)
        self.list = _frame("listpane", self.left)
        self.code = _frame("codepane", source)
        self._column = _scrolled(*side)
        self.side = _frame("sidepane", self._column)
        self.middle = QSplitter(Qt.Orientation.Vertical)
        self.across = QSplitter(Qt.Orientation.Horizontal)
        self.splitters = {"across": self.across, "middle": self.middle}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(toolbar)
        column.addWidget(self.across, 1)
        self._fill(stage, transport, timeline)
        column.addWidget(status)

    def reveal(self, widget: QWidget) -> None:
        """Scroll the panels at the side so that one of them, or a part of it, is in view."""
        if self._column.isAncestorOf(widget):
            self._column.ensureWidgetVisible(widget, 0, 24)

    def divide(self, width: int, height: int) -> None:
        """The division to begin with, for a window of this size."""
        self.across.setSizes([LIST, width - LIST - SIDE, SIDE])
        code = round(height * CODE_SHARE)
        self.middle.setSizes([height - code, code])

    def _fill(self, stage: StageView, transport: Transport, timeline: Timeline) -> None:
        picture = _frame("stagepane", stage, _time_row(transport, timeline))
        for splitter in self.splitters.values():
            splitter.setHandleWidth(HANDLE)
            splitter.setChildrenCollapsible(False)
        self.middle.addWidget(picture)
        self.middle.addWidget(self.code)
        # No stretch factors: stage and code keep their shares of the height.
        self.code.setMinimumHeight(110)
        for index, pane in enumerate((self.list, self.middle, self.side)):
            self.across.addWidget(pane)
            self.across.setStretchFactor(index, 1 if pane is self.middle else 0)


def _frame(name: str, *widgets: QWidget) -> QFrame:
    """A pane: widgets below each other, without margins."""
    made = QFrame()
    made.setObjectName(name)
    column = QVBoxLayout(made)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for index, widget in enumerate(widgets):
        column.addWidget(widget, 1 if index == 0 else 0)
    return made


def _time_row(transport: Transport, timeline: Timeline) -> QFrame:
    made = QFrame()
    made.setObjectName("timepane")
    row = QHBoxLayout(made)
    row.setContentsMargins(10, 4, 12, 2)
    row.setSpacing(12)
    row.addWidget(transport, alignment=Qt.AlignmentFlag.AlignTop)
    row.addWidget(timeline, 1)
    return made


class _Column(QScrollArea):
    """Scrolls up and down only: it is never narrower than what it holds."""

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self._inside = inside
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:
        """The widest panel, and the scroll bar."""
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self._inside.minimumSizeHint().width() + bar, 100)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A panel that needs more room says so by a layout request."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def _scrolled(*widgets: QWidget) -> QScrollArea:
    """Panels below each other that scroll up and down when there is not enough room."""
    inside = QWidget()
    column = QVBoxLayout(inside)
    column.setContentsMargins(14, 12, 12, 12)
    column.setSpacing(18)
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    return _Column(inside)
