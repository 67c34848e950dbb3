"""Bundles a lecture off the GUI thread."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import Cancelled, Failure, failure_of
from gpuviz.base.waiting import stopped_by
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.bundle import BundleContents
from gpuviz.lectures.lecture import Lecture
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.worker import PATIENCE
from gpuviz.recordings.measurement import Measurement
from gpuviz.recordings.recording import Entry, LaunchKey, key_of
from gpuviz.run.session import Library
from gpuviz.story.exhibit import Exhibit
from gpuviz.story.lesson import Plan

Then = Callable[[], object]  # what the window does when the thread is done


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What the thread that `stop` belongs to has come to."""

    stop: threading.Event
    then: Then | None = None
    error: Exception | None = None


class Packer(QObject):
    """One bundle at a time, with what was measured since the window was opened."""

    # Lecture, path, and what would go in; nothing is written yet.
    gathered = Signal(Lecture, Path, BundleContents)
    packed = Signal(Lecture, Path)  # lecture and path, when the bundle is there
    failed = Signal(Failure)  # why there is none
    progressed = Signal(float)  # share done, 0 to 1
    _ended = Signal(_Outcome)

    def __init__(self, meter: Meter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._live: dict[LaunchKey, Entry] = {}
        self._showing: Exhibit | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._ended.connect(self._end)
        meter.measured.connect(self._measure)

    @property
    def busy(self) -> bool:
        """Whether a bundle is being made."""
        return self._thread is not None

    def follow(self, showing: Exhibit) -> None:
        """These launches are shown: measurements are of them."""
        self._showing = showing

    def gather(self, lecture: Lecture, path: Path, library: Library, reach: Reach) -> None:
        """Find out what goes into a bundle, launches looked up in the library; files beyond the
        reach are told to be from outside. A bundle that is being made is stopped.
        """

        def work(stop: threading.Event) -> Then:
            from gpuviz.lectures.bundle_contents import gather  # loads the compiler

            find = partial(self._entry, library)
            made = gather(lecture, reach, find, self._say, stop.is_set, library)
            return lambda: self.gathered.emit(lecture, path, made)

        self._start(work)

    def write(self, lecture: Lecture, path: Path, packing: BundleContents) -> None:
        """Write the bundle."""

        def work(stop: threading.Event) -> Then:
            from gpuviz.lectures.bundle_contents import write

            write(packing, path)
            return lambda: self.packed.emit(lecture, path)

        self._start(work)

    def cancel(self) -> None:
        """Stop what is under way; nothing is written."""
        self._stop.set()

    def close(self) -> None:
        """Stop, and wait until the thread has noticed."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(PATIENCE)
            self._thread = None

    def _start(self, work: Callable[[threading.Event], Then]) -> None:
        self.close()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(work, self._stop), daemon=True)
        self._thread.start()

    def _work(self, work: Callable[[threading.Event], Then], stop: threading.Event) -> None:
        """Runs in the thread."""
        try:
            with stopped_by(stop.is_set):
                outcome = _Outcome(stop, work(stop))
        except Exception as error:
            outcome = _Outcome(stop, error=error)
        with suppress(RuntimeError):  # the window may be gone by now
            self._ended.emit(outcome)

    def _say(self, share: float) -> None:
        with suppress(RuntimeError):
            self.progressed.emit(share)

    def _end(self, outcome: _Outcome) -> None:
        if outcome.stop is not self._stop:
            return  # another bundle was begun instead
        self._thread = None
        if outcome.then is not None:
            outcome.then()
        elif outcome.error is not None and not isinstance(outcome.error, Cancelled):
            self.failed.emit(failure_of(outcome.error))

    def _measure(self, key: str, measurement: Measurement) -> None:
        """A live measurement of what is shown is kept: no recording has it."""
        if measurement.source != "live" or self._showing is None:
            return
        for side in self._showing.sides:
            for plan in side.performance.plans:
                if side.key(plan.role) == key:
                    launch = key_of(plan)
                    self._live[launch] = Entry(
                        side.variant.lesson.id, plan.role, side.variant.values, launch, measurement
                    )

    def _entry(self, library: Library, plan: Plan) -> Entry | None:
        return self._live.get(key_of(plan)) or library.recordings.entry(plan)
