"""Fills in the map of all launches that a lesson shows: predicted here, or measured on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpuviz.qt.controls.controls import timer
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.gpu.gpu_state import State
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.running.core import Core
    from gpuviz.qt.sweep.sweep_work import SweepWork
    from gpuviz.recordings.measurement import DeviceFacts
    from gpuviz.sweeps.cell import On

COMMANDS: dict[str, On] = {"run.map": "emulator", "gpu.map": "gpu"}
RETELL_MS = 2000  # the picture follows the cells that are done this often


class LessonMap(QObject):
    """Two commands, for lessons that show a sweep over their launch (`Lesson.swept`).

    `work` gives what does the sweeps of the window. Sweeps measured on the GPU in use are shown
    as soon as that is found.
    """

    def __init__(
        self, core: Core, actions: Actions, work: Callable[[], SweepWork], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._core, self._actions, self._make = core, actions, work
        self._work: SweepWork | None = None
        self._gpu: DeviceFacts | None = None
        self._later = timer(self, RETELL_MS, self._retell)
        actions.bind("run.map", lambda: self.start("emulator"))
        actions.bind("gpu.map", lambda: self.start("gpu"))
        actions.bind("gpu.stop", self.stop)
        core.meter.changed.connect(self._follow)
        core.view.changed.connect(self._offer)
        core.director.performed.connect(self._offer)
        core.director.updated.connect(self._offer)
        self._offer()

    def why_not(self, on: On) -> str:
        """Why it cannot be begun now, "" when it can."""
        if not self._core.view.now.lesson.swept:
            return tr("This lesson shows no sweep.")
        if on == "gpu" and self._gpu is None:
            return tr("No GPU: {why}.", why=self._core.meter.state.why)
        if self._work is not None and self._work.busy:
            return tr("A sweep is under way.")
        known = on == "emulator" and self._predicted()
        return tr("All of it has been predicted.") if known else ""

    def start(self, on: On) -> None:
        """Begin, or go on where it was stopped, unless there is a reason not to."""
        if self.why_not(on):
            return
        from gpuviz.story.swept import of_lesson
        from gpuviz.sweeps.sweep import Sweep

        now, gpu = self._core.view.now, self._gpu if on == "gpu" else None
        lesson, arch = now.lesson, gpu.sm if gpu else now.arch
        subject = of_lesson(lesson, now.values, arch, lesson.swept)
        if self._work is None:
            self._work = self._make()
            self._work.came.connect(self._come)
            self._work.rested.connect(self._rest)
        self._work.start(Sweep(subject, lesson.swept, on, now.level), tr(lesson.title), gpu)
        self._offer()

    def stop(self) -> None:
        """What is measured stops; what is predicted needs no GPU."""
        if self._work is not None and self._work.on == "gpu":
            self._work.cancel()

    def _predicted(self) -> bool:
        """Whether the map shown is whole."""
        showing = self._core.director.showing
        runs = showing.runs.values() if showing is not None else ()
        tables = [run.swept.get("emulator") for run in runs]
        return bool(tables) and all(table is not None and table.whole for table in tables)

    def _come(self) -> None:
        if not self._later.isActive():
            self._later.start(RETELL_MS)

    def _rest(self) -> None:
        self._later.start(0)
        self._offer()

    def _retell(self) -> None:
        """Show what is known by now, when nothing else is under way."""
        if not self._core.view.now.lesson.swept:
            return
        if self._core.director.performer.busy:
            self._later.start(RETELL_MS // 10)
        else:
            self._core.director.look_again()

    def _follow(self, state: State) -> None:
        """Another GPU, or other work that was asked of it, ends what is measured."""
        if state.device != self._gpu or state.activity == "once":
            self.stop()
        if state.device != self._gpu:
            self._gpu = state.device
            if self._core.session.use_gpu(state.device) and self._core.view.now.lesson.swept:
                self._core.director.run()
        self._offer()

    def _offer(self) -> None:
        """A command can be given when nothing speaks against it; else its tip says what does."""
        for name, on in COMMANDS.items():
            why, action = self.why_not(on), self._actions[name]
            action.setEnabled(not why)
            action.setToolTip(why or action.text())
