"""The commands about lectures: opening, saving, changing slides, giving the lecture."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from gpuviz.errors import Error
from gpuviz.lectures import bundle
from gpuviz.lectures.lecture import SUFFIX, Lecture, Slide
from gpuviz.lectures.plain import TIME
from gpuviz.lectures.reading import read
from gpuviz.qt.commands.actions import Actions, Command
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.packer import Packer
from gpuviz.qt.lecture.pane import LecturePane
from gpuviz.qt.lecture.slide_dialog import SlideDialog
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.worker import Failure, Perform, failure_of
from gpuviz.qt.window.viewing import Viewing
from gpuviz.words import tr

_NEEDS_SLIDE = ("lecture.update", "lecture.edit", "lecture.duplicate", "lecture.up", "lecture.down",
                "lecture.remove")  # fmt: skip
_NEEDS_LECTURE = ("lecture.save", "lecture.save_as", "lecture.pack", "lecture.close",
                  "lecture.words")


class Lecturing(QObject):
    """Acts on the document, the view shown, and the presentation.

    `ask_path` asks for a file to open or to save, `ask_unsaved` what becomes of changes that are
    not saved: "save", "discard" or "cancel". Views of slides are shown within `unrecorded`: going
    through a lecture is nothing to be undone.

    Signals
    -------
    failed : `Failure`
    said : what was done, in words
    opened : a lecture is open and wants to be seen
    presenting : whether one is being given
    """

    failed = Signal(object)
    said = Signal(str)
    opened = Signal()
    presenting = Signal(bool)

    def __init__(self, viewing: Viewing, director: Director, meter: Meter, perform: Perform,
                 theme: Theme, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self._viewing, self._director, self._meter = viewing, director, meter
        self._perform, self._theme, self._actions = perform, theme, actions
        self._window = window
        self.document = Document(self)
        self.presentation: Presentation | None = None
        self.dialog: SlideDialog | None = None
        self.ask_path: Callable[[bool], Path | None] = self._ask_path
        self.ask_unsaved: Callable[[], str] = self._ask_unsaved
        self.unrecorded: Callable[[], AbstractContextManager[None]] = nullcontext
        self.packer = Packer(meter, self)
        self.packer.packed.connect(self._packed)
        self.packer.failed.connect(self.failed)
        self.packer.progressed.connect(self._tell_progress)
        director.performed.connect(self.packer.follow)
        self._bind()
        self.pane = LecturePane(self.document, actions)
        self.pane.looked_at.connect(self._look_at)
        self.pane.list.itemDoubleClicked.connect(lambda item: self._edit())
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
            inner.addAction(read(path).title, self._actions[f"lecture.shipped.{path.stem}"].trigger)
        menu.insertMenu(self._actions["lecture.save"], inner)
        menu.insertSeparator(self._actions["lecture.save"])

    def begin(self) -> None:
        """Look at the lecture that is open, or at a new one."""
        if self.document.lecture is None:
            self.document.new()
        self.opened.emit()

    def settle(self) -> bool:
        """Save or give up what is not saved, as the user says; False when nothing is to happen."""
        if not self.document.dirty:
            return True
        answer = self.ask_unsaved()
        if answer == "save":
            self._save()
            return self.packer.busy or not self.document.dirty
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
        lecture = self.document.lecture
        if lecture is not None and lecture.slides:
            self._present(lecture, max(self.pane.slide, 0) if here else 0)
            return
        view = self._viewing.record()
        told = Lecture(self._title(), (Slide(view=view, steps=True),))
        self._present(told, 0)

    def close(self) -> None:
        """End what is being given, and what is being bundled."""
        self.packer.close()
        if self.presentation is not None:
            self.presentation.close()

    def _present(self, lecture: Lecture, slide: int) -> None:
        self._meter.stop()
        known = {}
        if self._director.showing is not None and len(lecture.slides) == 1:
            known = {0: self._director.showing}
        try:
            made = Presentation(lecture, self._perform, self._meter.sources, self, known)
        except Error as error:
            self.failed.emit(failure_of(error))
            return
        self.presentation = made
        made.ended.connect(self._come_back)
        self.presenting.emit(True)
        made.start(slide)

    def _come_back(self, slide: int) -> None:
        """The window is there again, on the slide that was shown last."""
        made, self.presentation = self.presentation, None
        if made is not None:
            made.deleteLater()
        self.presenting.emit(False)
        self._window.activateWindow()
        lecture = self.document.lecture
        if lecture is not None and slide < len(lecture.slides):
            self.pane.select(slide)

    def _title(self) -> str:
        return self._window.windowTitle().rsplit(" – ", 1)[0]

    def _bind(self) -> None:
        doing: dict[str, Callable[[], object]] = {
            "lecture.new": self._new, "lecture.open": self._choose, "lecture.save": self._save,
            "lecture.save_as": self._save_as, "lecture.close": self._close,
            "lecture.pack": self._pack_as,
            "lecture.add": self._add, "lecture.words": self._add_words,
            "lecture.update": self._update, "lecture.edit": self._edit,
            "lecture.duplicate": self._duplicate, "lecture.up": lambda: self._move(-1),
            "lecture.down": lambda: self._move(1), "lecture.remove": self._remove,
            "lecture.undo": self.document.undo, "lecture.redo": self.document.redo,
            "present.start": self.present, "present.here": lambda: self.present(here=True),
        }  # fmt: skip
        for id, do in doing.items():
            self._actions.bind(id, do)
        for path in bundle.shipped():
            title = read(path).title
            self._actions.add(Command(f"lecture.shipped.{path.stem}",
                                      tr("Lecture: {title}", title=title), "Lecture"),
                              partial(self.open, path))  # fmt: skip

    def _new(self) -> None:
        if self.settle():
            self.document.new()
            self.opened.emit()

    def _choose(self) -> None:
        if path := self.ask_path(False):
            self.open(path)

    def _save(self) -> None:
        path = self.document.path
        self._write(path) if path is not None else self._save_as()

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
            self.packer.start(self.document.lecture, path)

    def _packed(self, lecture: Lecture, path: Path) -> None:
        self.document.saved(lecture, path, bundled=True)
        self.said.emit(tr("saved {file} with all it needs", file=path.name))

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

    def _add(self) -> None:
        """The view that is shown, as it is at this moment, behind the slide chosen."""
        view = self._viewing.record()
        stops = (round(view.time, 2),) if view.time > 0 else ()
        self.document.add(Slide(view=view, stops=stops), self.pane.slide + 1)
        self.opened.emit()
        self.said.emit(tr("added to the lecture as slide {n}", n=self.pane.slide + 1))

    def _add_words(self) -> None:
        slide = Slide(tr("New slide"), words=tr("Words"))
        self.document.add(slide, self.pane.slide + 1)
        self._edit()

    def _update(self) -> None:
        view = self._viewing.record()
        self._change(lambda slide: replace(slide, view=view, problems=()))

    def _duplicate(self) -> None:
        at = self.pane.slide
        self.document.change(lambda lecture: lecture.insert(at + 1, lecture.slides[at]), at + 1)

    def _move(self, way: int) -> None:
        at = self.pane.slide
        lecture = self.document.lecture
        if lecture is not None and 0 <= at + way < len(lecture.slides):
            self.document.change(lambda lecture: lecture.move(at, at + way), at + way)

    def _remove(self) -> None:
        at = self.pane.slide
        self.document.change(lambda lecture: lecture.remove(at), at)

    def _edit(self) -> None:
        """Ask for what a slide has besides its view."""
        lecture, at = self.document.lecture, self.pane.slide
        if lecture is None or not 0 <= at < len(lecture.slides):
            return
        self.dialog = dialog = SlideDialog(lecture.slides[at], self._counts(),
                                           self._viewing.record().time, self._theme, self._window)
        dialog.accepted.connect(lambda: self._change(lambda slide: dialog.slide()))
        dialog.open()

    def _change(self, how: Callable[[Slide], Slide]) -> None:
        at = self.pane.slide
        if at >= 0:
            self.document.change(lambda lecture: lecture.change(at, how))

    def _counts(self) -> list[str]:
        """The counts that the view shown has."""
        showing = self._director.showing
        if showing is None:
            return []
        found = (key for run in showing.runs.values() for key, n in run.counts.totals.items()
                 if n and not key.endswith(("_ideal", "_bytes")) and key != TIME)
        return [key for key in dict.fromkeys(found) if not key.startswith("l2_")]

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
                self._viewing.show(replace(slide.view, time=slide.stops[0] if slide.stops else 0.0))
        except Error as error:
            self.failed.emit(failure_of(error))

    def _tell_problems(self, path: Path) -> None:
        lecture = self.document.lecture
        if lecture is not None and (problems := lecture.all_problems):
            said = "\n".join(map(str, problems))
            what = tr("Some of {file} could not be read; the rest is there.", file=path.name)
            self.failed.emit(Failure(f"{what}\n\n{said}", said, expected=True))

    def _offer(self) -> None:
        """Commands that have nothing to act on cannot be given."""
        lecture = self.document.lecture
        for id in _NEEDS_LECTURE:
            self._actions[id].setEnabled(lecture is not None)
        self._actions["lecture.undo"].setEnabled(self.document.undoes)
        self._actions["lecture.redo"].setEnabled(self.document.redoes)
        for id in _NEEDS_SLIDE:
            self._actions[id].setEnabled(lecture is not None and bool(lecture.slides))

    def _ask_path(self, save: bool) -> Path | None:
        kinds = f"{tr('Lectures')} (*{SUFFIX});;{tr('All files')} (*)"
        if save:
            name = self.document.path or Path.home() / f"{_file_name(self.document)}{SUFFIX}"
            told, _ = QFileDialog.getSaveFileName(self._window, tr("Save lecture"), str(name),
                                                  kinds)
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
        return QMessageBox(QMessageBox.Icon.Question, "gpuviz",
                           tr("Save the changes of the lecture “{name}”?", name=self.document.name),
                           kinds.Save | kinds.Discard | kinds.Cancel, self._window)


def _file_name(document: Document) -> str:
    """A file name from the title."""
    title = document.lecture.title if document.lecture is not None else ""
    words = "".join(c.lower() if c.isalnum() else "-" for c in title).strip("-")
    return words or "lecture"
