"""Measures all block shapes on the GPU in use, off the GUI thread, for the lesson about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gpuviz import folders
from gpuviz.errors import failure_of
from gpuviz.language import tr
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.playing.player import Player
from gpuviz.qt.running.activity import Activity
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.runners import kept_sweeps
from gpuviz.runners.gpu_state import State
from gpuviz.scenes import COURSE

if TYPE_CHECKING:
    from gpuviz.runners.base import Cancel, Progress
    from gpuviz.runners.gpu.client import Gpu
    from gpuviz.runners.measurement import DeviceFacts
    from gpuviz.runners.session import Session
    from gpuviz.runners.sweep_file import Times

COMMAND = "gpu.sweep"
_LESSON = next(one for one in COURSE if one.id == "block-shape")


class Measure(Protocol):
    """Times all shapes; asked to stop, raises `Cancelled`."""

    def __call__(self, gpu: Gpu, *, progress: Progress, cancel: Cancel) -> Times:
        """The times, or an `errors.Error`."""


def _measure(gpu: Gpu, *, progress: Progress, cancel: Cancel) -> Times:
    from gpuviz.runners.sweep import measure  # which emulates, too

    return measure(gpu, progress=progress, cancel=cancel)


class Sweeps(Activity):
    """One sweep at a time, with a GPU connection of its own; the meter rests meanwhile.

    Times measured before on the GPU in use are told of as soon as it is found.
    """

    def __init__(
        self, player: Player, meter: Meter, director: Director, session: Session, actions: Actions
    ) -> None:
        super().__init__(meter)
        self._player, self._meter, self._director = player, meter, director
        self._session = session
        self._action = actions[COMMAND]
        self._device: DeviceFacts | None = None
        self.measure: Measure = _measure
        self.folder = folders.data() / "sweeps"
        actions.bind(COMMAND, self.start)
        actions.bind("gpu.stop", self.cancel)
        meter.changed.connect(self._follow)
        player.lesson_changed.connect(self._offer)
        self._offer()

    @property
    def doing(self) -> str:
        """What is under way, in words."""
        device = self._device.name if self._device is not None else ""
        return tr("measuring all block shapes on {device} …", device=device)

    def why_not(self) -> str:
        """Why no sweep can be started now, "" when one can."""
        if self._player.lesson.id != _LESSON.id:
            return tr("Only for the lesson “{title}”.", title=tr(_LESSON.title))
        if self._device is None:
            return tr("No GPU: {why}.", why=self._meter.state.why)
        return tr("They are being measured already.") if self.busy else ""

    def start(self) -> None:
        """Measure, unless there is a reason not to."""
        open_gpu = self._meter.sources.make_gpu
        if self.why_not() or self._device is None or open_gpu is None:
            return
        self._meter.pause()
        gpu = open_gpu(self._device.index)
        self._begin(lambda progress, cancel: self._work(gpu, progress, cancel))
        self._offer()

    def close(self) -> None:
        """Cancel, and wait until the thread has noticed."""
        super().close()
        self._device = None

    def _work(self, gpu: Gpu, progress: Progress, cancel: Cancel) -> Path:
        """Runs in the thread."""
        with gpu:
            found = self.measure(gpu, progress=progress, cancel=cancel)
        return kept_sweeps.keep(self.folder, found)

    def _end(self, outcome: object, stopped: bool) -> None:
        self._offer()
        self._meter.resume()
        if isinstance(outcome, Path):
            self.rested.emit(tr("block shapes measured, kept in {file}", file=outcome))
            self._adopt()
        elif stopped:
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
        times = kept_sweeps.kept(self.folder, name)
        if self._session.use_shape_times(times) and self._player.lesson.id == _LESSON.id:
            self._director.run()

    def _offer(self, *_: object) -> None:
        """The command can be given when nothing speaks against it; else its tip says what does."""
        why = self.why_not()
        self._action.setEnabled(not why)
        self._action.setToolTip(why or self._action.text())
