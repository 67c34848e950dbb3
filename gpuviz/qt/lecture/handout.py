"""The lecture that is open as pages to print: a PDF, made in the background."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject

from gpuviz.draw.marks import Frame
from gpuviz.errors import Cancelled
from gpuviz.language import tr
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.pages import Missing, pages
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.export import pdf
from gpuviz.qt.export.exporting import Exporting
from gpuviz.qt.lecture.document import Document
from gpuviz.views.lesson_view import Cancel, Progress
from gpuviz.views.provenance import Provenance

THEME = "projector"  # dark on white


class Handout(QObject):
    """Binds the command that saves the pages."""

    def __init__(
        self, document: Document, exporting: Exporting, actions: Actions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document, self._exporting = document, exporting
        actions.bind("lecture.print", self.save)

    def save(self) -> None:
        """Ask where the pages go, and make them; a file of its own, named after the lecture."""
        lecture = self._document.lecture
        if lecture is not None and lecture.slides:
            name = f"{self._document.path.stem if self._document.path else lecture.title}.pdf"
            self._exporting.save_made(
                tr("Save as pages to print"),
                name.replace("/", "-"),
                ".pdf",
                partial(handout, lecture),
            )


def handout(lecture: Lecture, progress: Progress, cancel: Cancel) -> bytes:
    """A page for each click of the speaker; a slide that cannot be drawn says why on its page."""
    frames: list[Frame] = []
    for number, slide in enumerate(lecture.slides):
        progress(number / len(lecture.slides))
        for frame in _drawn(lecture, slide):
            if cancel():
                raise Cancelled(lecture.title)
            frames.append(frame)
    return pdf.pages(frames, None, lecture.title)


def _drawn(lecture: Lecture, slide: Slide) -> Iterator[Frame]:
    looks = Provenance("", {}, "sm_90", theme=THEME)
    for page in pages(replace(lecture, slides=(slide,)), looks):
        if not isinstance(page, Missing):
            yield page.view.still
        else:
            told = Slide(slide.title or tr("This slide is missing"), words=page.why)
            yield from _drawn(lecture, told)
