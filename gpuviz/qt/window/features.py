"""What the window does with what it shows: counts and times, files, lectures, history, preferences.

It is made when the first picture of the window has been painted: nothing of it is seen before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMainWindow, QWidget

from gpuviz.arch import ARCHITECTURES
from gpuviz.base.errors import InputError, failure_of
from gpuviz.compile import CompileError
from gpuviz.compile.program import marked_lines
from gpuviz.gpu.consent import Code
from gpuviz.panels.layout import panels
from gpuviz.panels.panel import GO
from gpuviz.qt.code.buffers_view import BuffersView
from gpuviz.qt.code.code_view import CodeView
from gpuviz.qt.code.lines_view import LinesView
from gpuviz.qt.code.operand_finder import OperandFinder
from gpuviz.qt.code.side_by_side import SideBySide
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.controls import ask
from gpuviz.qt.counts.counts import Counts
from gpuviz.qt.diagnostics import report
from gpuviz.qt.diagnostics.log import ActivityLog
from gpuviz.qt.export.export_commands import Parts
from gpuviz.qt.history.crash_file import CrashFile
from gpuviz.qt.history.recovery import Recovery
from gpuviz.qt.history.view_history import RECENTS, ViewHistory
from gpuviz.qt.kernels.background_compiler import Build
from gpuviz.qt.kernels.drafts import Drafts
from gpuviz.qt.kernels.kernel_comparison import KernelComparison
from gpuviz.qt.kernels.kernel_opener import KernelOpener
from gpuviz.qt.kernels.list_commands import KernelListCommands
from gpuviz.qt.kernels.own_kernel import NO_SOURCE, OwnKernel
from gpuviz.qt.kernels.source_editing import SourceEditing
from gpuviz.qt.lecture.open_lecture import OpenLecture
from gpuviz.qt.lecture.save_commands import HandoutCommands
from gpuviz.qt.playing.story_bar import FINDINGS
from gpuviz.qt.preferences import preferences
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.live_story import LiveStory
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.qt.running.worker import Perform
from gpuviz.qt.start.guess import Guess
from gpuviz.qt.start.practice import Practice
from gpuviz.qt.sweep.lesson_map import LessonMap
from gpuviz.qt.timing.placement_view import PlacementView
from gpuviz.qt.timing.time_view import TimeView
from gpuviz.qt.timing.timing_panel import TimingPanel
from gpuviz.qt.window.file_commands import FileCommands
from gpuviz.qt.window.layout import Layout, PaneCommands
from gpuviz.qt.window.lesson_list import Thumbnails
from gpuviz.qt.window.panes import Panes
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.recordings.recording import Recording
from gpuviz.story.exhibit import Exhibit
from gpuviz.story.lesson import Lesson
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.kernels.rewrites import KernelRewrites
    from gpuviz.qt.start.tour import Tour
    from gpuviz.qt.sweep.sweep_work import SweepWork
    from gpuviz.story.swept import CellView

TOUR = "tour"  # the setting that says whether it has been seen
_ONCE = Qt.ConnectionType.SingleShotConnection


class Features(QObject):
    """`state` is the folder of the log and of what outlives a crash, if there is one; `mark` marks
    the commands that are on.
    """

    def __init__(
        self,
        core: Core,
        panes: Panes,
        layout: Layout,
        actions: Actions,
        pane_commands: PaneCommands,
        mark: Callable[[], None],
        perform: Perform,
        crash_file: CrashFile,
        state: Path | None,
        window: QMainWindow,
    ) -> None:
        super().__init__(window)
        self._core, self._panes, self._layout = core, panes, layout
        self._actions, self._mark = actions, mark
        self._crash_file, self._state, self._window = crash_file, state, window
        self._perform, self._pane_commands = perform, pane_commands

    def parts(self) -> tuple[Callable[[], None], ...]:
        """What makes it, in this order: one after another, so that the window answers meanwhile."""
        return (
            self._add_pictures,
            self._add_panels,
            self._add_code,
            self._add_numbers,
            self._add_history,
            self._add_lecture,
            self._add_kernels,
            self._add_guess,
            self._add_files,
            self._add_dialogs,
        )

    def begin(self, first: Provenance | None) -> None:
        """Show what was asked for, or what a crash left behind."""
        crashed = self.recovery.begin(first)
        if crashed:
            self.recovery.tell_of_crash(self._panes.message, self._panes.status)
        if first is None and not crashed and not self._core.settings.text(TOUR, ""):
            self._core.director.performed.connect(lambda showing: self.show_tour(), _ONCE)
        autosave = self.recovery.keep(self.remember)
        if autosave is None:
            return
        for splitter in self._panes.splitters.values():
            autosave.follow(splitter)
        self._core.theme.changed.connect(autosave.touch)
        self._panes.source.tabs.currentChanged.connect(lambda index: autosave.touch())
        self._core.meter.changed.connect(lambda state: autosave.touch())
        self.drafts.changed.connect(lambda path: autosave.touch())

    def remember(self) -> None:
        """Keep for the next start how everything is."""
        preferences.keep(self._core)
        self._layout.keep()

    def close(self) -> None:
        """Stop what runs: nothing may call into a window that is gone."""
        self.lecture.close()
        self.remember()
        self.recovery.close()
        self.thumbnails.close()
        self.timing.shut()
        self._panes.source.time.shut()
        if self.sweep_work is not None:
            self.sweep_work.close()
        self.files.close()
        if self.rewrites is not None:
            self.rewrites.trials.close()
        self.own_kernel.close()

    def _add_pictures(self) -> None:
        core, panes = self._core, self._panes
        self.recorder = ViewRecorder(core, panes.stage)
        self.thumbnails = Thumbnails(core.course.lessons, self._perform, core, self)
        panes.lessons.show_pictures(self.thumbnails)

    def _add_panels(self) -> None:
        """Counts and times."""
        core, panes, add = self._core, self._panes, self._pane_commands.add
        self.counts = Counts(core.theme)
        self.timing = TimingPanel(core.meter, core.theme, self._actions)
        panes.add_panels(self.counts, self.timing)
        add("counts", panes.side, lambda: self.counts.table)
        add("timing", panes.side, lambda: self.timing)
        self._actions.bind("counts.copy", self.counts.copy)
        self.counts.asked.connect(panes.source.point_at)

    def _add_code(self) -> None:
        """What stands beside the code, times and places of blocks among it."""
        theme, source = self._core.theme, self._panes.source
        source.add_views(
            SideBySide(theme),
            LinesView(theme),
            BuffersView(theme),
            PlacementView(theme),
            TimeView(theme),
            OperandFinder(self),
            CodeView(tr("changes"), "diff", theme),
        )
        source.time.asked.connect(self._show_request)
        for panel in (self.counts, self.timing):
            source.time.told.connect(panel.show_explained)
        self._panes.status.follow_activity(source.time.work)
        source.lines.lesson_asked.connect(self._open_lesson)
        self._pane_commands.add("time", self._panes.code, source.time_view)

    def _add_numbers(self) -> None:
        """What is measured and predicted. The GPU is looked for when the first picture is there:
        starting does not wait for it.
        """
        core, panes, actions = self._core, self._panes, self._actions
        core.director.performed.connect(self._show_runs)
        core.director.updated.connect(self._update_runs)
        core.director.performed.connect(lambda showing: core.meter.look(), _ONCE)
        for hide in (self.counts.hide, panes.source.clear, core.meter.forget, self.timing.hide):
            core.director.forgotten.connect(hide)
        for part in (self.counts, panes.source.places):
            part.follow(core.meter)
        core.meter.found.connect(self.suit)
        core.meter.questioned.connect(self._ask_about)
        told = core.director
        self.live_story = LiveStory(
            core.meter, lambda: told.showing, told.measured, told.retell, self._window
        )
        self.live_story.broke.connect(panes.stage.broke)
        self.sweep_work: SweepWork | None = None
        self.lesson_map = LessonMap(core, actions, self._swept_by, self)
        panes.parameters.offer_map(actions["run.map"])
        actions.bind("run.sweep", self._sweep)

    def _open_lesson(self, name: str) -> None:
        """A lesson of the course, by its id."""
        course = self._core.course
        if (listed := next((one for one in course.lessons if one.id == name), None)) is not None:
            course.open(listed)

    def _show_request(self, block: int, warp: int, moment: str) -> None:
        """The request of an instruction that was clicked, where the story shows any warp's."""
        if {"block", "warp"} <= self._core.view.now.values.keys():
            self._core.director.pick({"block": block, "warp": warp, GO: moment}, False)

    def _ask_about(self, codes: tuple[Code, ...]) -> None:
        """May they run on the GPU?"""
        from gpuviz.qt.running.consent_dialog import ConsentDialog

        asked = self.consent = ConsentDialog(codes, self._core.theme, self._window)
        agree = self._core.meter.agree
        asked.accepted.connect(lambda: agree(codes, asked.widely.isChecked()))
        asked.rejected.connect(partial(self._core.meter.refuse, codes))
        ask(asked)

    def _show_runs(self, showing: Exhibit) -> None:
        self._panes.message.pass_by()
        self.counts.show_runs(showing)
        self._panes.source.show_runs(showing)
        self.timing.show_runs(showing)
        self._core.meter.show(showing)

    def _update_runs(self, showing: Exhibit) -> None:
        self.counts.update_runs(showing)
        self._panes.source.update_runs(showing)
        self.timing.update_runs(showing)
        self._core.meter.update(showing)

    def suit(self, device: DeviceFacts) -> None:
        """Predict for the GPU that is there, unless the user has chosen an architecture."""
        known = any(arch.sm == device.sm for arch in ARCHITECTURES)
        chosen = self.recorder.asked or self._core.settings.flag("arch_chosen", False)
        if known and not chosen:
            with self.history.undo.unrecorded():
                self._core.view.set(arch=device.sm)
            self._mark()

    def _add_history(self) -> None:
        core, panes = self._core, self._panes
        file = panes.toolbar.group_menu("File")
        self.history = ViewHistory(core, self.recorder, self._actions, file, self._window)
        self.history.said.connect(panes.status.say)
        self.recovery = Recovery(
            core, self.recorder, self.history, self._crash_file, self._state, self._window
        )
        for part in (self.history, self.recovery):
            part.refused.connect(self._refuse)

    def _add_lecture(self) -> None:
        core, panes, window = self._core, self._panes, self._window
        pane_commands = self._pane_commands
        lecture = self.lecture = OpenLecture(
            core, self.recorder, self._perform, self._actions, window
        )
        lecture.unrecorded = self.history.undo.unrecorded
        lecture.slides.timeline = panes.timeline
        panes.add_lecture(lecture.pane)
        pane_commands.add_target("lecture", panes.list, lambda: lecture.pane.list)
        self._actions.bind("pane.lecture", lecture.begin)
        lecture.opened.connect(partial(pane_commands.go_to, "lecture"))
        lecture.add_shipped(panes.toolbar.group_menu("Lecture"))
        lecture.failed.connect(
            lambda failure: panes.message.show_failure(failure, tr("About the lecture"), True)
        )
        lecture.said.connect(panes.status.say)
        lecture.document.changed.connect(
            lambda: panes.left.offer(lecture.document.lecture is not None)
        )
        core.director.performed.connect(lambda showing: lecture.recover(), _ONCE)

    def _add_kernels(self) -> None:
        self.kernel_opener = KernelOpener(self._core.theme, self._window)
        self.kernel_opener.said.connect(self._panes.status.say)
        self.kernel_opener.opened.connect(self._open_kernel)
        self.kernel_opener.refused.connect(self._refuse_kernel)
        self.drafts = Drafts(self._crash_file, self)
        own = self.own_kernel = OwnKernel(self._core, self.drafts, self)
        self.beside = KernelComparison(self._core, own, self._actions, self._window, self)
        self.beside.before_known.connect(self._panes.source.offer_before)
        self._panes.source.before.clicked.connect(self.beside.with_before)
        self.beside.opener.said.connect(self._panes.status.say)
        self.beside.opener.refused.connect(lambda name, text, error: self._refuse(error))
        editing = SourceEditing(own, self.drafts, self._panes.source, self._window)
        self.source_editing = editing
        editing.said.connect(self._panes.status.say)
        editing.refused.connect(self._refuse)
        editing.repair.compiled.connect(self._show_repaired)
        self.rewrites: KernelRewrites | None = None
        self._actions.bind("kernel.rewrites", self._try_rewrites)
        self.own_kernel.turned.connect(self._add_launch)
        self.kernel_list = KernelListCommands(
            self._core, self._panes.lessons, self._actions, self._window
        )
        self.own_kernel.said.connect(self._panes.status.say)
        stage, director = self._panes.stage, self._core.director
        self.own_kernel.doubted.connect(lambda why: stage.doubt("launch", bool(why)))
        director.problem_changed.connect(lambda why: stage.doubt("values", bool(why), why))
        director.failed.connect(lambda job, failure: stage.doubt("run", True))
        director.performed.connect(lambda showing: stage.doubt("run", False))
        director.forgotten.connect(lambda: stage.doubt("run", False))
        self.own_kernel.begin()

    def _open_kernel(self, lesson: Lesson) -> None:
        """A kernel of the user's own: what was found of it is what they came for."""
        view = self._core.view
        with view.together():
            known = view.now.lesson.id
            self._core.course.open_any(lesson)
            if view.now.lesson.id != known:
                view.set_values({"picture": FINDINGS})
                self._core.director.performed.connect(self._begin)

    def _begin(self, showing: Exhibit) -> None:
        """Where the first of what was found is, once all is looked for."""
        from gpuviz.story.own_kernel.findings import FindingList

        variant, at = showing.sides[0].variant, showing.sides[0].performance.story.at
        if variant.prebuilt or variant.lesson.id != self._core.view.now.lesson.id:
            return
        self._core.director.performed.disconnect(self._begin)
        shown = panels(at(0.0).body) if at is not None else ()
        if found := next((one for one in shown if isinstance(one, FindingList)), None):
            self._core.director.pick(found.choose(0), False)

    def _try_rewrites(self) -> None:
        if self.rewrites is None:
            from gpuviz.qt.kernels.rewrites import KernelRewrites

            own, editing = self.own_kernel, self.source_editing
            self.rewrites = KernelRewrites(self._core, own, editing, self._window)
            self.rewrites.trials.failed.connect(self._panes.message.show_failure)
            self._panes.status.follow_activity(self.rewrites.trials)
        self.rewrites.begin()

    def _add_launch(self) -> None:
        """The fields of a launch, with the first kernel of the user's own."""
        own = self.own_kernel
        if own.launch is None or own.panel is not None:
            return
        from gpuviz.qt.kernels.launch_fields import LaunchPanel

        panel = LaunchPanel(self._core.theme)
        self._panes.add_launch(panel)
        own.follow(panel)
        panel.others_asked.connect(self._ask_for_others)

    def _ask_for_others(self) -> None:
        launch = self.own_kernel.launch
        if launch is not None:
            self.kernel_opener.open(launch.path, self._core.view.now.arch, asks=True)

    def _add_guess(self) -> None:
        """The picture can ask before it tells; what else would tell is kept back meanwhile."""
        panes, director = self._panes, self._core.director
        guess = self.guess = Guess(self._core.player, director, self)
        panes.guide.follow(guess)
        self._actions.bind("lesson.guess", panes.guide.asked.click)

        def hush() -> None:
            asked = guess.question.ask if guess.question is not None else ""
            panes.stage.ask(asked, not guess.asks)
            panes.timeline.hush(guess.asks)
            panes.source.time.hush(guess.asks)
            for view in panes.source.views:
                view.hush(guess.asks)
            for panel in (self.counts, self.timing):
                panel.setVisible(not guess.asks and director.showing is not None)

        guess.changed.connect(hush)
        practice = self.practice = Practice(self._core, self._actions, self)
        panes.guide.follow_practice(practice)
        panes.source.views[0].chosen.connect(practice.choose)
        practice.broke.connect(self._refuse)
        practice.changed.connect(lambda: panes.source.views[0].hush(practice.secret))
        menu = panes.toolbar.group_menu("Lesson").addMenu(tr("Try it yourself"))
        for command, action in self._actions:
            if command.id.startswith("exercise."):
                menu.addAction(action)

    def _add_files(self) -> None:
        """Views go into files, and come back out of them."""
        core, panes = self._core, self._panes
        parts = Parts(self.recorder, core.meter, self.counts, self.timing, core.theme)
        self.files = FileCommands(self._window, parts, core.settings, self._actions)
        self.files.report_to(panes.status, panes.message)
        exporting, reopening = self.files.exporting, self.files.reopening
        exporting.exports.saved.connect(lambda saved: self.history.recents.keep())
        HandoutCommands(self.lecture.document, exporting, self._actions, self)
        reopening.lesson_opened.connect(core.course.open_any)
        reopening.recording_opened.connect(self._use_recording)
        reopening.lecture_asked.connect(self.lecture.open)
        reopening.kernel_asked.connect(
            lambda path: self.kernel_opener.open(path, core.view.now.arch)
        )

    def _add_dialogs(self) -> None:
        self.tour: Tour | None = None
        core, panes, actions = self._core, self._panes, self._actions
        ActivityLog(core.director, core.meter, self._window)
        report.bind(actions, core, self.recorder, self._state, panes.message, panes.status)
        actions.bind("file.quit", self._window.close)
        actions.bind("edit.preferences", self._prefer)
        actions.bind("help.commands", self._find_command)
        actions.bind("help.keys", self._show_keys)
        actions.bind("help.tour", self.show_tour)
        actions.bind("view.words", self._show_words)

    def _prefer(self) -> None:
        from gpuviz.qt.preferences.dialog import PreferencesDialog

        self.preferences = PreferencesDialog(self._core, self._start_over, self._window)
        ask(self.preferences)

    def _sweep(self) -> None:
        """Vary what the lesson shown can be given, and look at all of it."""
        from gpuviz.qt.sweep.sweep_dialog import SweepDialog
        from gpuviz.story.swept import swept

        core, now, gpu = self._core, self._core.view.now, self._core.meter.state.device
        shown = swept(now.lesson, now.values, now.arch, now.level)
        work = self._swept_by()
        dialog = self.sweep = SweepDialog(shown, work, gpu, core.theme, self._window)
        dialog.picked.connect(self._show_cell)
        dialog.show()

    def _swept_by(self) -> SweepWork:
        """What does the sweeps of this window."""
        if self.sweep_work is None:
            from gpuviz.qt.sweep.sweep_work import SweepWork

            made = self.sweep_work = SweepWork(self._core.meter)
            self._panes.status.follow_activity(made)
            made.failed.connect(self._panes.message.show_failure)
        return self.sweep_work

    def _show_cell(self, cell: CellView) -> None:
        """The view of a cell of a sweep that was clicked."""
        view = self._core.view
        with view.together():
            if cell.lesson.id != view.now.lesson.id:
                self._core.course.open_any(cell.lesson)
            view.become(replace(view.now.given(cell.values), arch=cell.arch))
        self._mark()

    def _find_command(self) -> None:
        from gpuviz.qt.commands.palette_dialog import PaletteDialog

        offer = self.history.links.offer
        ask(PaletteDialog(self._actions, self._core.theme, self._window, offer))

    def _show_keys(self) -> None:
        from gpuviz.qt.commands.keys_dialog import KeysDialog

        ask(KeysDialog(self._actions, self._window))

    def show_tour(self) -> None:
        """Go through the parts of the window."""
        from gpuviz.qt.start.tour import Tour

        if self.tour is None:
            self.tour = Tour(self._window, self._part, self._core.theme)
            self.tour.ended.connect(lambda: self._core.settings.keep(TOUR, "seen"))
        self.tour.begin()

    def _part(self, name: str) -> QWidget | None:
        panes = self._panes
        if name in ("parameters", "counts"):
            panel: QWidget = panes.parameters if name == "parameters" else self.counts
            panes.reveal(panel)
            return panes.side
        parts: dict[str, QWidget] = {
            "stage": panes.stage,
            "timeline": panes.timeline,
            "source": panes.code,
            "compare": panes.toolbar.compare,
            "lessons": panes.list,
        }
        return parts[name]

    def _show_words(self) -> None:
        from gpuviz.qt.playing.spoken_steps import show_words

        show_words(self._core, self._panes.stage, self._window)

    def _start_over(self) -> None:
        """Everything as at the very first start; undo brings back the view."""
        preferences.start_over(self._core)
        try:
            self._core.meter.withdraw()
        except InputError as error:
            self._panes.message.show_failure(failure_of(error))
        self._core.settings.forget(but=(RECENTS,))
        self._layout.start_over()
        self.recorder.asked = False
        if (device := self._core.meter.state.device) is not None:
            self.suit(device)
        self._mark()

    def _use_recording(self, file: Path, recording: Recording) -> None:
        session = self._core.session
        session.open_recording(file, recording)
        self._core.meter.look_up(session.library(self._core.view.now.lecture))

    def _refuse(self, error: Exception) -> None:
        self._panes.message.show_failure(failure_of(error))

    def _refuse_kernel(self, path: Path, text: str, error: Exception) -> None:
        """What does not compile is mended in the editor."""
        self._refuse(error)
        if isinstance(error, CompileError) and path.suffix not in NO_SOURCE:
            self.source_editing.mend(path, self._core.view.now.arch, error)
        elif marked := marked_lines(error):
            self._panes.source.show_error(path.name, text, marked)

    def _show_repaired(self, built: Build) -> None:
        """A file compiles now: its kernel is shown, with the text as it stands in the editor."""
        building, before = built.building, self._core.view.now
        self._panes.message.hide()
        self._core.session.use_text(building.path, building.text)
        self.kernel_opener.show(building.path, built.program)
        if self._core.view.now == before:  # it is shown already, with another text
            self._core.director.run()
