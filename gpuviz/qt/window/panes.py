"""Where the parts of the window lie: one grid of splitters, no floating panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from gpuviz.qt.code.source import Source
from gpuviz.qt.controls.controls import keep_arrows
from gpuviz.qt.controls.layouts import column_of, row_of, tab_after
from gpuviz.qt.controls.message import Message
from gpuviz.qt.playing.stage_view import StageView
from gpuviz.qt.playing.story_bar import StoryBar
from gpuviz.qt.playing.timeline import Timeline
from gpuviz.qt.playing.transport import Transport
from gpuviz.qt.start.lesson_bar import LessonBar
from gpuviz.qt.window.lesson_list import LessonList
from gpuviz.qt.window.parameters import Parameters
from gpuviz.qt.window.status import Status
from gpuviz.qt.window.toolbar import Toolbar
from gpuviz.words.language import tr

LESSONS, LECTURE = 0, 1


class LeftTabs(QWidget):
    """Lessons alone until a lecture is open; then two tabs."""

    def __init__(self, lessons: QWidget) -> None:
        super().__init__()
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(tr("Lessons or lecture"))
        self.tabs.setExpanding(True)
        self._stack = QStackedWidget()
        for text in (tr("Lessons"), tr("Lecture")):
            self.tabs.addTab(text)
        self._stack.addWidget(lessons)
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        keep_arrows(self.tabs)
        column_of(self.tabs, (self._stack, 1), on=self, gap=0)
        self.offer(False)

    def add_lecture(self, lecture: QWidget) -> None:
        """The slides of a lecture."""
        self._stack.addWidget(lecture)

    def offer(self, lecture: bool) -> None:
        """Whether there is a lecture to look at."""
        self.tabs.setVisible(lecture)
        if not lecture:
            self.show_tab(LESSONS)

    @property
    def at_lecture(self) -> bool:
        """Whether the slides are in front."""
        return self.tabs.currentIndex() == LECTURE

    def show_tab(self, tab: int) -> None:
        """Show the lessons or the lecture."""
        self.tabs.setCurrentIndex(tab)


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

    def __init__(self, core: Core, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self._divide()
        player, view, theme = core.player, core.view, core.theme
        self.toolbar = Toolbar(core.course.lessons, theme, actions)
        self._rows.insertWidget(0, self.toolbar)
        self.lessons = LessonList(core.course.lessons, theme)
        self.left = LeftTabs(self.lessons)
        _put(self.list, self.left)
        self.guide = LessonBar(theme)
        _rows_of(self._picture).addWidget(self.guide)
        view.follow("lesson", lambda view: self.guide.show_lesson(view.lesson))
        self.stage = StageView(player, view, theme)
        self.message = Message(self.stage)
        self.transport = Transport(player, theme, actions)
        self.bar = StoryBar(player, view, theme, actions)
        self.timeline = Timeline(player, theme)
        self.bar.finder.found.connect(self.timeline.show_hits)
        row = _time_row(self.transport, self.timeline)
        _put(self._picture, self.stage, self.bar, row)
        self.source = Source(player, theme, self.code)
        _put(self.code, self.source)
        self._column = _Column()
        _put(self.side, self._column)
        self.parameters = Parameters(view, theme, self._column.inside)
        self._column.add(self.parameters)
        self.status = Status(core.director)
        self._rows.addWidget(self.status)

    def _divide(self) -> None:
        """Empty panes, each in its place: what is moved to another place is styled once more, and
        all it holds.
        """
        self.across = QSplitter(Qt.Orientation.Horizontal, self)
        self.middle = QSplitter(Qt.Orientation.Vertical)
        self.splitters = {"across": self.across, "middle": self.middle}
        self.list, self._picture, self.code, self.side = map(
            _pane, ("listpane", "stagepane", "codepane", "sidepane")
        )
        for splitter in self.splitters.values():
            splitter.setHandleWidth(HANDLE)
            splitter.setChildrenCollapsible(False)
        for index, pane in enumerate((self.list, self.middle, self.side)):
            self.across.addWidget(pane)
            self.across.setStretchFactor(index, 1 if pane is self.middle else 0)
        # No stretch factors: stage and code keep their shares of the height.
        self.middle.addWidget(self._picture)
        self.middle.addWidget(self.code)
        self.code.setMinimumHeight(110)
        self._rows = _rows(self)
        self._rows.addWidget(self.across, 1)

    def add_panels(self, *panels: QWidget) -> None:
        """Panels at the side, below the parameters."""
        above: QWidget = self.parameters
        for panel in panels:
            self._column.add(panel)
            tab_after(above, panel)
            above = panel

    def add_launch(self, launch: QWidget) -> None:
        """How a kernel of the user's own is launched, below the parameters."""
        self._column.add(launch, below=self.parameters)
        tab_after(self.parameters, launch)

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


def _pane(name: str) -> QFrame:
    made = QFrame()
    made.setObjectName(name)
    _rows(made)
    return made


def _rows(of: QWidget) -> QVBoxLayout:
    """Widgets below each other, without margins."""
    return column_of(on=of, gap=0)


def _put(pane: QFrame, *widgets: QWidget) -> None:
    """Fill a pane; the first one takes what room there is."""
    for index, widget in enumerate(widgets):
        _rows_of(pane).addWidget(widget, 1 if index == 0 else 0)


def _rows_of(pane: QFrame) -> QVBoxLayout:
    rows = pane.layout()
    assert isinstance(rows, QVBoxLayout)
    return rows


def _time_row(transport: Transport, timeline: Timeline) -> QFrame:
    made = QFrame()
    made.setObjectName("timepane")
    at_top = transport, Qt.AlignmentFlag.AlignTop
    row_of(at_top, (timeline, 1), on=made, gap=12, margins=(10, 4, 12, 2))
    return made


class _Column(QScrollArea):
    """Panels below each other that scroll up and down when there is not enough room; it is never
    narrower than what it holds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.inside = QWidget()
        self._panels = column_of(1, on=self.inside, gap=18, margins=(14, 12, 12, 12))
        self.setWidget(self.inside)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def add(self, panel: QWidget, below: QWidget | None = None) -> None:
        """One more panel, below another one or all others."""
        last = self._panels.count() - 1
        at = self._panels.indexOf(below) + 1 if below is not None else last
        self._panels.insertWidget(at, panel)

    def minimumSizeHint(self) -> QSize:
        """The widest panel, and the scroll bar."""
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self.inside.minimumSizeHint().width() + bar, 100)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A panel that needs more room says so by a layout request."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
