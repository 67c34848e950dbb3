"""A kernel file that does not compile, in the editor until it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gpuviz.compile import CompileError, compile_arch
from gpuviz.compile.marked_lines import marked_lines
from gpuviz.qt.kernels.background_compiler import BackgroundCompiler, Build, BuildRequest
from gpuviz.qt.kernels.kernel_opener import kept
from gpuviz.qt.kernels.own_kernel import SOURCE_MS
from gpuviz.story.kernel_launch import FOLDER

if TYPE_CHECKING:
    from gpuviz.qt.code.source import Source
    from gpuviz.qt.kernels.drafts import Drafts


class SourceRepair(QObject):
    """`path` is the file that is being mended, None while there is none.

    Signals
    -------
    mended : `Build`, of the text as it stands in the editor
    """

    mended = Signal(object)

    def __init__(self, drafts: Drafts, source: Source, parent: QObject) -> None:
        super().__init__(parent)
        self._drafts, self._source = drafts, source
        self._arch = ""
        self.path: Path | None = None
        self.compiling = BackgroundCompiler(self)
        self.compiling.built.connect(self._take)
        self.compiling.failed.connect(self._fail)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOURCE_MS)
        self._soon.timeout.connect(self._compile)

    def begin(self, path: Path, arch: str, error: CompileError) -> None:
        """Have the source of a file edited, with the errors in it; InputError when it is gone."""
        text = self._drafts.open(path)
        marked = marked_lines(error, path.name)
        self.path, self._arch = path, compile_arch(arch)
        self._source.show_error(path.name, text, marked)
        editor = self._source.editor
        editor.edit(text)
        editor.show_errors(marked)
        editor.go_to(min(marked, default=1))

    def edit(self, text: str) -> None:
        """The text was changed by the user."""
        if self.path is not None:
            self._drafts.write(self.path, text)
            self._soon.start()

    def stop(self) -> None:
        """Something else is shown."""
        self.path = None
        self._soon.stop()
        self.compiling.cancel()

    def _compile(self) -> None:
        if self.path is not None:
            settings = kept(self.path)
            folders = (f"{FOLDER}{folder}" for folder in settings.include)
            how = tuple(settings.macros.items()), (*settings.options, *folders)
            self.compiling.ask(
                BuildRequest(self.path, self._drafts.text(self.path), self._arch, *how)
            )

    def _take(self, built: Build) -> None:
        if self.path is None or self._soon.isActive():
            return
        lost = marked_lines(built.program, self.path.name)
        self._source.editor.show_errors(lost)
        if built.program.kernels:
            self.mended.emit(built)

    def _fail(self, building: BuildRequest, error: Exception) -> None:
        if self.path is not None and not self._soon.isActive():
            self._source.editor.show_errors(marked_lines(error, self.path.name))
