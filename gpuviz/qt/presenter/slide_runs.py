"""Performs the slides of a lecture ahead of the speaker, the one that is needed first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import Error, Failure, failure_of
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.over_time import lesson_of
from gpuviz.lectures.plot_beside import plot_of
from gpuviz.qt.running.worker import Job, Perform, Performer
from gpuviz.run.session import Library
from gpuviz.story.exhibit import Exhibit, Variant, showing
from gpuviz.views import make_view

if TYPE_CHECKING:
    from gpuviz.story.perform import Performance


class SlideRuns(QObject):
    """Keeps what was performed until the lecture is over."""

    changed = Signal(int)  # the number of a slide that is ready now, or will not be

    def __init__(
        self,
        lecture: Lecture,
        perform: Perform,
        library: Library | None = None,
        parent: QObject | None = None,
        known: Mapping[int, Exhibit] | None = None,
    ) -> None:
        super().__init__(parent)
        self._slides, self._library = lecture.slides, library
        self._done: dict[int, Exhibit] = dict(known or {})
        self._why_not: dict[int, str] = {}
        self._under_way: int | None = None
        self._job: Job | None = None
        self._needed = 0
        self._performer = Performer(perform, self)
        self._performer.performed.connect(self._take)
        self._performer.failed.connect(self._fail)

    def showing(self, number: int) -> Exhibit | None:
        """What was performed of a slide, None while there is nothing."""
        return self._done.get(number)

    def why_not(self, number: int) -> str:
        """Why a slide cannot be performed, "" while that is not known."""
        return self._why_not.get(number, "")

    def need(self, number: int) -> None:
        """This slide is wanted now; those behind it come next, then those before it."""
        self._needed = number
        if self._under_way is None or (self._missing(number) and self._under_way != number):
            self._go_on()

    def close(self) -> None:
        """Stop what is under way."""
        self._performer.close()

    def _missing(self, number: int) -> bool:
        wanted = 0 <= number < len(self._slides) and self._slides[number].view is not None
        return wanted and number not in self._done and number not in self._why_not

    def _go_on(self) -> None:
        """Ask for the next one that is missing."""
        self._under_way = None
        count = len(self._slides)
        order = (*range(self._needed, count), *range(self._needed))
        for number in order:
            if self._missing(number) and self._ask(number):
                return

    def _ask(self, number: int) -> bool:
        """Begin with a slide; False when it cannot even be begun with."""
        try:
            variants = variants_of(self._slides[number], self._library)
        except Error as error:  # a kernel's file that went away meanwhile
            self._why_not[number] = failure_of(error).message
            self.changed.emit(number)
            return False
        self._under_way, self._job = number, Job(variants)
        self._performer.ask(self._job)
        return True

    def _take(self, job: Job, performances: tuple[Performance, ...]) -> None:
        number = self._under_way
        if number is None or job is not self._job:
            return  # what was asked for before another slide was needed
        self._done[number] = showing(job.variants, performances)
        self._go_on()
        self.changed.emit(number)

    def _fail(self, job: Job, failure: Failure) -> None:
        number = self._under_way
        if number is not None and job is self._job:
            self._why_not[number] = failure.message
            self._go_on()
            self.changed.emit(number)


def variants_of(slide: Slide, library: Library | None = None) -> tuple[Variant, ...]:
    """What is to be performed for a slide: one variant, or two beside each other."""
    assert slide.view is not None
    return make_view.variants_of(slide.view, library, lesson_of(slide), plot_of(slide))


_KEPT = 8  # that are gone back to without being run again


class VariedRuns(QObject):
    """Keeps the last few."""

    changed = Signal()  # what is wanted is ready, will not be, or has come further

    def __init__(
        self, perform: Perform, library: Library | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._done: list[tuple[Slide, Exhibit]] = []
        self._wanted: Slide | None = None
        self._job: Job | None = None
        self.share: float | None = None  # of the run under way; None when there is none
        self.why_not = ""
        self._performer = Performer(perform, self)
        self._performer.performed.connect(self._take)
        self._performer.failed.connect(self._fail)
        self._performer.progressed.connect(self._come_further)

    def showing(self, slide: Slide) -> Exhibit | None:
        """What was performed of a slide with a view like this, None while there is nothing."""
        return next((made for one, made in self._done if one == slide), None)

    def need(self, slide: Slide) -> None:
        """This is wanted now, and nothing before it any more."""
        if slide == self._wanted and self._job is not None:
            return
        self._wanted, self.why_not, self._job, self.share = slide, "", None, None
        if self.showing(slide) is not None:
            self._performer.cancel()
            return
        try:
            self._job = Job(variants_of(slide, self._library))
        except Error as error:  # a kernel's file that went away meanwhile
            self.why_not = failure_of(error).message
            return
        self.share = 0.0
        self._performer.ask(self._job)

    def forget(self) -> None:
        """Nothing is wanted."""
        self._wanted, self._job, self.share, self.why_not = None, None, None, ""
        self._performer.cancel()

    def close(self) -> None:
        """Stop what is under way."""
        self._performer.close()

    def _take(self, job: Job, performances: tuple[Performance, ...]) -> None:
        if job is not self._job or self._wanted is None:
            return
        made = self._wanted, showing(job.variants, performances)
        self._done = [*self._done[-_KEPT + 1 :], made]
        self._job, self.share = None, None
        self.changed.emit()

    def _fail(self, job: Job, failure: Failure) -> None:
        if job is self._job:
            self._job, self.share, self.why_not = None, None, failure.message
            self.changed.emit()

    def _come_further(self, share: float) -> None:
        if self._job is not None:
            self.share = share
            self.changed.emit()
