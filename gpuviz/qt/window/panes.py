"""Where the parts of the window lie: one grid of splitters, no floating panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSplitter, QVBoxLayout, QWidget

from gpuviz.qt.code.source import Source
from gpuviz.qt.controls.message import Message
from gpuviz.qt.controls.tab_order import tab_after
from gpuviz.qt.playing.stage_view import StageView
from gpuviz.qt.playing.timeline import Timeline
from gpuviz.qt.playing.transport import Transport
from gpuviz.qt.window.left_tabs import LeftTabs
from gpuviz.qt.window.lesson_list import LessonList
from gpuviz.qt.window.parameters import Parameters
from gpuviz.qt.window.status import Status
from gpuviz.qt.window.toolbar import Toolbar

if TYPE_CHECKING:
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.running.core import Core

HANDLE = 1  # pixels between two panes; Qt makes five of them grabbable
LIST, SIDE = 236, 352  # widths to begin with
CODE_SHARE = 0.30  # of the height in the middle


class Panes(QWidget):
    """Toolbar; lessons | stage, time line, code | panels at the side; status bar.

    The order of construction is the order of the Tab key. What shows numbers, and the slides of a
    lecture, is added when the window is there.
    """

    def __init__(self, core: Core, actions: Actions) -> None:
        super().__init__()
        player, theme = core.player, core.theme
        self.toolbar = Toolbar(core.course.lessons, theme, actions)
        self.lessons = LessonList(core.course.lessons, theme)
        self.stage = StageView(player, theme)
        self.message = Message(self.stage)
        self.transport = Transport(player, theme, actions)
        self.timeline = Timeline(player, theme)
        self.source = Source(player, theme)
        self.parameters = Parameters(player, core.comparison, theme)
        self.status = Status(core.director)
        self.left = LeftTabs(self.lessons)
        self.list = _frame("listpane", self.left)
        self.code = _frame("codepane", self.source)
        self._column = _Column(self.parameters)
        self.side = _frame("sidepane", self._column)
        self.middle = QSplitter(Qt.Orientation.Vertical)
        self.across = QSplitter(Qt.Orientation.Horizontal)
        self.splitters = {"across": self.across, "middle": self.middle}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addWidget(self.across, 1)
        self._fill()
        column.addWidget(self.status)

    def add_panels(self, *panels: QWidget) -> None:
        """Panels at the side, below the parameters."""
        above: QWidget = self.parameters
        for panel in panels:
            self._column.add(panel)
            tab_after(above, panel)
            above = panel

    def add_lecture(self, lecture: QWidget) -> None:
        """The slides of a lecture, beside the lessons."""
        self.left.add_lecture(lecture)
        tab_after(self.lessons, lecture)

    def reveal(self, widget: QWidget) -> None:
        """Scroll the panels at the side so that one of them, or a part of it, is in view."""
        if self._column.isAncestorOf(widget):
            self._column.ensureWidgetVisible(widget, 0, 24)

    def divide(self, width: int, height: int) -> None:
        """The division to begin with, for a window of this size."""
        self.across.setSizes([LIST, width - LIST - SIDE, SIDE])
        code = round(height * CODE_SHARE)
        self.middle.setSizes([height - code, code])

    def _fill(self) -> None:
        picture = _frame("stagepane", self.stage, _time_row(self.transport, self.timeline))
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
    """Panels below each other that scroll up and down when there is not enough room; it is never
    narrower than what it holds.
    """

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self._inside = QWidget()
        self._panels = QVBoxLayout(self._inside)
        self._panels.setContentsMargins(14, 12, 12, 12)
        self._panels.setSpacing(18)
        self._panels.addWidget(panel)
        self._panels.addStretch(1)
        self.setWidget(self._inside)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def add(self, panel: QWidget) -> None:
        """One more panel, below the others."""
        self._panels.insertWidget(self._panels.count() - 1, panel)

    def minimumSizeHint(self) -> QSize:
        """The widest panel, and the scroll bar."""
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self._inside.minimumSizeHint().width() + bar, 100)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A panel that needs more room says so by a layout request."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
