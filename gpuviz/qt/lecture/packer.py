"""Bundles a lecture off the GUI thread."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpuviz.errors import Cancelled, failure_of
from gpuviz.lectures.lecture import Lecture
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.worker import PATIENCE
from gpuviz.runners.measurement import Measurement
from gpuviz.runners.recording import Entry, LaunchKey, key_of
from gpuviz.runners.session import Library
from gpuviz.scenes.base import Plan
from gpuviz.scenes.showing import Showing
from gpuviz.stopping import stopped_by


class Packer(QObject):
    """One bundle at a time, with what was measured since the window was opened.

    Signals
    -------
    packed : lecture and path, when the bundle is there
    failed : `Failure`
    progressed : share done, 0 to 1
    """

    packed = Signal(object, object)
    failed = Signal(object)
    progressed = Signal(float)
    _ended = Signal(object, object, object, object)

    def __init__(self, meter: Meter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._live: dict[LaunchKey, Entry] = {}
        self._showing: Showing | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._ended.connect(self._end)
        meter.measured.connect(self._measure)

    @property
    def busy(self) -> bool:
        """Whether a bundle is being made."""
        return self._thread is not None

    def follow(self, showing: Showing) -> None:
        """These launches are shown: measurements are of them."""
        self._showing = showing

    def start(self, lecture: Lecture, path: Path, library: Library) -> None:
        """Make a bundle, launches looked up in the library; one that is being made is stopped."""
        self.close()
        self._stop = threading.Event()
        wanted = lecture, path, library, self._stop
        self._thread = threading.Thread(target=self._work, args=wanted, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Stop what is under way; nothing is written."""
        self._stop.set()

    def close(self) -> None:
        """Stop, and wait until the thread has noticed."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(PATIENCE)
            self._thread = None

    def _work(self, lecture: Lecture, path: Path, library: Library, stop: threading.Event) -> None:
        """Runs in the thread, which loads the compiler."""
        from gpuviz.lectures.packing import pack

        error: Exception | None = None
        try:
            with stopped_by(stop.is_set):
                pack(lecture, path, partial(self._entry, library), self._say, stop.is_set, library)
        except Exception as problem:
            error = problem
        with suppress(RuntimeError):  # the window may be gone by now
            self._ended.emit(lecture, path, error, stop)

    def _say(self, share: float) -> None:
        with suppress(RuntimeError):
            self.progressed.emit(share)

    def _end(
        self, lecture: Lecture, path: Path, error: Exception | None, stop: threading.Event
    ) -> None:
        if stop is not self._stop:
            return  # another bundle was begun instead
        self._thread = None
        if error is None:
            self.packed.emit(lecture, path)
        elif not isinstance(error, Cancelled):
            self.failed.emit(failure_of(error))

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
