"""The window: what is seen of it, made and wired; what it does besides is in `features`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, QTimer
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow

from gpuviz.base.errors import Failure, failure_of
from gpuviz.qt.commands.actions import Actions, Choices
from gpuviz.qt.history.crash_file import CrashFile
from gpuviz.qt.playing.story_bar import FINDINGS
from gpuviz.qt.preferences.settings import Settings
from gpuviz.qt.running.activity import Loading
from gpuviz.qt.running.core import as_left
from gpuviz.qt.window import commands
from gpuviz.qt.window.commands import LessonCommands
from gpuviz.qt.window.layout import SIZE, Layout, PaneCommands
from gpuviz.qt.window.panes import Panes
from gpuviz.run.session import Session
from gpuviz.story.exhibit import names_of
from gpuviz.story.sources import Sources
from gpuviz.views.link import link
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.course import LessonEntry
    from gpuviz.qt.running.worker import Job, Perform
    from gpuviz.qt.window.features import Features
    from gpuviz.traces.trace import Finding
    from gpuviz.views.provenance import Provenance
    from gpuviz.views.state import ViewState

_FEATURES = (  # and what they load when they are made, or show the first picture
    "gpuviz.qt.window.features",
    "gpuviz.panels.limit_bars",
    "gpuviz.lectures.exercises",
    "gpuviz.lectures.desk_question",
    "gpuviz.qt.presenter.slide_runs",
    "gpuviz.gpu.live_thread",
    "platformdirs.unix" if sys.platform == "linux" else "platformdirs",
)
ROOMY = 1400  # from this width on two pictures and the lessons fit beside each other


def _load_features() -> None:
    """What is loaded stays: it is not looked through for garbage."""
    for name in _FEATURES:
        import_module(name)
    gc.freeze()


class Window(QMainWindow):
    """Everything in one place.

    `perform` runs lessons (off the GUI thread), `lessons` is the course, `settings` what is
    remembered from start to start, `sources` where measurements come from. `state` is the folder
    of the log and of what outlives a crash (nothing is kept without one), `first` the view or the
    file to begin with, `session` what has been opened, `crash_file` the one of `state`.
    """

    def __init__(
        self,
        perform: Perform,
        lessons: Sequence[LessonEntry],
        settings: QSettings,
        sources: Sources | None = None,
        state: Path | None = None,
        first: Provenance | Path | None = None,
        session: Session | None = None,
        crash_file: CrashFile | None = None,
    ) -> None:
        super().__init__()
        self._crash_file = crash_file or CrashFile(state)  # before what may end this start
        self.setWindowTitle("gpuviz")
        self.resize(*SIZE)
        self._perform, self._state = perform, state
        self._first = first
        self._features: Features | None = None
        self._asks = True  # what becomes of changes, before it closes
        core = self.core = as_left(
            Settings(settings), session or Session(), lessons, perform, sources or Sources(), self
        )
        self.settings, self.session, self.theme = core.settings, core.session, core.theme
        self.view, self.player, self.director = core.view, core.player, core.director
        self.course, self.meter = core.course, core.meter
        self.actions_ = Actions(self)
        self.choices = Choices(self.actions_, lambda: commands.on(core, self.layout_.shown))
        self._lesson_commands = LessonCommands(core, self.actions_, self.choices)
        panes = self.panes = Panes(core, self.actions_, self)
        self.toolbar, self.lessons, self.stage = panes.toolbar, panes.lessons, panes.stage
        self.transport, self.timeline, self.source = panes.transport, panes.timeline, panes.source
        self.message, self.parameters, self.status = panes.message, panes.parameters, panes.status
        self.setCentralWidget(panes)
        self.layout_ = Layout(self, panes, core.settings)
        self._pane_commands = PaneCommands(panes, self.layout_, self.actions_, self.choices)
        commands.bind(self.actions_, core, panes)
        commands.add_languages(self.choices, core, panes)
        self._wire()
        self.layout_.restore()
        view = core.view
        view.follow("lesson", self._show_lesson)
        view.follow("arch", lambda view: self.toolbar.show_arch(view.arch))
        view.follow("level", lambda view: self.toolbar.show_level(view.level))
        view.follow("compared", self._show_compared)
        view.follow("lesson arch level compared checks", self.choices.mark)
        self._making = self._make()
        self._loading = Loading((_load_features,), self)
        self.stage.painted.connect(self._loading.begin)
        self._loading.done.connect(self._go_on)
        if first is not None:  # another view would be seen for a moment
            self.complete()

    def complete(self) -> None:
        """Make what is not seen of it, and run the lesson; once."""
        for _ in self._making:
            pass

    def _go_on(self) -> None:
        """Make a part of it, and the next when what came meanwhile has been answered."""
        if next(self._making, False):
            QTimer.singleShot(0, self, self._go_on)

    def _make(self) -> Generator[bool, None, None]:
        """Part after part."""
        from gpuviz.qt.window import features

        made = features.Features(
            self.core,
            self.panes,
            self.layout_,
            self.actions_,
            self._pane_commands,
            self.choices.mark,
            self._perform,
            self._crash_file,
            self._state,
            self,
        )
        for add in made.parts():
            add()
            yield True
        self._features = self.features = made
        self.recorder, self.thumbnails = made.recorder, made.thumbnails
        self.counts, self.timing = made.counts, made.timing
        self.history, self.recovery, self.lecture = made.history, made.recovery, made.lecture
        self.kernel_opener, self.files = made.kernel_opener, made.files
        made.begin(None if isinstance(self._first, Path) else self._first)
        self.director.let_go()
        if isinstance(self._first, Path):
            self.files.reopening.open(self._first)

    def _wire(self) -> None:
        view, director, meter = self.view, self.director, self.meter
        self.player.loop_changed.connect(self.choices.mark)
        director.problem_changed.connect(self.parameters.show_problem)
        view.changed.connect(self._name_sides)
        director.failed.connect(self._show_failure)
        director.performer.started.connect(lambda job: self.message.pass_by())
        self.lessons.chosen.connect(self.course.open)
        self.course.added.connect(self.lessons.add)
        self.course.renamed.connect(self.lessons.rename)
        self.course.removed.connect(self.lessons.remove)
        director.foresee = self.stage.foresee
        self.stage.picked.connect(director.pick)
        self.stage.broke.connect(lambda error: self.message.show_failure(failure_of(error)))
        self.status.findings_asked.connect(self._show_findings)
        self.panes.left.tabs.currentChanged.connect(lambda tab: self._make_room())
        self.theme.changed.connect(self.choices.mark)
        self.toolbar.device.follow(meter)
        self.status.follow(meter)
        meter.troubled.connect(
            lambda said: self.message.say("error", tr("The GPU did not run this"), said)
        )
        meter.changed.connect(self.choices.mark)

    def _show_findings(self, findings: list[tuple[str, Finding]]) -> None:
        """As a picture where the lesson has one; all of them in words, the source and the story
        where the first one is; or why none.
        """
        if not findings:
            self.message.show_unchecked()
            return
        if self.panes.bar.show_picture(FINDINGS):
            return
        self.message.show_findings(findings)
        role, first = findings[0]
        self.panes.source.point_at(role, first.line)

    def _show_lesson(self, view: ViewState) -> None:
        lesson = view.lesson
        self.setWindowTitle(f"{tr(lesson.title)} – gpuviz")
        self.toolbar.show_lesson(lesson)
        self.lessons.show_lesson(lesson)
        self._lesson_commands.offer(lesson)

    def _show_failure(self, job: Job, failure: Failure) -> None:
        self.message.show_failure(failure)

    def _name_sides(self, *_: object) -> None:
        variants = self.director.variants()
        if len(variants) > 1:
            self.parameters.show_names(names_of(variants))

    def _show_compared(self, view: ViewState) -> None:
        """Make room for two pictures, or for one."""
        self.toolbar.compare.setChecked(view.compared)
        self._make_room()

    def _make_room(self) -> None:
        """Two pictures need room: in a narrow window the list of lessons makes it.

        The slides of a lecture stay: they are gone through, and some compare.
        """
        tight = self.view.now.compared and self.width() < ROOMY
        self.layout_.make_room(tight and not self.panes.left.at_lecture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A wider window may have room for everything."""
        super().resizeEvent(event)
        self._make_room()
        self.choices.mark()

    def leave(self, lost: bool = False) -> None:
        """Close without a question: what is not saved is kept for the next start; when the display
        was lost, the view as well.
        """
        self._asks = False
        self._crash_file.stays = lost = lost or bool(self._crash_file.unsaved)
        if self._features is not None:
            self.lecture.document.keep()
            if lost:
                self._crash_file.keep(link(self.recorder.record()))
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember, then stop what runs."""
        if self._features is not None:
            editing = self.features.source_editing
            lecture = partial(self.lecture.saving.settle, self.close)
            if self._asks and not editing.settle(lecture):
                event.ignore()
                return
            self.player.pause()
            self._features.close()
        self._making.close()
        self.meter.close()
        self.director.performer.close()
        self._crash_file.close()
        super().closeEvent(event)
