"""The lecture of the window: opened, looked at, given, closed; its parts wired."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from gpuviz.base.errors import Error, Failure, failure_of
from gpuviz.lectures import bundle
from gpuviz.lectures.lecture_texts import title_in
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.controls.controls import answer
from gpuviz.qt.lecture import save_commands
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.packer import Packer
from gpuviz.qt.lecture.pane import LecturePane
from gpuviz.qt.lecture.presentation_launcher import PresentationLauncher
from gpuviz.qt.lecture.save_commands import SaveCommands
from gpuviz.qt.lecture.slide_commands import SlideCommands
from gpuviz.qt.lecture.slide_thumbnails import SlideThumbnails
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.qt.running.worker import Perform
from gpuviz.words.language import chosen, tr

_NEEDS_LECTURE = (
    "lecture.save",
    "lecture.save_as",
    "lecture.pack",
    "lecture.print",
    "lecture.notes",
    "lecture.copy",
    "lecture.replace",
    "lecture.close",
    "lecture.words",
)


class OpenLecture(QObject):
    """`document` holds the lecture, `editing` changes its slides, `saving` writes it, `presenting`
    shows it to a class.

    Views of slides are shown within `unrecorded`: going through a lecture is nothing to be undone.
    """

    failed = Signal(Failure)
    said = Signal(str)  # what was done, in words
    opened = Signal()  # a lecture is open and wants to be seen

    def __init__(
        self,
        core: Core,
        recorder: ViewRecorder,
        perform: Perform,
        actions: Actions,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._recorder, self._actions = recorder, actions
        self._view, self._director = core.view, core.director
        self._theme = core.theme
        self._window = window
        self.ask_which: Callable[[], Path | None] = partial(save_commands.path_to_open, window)
        self.ask_reading: Callable[[str, tuple[Path, ...]], bool] = self._ask_reading
        self.unrecorded: Callable[[], AbstractContextManager[None]] = nullcontext
        self.document = Document(core.session, self)
        self.packer = Packer(core.meter, self)
        core.director.performed.connect(self.packer.follow)
        core.director.failed.connect(self._ask_for_headers)
        self._bind()
        self.pane = LecturePane(self.document, actions)
        self.pane.looked_at.connect(self._look_at)
        self.saving = SaveCommands(self.document, self.packer, actions, window)
        self.saving.failed.connect(self.failed)
        self.saving.said.connect(self.said)
        self.slides = SlideCommands(self.document, self.pane, recorder, core, actions, window)
        self.slides.added.connect(self._tell_added)
        self.presenting = PresentationLauncher(self.document, core, recorder, perform, window)
        self.presenting.failed.connect(self.failed)
        self.presenting.before.said.connect(self.said)
        self.presenting.came_back.connect(self.pane.select)
        self.thumbnails = SlideThumbnails(
            self.document,
            perform,
            core.director,
            lambda: self.presenting.presentation is not None,
            self,
        )
        self.thumbnails.ready.connect(self._show_pictures)
        self.document.changed.connect(self._follow)
        self._follow()

    def open(self, path: Path) -> None:
        """Open a lecture; what is not saved of the one before is asked about."""
        if not self.saving.settle():
            return
        try:
            self.document.open(path)
            if self._agreed(path):
                self.document.open(path)
        except Error as error:
            self.failed.emit(failure_of(error))
            return
        self.opened.emit()
        self._tell_problems(path)
        self._look_at(0)

    def add_shipped(self, menu: QMenu) -> None:
        """A submenu of the lectures that ship, behind the command that opens one."""
        inner = QMenu(tr("Lectures that came with gpuviz"), menu)
        for path in bundle.shipped():
            inner.addAction(
                title_in(path, chosen()), self._actions[f"lecture.shipped.{path.stem}"].trigger
            )
        menu.insertMenu(self._actions["lecture.save"], inner)
        menu.insertSeparator(self._actions["lecture.save"])

    def begin(self) -> None:
        """Look at the lecture that is open, or at a new one."""
        if self.document.lecture is None:
            self.document.new()
        self.opened.emit()

    def recover(self) -> None:
        """Open what was not saved when gpuviz ended badly."""
        if self.document.recover():
            self.opened.emit()
            self.said.emit(tr("a lecture that was not saved is open again"))

    def close(self) -> None:
        """End what is being given, and what is being bundled."""
        self.thumbnails.close()
        self.packer.close()
        self.presenting.close()

    def _show_pictures(self) -> None:
        self.pane.show_pictures(self.thumbnails.picture)

    def _bind(self) -> None:
        doing: dict[str, Callable[[], object]] = {
            "lecture.new": self._new,
            "lecture.open": self._choose,
            "lecture.close": self._close,
            "lecture.copy": self._duplicate,
            "lecture.replace": self._replace,
            "present.start": lambda: self.presenting.start(),
            "present.here": lambda: self.presenting.start(max(self.pane.slide, 0)),
            "present.rehearse": lambda: self.presenting.start(rehearses=True),
        }
        for id, do in doing.items():
            self._actions.bind(id, do)
        for path in bundle.shipped():
            text = tr("Lecture: {title}", title=title_in(path, chosen()))
            command = Command(f"lecture.shipped.{path.stem}", text, "Lecture")
            self._actions.add(command, partial(self.open, path))

    def _new(self) -> None:
        if self.saving.settle():
            self.document.new()
            self.opened.emit()

    def _duplicate(self) -> None:
        """The same lecture once more, without a file."""
        if self.saving.settle():
            self.document.duplicate()
            self.opened.emit()

    def _replace(self) -> None:
        from gpuviz.qt.lecture.replace_dialog import ReplaceDialog

        dialog = ReplaceDialog(self.document, self._theme, self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def _choose(self) -> None:
        if path := self.ask_which():
            self.open(path)

    def _close(self) -> None:
        if self.saving.settle():
            self.document.close()

    def _look_at(self, number: int) -> None:
        """Show the view of a slide."""
        lecture = self.document.lecture
        if lecture is None or not 0 <= number < len(lecture.slides):
            return
        slide = lecture.slides[number]
        if slide.view is None:
            return
        try:
            with self.unrecorded():
                start = slide.stops[0] if slide.stops else 0.0
                self._recorder.show(replace(slide.view, time=start), self.document.file)
        except Error as error:
            self.failed.emit(failure_of(error))

    def _agreed(self, path: Path) -> bool:
        """Whether the lecture names files elsewhere, and may read them from now on."""
        lecture = self.document.lecture
        wanted = lecture.elsewhere if lecture is not None else ()
        if not wanted or not self.ask_reading(path.name, wanted):
            return False
        self.document.agree(wanted)
        return True

    def _ask_for_headers(self, job: object, failure: Failure) -> None:
        """What a kernel includes is known only when it has been compiled."""
        file = self.document.file
        if not failure.elsewhere or file is None or self._view.now.lecture != file:
            return
        if self.ask_reading(file.name, failure.elsewhere):
            self.document.agree(failure.elsewhere)
            self._director.again()

    def _ask_reading(self, name: str, files: tuple[Path, ...]) -> bool:
        from gpuviz.qt.lecture.files_dialog import reading_dialog

        return bool(answer(reading_dialog(self._window, name, files)))

    def _tell_added(self, number: int) -> None:
        self.opened.emit()
        self.said.emit(tr("added to the lecture as slide {n}", n=number + 1))

    def _tell_problems(self, path: Path) -> None:
        lecture = self.document.lecture
        if lecture is not None and (problems := lecture.all_problems):
            said = "\n".join(map(str, problems))
            what = tr("Some of {file} could not be read; the rest is there.", file=path.name)
            self.failed.emit(Failure(f"{what}\n\n{said}", said, expected=True))

    def _follow(self) -> None:
        """What a lecture carried is not told of when another one is open, or none; commands that
        have nothing to act on cannot be given.
        """
        if self._view.now.lecture not in (None, self.document.file):
            self._view.set(lecture=None)
        for id in _NEEDS_LECTURE:
            self._actions[id].setEnabled(self.document.lecture is not None)
