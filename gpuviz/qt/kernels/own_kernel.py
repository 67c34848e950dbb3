"""A user's own kernel while it is shown: its launch can be changed, and everything runs again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gpuviz.compile import CompileError, compile_arch
from gpuviz.errors import InputError
from gpuviz.qt.kernels.compiling import Building, Built, Compiling
from gpuviz.scenes import traced
from gpuviz.scenes.kernel import lesson_of
from gpuviz.scenes.kernel_launch import KernelLaunch, launch_of
from gpuviz.scenes.refitting import check_launch, entry_of, fitted, resized

if TYPE_CHECKING:
    from gpuviz.qt.kernels.launch_panel import LaunchPanel
    from gpuviz.qt.running.core import Core
    from gpuviz.scenes.base import Lesson
    from gpuviz.scenes.showing import Showing

SOON_MS = 250  # after the last key


class OwnKernel(QObject):
    """Follows the player. `launch` is the one that is run, None where a lesson of the course is.

    Signals
    -------
    turned : another kernel, or none, is shown
    doubted : why what is typed cannot be run, "" when it can
    """

    turned = Signal()
    doubted = Signal(str)

    def __init__(self, core: Core, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self.launch: KernelLaunch | None = None
        self.built: Built | None = None
        self.panel: LaunchPanel | None = None
        self.compiling = Compiling(self)
        self.compiling.built.connect(self._take)
        self.compiling.failed.connect(self._fail)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(self.read)
        self._wanted: KernelLaunch | None = None  # what is being compiled for
        core.player.lesson_changed.connect(self._turn)
        core.director.performed.connect(self._arrive)
        core.director.arch_changed.connect(lambda arch: self._look())

    def begin(self) -> None:
        """Take what is shown already."""
        self._turn(self._core.player.lesson)

    def follow(self, panel: LaunchPanel) -> None:
        """Take the launch from these fields."""
        self.panel = panel
        panel.fields.changed.connect(self._soon.start)
        self.doubted.connect(panel.say)
        self._show()

    def read(self) -> None:
        """Run what stands in the fields, unless that is what is run."""
        self._soon.stop()
        if self.launch is None or self.panel is None:
            return
        try:
            wanted = self.panel.fields.launch(self.launch)
        except InputError as error:
            self._wanted = None
            self.doubted.emit(str(error))
            return
        if self.built is not None:
            taken = self.built.taken.get(self.built_entry, ())
            wanted = resized(wanted, self.launch, taken)
        self.want(wanted)

    def want(self, launch: KernelLaunch) -> None:
        """Run this launch, compiled first if it has not been so."""
        self._wanted = launch
        building = self._building(launch)
        if self.built is not None and self.built.building == building:
            self._take(self.built)
        else:
            self.compiling.ask(building)

    @property
    def built_entry(self) -> str:
        """The kernel shown, as the program calls it; "" where that has none of the name."""
        try:
            assert self.launch is not None and self.built is not None
            return entry_of(self.launch, self.built.program)
        except InputError:
            return ""

    def close(self) -> None:
        """The window closes."""
        self._soon.stop()
        self.compiling.cancel()

    def _building(self, launch: KernelLaunch) -> Building:
        arch = compile_arch(self._core.director.arch)
        return Building(launch.path, None, arch, launch.defines, launch.options)

    def _turn(self, lesson: Lesson) -> None:
        """Another lesson is shown, or this kernel is launched in another way."""
        own = bool(lesson.launch) and traced.FILE not in lesson.launch
        before, self.launch = self.launch, launch_of(lesson.launch) if own else None
        if self.launch is None or before is None or before.path != self.launch.path:
            self.built = None
            self.turned.emit()
        self._wanted = None
        self._soon.stop()
        self.doubted.emit("")
        self._show()

    def _arrive(self, showing: Showing) -> None:
        """What is shown was compiled: to be had from the cache."""
        if showing.sides[0].variant.lesson is self._core.player.lesson:
            self._look()

    def _look(self) -> None:
        """Have the program of what is shown, if it is not there."""
        if self.launch is None or self._wanted is not None:
            return
        building = self._building(self.launch)
        if self.built is None or self.built.building != building:
            self.compiling.ask(building)

    def _take(self, built: Built) -> None:
        """A program: is the launch one that a device would accept?"""
        before, self.built = self.built, built
        wanted, self._wanted = self._wanted, None
        if self._soon.isActive():
            return  # more was typed meanwhile
        if wanted is None:
            if self.panel is not None and not self.panel.fields.problem:
                self._show()
            return
        try:
            entry = entry_of(wanted, built.program)
            taken = built.taken[entry]
            known = before.taken.get(wanted.entry, taken) if before is not None else taken
            if (entry, known) != (wanted.entry, taken):
                wanted = fitted(wanted, entry, known, taken)
            check_launch(wanted, built.program)
        except InputError as error:
            self.doubted.emit(str(error))
            return
        self.doubted.emit("")
        if wanted != self.launch:
            self._core.course.open_any(lesson_of(wanted))

    def _fail(self, building: Building, error: Exception) -> None:
        if self._wanted is None:
            return  # it was not asked for by the user, who is told by whoever runs it
        self._wanted = None
        self.doubted.emit(first_line(error))

    def _show(self) -> None:
        if self.panel is None:
            return
        self.panel.setVisible(self.launch is not None)
        if self.launch is not None:
            taken = self.built.taken.get(self.built_entry, ()) if self.built else ()
            self.panel.fields.show_launch(self.launch, taken)


def first_line(error: Exception) -> str:
    """What went wrong, in a line: of a compilation its first error."""
    if isinstance(error, CompileError):
        for one in error.diagnostics:
            if one.severity == "error":
                return f"{one.file}:{one.line}: {one.text}"
    return str(error).partition("\n")[0]
