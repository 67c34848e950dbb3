"""Small pictures of the lessons, made in idle time from the same frames as the stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap

from gpuviz.course import LessonEntry
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.painter import to_image
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.worker import Job, Perform, Performer
from gpuviz.story.exhibit import Variant
from gpuviz.story.lesson import Story

if TYPE_CHECKING:
    from gpuviz.story.perform import Performance

PICTURE = QSize(720, 405)  # the stage a thumbnail is taken from
MOMENT = 0.6  # share of the story at which it is taken
IDLE_MS = 400


def thumbnail(story: Story, palette_of: Theme, size: QSize) -> QPixmap:
    """A story's picture, made small."""
    stage = Stage(PICTURE.width(), PICTURE.height(), palette_of.look.palette)
    small = to_image(story.frame(MOMENT * story.duration, stage)).scaled(
        size,
        Qt.AspectRatioMode.KeepAspectRatioByExpanding,
        Qt.TransformationMode.SmoothTransformation,
    )
    return QPixmap.fromImage(small)


class Thumbnails(QObject):
    """Performs one lesson after the other while the director rests; keeps the stories.

    Signals
    -------
    ready : id of a lesson whose thumbnail is new
    """

    ready = Signal(str)

    def __init__(
        self,
        lessons: Sequence[LessonEntry],
        perform: Perform,
        core: Core,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        director, theme = core.director, core.theme
        self._view, self._theme, self._director = core.view, theme, director
        self._waiting = list(lessons)
        self._stories: dict[str, Story] = {}
        self._pictures: dict[str, QPixmap] = {}
        self._performer = Performer(perform, self)
        self._performer.performed.connect(self._take)
        self._performer.failed.connect(self._skip)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(IDLE_MS)
        self._timer.timeout.connect(self._next)
        director.performer.started.connect(self._yield)
        director.performer.performed.connect(self._take)
        director.performer.rested.connect(self._timer.start)
        theme.changed.connect(self._repaint)

    def picture(self, id: str, size: QSize) -> QPixmap | None:
        """A lesson's thumbnail in at least this many device pixels, None while there is none."""
        story = self._stories.get(id)
        if story is None:
            return None
        kept = self._pictures.get(id)
        if kept is None or kept.width() < size.width():
            try:
                kept = self._pictures[id] = thumbnail(story, self._theme, size)
            except Exception:  # the stage reports a picture that cannot be made
                del self._stories[id]
                return None
        return kept

    def close(self) -> None:
        """Stop what is under way."""
        self._timer.stop()
        self._waiting.clear()
        self._performer.close()

    def _yield(self, job: Job) -> None:
        """The user's own run goes first."""
        self._timer.stop()
        self._performer.cancel()

    def _next(self) -> None:
        if self._waiting and not self._performer.busy and not self._director.performer.busy:
            lesson = self._waiting[0].open()
            view = self._view.now
            self._performer.ask(Job((Variant(lesson, lesson.defaults(), view.arch, view.level),)))

    def _take(self, job: Job, performances: tuple[Performance, ...]) -> None:
        self._stories[job.lesson.id] = performances[0].story
        self._pictures.pop(job.lesson.id, None)
        self._skip(job)
        self.ready.emit(job.lesson.id)

    def _skip(self, job: Job, *_: object) -> None:
        self._waiting = [one for one in self._waiting if one.id != job.lesson.id]
        if not self._director.performer.busy:
            self._timer.start()

    def _repaint(self) -> None:
        self._pictures.clear()
        for id in self._stories:
            self.ready.emit(id)
