"""The lecture of the window: opened, looked at, saved, bundled, closed; its parts wired."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from gpuviz.errors import Error, Failure, InputError, failure_of
from gpuviz.language import tr
from gpuviz.lectures import bundle
from gpuviz.lectures.lecture import SUFFIX, Lecture
from gpuviz.lectures.reading import title
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.editing import Editing
from gpuviz.qt.lecture.packer import Packer
from gpuviz.qt.lecture.pane import LecturePane
from gpuviz.qt.lecture.presenting import Presenting
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.viewing import Viewing
from gpuviz.qt.running.worker import Perform
from gpuviz.runners.session import Session

_NEEDS_LECTURE = (
    "lecture.save",
    "lecture.save_as",
    "lecture.pack",
    "lecture.print",
    "lecture.close",
    "lecture.words",
)


class Lecturing(QObject):
    """`document` holds the lecture, `editing` changes its slides, `giving` shows it to a class.

    `ask_path` asks for a file to open or to save, `ask_unsaved` what becomes of changes that are
    not saved: "save", "discard" or "cancel". Views of slides are shown within `unrecorded`: going
    through a lecture is nothing to be undone.

    Signals
    -------
    failed : `Failure`
    said : what was done, in words
    opened : a lecture is open and wants to be seen
    """

    failed = Signal(object)
    said = Signal(str)
    opened = Signal()

    def __init__(
        self,
        viewing: Viewing,
        director: Director,
        meter: Meter,
        perform: Perform,
        session: Session,
        theme: Theme,
        actions: Actions,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._viewing, self._director = viewing, director
        self._session, self._actions, self._window = session, actions, window
        self._then: Callable[[], object] | None = None
        self._packing = 0
        self.document = Document(session, self)
        self.ask_path: Callable[[bool], Path | None] = self._ask_path
        self.ask_unsaved: Callable[[], str] = self._ask_unsaved
        self.unrecorded: Callable[[], AbstractContextManager[None]] = nullcontext
        self.packer = Packer(meter, self)
        self.packer.packed.connect(self._packed)
        self.packer.failed.connect(self._not_packed)
        self.packer.progressed.connect(self._tell_progress)
        director.performed.connect(self.packer.follow)
        self._bind()
        self.pane = LecturePane(self.document, actions)
        self.pane.looked_at.connect(self._look_at)
        self.editing = Editing(self.document, self.pane, viewing, director, theme, actions, window)
        self.editing.added.connect(self._tell_added)
        self.presenting = Presenting(
            self.document, viewing, director, meter, perform, session, window
        )
        self.presenting.failed.connect(self.failed)
        self.presenting.came_back.connect(self.pane.select)
        self.document.changed.connect(self._put_away)
        self.document.changed.connect(self._offer)
        self._offer()

    def open(self, path: Path) -> None:
        """Open a lecture; what is not saved of the one before is asked about."""
        if not self.settle():
            return
        try:
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
            inner.addAction(title(path), self._actions[f"lecture.shipped.{path.stem}"].trigger)
        menu.insertMenu(self._actions["lecture.save"], inner)
        menu.insertSeparator(self._actions["lecture.save"])

    def begin(self) -> None:
        """Look at the lecture that is open, or at a new one."""
        if self.document.lecture is None:
            self.document.new()
        self.opened.emit()

    def settle(self, then: Callable[[], object] | None = None) -> bool:
        """Save or give up what is not saved, as the user says; False when nothing is to happen.

        A bundle takes a while: `then` is done when it has been written.
        """
        if not self.document.dirty:
            return True
        answer = self.ask_unsaved()
        if answer == "save":
            self._save()
            self._then = then if self.packer.busy else None
            return not self.document.dirty
        if answer == "discard":
            self.document.give_up()
            return True
        return False

    def recover(self) -> None:
        """Open what was not saved when gpuviz ended badly."""
        if self.document.recover():
            self.opened.emit()
            self.said.emit(tr("a lecture that was not saved is open again"))

    def present(self, here: bool = False) -> None:
        """Give the lecture that is open, or the view that is shown; from the slide chosen."""
        self.presenting.start(max(self.pane.slide, 0) if here else 0)

    def close(self) -> None:
        """End what is being given, and what is being bundled."""
        self.packer.close()
        self.presenting.close()

    def _bind(self) -> None:
        doing: dict[str, Callable[[], object]] = {
            "lecture.new": self._new,
            "lecture.open": self._choose,
            "lecture.save": self._save,
            "lecture.save_as": self._save_as,
            "lecture.close": self._close,
            "lecture.pack": self._pack_as,
            "present.start": self.present,
            "present.here": lambda: self.present(here=True),
        }
        for id, do in doing.items():
            self._actions.bind(id, do)
        for path in bundle.shipped():
            said = tr("Lecture: {title}", title=title(path))
            command = Command(f"lecture.shipped.{path.stem}", said, "Lecture")
            self._actions.add(command, partial(self.open, path))

    def _new(self) -> None:
        if self.settle():
            self.document.new()
            self.opened.emit()

    def _choose(self) -> None:
        if path := self.ask_path(False):
            self.open(path)

    def _save(self) -> None:
        path = self.document.path
        if path is None:
            self._save_as()
        elif self.document.changed_elsewhere:
            self.failed.emit(
                failure_of(
                    InputError(
                        tr(
                            "{file} has been changed by another program. Save the lecture under "
                            "another name, or over it, with “Save lecture as”.",
                            file=path.name,
                        )
                    )
                )
            )
        else:
            self._write(path)

    def _save_as(self) -> None:
        if self.document.lecture is not None and (path := self.ask_path(True)):
            self._write(path)

    def _pack_as(self) -> None:
        if self.document.lecture is not None and (path := self.ask_path(True)):
            self._pack(path)

    def _pack(self, path: Path) -> None:
        """Everything the lecture needs goes into the file; compiling takes a while."""
        if self.document.lecture is not None:
            path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
            self.said.emit(tr("bundling {file} …", file=path.name))
            self._packing = self.document.turn
            library = self._session.library(self.document.file)
            self.packer.start(self.document.lecture, path, library)

    def _packed(self, lecture: Lecture, path: Path) -> None:
        if self._packing == self.document.turn:  # else another lecture has been opened meanwhile
            self.document.saved(lecture, path, bundled=True)
        then, self._then = self._then, None
        if any(slide.problems for slide in lecture.slides):
            self.said.emit(tr("saved {file} without what could not be read", file=path.name))
        else:
            self.said.emit(tr("saved {file} with all it needs", file=path.name))
        if then is not None:
            then()

    def _not_packed(self, failure: Failure) -> None:
        self._then = None
        self.said.emit(tr("nothing was saved"))
        self.failed.emit(failure)

    def _tell_added(self, number: int) -> None:
        self.opened.emit()
        self.said.emit(tr("added to the lecture as slide {n}", n=number + 1))

    def _tell_progress(self, share: float) -> None:
        self.said.emit(tr("bundling: {share:.0%}", share=share))

    def _write(self, path: Path) -> None:
        if self.document.bundled:
            self._pack(path)
            return
        try:
            self.document.save(path)
        except Error as error:
            self.failed.emit(failure_of(error))
            return
        self.said.emit(tr("saved {file}", file=self.document.name))

    def _close(self) -> None:
        if self.settle():
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
                self._viewing.show(replace(slide.view, time=start), self.document.file)
        except Error as error:
            self.failed.emit(failure_of(error))

    def _tell_problems(self, path: Path) -> None:
        lecture = self.document.lecture
        if lecture is not None and (problems := lecture.all_problems):
            said = "\n".join(map(str, problems))
            what = tr("Some of {file} could not be read; the rest is there.", file=path.name)
            self.failed.emit(Failure(f"{what}\n\n{said}", said, expected=True))

    def _put_away(self) -> None:
        """What a lecture carried is not told of when another one is open, or none."""
        if self._director.lecture not in (None, self.document.file):
            self._director.set_lecture(None)

    def _offer(self) -> None:
        """Commands that have nothing to act on cannot be given."""
        lecture = self.document.lecture
        for id in _NEEDS_LECTURE:
            self._actions[id].setEnabled(lecture is not None)

    def _ask_path(self, save: bool) -> Path | None:
        kinds = f"{tr('Lectures')} (*{SUFFIX});;{tr('All files')} (*)"
        if save:
            name = self.document.path or Path.home() / f"{_file_name(self.document)}{SUFFIX}"
            told, _ = QFileDialog.getSaveFileName(
                self._window, tr("Save lecture"), str(name), kinds
            )
        else:
            told, _ = QFileDialog.getOpenFileName(self._window, tr("Open lecture"), "", kinds)
        return Path(told) if told else None

    def _ask_unsaved(self) -> str:
        kinds = QMessageBox.StandardButton
        answers = {kinds.Save: "save", kinds.Discard: "discard"}
        return answers.get(QMessageBox.StandardButton(self.unsaved_box().exec()), "cancel")

    def unsaved_box(self) -> QMessageBox:
        """Asks what becomes of changes that are not saved."""
        kinds = QMessageBox.StandardButton
        box = QMessageBox(
            QMessageBox.Icon.Question,
            "gpuviz",
            tr("Save the changes of the lecture “{name}”?", name=self.document.name),
            kinds.Save | kinds.Discard | kinds.Cancel,
            self._window,
        )
        said = {
            kinds.Save: tr("Save"),
            kinds.Discard: tr("Do not save"),
            kinds.Cancel: tr("Cancel"),
        }
        for kind, text in said.items():
            box.button(kind).setText(text)
        return box


def _file_name(document: Document) -> str:
    """A file name from the title."""
    title = document.lecture.title if document.lecture is not None else ""
    words = "".join(c.lower() if c.isalnum() else "-" for c in title).strip("-")
    return words or "lecture"
