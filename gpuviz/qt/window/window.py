"""The window: makes the parts, wires them, remembers. What the parts do is in their own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QWidget

from gpuviz.arch import ARCHITECTURES
from gpuviz.export.provenance import Provenance
from gpuviz.qt.code.source import Source
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.commands.choices import Choices
from gpuviz.qt.commands.keys_dialog import KeysDialog
from gpuviz.qt.commands.palette_dialog import PaletteDialog
from gpuviz.qt.controls.message import Message
from gpuviz.qt.counts.counts import Counts
from gpuviz.qt.export.exporting import Parts
from gpuviz.qt.history.recents import KEY as RECENTS
from gpuviz.qt.kernels.opening import Opening, marked_lines
from gpuviz.qt.lecture.lecturing import Lecturing
from gpuviz.qt.look.theme import FOLLOW, MODES, Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.playing.stage_view import StageView
from gpuviz.qt.playing.timeline import Timeline
from gpuviz.qt.playing.transport import Transport
from gpuviz.qt.preferences.languages import LANGUAGES
from gpuviz.qt.running.comparing import Comparing
from gpuviz.qt.running.comparison import AS_A, Comparison
from gpuviz.qt.running.device_button import use_id
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import USES, Meter, Sources, State
from gpuviz.qt.running.showing import Showing, names_of
from gpuviz.qt.running.sweeps import Sweeps
from gpuviz.qt.running.worker import Failure, Job, Perform, failure_of
from gpuviz.qt.timing.timing_panel import TimingPanel
from gpuviz.qt.window.everyday import Everyday
from gpuviz.qt.window.exchange import Exchange
from gpuviz.qt.window.left_tabs import LECTURE, LESSONS
from gpuviz.qt.window.lesson_list import LessonList
from gpuviz.qt.window.panes import Panes
from gpuviz.qt.window.parameters import Parameters
from gpuviz.qt.window.remembered import Remembered
from gpuviz.qt.window.status import Status
from gpuviz.qt.window.thumbnails import Thumbnails
from gpuviz.qt.window.toolbar import LEVELS, Toolbar
from gpuviz.qt.window.viewing import Viewing
from gpuviz.qt.window.visible_panes import VisiblePanes
from gpuviz.runners.base import Level
from gpuviz.runners.measurement import DeviceFacts
from gpuviz.scenes.base import Lesson
from gpuviz.words import chosen, languages, tr

SIZE = (1440, 860)
ROOMY = 1400  # from this width on two pictures and the lessons fit beside each other
ARCH = "sm_90"
LEVEL: Level = "sass"


class Window(QMainWindow):
    """Everything in one place.

    `perform` runs lessons (off the GUI thread), `lessons` is the course, `settings` what is
    remembered from start to start, `sources` where measurements come from. `state` is the folder
    of the session and the log (nothing is kept without one), `first` the view to begin with.
    """

    def __init__(self, perform: Perform, lessons: Sequence[Lesson], settings: QSettings,
                 sources: Sources | None = None, state: Path | None = None,
                 first: Provenance | None = None) -> None:
        super().__init__()
        self.setWindowTitle("gpuviz")
        self.resize(*SIZE)
        self._lessons = tuple(lessons)
        self._remembered = Remembered(settings)
        self._restore_state(perform)
        self.meter = Meter(sources or Sources(), self)
        self._add_commands()
        self._build(perform)
        self._wire()
        self._wire_opening()
        self._wire_meter()
        self._wire_lecture()
        self._wire_exchange()
        self._bind()
        self._restore_layout()
        self.everyday = Everyday(self, self._remembered, state)
        self.lecturing.unrecorded = self.everyday.undo.unrecorded
        self.exchange.exporting.exports.saved.connect(lambda saved: self.everyday.recents.keep())
        with self.director.together():
            self._show_lesson_of(self.player.lesson)
            self.everyday.begin(first)

    def _restore_state(self, perform: Perform) -> None:
        """Theme, player and director, as they were left."""
        kept = self._remembered
        ids = [lesson.id for lesson in self._lessons]
        sms = [a.sm for a in ARCHITECTURES]
        self.theme = Theme(kept.text("theme", FOLLOW, MODES), kept.number("scale", 1.0), self)
        self.theme.apply()
        self.player = Player(self._lessons[ids.index(kept.text("lesson", ids[0], ids))], self)
        self.player.set_speed(kept.number("speed", 1.0))
        self.player.set_loop(kept.flag("loop", False))
        level = cast(Level, kept.text("level", LEVEL, tuple(LEVELS)))
        self.comparison = Comparison(self.player.lesson, self)
        self.comparison.set_arch(kept.text("compare_arch", AS_A, (AS_A, *sms)))
        self.comparison.switch(kept.flag("compare", False), self.player.values)
        self.director = Director(self.player, self.comparison, perform,
                                 kept.text("arch", ARCH, sms), level, self)  # fmt: skip

    def _add_commands(self) -> None:
        """The table's commands, and one for each lesson, architecture and level."""
        self.actions_ = actions = Actions(self)
        self.choices = Choices(actions, self._on)
        for lesson in self._lessons:
            self.choices.add(f"open.{lesson.id}", tr(lesson.title), "Lesson",
                        partial(self._open, lesson))  # fmt: skip
        for arch in reversed(ARCHITECTURES):
            name = f"CC {arch.version} {arch.name}"
            self.choices.add(f"arch.{arch.sm}", name, "Architecture",
                        partial(self._choose_arch, arch.sm))  # fmt: skip
        for level in LEVELS:
            choose = partial(self.director.set_level, cast(Level, level))
            self.choices.add(f"level.{level}", tr(LEVELS[level]), "Level", choose)
        for code in languages():
            text = tr("Language: {name}", name=LANGUAGES.get(code, code))
            choose = partial(self._choose_language, code)
            self.choices.add(f"language.{code}", text, "View", choose)
        self.comparing = Comparing(self.player, self.comparison, self.director, actions)

    def _build(self, perform: Perform) -> None:
        player, theme, actions = self.player, self.theme, self.actions_
        self.viewing = Viewing(player, self.comparison, self.director, theme, self._open_any)
        self.thumbnails = Thumbnails(self._lessons, perform, self.director, theme, self)
        self.toolbar = Toolbar(self._lessons, theme, actions)
        self.lessons = LessonList(self._lessons, theme, self.thumbnails)
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
        self.lecturing = Lecturing(self.viewing, self.director, self.meter, perform, theme, actions,
                                   self)
        self.panes = Panes(self.toolbar, self.lessons, self.stage, self.transport, self.timeline,
                           self.source, side, self.status, self.lecturing.pane)
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
        self.comparison.switched.connect(self._show_compared)
        director.forgotten.connect(self.counts.hide)
        director.forgotten.connect(self.source.clear)
        director.failed.connect(self._show_failure)
        director.performer.started.connect(lambda job: self.message.pass_by())
        self.lessons.chosen.connect(self._open)
        self.stage.picked.connect(director.pick)
        self.stage.broke.connect(lambda error: self.message.show_failure(failure_of(error)))
        self.status.findings_asked.connect(self.message.show_findings)
        self.theme.changed.connect(self.choices.mark)
        self.toolbar.show_arch(director.arch)
        self.toolbar.show_level(director.level)

    def _wire_opening(self) -> None:
        self.opening = Opening(self.theme, self)
        self.opening.said.connect(self.status.say)
        self.opening.opened.connect(self._open_any)
        self.opening.refused.connect(self._show_refusal)

    def _wire_lecture(self) -> None:
        lecturing = self.lecturing
        lecturing.add_shipped(self.toolbar.group_menu("Lecture"))
        lecturing.failed.connect(
            lambda failure: self.message.show_failure(failure, tr("About the lecture"), True))
        lecturing.said.connect(self.status.say)
        lecturing.opened.connect(lambda: self._go_to("lecture"))
        lecturing.document.changed.connect(
            lambda: self.panes.left.offer(lecturing.document.lecture is not None))
        once = Qt.ConnectionType.SingleShotConnection
        self.director.performed.connect(lambda showing: lecturing.recover(), once)

    def _open_any(self, lesson: Lesson) -> None:
        """A user's kernel becomes a lesson like the others, until the window is closed."""
        known = next((one for one in self._lessons if one.id == lesson.id), None)
        if known is None:
            self._lessons += (lesson,)
            self.lessons.add(lesson)
            title, show = tr(lesson.title), partial(self._open, lesson)
            self.choices.add(f"open.{lesson.id}", title, "Lesson", show)
        self._open(known or lesson)

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
        meter.found.connect(self._suit)
        meter.troubled.connect(
            lambda said: self.message.say("error", tr("The GPU did not run this"), said))
        meter.changed.connect(self.choices.mark)
        meter.set_use(self._remembered.number("gpu_use", meter.state.use))
        self.sweeps = Sweeps(self.player, meter, director, self.actions_)
        self.sweeps.failed.connect(self.message.show_failure)
        self.status.follow_activity(self.sweeps)
        once = Qt.ConnectionType.SingleShotConnection
        director.performed.connect(lambda showing: meter.look(), once)

    def _wire_exchange(self) -> None:
        """Views go into files, and come back out of them."""
        parts = Parts(self.viewing, self.meter, self.counts, self.timing, self.theme)
        self.exchange = Exchange(self, parts, self._remembered, self.actions_)
        self.exchange.report_to(self.status, self.message)
        reopening = self.exchange.reopening
        reopening.lesson_opened.connect(self._open_any)
        reopening.lecture_asked.connect(self.lecturing.open)
        reopening.kernel_asked.connect(lambda path: self.opening.open(path, self.director.arch))

    def _suit(self, device: DeviceFacts) -> None:
        """Predict for the GPU that is there, unless the user has chosen an architecture."""
        known = any(arch.sm == device.sm for arch in ARCHITECTURES)
        chosen_already = self.viewing.told or self._remembered.flag("arch_chosen", False)
        if known and not chosen_already:
            with self.everyday.undo.unrecorded():
                self.director.set_arch(device.sm)
            self.choices.mark()

    def _choose_arch(self, arch: str) -> None:
        self._remembered.keep("arch_chosen", "true")
        self.director.set_arch(arch)

    def _choose_language(self, code: str) -> None:
        self._remembered.keep("language", code)
        said = tr("The language changes when gpuviz starts again.")
        self.message.say("note", LANGUAGES.get(code, code), said)

    def _bind(self) -> None:
        """What the table's commands do."""
        player, theme = self.player, self.theme
        actions = self.actions_
        doing: dict[str, Callable[[], object]] = {
            "file.quit": self.close,
            "play.toggle": player.toggle,
            "play.forward": lambda: player.step(True),
            "play.back": lambda: player.step(False),
            "play.first": lambda: player.seek(player.state.start),
            "play.last": lambda: player.seek(player.state.end),
            "play.slower": lambda: player.pace(False),
            "play.faster": lambda: player.pace(True),
            "play.loop": lambda: player.set_loop(not player.state.loop),
            "lesson.next": lambda: self._neighbour(1),
            "lesson.previous": lambda: self._neighbour(-1),
            "lesson.reset": self.parameters.restore,
            "run.again": self.director.again,
            "run.cancel": self._escape,
            "gpu.once": self.meter.run_once,
            "gpu.continuous": self.meter.toggle,
            "gpu.stop": self.meter.stop,
            "gpu.look": self.meter.look,
            "counts.copy": self.counts.copy,
            "code.next": self.source.next_tab,
            "text.larger": lambda: theme.zoom(True),
            "text.smaller": lambda: theme.zoom(False),
            "text.normal": lambda: theme.set_scale(1.0),
            "help.commands": self._find_command,
            "help.keys": lambda: KeysDialog(actions, self).open(),
        }
        doing |= {use_id(u): partial(self.meter.set_use, u) for u in USES}
        doing |= {f"theme.{m}": partial(theme.set_mode, m) for m in MODES}
        doing |= {f"pane.{n}": partial(self._go_to, n) for n in self._targets()}
        doing |= {f"show.{n}": partial(self._toggle, n) for n in self.visible.names}
        for id, do in doing.items():
            actions.bind(id, do)

    def _targets(self) -> dict[str, tuple[QWidget, Callable[[], QWidget]]]:
        """For each pane that has a key: what to show, and what to focus."""
        panes = self.panes
        return {
            "lessons": (panes.list, lambda: self.lessons),
            "lecture": (panes.list, lambda: self.lecturing.pane.list),
            "stage": (self.stage, lambda: self.stage),
            "timeline": (self.timeline, lambda: self.timeline),
            "source": (panes.code, self.source.view),
            "parameters": (panes.side, self.parameters.first),
            "counts": (panes.side, lambda: self.counts.table),
            "timing": (panes.side, lambda: self.timing),
        }

    def _go_to(self, name: str) -> None:
        if name == "lecture" and self.lecturing.document.lecture is None:
            self.lecturing.begin()
            return
        pane, target = self._targets()[name]
        if pane is self.panes.list:
            self.panes.left.show_tab(LECTURE if name == "lecture" else LESSONS)
        self.visible.reveal(pane)
        self.choices.mark()
        target().setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.panes.reveal(target())

    def _toggle(self, name: str) -> None:
        self.visible.toggle(name)
        self.choices.mark()

    def _open(self, lesson: Lesson) -> None:
        if lesson is not self.player.lesson:
            self._keep_values()
            self._show_lesson_of(lesson)

    def _show_lesson_of(self, lesson: Lesson) -> None:
        """Show a lesson, both sides as they were left."""
        values, kept = self._remembered.values(lesson), self._remembered
        self.comparison.open(lesson, kept.values(lesson, "compared"), lesson.defaults() | values)
        self.player.open(lesson, values)

    def _keep_values(self) -> None:
        lesson = self.player.lesson
        self._remembered.keep_values(lesson, self.player.values)
        self._remembered.keep_values(lesson, self.comparison.values, "compared")

    def _name_sides(self, *_: object) -> None:
        variants = self.director.variants()
        if len(variants) > 1:
            self.parameters.show_names(names_of(variants))

    def _show_compared(self, on: bool) -> None:
        self.toolbar.compare.setChecked(on)
        self._make_room()
        self.choices.mark()

    def _make_room(self) -> None:
        """Two pictures need room: in a narrow window the list of lessons makes it."""
        self.visible.make_room(self.comparison.on and self.width() < ROOMY)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A wider window may have room for everything."""
        super().resizeEvent(event)
        self._make_room()
        self.choices.mark()

    def _neighbour(self, way: int) -> None:
        index = self._lessons.index(self.player.lesson) + way
        if 0 <= index < len(self._lessons):
            self._open(self._lessons[index])

    def _show_lesson(self, lesson: Lesson) -> None:
        self.setWindowTitle(f"{tr(lesson.title)} – gpuviz")
        self.toolbar.show_lesson(lesson)
        self.lessons.show_lesson(lesson)
        self.actions_.remove("preset.")
        for number, preset in enumerate(lesson.presets):
            values = {**lesson.defaults(), **preset.values}
            text = tr("Preset: {name}", name=tr(preset.label))
            command = Command(f"preset.{number}", text, "Lesson")
            self.actions_.add(command, partial(self.player.set_values, values))
        self.comparing.offer(lesson)
        self.choices.mark()

    def _show_runs(self, showing: Showing) -> None:
        self.message.pass_by()
        self.counts.show_runs(showing)
        self.source.show_runs(showing)

    def _show_failure(self, job: Job, failure: Failure) -> None:
        self.message.show_failure(failure)

    def _escape(self) -> None:
        """Close the message if there is one, else stop the run."""
        if self.message.isVisible():
            self.message.hide()
            self.stage.setFocus()
        else:
            self.status.stop()

    def _find_command(self) -> None:
        PaletteDialog(self.actions_, self.theme, self, self.everyday.linking.offer).open()

    def _on(self) -> set[str]:
        """The commands that say how things are."""
        on = {f"open.{self.player.lesson.id}", f"arch.{self.director.arch}",
              f"level.{self.director.level}", f"theme.{self.theme.mode}",
              use_id(self.meter.state.use), f"language.{chosen()}"}  # fmt: skip
        flags = {"play.loop": self.player.state.loop, "compare.toggle": self.comparison.on,
                 "gpu.continuous": self.meter.state.activity == "continuous"}  # fmt: skip
        on |= {id for id, state in flags.items() if state}
        return on | {f"show.{name}" for name in self.visible.shown}

    def _restore_layout(self) -> None:
        self.panes.divide(*SIZE)
        self._remembered.restore_layout(self, self.panes.splitters)
        self.visible.restore(self._remembered)
        self.source.tabs.setCurrentIndex(int(self._remembered.number("code", 0)))
        self._show_compared(self.comparison.on)
        self.stage.setFocus()

    def show_first_lesson(self) -> None:
        """The first lesson alone as it is at first, whatever was remembered of it."""
        lesson = self._lessons[0]
        self._open(lesson)
        self.player.set_values(lesson.defaults())
        self.comparison.switch(False, lesson.defaults())

    def start_over(self) -> None:
        """Everything as at the very first start; undo brings back the view."""
        self._remembered.forget(but=(RECENTS,))
        if self.windowState() != Qt.WindowState.WindowNoState:
            self.showNormal()
        self.resize(*SIZE)
        self.theme.set_mode(FOLLOW)
        self.theme.set_scale(1.0)
        self.everyday.preferring.motion.reduce(False)
        self.meter.set_use(State().use)
        self.player.set_speed(1.0)
        self.player.set_loop(False)
        lesson = self.player.lesson
        with self.director.together():
            self.player.set_values(lesson.defaults())
            self.comparison.switch(False, lesson.defaults())
            self.comparison.set_arch(AS_A)
            self.comparison.open(lesson, {}, lesson.defaults())
            self.director.set_arch(ARCH)
            self.director.set_level(LEVEL)
        self.viewing.told = False
        if self.meter.state.device is not None:
            self._suit(self.meter.state.device)
        self._restore_layout()
        self.choices.mark()

    def _remember(self) -> None:
        kept, player = self._remembered, self.player
        stored = {"theme": self.theme.mode, "scale": self.theme.look.scale,
                  "lesson": player.lesson.id, "speed": player.state.speed,
                  "loop": str(player.state.loop).lower(), "arch": self.director.arch,
                  "level": self.director.level, "compare_arch": self.comparison.arch,
                  "gpu_use": self.meter.state.use,
                  "compare": str(self.comparison.on).lower(),
                  "code": self.source.tabs.currentIndex()}  # fmt: skip
        for key, value in stored.items():
            kept.keep(key, value)
        self._keep_values()
        self.visible.keep(kept)
        kept.keep_layout(self, self.panes.splitters)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember, then stop what runs: nothing may call into a window that is gone."""
        if not self.lecturing.settle():
            event.ignore()
            return
        self.lecturing.close()
        self._remember()
        self.everyday.close()
        self.player.pause()
        self.thumbnails.close()
        self.timing.shut()
        self.sweeps.close()
        self.exchange.close()
        self.meter.close()
        self.director.performer.close()
        super().closeEvent(event)
