"""The lecture that is open goes into files: saved as text, or bundled with all that it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from gpuviz.base.errors import Error, Failure, InputError, failure_of
from gpuviz.export.formats import PDF
from gpuviz.lectures.lecture import SUFFIX, Lecture
from gpuviz.lectures.notes_pages import notes_pages
from gpuviz.lectures.pages import handout
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.controls import answer, unsaved_question, what_to_do
from gpuviz.qt.export.export_commands import ExportCommands
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.packer import Packer
from gpuviz.qt.painting.qt_painter import QtPainter
from gpuviz.words.language import percent, tr


def path_to_open(window: QWidget) -> Path | None:
    """The file of a lecture."""
    told, _ = QFileDialog.getOpenFileName(window, tr("Open lecture"), "", _kinds())
    return Path(told) if told else None


def path_to_save(window: QWidget, path: Path | None, title: str) -> Path | None:
    """The file to write a lecture to: where it is now, or one named after its title."""
    name = path or Path.home() / f"{_file_name(title)}{SUFFIX}"
    told, _ = QFileDialog.getSaveFileName(window, tr("Save lecture"), str(name), _kinds())
    return Path(told) if told else None


def unsaved_box(window: QWidget, name: str) -> QMessageBox:
    """Asks what becomes of changes that are not saved."""
    return unsaved_question(window, tr("Save the changes of the lecture “{name}”?", name=name))


def about_unsaved(window: QWidget, name: str) -> str:
    """What becomes of changes that are not saved: "save", "discard" or "cancel"."""
    return what_to_do(unsaved_box(window, name))


def _kinds() -> str:
    return f"{tr('Lectures')} (*{SUFFIX});;{tr('All files')} (*)"


def _file_name(title: str) -> str:
    """A file name from the title."""
    words = "".join(c.lower() if c.isalnum() else "-" for c in title).strip("-")
    return words or "lecture"


if TYPE_CHECKING:
    from gpuviz.lectures.bundle import BundleContents


class SaveCommands(QObject):
    """Binds the commands that save. What a user is asked can be exchanged."""

    failed = Signal(Failure)
    said = Signal(str)  # what was done, in words

    def __init__(
        self, document: Document, packer: Packer, actions: Actions, window: QWidget
    ) -> None:
        super().__init__(window)
        self._document, self._packer, self._window = document, packer, window
        self._then: Callable[[], object] | None = None
        self._packing = 0
        self._to_show = False  # whether what goes into the bundle is shown in any case
        self.ask_where: Callable[[], Path | None] = self._ask_where
        self.ask_unsaved: Callable[[], str] = self._ask_unsaved
        self.ask_packing: Callable[[str, BundleContents], bool] = self._ask_packing
        packer.gathered.connect(self._gathered)
        packer.packed.connect(self._packed)
        packer.failed.connect(self._not_packed)
        packer.progressed.connect(
            lambda share: self.said.emit(tr("bundling: {share}", share=percent(share)))
        )
        actions.bind("lecture.save", self._save)
        actions.bind("lecture.save_as", partial(self._save_as, self._write))
        actions.bind("lecture.pack", partial(self._save_as, partial(self._pack, show=True)))

    def settle(self, then: Callable[[], object] | None = None) -> bool:
        """Save or give up what is not saved, as the user says; False when nothing is to happen.

        A bundle takes a while: `then` is done when it has been written.
        """
        if not self._document.dirty:
            return True
        answer = self.ask_unsaved()
        if answer == "save":
            self._save()
            self._then = then if self._packer.busy else None
            return not self._document.dirty
        if answer == "discard":
            self._document.give_up()
            return True
        return False

    def _save(self) -> None:
        path = self._document.path
        if path is None:
            self._save_as(self._write)
        elif self._document.changed_elsewhere:
            said = tr(
                "{file} has been changed by another program. Save the lecture under another name, "
                "or over it, with “Save lecture as”.",
                file=path.name,
            )
            self.failed.emit(failure_of(InputError(said)))
        else:
            self._write(path)

    def _save_as(self, write: Callable[[Path], None]) -> None:
        if self._document.lecture is not None and (path := self.ask_where()):
            write(path)

    def _write(self, path: Path) -> None:
        if self._document.bundled:
            self._pack(path)
            return
        try:
            self._document.save(path)
        except Error as error:
            self.failed.emit(failure_of(error))
        else:
            self.said.emit(tr("saved {file}", file=self._document.name))

    def _pack(self, path: Path, show: bool = False) -> None:
        """Everything the lecture needs goes into the file; compiling takes a while.

        `show` what goes in before it is written, even if nothing is from elsewhere.
        """
        document = self._document
        if document.lecture is not None:
            path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
            self.said.emit(tr("bundling {file} …", file=path.name))
            self._packing, self._to_show = document.turn, show
            self._packer.gather(document.lecture, path, document.library, document.reach)

    def _gathered(self, lecture: Lecture, path: Path, packing: BundleContents) -> None:
        """It is written when the user agrees to what goes in."""
        current = self._packing == self._document.turn
        if (self._to_show or packing.outside) and not self.ask_packing(path.name, packing):
            self._then = None
            self.said.emit(tr("nothing was saved"))
            return
        if current:
            self._document.agree_to_pack(packing.outside)
        self._packer.write(lecture, path, packing)

    def _packed(self, lecture: Lecture, path: Path) -> None:
        if self._packing == self._document.turn:  # else another lecture has been opened meanwhile
            self._document.saved(lecture, path, bundled=True)
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

    def _ask_where(self) -> Path | None:
        lecture = self._document.lecture
        title = lecture.title if lecture is not None else ""
        return path_to_save(self._window, self._document.path, title)

    def _ask_packing(self, name: str, packing: BundleContents) -> bool:
        from gpuviz.qt.lecture.files_dialog import packing_dialog

        return bool(answer(packing_dialog(self._window, name, packing)))

    def _ask_unsaved(self) -> str:
        return about_unsaved(self._window, self._document.name)


class HandoutCommands(QObject):
    """Binds the commands that save pages."""

    def __init__(
        self, document: Document, exporting: ExportCommands, actions: Actions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document, self._exporting = document, exporting
        actions.bind("lecture.print", self.save)
        actions.bind("lecture.notes", self.save_notes)

    def save(self) -> None:
        """A page for each click."""
        self._save(tr("Save as pages to print"), handout, "")

    def save_notes(self) -> None:
        """Small pictures, and beside each what the speaker says."""
        self._save(tr("Save the notes to print"), notes_pages, tr("-notes"))

    def _save(self, title: str, make: Callable[..., bytes], ending: str) -> None:
        """Ask where the pages go, and make them; a file of its own, named after the lecture."""
        lecture = self._document.lecture
        if lecture is not None and lecture.slides:
            stem = self._document.path.stem if self._document.path else lecture.title
            self._exporting.save_made(
                title,
                stem.replace("/", "-") + ending + PDF.suffix,
                PDF.suffix,
                partial(make, lecture, self._document.library, QtPainter()),
            )
