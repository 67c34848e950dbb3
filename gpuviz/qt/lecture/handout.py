"""The lecture that is open as pages to print: a PDF, made in the background."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from gpuviz.export.formats import PDF
from gpuviz.lectures.handout import handout
from gpuviz.lectures.notes_pages import notes_pages
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.export.export_commands import ExportCommands
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.painting.qt_painter import QtPainter
from gpuviz.words.language import tr


class Handout(QObject):
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
