"""What the helpers of the window may use of it: its parts, by name."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow

from gpuviz.qt.code.source import Source
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.commands.choices import Choices
from gpuviz.qt.controls.message import Message
from gpuviz.qt.counts.counts import Counts
from gpuviz.qt.history.settings import Settings
from gpuviz.qt.lecture.lecturing import Lecturing
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.playing.stage_view import StageView
from gpuviz.qt.playing.timeline import Timeline
from gpuviz.qt.running.comparison import Comparison
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.viewing import Viewing
from gpuviz.qt.timing.timing_panel import TimingPanel
from gpuviz.qt.window.course import Course
from gpuviz.qt.window.lesson_list import LessonList
from gpuviz.qt.window.panes import Panes
from gpuviz.qt.window.parameters import Parameters
from gpuviz.qt.window.status import Status
from gpuviz.qt.window.toolbar import Toolbar
from gpuviz.qt.window.visible_panes import VisiblePanes
from gpuviz.runners.measurement import DeviceFacts


class Host(QMainWindow):
    """`window.Window` makes the parts; those that act on many of them take this."""

    theme: Theme
    player: Player
    comparison: Comparison
    director: Director
    course: Course
    meter: Meter
    actions_: Actions
    choices: Choices
    settings: Settings
    viewing: Viewing
    toolbar: Toolbar
    lessons: LessonList
    stage: StageView
    message: Message
    timeline: Timeline
    source: Source
    parameters: Parameters
    counts: Counts
    timing: TimingPanel
    status: Status
    lecturing: Lecturing
    panes: Panes
    visible: VisiblePanes

    def suit(self, device: DeviceFacts) -> None:
        """Predict for a GPU that was found."""
        raise NotImplementedError

    def show_compared(self, on: bool) -> None:
        """Make room for two pictures, or for one."""
        raise NotImplementedError
