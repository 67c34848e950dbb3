"""Performs what a slide is changed to while it is shown; the newest wish counts."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import Error, Failure, failure_of
from gpuviz.lectures.lecture import Slide
from gpuviz.qt.presenter.slide_runs import variants_of
from gpuviz.qt.running.worker import Job, Perform, Performer
from gpuviz.run.session import Library
from gpuviz.story.exhibit import Exhibit, showing

_KEPT = 8  # that are gone back to without being run again


class VariedRuns(QObject):
    """Keeps the last few.

    Signals
    -------
    changed : what is wanted is ready, will not be, or has come further
    """

    changed = Signal()

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

    def _take(self, job: Job, performances: object) -> None:
        if job is not self._job or self._wanted is None:
            return
        assert isinstance(performances, tuple)
        self._done = [
            *self._done[-_KEPT + 1 :],
            (self._wanted, showing(job.variants, performances)),
        ]
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
