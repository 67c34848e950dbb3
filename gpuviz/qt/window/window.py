"""The window: makes the parts, wires them, remembers. What the parts do is in their own files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QCloseEvent, QResizeEvent

from gpuviz.arch import ARCHITECTURES
from gpuviz.errors import Failure, failure_of
from gpuviz.language import tr
from gpuviz.qt.code.source import Source
from gpuviz.qt.controls.message import Message
from gpuviz.qt.counts.counts import Counts
from gpuviz.qt.export.export_commands import Parts
from gpuviz.qt.history.settings import Settings
from gpuviz.qt.kernels.opening import Opening, marked_lines
from gpuviz.qt.lecture.handout import Handout
from gpuviz.qt.lecture.lecturing import Lecturing
from gpuviz.qt.playing.stage_view import StageView
from gpuviz.qt.playing.timeline import Timeline
from gpuviz.qt.playing.transport import Transport
from gpuviz.qt.running.meter import USES, Meter, Sources
from gpuviz.qt.running.sweeps import Sweeps
from gpuviz.qt.running.viewing import Viewing
from gpuviz.qt.running.worker import Job, Perform
from gpuviz.qt.timing.timing_panel import TimingPanel
from gpuviz.qt.window import lasting
from gpuviz.qt.window.commanding import Commanding
from gpuviz.qt.window.course import Course
from gpuviz.qt.window.everyday import Everyday
from gpuviz.qt.window.exchange import Exchange
from gpuviz.qt.window.host import Host
from gpuviz.qt.window.lesson_list import LessonList
from gpuviz.qt.window.panes import Panes
from gpuviz.qt.window.parameters import Parameters
from gpuviz.qt.window.status import Status
from gpuviz.qt.window.thumbnails import Thumbnails
from gpuviz.qt.window.toolbar import Toolbar
from gpuviz.qt.window.visible_panes import VisiblePanes
from gpuviz.runners.measurement import DeviceFacts
from gpuviz.runners.recording import Recording
from gpuviz.runners.session import Session
from gpuviz.scenes.base import Lesson
from gpuviz.scenes.showing import Showing, names_of
from gpuviz.views.provenance import Provenance

ROOMY = 1400  # from this width on two pictures and the lessons fit beside each other


class Window(Host):
    """Everything in one place.

    `perform` runs lessons (off the GUI thread), `lessons` is the course, `settings` what is
    remembered from start to start, `sources` where measurements come from. `state` is the folder
    of the log and of what outlives a crash (nothing is kept without one), `first` the view to begin
    with, `session` what has been opened.
    """

    def __init__(
        self,
        perform: Perform,
        lessons: Sequence[Lesson],
        settings: QSettings,
        sources: Sources | None = None,
        state: Path | None = None,
        first: Provenance | None = None,
        session: Session | None = None,
    ) -> None:
        super().__init__()
        self.session = session or Session()
        self.setWindowTitle("gpuviz")
        self.resize(*lasting.SIZE)
        self.settings = Settings(settings)
        core = lasting.core(self.settings, lessons, perform, self.session, self)
        self.theme, self.player = core.theme, core.player
        self.comparison, self.director = core.comparison, core.director
        self.course = Course(lessons, self.player, self.comparison, self.settings)
        self.meter = Meter(sources or Sources(), self)
        self.commanding = Commanding(self)
        self.actions_, self.choices = self.commanding.actions, self.commanding.choices
        self._build(perform)
        self._wire()
        self._wire_opening()
        self._wire_meter()
        self._wire_lecture()
        self._wire_exchange()
        self.commanding.bind()
        lasting.restore_layout(self)
        self.everyday = Everyday(self, self.settings, state)
        self.commanding.find_more = self.everyday.linking.offer
        self.lecturing.unrecorded = self.everyday.undo.unrecorded
        self.exchange.exporting.exports.saved.connect(lambda saved: self.everyday.recents.keep())
        with self.director.together():
            self.course.show(self.player.lesson)
            self.everyday.begin(first)

    def _build(self, perform: Perform) -> None:
        player, theme, actions = self.player, self.theme, self.actions_
        lessons = self.course.lessons
        self.viewing = Viewing(player, self.comparison, self.director, theme, self.course.open_any)
        self.thumbnails = Thumbnails(lessons, perform, self.director, theme, self)
        self.toolbar = Toolbar(lessons, theme, actions)
        self.lessons = LessonList(lessons, theme, self.thumbnails)
        self.stage = StageView(player, theme)
        self.viewing.fit_to(self.stage)
        self.message = Message(self.stage)
        self.transport = Transport(player, theme, actions)
        self.timeline = Timeline(player, theme)
        self.source = Source(player, theme)
        self.parameters = Parameters(player, self.comparison, theme)
        self.counts = Counts(theme)
        self.timing = TimingPanel(self.meter, theme, actions)
        self.status = Status(self.director)
        side = self.parameters, self.counts, self.timing
        self.lecturing = Lecturing(
            self.viewing, self.director, self.meter, perform, self.session, theme, actions, self
        )
        self.panes = Panes(
            self.toolbar,
            self.lessons,
            self.stage,
            self.transport,
            self.timeline,
            self.source,
            side,
            self.status,
            self.lecturing.pane,
        )
        self.setCentralWidget(self.panes)
        panes = {"lessons": self.panes.list, "source": self.panes.code, "side": self.panes.side}
        self.visible = VisiblePanes(panes, "lessons")

    def _wire(self) -> None:
        player, director = self.player, self.director
        player.lesson_changed.connect(self._show_lesson)
        player.loop_changed.connect(self.choices.mark)
        director.arch_changed.connect(self.toolbar.show_arch)
        director.level_changed.connect(self.toolbar.show_level)
        director.problem_changed.connect(self.parameters.show_problem)
        director.performed.connect(self._show_runs)
        for changed in (player.values_changed, self.comparison.changed, director.arch_changed):
            changed.connect(self._name_sides)
        self.comparison.switched.connect(self.show_compared)
        director.forgotten.connect(self.counts.hide)
        director.forgotten.connect(self.source.clear)
        director.failed.connect(self._show_failure)
        director.performer.started.connect(lambda job: self.message.pass_by())
        self.lessons.chosen.connect(self.course.open)
        self.course.added.connect(self.lessons.add)
        self.stage.picked.connect(director.pick)
        self.stage.broke.connect(lambda error: self.message.show_failure(failure_of(error)))
        self.status.findings_asked.connect(self.message.show_findings)
        self.theme.changed.connect(self.choices.mark)
        self.toolbar.show_arch(director.arch)
        self.toolbar.show_level(director.level)

    def _wire_opening(self) -> None:
        self.opening = Opening(self.theme, self)
        self.opening.said.connect(self.status.say)
        self.opening.opened.connect(self.course.open_any)
        self.opening.refused.connect(self._show_refusal)

    def _wire_lecture(self) -> None:
        lecturing = self.lecturing
        lecturing.presenting.calm = lambda: self.player.state.calm
        lecturing.add_shipped(self.toolbar.group_menu("Lecture"))
        lecturing.failed.connect(
            lambda failure: self.message.show_failure(failure, tr("About the lecture"), True)
        )
        lecturing.said.connect(self.status.say)
        lecturing.opened.connect(lambda: self.commanding.go_to("lecture"))
        self.panes.left.tabs.currentChanged.connect(lambda tab: self._make_room())
        lecturing.document.changed.connect(
            lambda: self.panes.left.offer(lecturing.document.lecture is not None)
        )
        once = Qt.ConnectionType.SingleShotConnection
        self.director.performed.connect(lambda showing: lecturing.recover(), once)

    def _show_refusal(self, name: str, text: str, error: Exception) -> None:
        self.message.show_failure(failure_of(error))
        if marked := marked_lines(error):
            self.source.show_error(name, text, marked)

    def _wire_meter(self) -> None:
        """The GPU is looked for when the first picture is there: starting does not wait for it."""
        meter, director = self.meter, self.director
        for part in (self.toolbar.device, self.status, self.counts, self.source.places):
            part.follow(meter)
        director.performed.connect(self.timing.show_runs)
        director.performed.connect(meter.show)
        director.forgotten.connect(meter.forget)
        director.forgotten.connect(self.timing.hide)
        meter.found.connect(self.suit)
        meter.troubled.connect(
            lambda said: self.message.say("error", tr("The GPU did not run this"), said)
        )
        meter.changed.connect(self.choices.mark)
        use = self.settings.number("gpu_use", meter.state.use, USES)
        meter.set_use(min(USES, key=lambda one: abs(one - use)))
        self.sweeps = Sweeps(self.player, meter, director, self.session, self.actions_)
        self.sweeps.failed.connect(self.message.show_failure)
        self.status.follow_activity(self.sweeps)
        once = Qt.ConnectionType.SingleShotConnection
        director.performed.connect(lambda showing: meter.look(), once)

    def _wire_exchange(self) -> None:
        """Views go into files, and come back out of them."""
        parts = Parts(self.viewing, self.meter, self.counts, self.timing, self.theme)
        self.exchange = Exchange(self, parts, self.settings, self.actions_)
        self.exchange.report_to(self.status, self.message)
        Handout(self.lecturing.document, self.exchange.exporting, self.actions_, self)
        reopening = self.exchange.reopening
        reopening.lesson_opened.connect(self.course.open_any)
        reopening.recording_opened.connect(self._use_recording)
        reopening.lecture_asked.connect(self.lecturing.open)
        reopening.kernel_asked.connect(lambda path: self.opening.open(path, self.director.arch))

    def _use_recording(self, file: Path, recording: Recording) -> None:
        self.session.open_recording(file, recording)
        self.meter.look_up(self.session.library(self.director.lecture))

    def suit(self, device: DeviceFacts) -> None:
        """Predict for the GPU that is there, unless the user has chosen an architecture."""
        known = any(arch.sm == device.sm for arch in ARCHITECTURES)
        chosen_already = self.viewing.told or self.settings.flag("arch_chosen", False)
        if known and not chosen_already:
            with self.everyday.undo.unrecorded():
                self.director.set_arch(device.sm)
            self.choices.mark()

    def _name_sides(self, *_: object) -> None:
        variants = self.director.variants()
        if len(variants) > 1:
            self.parameters.show_names(names_of(variants))

    def show_compared(self, on: bool) -> None:
        """Make room for two pictures, or for one."""
        self.toolbar.compare.setChecked(on)
        self._make_room()
        self.choices.mark()

    def _make_room(self) -> None:
        """Two pictures need room: in a narrow window the list of lessons makes it.

        The slides of a lecture stay: they are gone through, and some compare.
        """
        tight = self.comparison.on and self.width() < ROOMY
        self.visible.make_room(tight and not self.panes.left.at_lecture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A wider window may have room for everything."""
        super().resizeEvent(event)
        self._make_room()
        self.choices.mark()

    def _show_lesson(self, lesson: Lesson) -> None:
        self.setWindowTitle(f"{tr(lesson.title)} – gpuviz")
        self.toolbar.show_lesson(lesson)
        self.lessons.show_lesson(lesson)
        self.commanding.offer(lesson)

    def _show_runs(self, showing: Showing) -> None:
        self.message.pass_by()
        self.counts.show_runs(showing)
        self.source.show_runs(showing)

    def _show_failure(self, job: Job, failure: Failure) -> None:
        self.message.show_failure(failure)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember, then stop what runs: nothing may call into a window that is gone."""
        if not self.lecturing.settle(self.close):
            event.ignore()
            return
        self.lecturing.close()
        lasting.remember(self)
        self.everyday.close()
        self.player.pause()
        self.thumbnails.close()
        self.timing.shut()
        self.sweeps.close()
        self.exchange.close()
        self.meter.close()
        self.director.performer.close()
        super().closeEvent(event)
