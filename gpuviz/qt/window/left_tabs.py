"""The left pane: the lessons, and beside them the slides of the lecture that is open."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QTabBar, QVBoxLayout, QWidget

from gpuviz.qt.controls.controls import keep_arrows
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs)
        column.addWidget(self._stack, 1)
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
