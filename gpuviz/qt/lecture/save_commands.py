"""The lecture that is open goes into files: saved as text, or bundled with all that it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.base.errors import Error, Failure, InputError, failure_of
from gpuviz.lectures.lecture import SUFFIX, Lecture
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.asking import answer
from gpuviz.qt.lecture import questions
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.packer import Packer
from gpuviz.words.language import percent, tr

if TYPE_CHECKING:
    from gpuviz.lectures.bundle_contents import BundleContents


class SaveCommands(QObject):
    """Binds the commands that save. What a user is asked can be exchanged.

    Signals
    -------
    failed : `Failure`
    said : what was done, in words
    """

    failed = Signal(object)
    said = Signal(str)

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
        return questions.path_to_save(self._window, self._document.path, title)

    def _ask_packing(self, name: str, packing: BundleContents) -> bool:
        from gpuviz.qt.lecture.files_dialog import packing_dialog

        return bool(answer(packing_dialog(self._window, name, packing)))

    def _ask_unsaved(self) -> str:
        return questions.about_unsaved(self._window, self._document.name)
