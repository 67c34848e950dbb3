"""What a GPU, or a recording of one, says of the launches shown: asked for in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import Error
from gpuviz.gpu.gpu_state import Activity, LatestMeasurements, State, why_of
from gpuviz.qt.running.live_gpu import LiveGpu
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Telemetry
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpuviz.gpu.consent import Code
    from gpuviz.gpu.live_thread import Report, Target, Wish
    from gpuviz.launch.job import Job
    from gpuviz.recordings.lookup import Recordings
    from gpuviz.run.run import Run
    from gpuviz.run.session import Library
    from gpuviz.story.exhibit import Exhibit
    from gpuviz.story.lesson import Plan
    from gpuviz.story.sources import JobOf, Sources


class Meter(QObject):
    """Follows what is shown: with a GPU whose counters can be read it measures that by itself, as
    long as the user does not stop it.
    """

    changed = Signal(State)
    troubled = Signal(str)  # what is wrong, in words, whenever something new is
    found = Signal(DeviceFacts)  # of a GPU that was found or chosen
    measured = Signal(str, Measurement)  # name of a run, `Measurement`: whole, live or recorded
    # Name of a run, live `Measurement` with the places of blocks, or a note why not.
    placed = Signal(str, Measurement)
    missing = Signal(str, str)  # name of a run, why there is no measurement
    # Name of a run, more durations; counted : name of a run, readings.
    timed = Signal(str, np.ndarray)
    counted = Signal(str, Mapping)
    sensed = Signal(Telemetry)
    # Codes of strangers (`consent.Code`) that did not run, as nobody agreed to them.
    left_out = Signal(tuple)
    # The same, where the user is to be asked; they run when they are agreed to.
    questioned = Signal(tuple)

    def __init__(self, sources: Sources, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sources = sources
        self._live = LiveGpu(self._take, sources.make_gpu, sources.agreed, self)
        self._shown: tuple[Exhibit, Library] | None = None
        self._again = False  # whether to go on when other launches are shown
        self.by_itself = True  # whether to begin unasked
        self._paused = False  # whether something else needs the GPU
        self._wanted = False  # whether the user has asked for it since the start
        self._asked = False  # whether the user asked for what is under way
        self._failed: set[str] = set()  # what failed of the launches shown, by name
        self._refused: set[str] = set()  # digests of code that is asked about no more by itself
        self._newest = LatestMeasurements()
        self.state = State()

    @property
    def known(self) -> Mapping[str, Measurement]:
        """The newest measurement of each run shown, by name: live if there is one, or recorded."""
        return self._newest

    def look_up(self, library: Library) -> None:
        """Ask these recordings of the launches shown."""
        if self._shown is not None:
            self._shown = self._shown[0], library
            self._tell_known()

    def look(self, device: int = 0) -> None:
        """Find out which GPUs are there, and use one of them."""
        from gpuviz.gpu.live_thread import Look

        if self._live.can_look:
            self._go("looking", Look(device))

    def show(self, showing: Exhibit) -> None:
        """Other launches are shown: recordings of them, and live numbers when these run.

        What was measured of the same launches stands, and goes on; and so does what they are told
        with already.
        """
        from gpuviz.story.exhibit import measurements_of

        before = _launches(self._shown[0]) if self._shown is not None else {}
        self._shown, now = (showing, showing.library), _launches(showing)
        stay = {key for key, launch in now.items() if before.get(key) == launch}
        told = measurements_of(showing) if self.state.device else {}
        live = told | {key: one for key, one in self._newest.items() if key in stay}
        self._newest = LatestMeasurements(
            {key: one for key, one in live.items() if one.source == "live"}
        )
        if now != before:
            self._become(trouble="", unagreed=())  # which were of other launches
            self._failed = set()
        self._tell_known()
        if self._again and self.state.device and not (now == before and self._busy):
            self._run_on(asked=False)

    def update(self, showing: Exhibit) -> None:
        """The same launches, of which more is known."""
        self._shown = (showing, showing.library)

    def forget(self) -> None:
        """Nothing is shown."""
        self._shown, self._newest = None, LatestMeasurements()
        self._rest()

    def run_once(self) -> None:
        """Measure every launch shown."""
        from gpuviz.gpu.live_thread import Once

        if self._able():
            self._paused = False
            self._again, self._asked, self._failed = self._by_itself, True, set()
            self._go("once", Once(tuple(self._targets())))

    def run_continuously(self) -> None:
        """Measure the launches shown again and again, whatever becomes of them, from now on."""
        self.by_itself = self._wanted = True
        self._paused = False
        self._run_on(asked=True)

    def agree(self, codes: Iterable[Code], widely: bool = False) -> None:
        """Let these run, now and later, and measure what is shown."""
        self.sources.agreed.add(codes, widely)
        self._again_as_asked()

    def withdraw(self) -> None:
        """Let nothing of strangers run any more, and stop what does. InputError as `forget`."""
        self._rest()
        self._refused = set()
        self.sources.agreed.forget()

    def refuse(self, codes: Iterable[Code]) -> None:
        """Do not ask about these again until the user wants them run."""
        self._refused |= {code.digest for code in codes}

    def ask_again(self) -> None:
        """Ask about what did not run because it was not agreed to."""
        if self.state.unagreed:
            self.questioned.emit(self.state.unagreed)

    def toggle(self) -> None:
        """Begin or stop to run continuously."""
        if self.state.activity == "continuous":
            self.stop()
        else:
            self.run_continuously()

    def stop(self) -> None:
        """Stop what runs on the GPU; nothing is measured by itself any more."""
        self.by_itself = self._again = False
        self._rest()

    def pause(self) -> None:
        """Something else needs the GPU, until `resume` or the user asks for something."""
        self._paused, self._again = True, False
        self._rest()

    def resume(self) -> None:
        """Go on with what goes on by itself."""
        self._paused = False
        self._again = self._by_itself
        if self._again and self.state.activity == "idle":
            self._run_on(asked=False)

    def _rest(self) -> None:
        if self._busy:
            self._live.rest()
            self._become(activity="idle")

    @property
    def _busy(self) -> bool:
        return self.state.activity in ("once", "continuous")

    @property
    def _by_itself(self) -> bool:
        """Whether what is shown is measured unasked: times without counters are half a picture."""
        device = self.state.device
        able = device is not None and not device.counters
        return able and self.by_itself and not self._paused

    def set_use(self, use: float) -> None:
        """Let the GPU be busy for that share of the time at most."""
        self._become(use=use)
        if self.state.activity == "continuous":
            self._run_on(self._asked)

    def close(self) -> None:
        """End the thread and the worker."""
        self._live.close()

    def _able(self) -> bool:
        """Whether there is something to measure and something to measure with; else say so."""
        if self.state.device is None:
            self._become(trouble=tr("Nothing can be run: {why}.", why=why_of(self.state)))
            return False
        if not any(True for _ in self._targets()):
            self._become(trouble=tr("Nothing can be run: there is nothing to measure yet."))
            return False
        return True

    def _run_on(self, asked: bool) -> None:
        """Unasked, launches that have just failed do not run again: they would fail again, over the
        words that say so.
        """
        from gpuviz.gpu.live_thread import Continuously

        if asked and not self._able():
            return
        if asked:
            self._failed = set()
        newest = {key: one for key, one in self._newest.items() if one.source == "live"}
        targets = tuple(
            replace(target, known=newest.get(target.key))
            for target in self._targets()
            if target.key not in self._failed
        )
        if targets:
            self._again, self._asked = True, asked
            self._go("continuous", Continuously(targets, self.state.use))
        else:
            self._rest()

    def _again_as_asked(self) -> None:
        if self._again:
            self.run_continuously()
        else:
            self.run_once()

    def _go(self, activity: Activity, wish: Wish) -> None:
        trouble = self.state.trouble if self._failed else ""
        self._become(activity=activity, trouble=trouble, unagreed=())
        self._live.ask(wish)

    def _targets(self) -> Iterator[Target]:
        """The launches shown, as the engine measures them: first those whose times are shown."""
        from gpuviz.gpu.live_thread import Target

        if self._shown is not None:
            showing, library = self._shown
            plans, timed = showing.plans, showing.timed
            for key in sorted(plans, key=lambda key: key not in timed):
                job = partial(_job, self.sources.job_of, plans[key], library)
                run = showing.runs.get(key)
                yield Target(key, job, run.outputs if run is not None else {})

    def _tell_known(self) -> None:
        """Tell what is known of the launches: measured just now, recorded, or why nothing."""
        from gpuviz.results.badges import captions

        if self._shown is None:
            return
        showing, library = self._shown
        known: list[Measurement] = []
        for key, plan in showing.plans.items():
            measurement, why = self._newest.get(key), ""
            if measurement is None or measurement.source != "live":
                measurement, why = _recorded(plan, library.recordings)
                run = showing.runs.get(key)
                if measurement is None and run is not None and not _live(run):  # a sweep's
                    measurement = run.measurement
                if measurement is not None:
                    known.append(measurement)
                    self._newest.take(key, measurement)
            if measurement is not None:
                self.measured.emit(key, measurement)
                if measurement.source == "live":
                    self.placed.emit(key, measurement)
            else:
                self.missing.emit(key, self._reason(why))
        self._become(recorded=" · ".join(captions(known)))

    def _reason(self, why: str) -> str:
        if self.state.device is not None:
            return tr(
                "not measured yet: run it on {device} (F9 once, F10 on and on)",
                device=self.state.device.name,
            )
        return tr("unavailable: no GPU, and {why}", why=why)

    def _take(self, report: Report) -> None:
        """Hand a report out."""
        from gpuviz.gpu import live_thread as live

        match report:
            case live.Devices(devices, device):
                self._find(devices, device, "")
                self.found.emit(device)
            case live.NoGpu(why):
                self._find((), None, why)
            case live.Trouble(key, message):
                self._again = self._by_itself
                self._failed |= {key} if key else {target.key for target in self._targets()}
                self._become(trouble=f"{key}: {message}" if key else message)
            case live.ConsentRequest(codes):
                self._leave_out(codes)
            case live.TelemetryReport(telemetry):
                self.sensed.emit(telemetry)
            case live.MeasurementReport(key, measurement):
                self._newest.take(key, measurement)
                self.measured.emit(key, measurement)
            case live.PlacementReport(key, measurement):
                self._newest.take(key, measurement)
                self.placed.emit(key, measurement)
            case live.TimingReport(key, microseconds):
                self._newest.time(key, microseconds)
                self.timed.emit(key, microseconds)
            case live.CounterReport(key, readings):
                self._newest.read(key, readings)
                self.counted.emit(key, readings)
            case live.Idle():
                self._rested()

    def _leave_out(self, codes: Mapping[str, Code]) -> None:
        """Strangers' code was not run: ask about it, if the user wants things run; not where gpuviz
        measures by itself, and not again where the user said no.
        """
        for key, code in codes.items():
            if key not in self._newest:
                self.missing.emit(key, code.refused)
        unagreed = tuple({code.digest: code for code in codes.values()}.values())
        self._become(unagreed=unagreed)
        self.left_out.emit(unagreed)
        new = any(code.digest not in self._refused for code in unagreed)
        if self._asked or (self._wanted and new):
            self.questioned.emit(unagreed)

    def _find(self, devices: tuple[DeviceFacts, ...], device: DeviceFacts | None, why: str) -> None:
        """GPUs came or went: what is missing is missing for another reason."""
        self._become(devices=devices, device=device, why=why, unagreed=())
        self._again = self._by_itself
        self._newest = LatestMeasurements()  # of another GPU, or of none
        self._tell_known()

    def _rested(self) -> None:
        """What was asked for is done: go on with what goes on by itself."""
        before = self.state.activity
        self._become(activity="idle")
        if self._again and before in ("looking", "once") and any(self._targets()):
            self._run_on(asked=False)

    def _become(self, **changes: object) -> None:
        state = replace(self.state, **changes)  # type: ignore[arg-type]
        if state != self.state:
            before, self.state = self.state, state
            self.changed.emit(state)
            if state.trouble and state.trouble != before.trouble:
                self.troubled.emit(state.trouble)


def _live(run: Run) -> bool:
    """Whether its measurement was made by a GPU while it was shown, which may be gone by now."""
    return run.measurement is not None and run.measurement.source == "live"


def _job(job_of: JobOf, plan: Plan, library: Library, arch: str) -> Job:
    """The launch of a plan, which knows the lecture's file that brought it."""
    job = job_of(plan, arch, library=library)
    return replace(job, file=library.file) if library.file else job


def _launches(showing: Exhibit) -> dict[str, tuple[object, ...]]:
    """What a GPU is asked for, by the names of the runs; of a user's own file with its text."""
    from gpuviz.story.exhibit import asked_of_gpu

    texts = {key: run.trace.source for key, run in showing.runs.items()}
    return {
        key: (*asked_of_gpu(plan), texts.get(key, "") if Path(plan.kernel).is_absolute() else "")
        for key, plan in showing.plans.items()
    }


def _recorded(plan: Plan, recordings: Recordings) -> tuple[Measurement | None, str]:
    """What is recorded of a launch, or why there is nothing."""
    try:
        found = recordings.find(plan)
    except (Error, OSError) as error:
        return None, str(error)
    if found.measurement is None and Path(plan.kernel).is_absolute():
        return None, tr("your own kernels have no recording")
    return found.measurement, tr(found.why, file=found.file)
