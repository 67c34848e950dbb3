"""The source of a user's own kernel in the editor: run, saved, and watched in its file."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from gpuviz.base.errors import InputError
from gpuviz.compile import CompileError, compile_arch
from gpuviz.compile.program import marked_lines
from gpuviz.qt.code.source import Source
from gpuviz.qt.controls.controls import answer, question, timer, unsaved_question, what_to_do
from gpuviz.qt.kernels.background_compiler import BackgroundCompiler, Build, BuildRequest
from gpuviz.qt.kernels.drafts import Drafts
from gpuviz.qt.kernels.kernel_opener import kept
from gpuviz.qt.kernels.own_kernel import SOURCE_MS, OwnKernel
from gpuviz.story.kernel_launch import FOLDER
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.code.source import Source
    from gpuviz.qt.kernels.drafts import Drafts


class SourceRepair(QObject):
    """`path` is the file that is being repaired, None while there is none."""

    compiled = Signal(Build)  # what was made of the text as it stands in the editor

    def __init__(self, drafts: Drafts, source: Source, parent: QObject) -> None:
        super().__init__(parent)
        self._drafts, self._source = drafts, source
        self._arch = ""
        self.path: Path | None = None
        self.compiling = BackgroundCompiler(self)
        self.compiling.built.connect(self._take)
        self.compiling.failed.connect(self._fail)
        self._soon = timer(self, SOURCE_MS, self._compile)

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
            self.compiled.emit(built)

    def _fail(self, building: BuildRequest, error: Exception) -> None:
        if self.path is not None and not self._soon.isActive():
            self._source.editor.show_errors(marked_lines(error, self.path.name))


_KINDS = QMessageBox.StandardButton


def unsaved_box(window: QWidget, path: Path) -> QMessageBox:
    """Asks what becomes of changes that are not saved."""
    return unsaved_question(window, tr("Save the changes of {file}?", file=path.name))


def both_box(window: QWidget, path: Path) -> QMessageBox:
    """Asks whose text goes on: another program has changed the file, too."""
    asked = tr("{file} was changed here and by another program", file=path.name)
    mine, theirs, later = tr("Keep mine"), tr("Take the file's"), tr("Decide later")
    words = {_KINDS.Yes: mine, _KINDS.No: theirs, _KINDS.Cancel: later}
    more = tr("The one that you do not choose is kept in a file beside it.")
    return question(window, asked, words, more)


def unsaved(window: QWidget, path: Path) -> str:
    """What becomes of changes that are not saved: "save", "discard" or "cancel"."""
    return what_to_do(unsaved_box(window, path))


def both(window: QWidget, path: Path) -> str:
    """Whose text goes on: "mine", "theirs" or "cancel"."""
    said = {_KINDS.Yes: "mine", _KINDS.No: "theirs"}
    return said.get(_KINDS(answer(both_box(window, path))), "cancel")


SETTLED_MS = 150  # programs write a file in several steps


class SourceEditing(QObject):
    """Connects editor, kernel and file. What a user is asked can be exchanged."""

    said = Signal(str)  # what was done, in words
    refused = Signal(Exception)  # why what was asked for cannot be done

    def __init__(self, own: OwnKernel, drafts: Drafts, source: Source, window: QWidget) -> None:
        super().__init__(window)
        self._own, self._drafts, self._source, self._window = own, drafts, source, window
        self._editor = source.editor
        self._asking = False
        self.ask_unsaved: Callable[[Path], str] = lambda path: unsaved(window, path)
        self.ask_both: Callable[[Path], str] = lambda path: both(window, path)
        self._watcher = QFileSystemWatcher(self)
        self._settled = timer(self, SETTLED_MS, self._look)
        self._watcher.fileChanged.connect(lambda file: self._settled.start())
        self._watcher.directoryChanged.connect(lambda folder: self._settled.start())
        self._headers: dict[Path, float] = {}
        own.turned.connect(self._turn)
        own.opened.connect(self._begin)
        own.marked.connect(self._show_errors)
        own.compiling.built.connect(lambda built: self._watch())
        drafts.changed.connect(self._mark)
        self.repair = SourceRepair(drafts, source, self)
        self._editor.typed.connect(self._edit)
        self._editor.save_asked.connect(self.save)
        self._editor.left.connect(lambda: window.setFocus())

    @property
    def path(self) -> Path | None:
        """The file that is edited."""
        if self.repair.path is not None:
            return self.repair.path
        return self._own.launch.path if self._own.launch and self._own.text is not None else None

    def save(self) -> None:
        """Write the source to its file."""
        path = self.path
        if path is None:
            return
        try:
            if self._drafts.theirs(path) is not None and not self._choose(path):
                return
            self._drafts.save(path)
        except InputError as error:
            self.refused.emit(error)
        else:
            self.said.emit(tr("saved {file}", file=path.name))
            self._watch()

    def settle(self, then: Callable[[], bool] = lambda: True) -> bool:
        """Save or give up what is not saved, as the user says; False when nothing is to happen.

        Nothing is given up unless `then` agrees.
        """
        try:
            return self._drafts.settle(self.ask_unsaved, then)
        except InputError as error:
            self.refused.emit(error)
            return False

    def _begin(self) -> None:
        assert self._own.text is not None
        if self.repair.path is not None:
            return  # another file is being written
        self._editor.edit(self._own.text)
        self._mark()
        self._watch()
        path = self.path
        if path is not None and path in self._drafts.modified:
            self._look()  # it may have changed since, too

    def mend(self, path: Path, arch: str, error: CompileError) -> None:
        """Have a file edited that does not compile."""
        try:
            self.repair.begin(path, arch, error)
        except InputError as gone:
            self.refused.emit(gone)
        else:
            said = tr(
                "mend {file} in the source: it is shown as soon as it compiles", file=path.name
            )
            self.said.emit(said)
        self._mark()
        self._watch()

    def _show_errors(self, errors: Mapping[int, str]) -> None:
        if self.repair.path is None:
            self._editor.show_errors(errors)

    def _edit(self, text: str) -> None:
        (self.repair.edit if self.repair.path is not None else self._own.edit)(text)

    def _turn(self) -> None:
        repaired = self.repair.path is not None
        self.repair.stop()
        self._editor.stop()
        if repaired:
            self._source.show_again()
        self._mark()
        self._watch()

    def _mark(self) -> None:
        path = self.path
        self._source.mark(path is not None and path in self._drafts.modified)

    def _watch(self) -> None:
        """The file, its folder (a file that is replaced is another one), and its headers."""
        watched = [*self._watcher.files(), *self._watcher.directories()]
        path, built = self.path, self._own.built
        read = [Path(one) for one in (built.program.read or ()) if built] if built else []
        self._headers = {file: _time(file) for file in read}
        wanted = {str(one) for one in (path, path and path.parent, *read) if one}
        if gone := [one for one in watched if one not in wanted]:
            self._watcher.removePaths(gone)
        if new := [one for one in wanted if one not in watched and Path(one).exists()]:
            self._watcher.addPaths(new)

    def _look(self) -> None:
        """Has another program changed the file?"""
        path = self.path
        if path is None or self._asking:
            return
        self._watch_anew()
        if (theirs := self._drafts.theirs(path)) is not None:
            if path in self._drafts.modified and self._drafts.text(path) != theirs:
                self._choose(path)
            else:
                self._reload(path)

    def put(self, text: str) -> None:
        """Another text in place of the one in the editor, which can be taken back there."""
        self._editor.edit(text, undoable=True)
        self._edit(text)

    def _watch_anew(self) -> None:
        """Headers that are others now, and files that took the place of those watched."""
        if any(_time(file) != time for file, time in self._headers.items()):
            self._own.build_again()
        self._watch()

    def _reload(self, path: Path) -> None:
        self._drafts.drop(path)
        self._drafts.take(path)
        self.put(self._drafts.text(path))
        self.said.emit(tr("{file} was changed by another program: read again", file=path.name))

    def _choose(self, path: Path) -> bool:
        """Both have changed it: whose is it to be? The other one is kept beside. Whether the user
        has chosen.
        """
        self._asking = True
        try:
            answer = self.ask_both(path)
        finally:
            self._asking = False
        theirs = self._drafts.theirs(path)
        if answer == "cancel" or theirs is None:
            return False
        with suppress(InputError):
            if answer == "theirs":
                aside = self._drafts.keep_aside(path, self._drafts.text(path), "mine")
                self._reload(path)
            else:
                aside = self._drafts.keep_aside(path, theirs, "theirs")
                self._drafts.take(path)
            self.said.emit(tr("the other one is in {file}", file=aside.name))
        return True


def _time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
