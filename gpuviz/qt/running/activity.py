"""Work off the GUI thread: of which only the newest is of interest, or which the status bar shows,
how far it is, with a way to stop it; and what is loaded before it is needed.
"""

import gc
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal

from gpuviz.base.errors import Cancelled, Failure
from gpuviz.base.waiting import Cancel, Progress, stopped_by
from gpuviz.qt.running.worker import PATIENCE


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a piece of work was about, and what it returned or raised."""

    about: Any
    value: Any


class InThread(QObject):
    """Each piece of work has a thread; what is asked for takes the place of what is under way,
    which is asked to stop and of which nothing is told. `take` is given what the newest is about
    and what it returned or raised, in the GUI thread.
    """

    _landed = Signal(int, Outcome)

    def __init__(self, take: Callable[..., None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self._number = 0
        self._landed.connect(self._land)

    def ask(self, work: Callable[[], object], about: object = None) -> None:
        """Do this, and nothing else any more."""
        self._number += 1
        wanted = work, about, self._number
        threading.Thread(target=self._work, args=wanted, daemon=True).start()

    def forget(self) -> None:
        """Nothing is wanted any more."""
        self._number += 1

    def _work(self, work: Callable[[], object], about: object, number: int) -> None:
        """Runs in a thread: every way to end is reported, none escapes."""
        try:
            with stopped_by(lambda: number != self._number):
                outcome: object = work()
        except Exception as error:
            outcome = error
        with suppress(RuntimeError):  # the window may be gone by now
            self._landed.emit(number, Outcome(about, outcome))

    def _land(self, number: int, outcome: Outcome) -> None:
        if number == self._number:
            self._take(outcome.about, outcome.value)


class Loading(QObject):
    """Modules and the like, loaded one after another in a thread. The end of the application waits
    for the one under way: Qt's bindings do not survive to be loaded meanwhile.

    Nothing is looked through for garbage during a step: modules are made of so many objects that
    all of them would be, which holds every thread up for a tenth of a second.
    """

    done = Signal()  # also where something could not be loaded: who needs it is told

    def __init__(
        self, steps: Iterable[Callable[[], object]], parent: QObject, pause: float = 0.0
    ) -> None:
        """There is a `pause` of so many seconds before each step."""
        super().__init__(parent)
        self._steps, self._pause = steps, pause
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._load, daemon=True)
        if (app := QCoreApplication.instance()) is not None:
            app.aboutToQuit.connect(self.stop)

    def begin(self) -> None:
        """Begin, if it has not begun; what is loaded already is `done` again."""
        if self._thread.ident is None:
            self._thread.start()
        elif not self._thread.is_alive():
            self.done.emit()

    def stop(self) -> None:
        """Load nothing further, and wait for what is under way."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)

    def _load(self) -> None:
        try:
            for step in self._steps:
                if self._over.wait(self._pause):
                    return
                gc.disable()
                step()
                gc.enable()
        finally:
            gc.enable()
            with suppress(RuntimeError):  # the window may be gone by now
                self.done.emit()


Work = Callable[[Progress, Cancel], object]


class Activity(QObject):
    """One piece of work at a time, each in a thread of its own.

    A kind of activity says what it is doing, begins work, and takes what becomes of it in `_end`.
    """

    progressed = Signal(float)  # fraction done, 0 to 1
    failed = Signal(Failure)
    rested = Signal(str)  # nothing is under way any more; what became of it, in words
    _moved = Signal(threading.Event, float)
    _landed = Signal(Outcome)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None
        self._moved.connect(self._move)
        self._landed.connect(self._land)

    @property
    def busy(self) -> bool:
        """Whether something is under way, be it work that was asked to stop."""
        return self._stop is not None

    @property
    def doing(self) -> str:
        """What is under way, in words."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Stop what is under way; nothing of it is kept."""
        if self._stop is not None:
            self._stop.set()

    def close(self) -> None:
        """Cancel, and wait until the thread has noticed."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _begin(self, work: Work) -> None:
        """Work in a thread; nothing may be under way."""
        stop = self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(stop, work), daemon=True)
        self._thread.start()
        self.progressed.emit(0.0)

    def _end(self, outcome: object, stopped: bool) -> None:
        """Take what the work returned or raised; `stopped` when it was asked to stop."""
        raise NotImplementedError

    def _run(self, stop: threading.Event, work: Work) -> None:
        """Runs in the thread: every way to end is reported, none escapes."""
        try:
            with stopped_by(stop.is_set):
                outcome: object = work(lambda share: self._say(stop, share), stop.is_set)
        except Exception as error:
            outcome = error
        with suppress(RuntimeError):  # the window may be gone by now
            self._landed.emit(Outcome(stop, outcome))

    def _say(self, stop: threading.Event, fraction: float) -> None:
        with suppress(RuntimeError):
            self._moved.emit(stop, fraction)

    def _move(self, stop: threading.Event, fraction: float) -> None:
        if stop is self._stop and not stop.is_set():
            self.progressed.emit(fraction)

    def _land(self, outcome: Outcome) -> None:
        self._stop, value = None, outcome.value
        self._end(value, isinstance(value, Cancelled) or outcome.about.is_set())
