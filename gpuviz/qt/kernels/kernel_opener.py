"""Opens a user's kernel file: compiled off the GUI thread, asked about in a form, made a lesson."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.base.errors import InputError
from gpuviz.compile import HostLaunch, Program, compile_arch, load_program, written_launches
from gpuviz.files import bounded
from gpuviz.launch.settings import Settings, load
from gpuviz.launch.signature import taken_by
from gpuviz.qt.controls.controls import ask
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.running.activity import InThread
from gpuviz.story.kernel_launch import keep
from gpuviz.story.lesson import Lesson
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.kernels.kernel_dialog import KernelDialog

Compiled = tuple[Program, tuple[HostLaunch, ...], Settings]


class KernelOpener(QObject):
    """One file at a time; a newer wish replaces the one under way."""

    said = Signal(str)  # what goes on, in words
    opened = Signal(Lesson)  # the lesson made of it
    refused = Signal(Path, str, Exception)  # path, the source text, and why it cannot be opened

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._window = theme, window
        self._work = InThread(self._take, self)
        self.dialog: KernelDialog | None = None
        self._asks = False

    def open(self, path: Path, arch: str, asks: bool = False) -> None:
        """Compile a file for an architecture, and show the launch that its settings or its host
        code say; ask how to launch it where they do not, or where that is wanted.
        """
        self._asks = asks
        self.said.emit(tr("compiling {file} …", file=path.name))
        path = path.absolute()
        self._work.ask(partial(_compiled, path, compile_arch(arch)), path)

    def show(self, path: Path, program: Program) -> None:
        """Show the first kernel of a program that was compiled, as it is proposed."""
        self._work.forget()
        settings = kept(path)
        launches = written_launches(path, settings.include)
        self._ask(path, program, launches, settings, at_once=True)

    def _take(self, path: Path, outcome: Compiled | Exception) -> None:
        if isinstance(outcome, Exception):
            self._refuse(path, outcome)
        elif outcome[0].kernels:
            self._ask(path, *outcome)
        else:
            none = tr("{file} has no kernel: no __global__ function", file=path.name)
            self._refuse(path, InputError(none))

    def _refuse(self, path: Path, error: Exception) -> None:
        try:
            text = bounded.text(path)
        except InputError:
            text = ""
        self.said.emit(tr("{file}: not opened", file=path.name))
        self.refused.emit(path, text, error)

    def _ask(
        self,
        path: Path,
        program: Program,
        launches: tuple[HostLaunch, ...],
        settings: Settings,
        at_once: bool = False,
    ) -> None:
        from gpuviz.qt.kernels.kernel_dialog import KernelDialog

        self.said.emit(
            tr("{file}: compiled with {compiler}", file=path.name, compiler=program.compiler)
        )
        dialog = KernelDialog(path, program, launches, settings, self._theme, self._window)
        if (at_once and not dialog.why) or (not self._asks and dialog.answered):
            self._accept(dialog)
            dialog.deleteLater()
            return
        self.dialog = dialog
        dialog.accepted.connect(lambda: self._accept(dialog))
        ask(dialog)

    def _accept(self, dialog: KernelDialog) -> None:
        launch = dialog.launch()
        if dialog.changed and (lost := keep(launch)):
            self.said.emit(tr("not kept: {why}", why=lost))
        self.opened.emit(lesson_of(launch))


def _compiled(path: Path, arch: str) -> Compiled:
    """Runs in a thread."""
    settings = load(path)
    program = load_program(
        path, arch=arch, defines=settings.macros, include=settings.include, options=settings.options
    )
    for kernel in program.kernels:  # what cannot be read is told here, not by the form
        taken_by(program, kernel)
    return program, written_launches(path, settings.include), settings


def kept(path: Path) -> Settings:
    """The settings beside a file, as far as they can be read."""
    try:
        return load(path)
    except InputError:
        return Settings()
