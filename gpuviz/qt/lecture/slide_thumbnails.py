"""Small pictures of the slides, made in idle time, one after another, and kept while they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QPixmap

from gpuviz.base.errors import Error, Failure
from gpuviz.lectures.lecture import Slide
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.worker import Job, Perform, Performer

if TYPE_CHECKING:
    from gpuviz.lectures.picture import SlideState
    from gpuviz.story.exhibit import Exhibit, Variant
    from gpuviz.story.lesson import Story
    from gpuviz.story.perform import Performance

SIZE = QSize(80, 45)  # as they are shown
_SHARP = 2  # device pixels for each of these
_IDLE_MS = 300
_MOMENT = 0.6  # share of a story at which it is taken
_MOST = 300  # pictures that are kept


class SlideThumbnails(QObject):
    """Follows the document. What the user runs goes first: a slide is performed only while the
    director rests and nothing is `presented`, and stopped when that ends. What the director has
    performed, and slides of words, cost nothing more.
    """

    ready = Signal()  # some slides have new pictures

    def __init__(
        self,
        document: Document,
        perform: Perform,
        director: Director,
        presented: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._document, self._director, self._presented = document, director, presented
        self._pictures: dict[str, QPixmap | None] = {}  # None: it cannot be made
        self._under_way: Slide | None = None
        self._performer = Performer(perform, self)
        self._performer.performed.connect(self._take)
        self._performer.failed.connect(self._fail)
        self._timer = timer(self, _IDLE_MS, self._next)
        director.performer.started.connect(self._yield)
        director.performer.rested.connect(self._timer.start)
        director.performed.connect(self._see)
        document.changed.connect(self._timer.start)

    def picture(self, slide: Slide) -> QPixmap | None:
        """That of a slide, None while there is none."""
        return self._pictures.get(_key(slide))

    def close(self) -> None:
        """Stop what is under way."""
        self._timer.stop()
        self._performer.close()

    def _yield(self, job: Job) -> None:
        self._under_way = None
        self._performer.cancel()

    def _see(self, showing: Exhibit) -> None:
        """What the director shows is the picture of the slide that was chosen."""
        from gpuviz.qt.presenter.slide_runs import variants_of

        lecture = self._document.lecture
        shown = [_what(side.variant) for side in showing.sides]
        for slide in self._missing(lecture.slides if lecture is not None else ()):
            with suppress(Error):
                if slide.view is not None and shown == [
                    _what(variant) for variant in variants_of(slide, self._document.library)
                ]:
                    self._keep(slide, showing.story)

    def _missing(self, slides: Iterable[Slide]) -> Iterator[Slide]:
        """Slides without a picture, those of words first."""
        missing = [one for one in slides if one.playable and _key(one) not in self._pictures]
        return iter(sorted(missing, key=lambda slide: slide.view is not None))

    def _next(self) -> None:
        """Begin with the first slide that has no picture yet."""
        lecture = self._document.lecture
        slide = next(self._missing(lecture.slides if lecture is not None else ()), None)
        if slide is None:
            return
        if self._presented():
            self._timer.start()
            return
        if slide.view is None:
            self._keep(slide, None)
            return
        if self._performer.busy or self._director.performer.busy:
            return
        from gpuviz.qt.presenter.slide_runs import variants_of

        try:
            job = Job(variants_of(slide, self._document.library))
        except Error:  # the list says why
            self._forgo(slide)
            return
        self._under_way = slide
        self._performer.ask(job)

    def _take(self, job: Job, performances: tuple[Performance, ...]) -> None:
        from gpuviz.story.exhibit import showing

        slide, self._under_way = self._under_way, None
        self._performer.forget()
        if slide is not None:
            self._keep(slide, showing(job.variants, performances).story)

    def _fail(self, job: Job, failure: Failure) -> None:
        slide, self._under_way = self._under_way, None
        if slide is not None:
            self._forgo(slide)

    def _forgo(self, slide: Slide) -> None:
        self._pictures[_key(slide)] = None
        self._timer.start()

    def _keep(self, slide: Slide, story: Story | None) -> None:
        from gpuviz.lectures.picture import SlideState

        try:
            made = _painted(SlideState(slide, story))
        except Exception:  # whoever looks at the slide is told what is wrong with it
            self._forgo(slide)
            return
        while len(self._pictures) >= _MOST:
            del self._pictures[next(iter(self._pictures))]
        self._pictures[_key(slide)] = made
        self.ready.emit()
        self._timer.start()


def _painted(shown: SlideState) -> QPixmap:
    """A slide as the class sees it, made small."""
    from gpuviz.lectures.cues import cues
    from gpuviz.lectures.picture import inked
    from gpuviz.qt.lecture.slide_picture import wall
    from gpuviz.qt.painting.painter import to_image

    stops = cues(shown.slide, shown.story)
    begin, end = stops[0].start, stops[-1].end
    t = begin if stops[0].asks else begin + _MOMENT * (end - begin)
    frame = inked(shown, stops[0], t, wall(shown.slide.halved))
    image = to_image(frame, 0.5).scaled(
        SIZE * _SHARP,
        Qt.AspectRatioMode.KeepAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )
    made = QPixmap.fromImage(image)
    made.setDevicePixelRatio(_SHARP)
    return made


def _what(variant: Variant) -> object:
    """What a variant runs, and on which architecture."""
    return variant.lesson.id, variant.values, variant.arch, variant.lesson.narrate


def _key(slide: Slide) -> str:
    """What a picture shows: notes, and what the speaker's list says, are no part of it."""
    if slide.view is None:
        return repr((slide.title, slide.words, slide.markdown, slide.pictures))
    shown = slide.stops[:1], slide.stops[-1:], slide.question, slide.numbers, slide.show, slide.run
    return repr((slide.view, shown, slide.ink, slide.plot))
