"""Performs lessons off the GUI thread: one at a time, the newest wish first, stale ones dropped."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import Cancelled, Failure, failure_of
from gpuviz.base.waiting import stopped_by
from gpuviz.story.exhibit import Exhibit, Variant, showing

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuviz.base.waiting import Cancel, Progress
    from gpuviz.run.run import Level
    from gpuviz.run.session import Library
    from gpuviz.story.lesson import Lesson, Values
    from gpuviz.story.perform import Performance

PATIENCE = 5.0  # seconds a cancelled run is given to notice when the window closes


class Perform(Protocol):
    """Runs the launches of a lesson and tells its story; asked to stop, raises `Cancelled`."""

    def __call__(
        self,
        lesson: Lesson,
        values: Values,
        *,
        arch: str,
        level: Level,
        progress: Progress,
        cancel: Cancel,
        prebuilt: bool,
        library: Library | None,
        checks: tuple[str, ...],
        seconds: float,
        begun: Performance | None,
        hasty: bool,
    ) -> Performance:
        """The performance, or an `errors.Error`; of the PTX that ships if `prebuilt`.

        With `begun` the same performance, with what of it was waiting; a `hasty` one leaves waiting
        what only a table needs.
        """


@dataclass(frozen=True, eq=False)
class Job:
    """Variants of one lesson to perform: one, or two to compare.

    `begun` is what was performed of them already, when what was left waiting is to be emulated.
    """

    variants: tuple[Variant, ...]
    begun: tuple[Performance, ...] = ()

    @property
    def lesson(self) -> Lesson:
        """The lesson of all variants."""
        return self.variants[0].lesson

    @property
    def hurried(self) -> bool:
        """Whether it is of what ships: to be there at once, and not to stay."""
        return self.variants[0].prebuilt


@dataclass(frozen=True, eq=False)
class _Ticket:
    """A job under way, and the flag that asks it to stop."""

    job: Job
    stop: threading.Event = field(default_factory=threading.Event)


class Performer(QObject):
    """A thread that performs the newest job asked for. What the job before performed is kept.

    A `hasty` one leaves waiting what can: whoever asks goes on with it. `exhibited` makes of what
    is performed what is shown, in that thread.
    """

    started = Signal(Job)  # the job that begins
    progressed = Signal(float)  # fraction done, 0 to 1, of the job under way
    performed = Signal(Job, tuple, Exhibit)  # job, its performances, one a variant; as shown
    failed = Signal(Job, Failure)  # job, `Failure`
    rested = Signal()  # nothing is under way any more
    _done = Signal(_Ticket, tuple, Exhibit)
    _broke = Signal(_Ticket, Exception)
    _moved = Signal(_Ticket, float)

    def __init__(
        self,
        perform: Perform,
        parent: QObject | None = None,
        hasty: bool = False,
        exhibited: Callable[[Job, tuple[Performance, ...]], Exhibit] | None = None,
    ) -> None:
        super().__init__(parent)
        self._perform, self._hasty = perform, hasty
        self._exhibited = exhibited or (lambda job, made: showing(job.variants, made))
        self._current: _Ticket | None = None
        self._wanted: Job | None = None
        self._thread: threading.Thread | None = None
        self._kept: list[tuple[Variant, Performance]] = []
        self._done.connect(self._take)
        self._broke.connect(self._fail)
        self._moved.connect(self._move)

    @property
    def busy(self) -> bool:
        """Whether a job is under way, be it a stale one that has not stopped yet."""
        return self._current is not None

    def ask(self, job: Job) -> None:
        """Perform this job; what is under way has become obsolete."""
        self._wanted = job
        if self._current is None:
            self._start()
        else:
            self._current.stop.set()

    def cancel(self) -> None:
        """Stop what is under way and forget what was asked for."""
        self._wanted = None
        if self._current is not None:
            self._current.stop.set()

    def forget(self) -> None:
        """Perform everything anew."""
        self._kept = []

    def close(self) -> None:
        """Cancel, and wait until the thread has noticed."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _start(self) -> None:
        job, self._wanted = self._wanted, None
        if job is None:
            return
        ticket = self._current = _Ticket(job)
        self._thread = threading.Thread(target=self._work, args=(ticket, self._kept), daemon=True)
        self.started.emit(job)
        self._thread.start()

    def _work(self, ticket: _Ticket, kept: list[tuple[Variant, Performance]]) -> None:
        """Runs in the thread: every way to end is reported, none escapes."""
        try:
            with stopped_by(ticket.stop.is_set):
                performances = tuple(
                    _known(variant, kept, ticket.job) or self._one(number, ticket)
                    for number, variant in enumerate(ticket.job.variants)
                )
            shown = self._exhibited(ticket.job, performances)
            tell = partial(self._done.emit, ticket, performances, shown)
        except Exception as error:
            tell = partial(self._broke.emit, ticket, error)
        with suppress(RuntimeError):  # the window may be gone by now
            tell()

    def _one(self, number: int, ticket: _Ticket) -> Performance:
        if ticket.stop.is_set():
            raise Cancelled("cancelled")
        variants, begun = ticket.job.variants, ticket.job.begun
        variant = variants[number]
        return self._perform(
            variant.lesson,
            variant.values,
            arch=variant.arch,
            level=variant.level,
            progress=self._reporter(ticket, number / len(variants)),
            cancel=ticket.stop.is_set,
            prebuilt=variant.prebuilt,
            library=variant.library,
            checks=variant.checks,
            seconds=variant.seconds,
            begun=begun[number] if begun else None,
            hasty=self._hasty,
        )

    def _reporter(self, ticket: _Ticket, done: float) -> Progress:
        """A progress function for one variant that speaks at every whole percent only."""
        last = -1
        share = 1 / len(ticket.job.variants)

        def report(fraction: float) -> None:
            nonlocal last
            if int(fraction * 100) != last:
                last = int(fraction * 100)
                self._moved.emit(ticket, done + fraction * share)

        return report

    def _move(self, ticket: _Ticket, fraction: float) -> None:
        if ticket is self._current and not ticket.stop.is_set():
            self.progressed.emit(fraction)

    def _take(self, ticket: _Ticket, performances: tuple[Performance, ...], shown: Exhibit) -> None:
        self._current = None
        if not ticket.stop.is_set():
            self._kept = list(zip(ticket.job.variants, performances, strict=True))
            self.performed.emit(ticket.job, performances, shown)
        self._go_on()

    def _fail(self, ticket: _Ticket, error: Exception) -> None:
        self._current = None
        if not ticket.stop.is_set() and not isinstance(error, Cancelled):
            self.failed.emit(ticket.job, failure_of(error))
        self._go_on()

    def _go_on(self) -> None:
        if self._current is None:
            self._start()
        if self._current is None:
            self.rested.emit()


def _known(
    variant: Variant, kept: list[tuple[Variant, Performance]], job: Job
) -> Performance | None:
    """What was performed of a variant already, and is as whole as the job wants it."""
    known = (done for one, done in kept if one == variant)
    return next((done for done in known if not (job.begun and done.waiting)), None)
