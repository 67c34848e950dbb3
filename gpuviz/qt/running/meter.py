"""What a GPU, or a recording of one, says of the launches shown: asked for in a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from gpuviz.arrays import F64
from gpuviz.compile.bundled import Programs
from gpuviz.errors import Error
from gpuviz.language import later, tr
from gpuviz.results.badges import caption
from gpuviz.runners import live_thread as engine
from gpuviz.runners.base import Run
from gpuviz.runners.gpu.client import Gpu
from gpuviz.runners.job import Job
from gpuviz.runners.live_thread import Engine, Target
from gpuviz.runners.measurement import DeviceFacts, Measurement, Reading
from gpuviz.runners.recorded import Recordings
from gpuviz.runners.session import Library
from gpuviz.scenes.base import Plan
from gpuviz.scenes.perform import job_of
from gpuviz.scenes.showing import Showing

Activity = Literal["looking", "idle", "once", "continuous"]
USES = (0.1, 0.25, 0.5, 1.0)
KEPT = 10_000  # durations of a run, the newest ones
_NONE: F64 = np.zeros(0)
_EMPTY: Mapping[str, Reading] = {}
NOT_ASKED = later("no GPU has been asked")


class JobOf(Protocol):
    """Makes a job of a plan."""

    def __call__(self, plan: Plan, arch: str, *, programs: Programs) -> Job:
        """The launch compiled for an architecture, or one of the programs; or an `errors.Error`."""


@dataclass(frozen=True, eq=False)
class Sources:
    """Where live measurements come from: GPUs, and how a plan becomes a job."""

    make_gpu: Callable[[int], Gpu] | None = None
    job_of: JobOf = job_of


@dataclass(frozen=True)
class State:
    """What there is and what it does; `why` there is no GPU, `trouble` with the last launch."""

    devices: tuple[DeviceFacts, ...] = ()
    device: DeviceFacts | None = None
    why: str = NOT_ASKED
    activity: Activity = "idle"
    trouble: str = ""
    use: float = 0.5
    recorded: str = ""


def why_of(state: State) -> str:
    """Why there is no GPU, in the language in use."""
    return tr(state.why)


class Meter(QObject):
    """Follows what is shown.

    Signals
    -------
    changed : `State`
    troubled : what is wrong, in words, whenever something new is
    found : `DeviceFacts` of a GPU that was found or chosen
    measured : name of a run, `Measurement`: whole, live or recorded
    placed : name of a run, live `Measurement` with the places of blocks, or a note why not
    missing : name of a run, why there is no measurement
    timed : name of a run, more durations; counted : name of a run, readings
    sensed : `Telemetry`
    """

    changed = Signal(object)
    troubled = Signal(str)
    found = Signal(object)
    measured = Signal(str, object)
    placed = Signal(str, object)
    missing = Signal(str, str)
    timed = Signal(str, object)
    counted = Signal(str, object)
    sensed = Signal(object)
    _reported = Signal(object, object)

    def __init__(self, sources: Sources, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sources = sources
        self._engine: Engine | None = None
        self._showing: Showing | None = None
        self._library: Library | None = None
        self._asked: engine.Wish | None = None
        self._again = False  # whether to go on when other launches are shown
        self._known: dict[str, Measurement] = {}
        self.state = State()
        self._reported.connect(self._take)

    @property
    def sources(self) -> Sources:
        """Where its measurements come from."""
        return self._sources

    @property
    def known(self) -> Mapping[str, Measurement]:
        """The newest measurement of each run shown, by name: live if there is one, or recorded."""
        return self._known

    def look_up(self, library: Library) -> None:
        """Ask these recordings of the launches shown."""
        self._library = library
        self._look_up()

    def look(self, device: int = 0) -> None:
        """Find out which GPUs are there, and use one of them."""
        if self._sources.make_gpu is None:
            return
        if self._engine is None:
            self._engine = Engine(self._sources.make_gpu, self._report)
        self._go("looking", engine.Look(device))

    def show(self, showing: Showing) -> None:
        """Other launches are shown: recordings of them, and live numbers when these run."""
        self._showing, self._library, self._known = showing, showing.library, {}
        self._look_up()
        if self._engine is not None and self._again and self.state.device:
            self.run_continuously()
        elif self._engine is not None and self.state.activity in ("once", "continuous"):
            self.stop()

    def forget(self) -> None:
        """Nothing is shown."""
        self._showing, self._known = None, {}
        self.stop()

    def run_once(self) -> None:
        """Measure every launch shown."""
        if self._able():
            self._again = False
            self._go("once", engine.Once(self._targets()))

    def run_continuously(self) -> None:
        """Measure the launches shown again and again, whatever becomes of them."""
        if self._able():
            self._again = True
            self._go("continuous", engine.Continuously(self._targets(), self.state.use))

    def toggle(self) -> None:
        """Begin or stop to run continuously."""
        if self.state.activity == "continuous":
            self.stop()
        else:
            self.run_continuously()

    def stop(self) -> None:
        """Stop what runs on the GPU."""
        self._again = False
        if self._engine is not None and self.state.activity in ("once", "continuous"):
            self._asked = None
            self._engine.rest()
            self._become(activity="idle")

    def set_use(self, use: float) -> None:
        """Let the GPU be busy for that share of the time at most."""
        self._become(use=use)
        if self.state.activity == "continuous":
            self.run_continuously()

    def close(self) -> None:
        """End the thread and the worker."""
        if self._engine is not None:
            self._engine.close()

    def _able(self) -> bool:
        """Whether there is something to measure and something to measure with; else say so."""
        if self._engine is None or self.state.device is None:
            self._become(trouble=tr("Nothing can be run: {why}.", why=why_of(self.state)))
            return False
        if not self._targets():
            self._become(trouble=tr("Nothing can be run: there is nothing to measure yet."))
            return False
        return True

    def _go(self, activity: Activity, wish: engine.Wish) -> None:
        assert self._engine is not None
        self._asked = wish
        self._become(activity=activity, trouble="")
        self._engine.ask(wish)

    def _targets(self) -> tuple[Target, ...]:
        if self._showing is None or self._library is None:
            return ()
        runs: Mapping[str, Run] = self._showing.runs
        job_of, programs = self._sources.job_of, self._library.programs
        return tuple(
            Target(key, partial(job_of, plan, programs=programs), runs[key].outputs)
            for key, plan in self._showing.plans.items()
        )

    def _look_up(self) -> None:
        """Tell what is recorded of the launches, or why there is nothing."""
        if self._showing is None or self._library is None:
            return
        found: dict[str, Measurement] = {}
        for key, plan in self._showing.plans.items():
            measurement, why = _recorded(plan, self._library.recordings)
            if measurement is not None:
                found[key] = self._known[key] = measurement
                self.measured.emit(key, measurement)
            else:
                self.missing.emit(key, self._reason(why))
        captions = dict.fromkeys(caption(m) for m in found.values())
        self._become(recorded=" · ".join(captions), trouble="")

    def _reason(self, why: str) -> str:
        if self.state.device is not None:
            return tr(
                "not measured yet: run it on {device} (F9 once, F10 on and on)",
                device=self.state.device.name,
            )
        return tr("unavailable: no GPU, and {why}", why=why)

    def _report(self, wish: engine.Wish, report: engine.Report) -> None:
        """Called in the engine's thread."""
        with suppress(RuntimeError):  # the window may be gone by now
            self._reported.emit(wish, report)

    def _take(self, wish: engine.Wish, report: engine.Report) -> None:
        """Hand a report out; what belongs to a wish no longer held comes too late."""
        if wish is not self._asked:
            return
        match report:
            case engine.Found(devices, device):
                self._find(devices, device, "")
                self.found.emit(device)
            case engine.NoGpu(why):
                self._find((), None, why)
            case engine.Trouble(key, message):
                self._again = False
                self._become(trouble=f"{key}: {message}" if key else message)
            case engine.Sensed(telemetry):
                self.sensed.emit(telemetry)
            case engine.Gauged(key, measurement):
                self._known[key] = measurement
                self.measured.emit(key, measurement)
            case engine.Placed(key, measurement):
                self._known[key] = measurement
                self.placed.emit(key, measurement)
            case engine.Timed(key, microseconds):
                self._know(key, microseconds=microseconds)
                self.timed.emit(key, microseconds)
            case engine.Counted(key, readings):
                self._know(key, readings=readings)
                self.counted.emit(key, readings)
            case engine.Rested():
                self._asked = None
                self._become(activity="idle")

    def _know(
        self, key: str, microseconds: F64 = _NONE, readings: Mapping[str, Reading] = _EMPTY
    ) -> None:
        """More durations of a measured run, or newer readings."""
        before = self._known.get(key)
        if before is None:
            return
        timing = before.timing
        if timing is not None:
            timing = replace(
                timing, microseconds=np.concatenate([timing.microseconds, microseconds])[-KEPT:]
            )
        self._known[key] = replace(before, timing=timing, counters={**before.counters, **readings})

    def _find(self, devices: tuple[DeviceFacts, ...], device: DeviceFacts | None, why: str) -> None:
        """GPUs came or went: what is missing is missing for another reason."""
        self._again = False
        self._become(devices=devices, device=device, why=why)
        self._look_up()

    def _become(self, **changes: object) -> None:
        state = replace(self.state, **changes)  # type: ignore[arg-type]
        if state != self.state:
            before, self.state = self.state, state
            self.changed.emit(state)
            if state.trouble and state.trouble != before.trouble:
                self.troubled.emit(state.trouble)


def _recorded(plan: Plan, recordings: Recordings) -> tuple[Measurement | None, str]:
    """What is recorded of a launch, or why there is nothing."""
    try:
        found = recordings.find(plan)
    except (Error, OSError) as error:
        return None, str(error)
    if found.measurement is None and Path(plan.kernel).is_absolute():
        return None, tr("your own kernels have no recording")
    return found.measurement, tr(found.why)
