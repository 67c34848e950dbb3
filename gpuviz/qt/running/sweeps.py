"""Measures all block shapes on the GPU in use, off the GUI thread, for the lesson about them."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QStandardPaths, Signal

from gpuviz.errors import Cancelled
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter, State
from gpuviz.qt.running.worker import PATIENCE, failure_of
from gpuviz.runners import own_sweeps, sweep
from gpuviz.runners.base import Cancel, Progress
from gpuviz.runners.gpu.client import Gpu
from gpuviz.runners.measurement import DeviceFacts
from gpuviz.scenes.block_shape import LESSON
from gpuviz.words import tr

COMMAND = "gpu.sweep"


class Measure(Protocol):
    """Times all shapes; asked to stop, raises `Cancelled`."""

    def __call__(self, gpu: Gpu, *, progress: Progress, cancel: Cancel) -> sweep.Times:
        """The times, or an `errors.Error`."""


def user_folder() -> Path:
    """Where gpuviz keeps what it measured for this user."""
    place = QStandardPaths.StandardLocation.AppLocalDataLocation
    return Path(QStandardPaths.writableLocation(place)) / "sweeps"


class Sweeps(QObject):
    """One sweep at a time, with a GPU connection of its own; the meter rests meanwhile.

    Times measured before on the GPU in use are told of as soon as it is found.

    Signals
    -------
    progressed : fraction done, 0 to 1
    failed : `Failure`
    rested : nothing is under way any more; what became of it, in words
    """

    progressed = Signal(float)
    failed = Signal(object)
    rested = Signal(str)
    _moved = Signal(object, float)
    _landed = Signal(object, object)

    def __init__(self, player: Player, meter: Meter, director: Director, actions: Actions) -> None:
        super().__init__(meter)
        self._player, self._meter, self._director = player, meter, director
        self._action = actions[COMMAND]
        self._device: DeviceFacts | None = None
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None
        self.measure: Measure = sweep.measure
        self.folder = user_folder()
        actions.bind(COMMAND, self.start)
        actions.bind("gpu.stop", self.cancel)
        self._moved.connect(self._move)
        self._landed.connect(self._land)
        meter.changed.connect(self._follow)
        player.lesson_changed.connect(self._offer)
        self._offer()

    @property
    def busy(self) -> bool:
        """Whether a sweep is under way, be it one that was asked to stop."""
        return self._stop is not None

    @property
    def doing(self) -> str:
        """What is under way, in words."""
        device = self._device.name if self._device is not None else ""
        return tr("measuring all block shapes on {device} …", device=device)

    def why_not(self) -> str:
        """Why no sweep can be started now, "" when one can."""
        if self._player.lesson.id != LESSON.id:
            return tr("Only for the lesson “{title}”.", title=tr(LESSON.title))
        if self._device is None:
            return tr("No GPU: {why}.", why=self._meter.state.why)
        return tr("They are being measured already.") if self.busy else ""

    def start(self) -> None:
        """Measure, unless there is a reason not to."""
        open_gpu = self._meter.sources.make_gpu
        if self.why_not() or self._device is None or open_gpu is None:
            return
        self._meter.stop()
        self._stop = threading.Event()
        gpu = open_gpu(self._device.index)
        self._thread = threading.Thread(target=self._work, args=(self._stop, gpu), daemon=True)
        self._thread.start()
        self.progressed.emit(0.0)
        self._offer()

    def cancel(self) -> None:
        """Stop what is under way; nothing of it is kept."""
        if self._stop is not None:
            self._stop.set()

    def close(self) -> None:
        """Cancel, wait until the thread has noticed, and tell of the shipped times again."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(PATIENCE)
        self._device = None
        own_sweeps.use(self.folder, "")

    def _work(self, stop: threading.Event, gpu: Gpu) -> None:
        """Runs in the thread: every way to end is reported, none escapes."""
        try:
            with gpu:
                found = self.measure(gpu, progress=lambda share: self._say(stop, share),
                                     cancel=stop.is_set)  # fmt: skip
            outcome: object = own_sweeps.keep(self.folder, found)
        except Exception as error:
            outcome = error
        with suppress(RuntimeError):  # the window may be gone by now
            self._landed.emit(stop, outcome)

    def _say(self, stop: threading.Event, fraction: float) -> None:
        with suppress(RuntimeError):
            self._moved.emit(stop, fraction)

    def _move(self, stop: threading.Event, fraction: float) -> None:
        if stop is self._stop and not stop.is_set():
            self.progressed.emit(fraction)

    def _land(self, stop: threading.Event, outcome: object) -> None:
        self._stop = None
        self._offer()
        if isinstance(outcome, Path):
            self.rested.emit(tr("block shapes measured, kept in {file}", file=outcome))
            self._adopt()
        elif isinstance(outcome, Cancelled) or stop.is_set():
            self.rested.emit(tr("cancelled: block shapes not measured"))
        else:
            assert isinstance(outcome, BaseException)
            self.rested.emit(tr("block shapes not measured"))
            self.failed.emit(failure_of(outcome))

    def _follow(self, state: State) -> None:
        """Another GPU, or other work on it, ends a sweep; times of a GPU that is found are used."""
        if state.device != self._device:
            self.cancel()
            self._device = state.device
            self._adopt()
        elif state.activity in ("once", "continuous"):
            self.cancel()
        self._offer()

    def _adopt(self) -> None:
        """Tell of the times that the user has of the GPU in use."""
        name = self._device.name if self._device is not None else ""
        if not own_sweeps.use(self.folder, name):
            return
        if self._player.lesson.id == LESSON.id:
            self._director.again()
        else:
            self._director.performer.forget()

    def _offer(self, *_: object) -> None:
        """The command can be given when nothing speaks against it; else its tip says what does."""
        why = self.why_not()
        self._action.setEnabled(not why)
        self._action.setToolTip(why or self._action.text())
