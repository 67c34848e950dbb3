"""A thread that measures launches on a GPU, the newest wish first, and reports what it finds.

Reports are handed to a function, which is called in the thread.
"""

import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy.typing as npt

from gpuviz.arch import architecture
from gpuviz.base.arrays import F64
from gpuviz.base.errors import Cancelled, Error
from gpuviz.base.waiting import stopped_by
from gpuviz.gpu.client import BATCH, Gpu, GpuLaunch, launch_of
from gpuviz.gpu.consent import NOBODY, Code, NotAgreed
from gpuviz.gpu.faults import CountersUnavailable, NoDevice
from gpuviz.gpu.live import MeasureOptions, measure_launch, placed
from gpuviz.launch.job import Job, check_limits
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement, Peaks, Telemetry
from gpuviz.words.language import tr

REPEATS = 200  # launches timed by one measurement
PAUSE_SECONDS = 0.03  # at least, between two rounds: more than thirty a second nobody sees
LARGE_BYTES = 64 << 20  # of arguments: results and places of larger launches are asked for only
SENSE_SECONDS = 1.0
CLOSE_SECONDS = 5.0


@dataclass(frozen=True, eq=False)
class Target:
    """A launch to measure: `job` compiles it for an architecture, `expected` are the buffers that
    the emulator left, `known` is what this GPU has measured of it already."""

    key: str
    job: Callable[[str], Job]
    expected: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    known: Measurement | None = None


Targets = tuple[Target, ...]


@dataclass(frozen=True)
class Look:
    """Which GPUs are there? Use number `device`."""

    device: int = 0


@dataclass(frozen=True, eq=False)
class Once:
    """Measure each target once."""

    targets: Targets


@dataclass(frozen=True, eq=False)
class Continuously:
    """Measure the targets again and again; `use` is the share of the time the GPU may be busy.

    What is not known of them yet is measured at once: the share is that of repeating it.
    """

    targets: Targets
    use: float = 0.1


Wish = Look | Once | Continuously


@dataclass(frozen=True)
class Devices:
    """The GPUs, and which of them is used."""

    devices: tuple[DeviceFacts, ...]
    device: DeviceFacts


@dataclass(frozen=True)
class NoGpu:
    """There is none, and why."""

    why: str


@dataclass(frozen=True, eq=False)
class MeasurementReport:
    """A whole measurement of a target."""

    key: str
    measurement: Measurement


@dataclass(frozen=True, eq=False)
class PlacementReport:
    """The measurement of a target with the places of its blocks; a note tells why there are none.

    It comes after `MeasurementReport`: the numbers need not wait for a launch that notes them.
    """

    key: str
    measurement: Measurement


@dataclass(frozen=True, eq=False)
class TimingReport:
    """More durations of a target in microseconds."""

    key: str
    microseconds: F64


@dataclass(frozen=True, eq=False)
class CounterReport:
    """New readings of a target's counters."""

    key: str
    readings: Mapping[str, CounterValue]


@dataclass(frozen=True)
class TelemetryReport:
    """Clocks, temperature, power."""

    telemetry: Telemetry


@dataclass(frozen=True)
class Trouble:
    """What went wrong with a target ("" when with none of them)."""

    key: str
    message: str


@dataclass(frozen=True, eq=False)
class ConsentRequest:
    """Targets that are a stranger's code, which nobody has agreed to run; they were not."""

    codes: Mapping[str, Code]


@dataclass(frozen=True)
class Idle:
    """Nothing is under way any more."""


Report = (
    Devices
    | NoGpu
    | MeasurementReport
    | PlacementReport
    | TimingReport
    | CounterReport
    | TelemetryReport
    | Trouble
    | ConsentRequest
    | Idle
)


class Engine:
    """Owns the connection to a GPU; `make_gpu` opens one. Both functions are called in the thread.

    `report` is given the wish that is being served, and what was found. Code of strangers runs when
    it is among what was `agreed`.
    """

    def __init__(
        self,
        make_gpu: Callable[[int], Gpu],
        report: Callable[[Wish, Report], None],
        agreed: Container[str] = NOBODY,
    ) -> None:
        self._make_gpu, self._tell, self._agreed = make_gpu, report, agreed
        self._gpu: Gpu | None = None
        self._peaks: dict[str, Peaks] = {}
        self._wanted: Wish | None = None
        self._wish: Wish = Look()
        self._stop = threading.Event()
        self._closed = False
        self._wake = threading.Condition()
        self._silent = threading.Event()
        threading.Thread(target=self._loop, daemon=True).start()

    def ask(self, wish: Wish) -> None:
        """Do this; what is under way is stopped."""
        with self._wake:
            self._wanted = wish
            self._stop.set()
            self._wake.notify()

    def rest(self) -> None:
        """Stop what is under way and do nothing."""
        with self._wake:
            self._wanted = None
            self._stop.set()

    def close(self) -> None:
        """Stop: nothing is reported from now on. The thread lets the GPU go, and ends."""
        with self._wake:
            self._closed = True
            self._stop.set()
            self._wake.notify()
        self._silent.wait(CLOSE_SECONDS)

    def _loop(self) -> None:
        while (wish := self._next()) is not None:
            self._wish = wish
            with stopped_by(self._stop.is_set):
                self._do(wish)
            self._report(Idle())
            self._wish = wish = Look()  # nothing of what was measured is held while it rests
        self._silent.set()
        if self._gpu is not None:
            self._gpu.close()

    def _report(self, report: Report) -> None:
        self._tell(self._wish, report)

    def _next(self) -> Wish | None:
        """The next wish, None when there will be no more."""
        with self._wake:
            self._wake.wait_for(lambda: self._closed or self._wanted is not None)
            wish, self._wanted = self._wanted, None
            self._stop.clear()
            return None if self._closed else wish

    def _do(self, wish: Wish) -> None:
        """Whatever happens is reported; a worker that was lost is started again by the next."""
        try:
            if isinstance(wish, Look):
                self._look(wish.device)
            elif isinstance(wish, Once):
                self._once(wish.targets)
            else:
                self._continuously(wish)
        except Cancelled:
            pass
        except NoDevice as error:
            self._report(NoGpu(str(error)))
        except Error as error:
            self._report(Trouble("", str(error)))
        except Exception as error:
            self._report(Trouble("", f"{type(error).__name__}: {error}"))

    def _look(self, device: int) -> None:
        if self._gpu is not None:
            self._gpu.close()
        self._gpu = self._make_gpu(device)
        self._report(Devices(self._gpu.devices(), self._gpu.facts()))
        self._report(TelemetryReport(self._gpu.telemetry()))
        self._peaks_of(self._gpu, self._gpu.facts())  # while nothing is shown yet

    def _ready(self) -> Gpu:
        if self._gpu is None:
            raise NoDevice(tr("no GPU has been found"))
        return self._gpu

    def _once(self, targets: Targets) -> None:
        gpu = self._ready()
        self._measure(gpu, targets, REPEATS)
        self._report(TelemetryReport(gpu.telemetry()))

    def _measure(self, gpu: Gpu, targets: Targets, repeats: int) -> dict[str, GpuLaunch]:
        """What is not known of them: the numbers of all first, then what these need not wait for.
        The launches that could be measured; one that fails does not keep the others from it.
        """
        launches: dict[str, GpuLaunch] = {}
        made: list[tuple[Target, Measurement]] = []
        for target, launch in self._allowed(gpu, targets):
            with self._troubles(target.key):
                numbers = target.known or self._numbers(gpu, target.key, launch, repeats)
                made.append((target, numbers))
                launches[target.key] = launch
        for target, numbers in made:
            if (launch := launches[target.key]).arguments.size <= LARGE_BYTES or repeats == REPEATS:
                del launches[target.key]
                if not launch.permit.stands(self._agreed):
                    continue
                with self._troubles(target.key):
                    self._results_and_places(gpu, target, launch, numbers)
                    launches[target.key] = launch
        return launches

    @contextmanager
    def _troubles(self, key: str) -> Iterator[None]:
        """What goes wrong with a target is reported; what goes wrong with the GPU is raised."""
        try:
            yield
        except (Cancelled, NoDevice):
            raise
        except Error as error:
            self._report(Trouble(key, str(error)))

    def _allowed(self, gpu: Gpu, targets: Targets) -> Iterator[tuple[Target, GpuLaunch]]:
        """The targets that may run, made one by one; of the others it is told why they do not."""
        codes, sm = {}, gpu.facts().sm
        for target in targets:
            try:
                job = target.job(sm)
                check_limits(job, architecture(gpu.facts().capability))
                launch = launch_of(job, self._agreed, gpu.facts().known_by)
            except Cancelled:
                raise
            except NotAgreed as refused:
                codes[target.key] = refused.code
            except Error as error:
                self._report(Trouble(target.key, str(error)))
            else:
                yield target, launch
        if codes:
            self._report(ConsentRequest(codes))

    def _numbers(self, gpu: Gpu, key: str, launch: GpuLaunch, repeats: int) -> Measurement:
        """Times and counts."""
        facts, stop = gpu.facts(), self._stop.is_set
        peaks = self._peaks_of(gpu, facts)
        options = MeasureOptions(repeats, counters=not facts.counters, peaks=peaks)
        made = measure_launch(gpu, launch, options, cancel=stop)
        self._report(MeasurementReport(key, made))
        return made

    def _results_and_places(
        self, gpu: Gpu, target: Target, launch: GpuLaunch, made: Measurement
    ) -> None:
        """Whether the results are equal, and where blocks run."""
        if target.expected and not made.differences:
            differences = gpu.differences(launch, target.expected, self._stop.is_set)
            made = replace(made, differences=differences)
            self._report(MeasurementReport(target.key, made))
        if made.placement is None:
            self._report(PlacementReport(target.key, self._placed(gpu, launch, made)))

    def _placed(self, gpu: Gpu, launch: GpuLaunch, made: Measurement) -> Measurement:
        """Whatever keeps blocks from being placed, the numbers stand."""
        try:
            placement, why = placed(gpu, launch, self._stop.is_set)
        except (Cancelled, NoDevice):
            raise
        except Error as error:
            placement, why = None, str(error)
        return replace(made, placement=placement, notes=(why,) if why else ())

    def _peaks_of(self, gpu: Gpu, facts: DeviceFacts) -> Peaks | None:
        """Measured once a GPU; without them there are no percentages, and that is all."""
        if facts.bus not in self._peaks:
            try:
                self._peaks[facts.bus] = gpu.peaks(self._stop.is_set)
            except Cancelled:
                raise
            except Error:
                return None
        return self._peaks[facts.bus]

    def _continuously(self, wish: Continuously) -> None:
        """What is not known of a target first, then times and counts of all in turn."""
        gpu = self._ready()
        launches = self._measure(gpu, wish.targets, BATCH)
        sensed = 0.0
        counting = not gpu.facts().counters
        while launches and not self._stop.is_set():
            began = time.monotonic()
            for key in tuple(launches):
                launch = launches.pop(key)
                if not launch.permit.stands(self._agreed):
                    continue  # withdrawn, maybe in another window
                with self._troubles(key):
                    counting = self._round(gpu, key, launch, counting)
                    launches[key] = launch
            ended = time.monotonic()
            if began - sensed > SENSE_SECONDS:
                sensed = began
                self._report(TelemetryReport(gpu.telemetry()))
            self._stop.wait(pause(ended - began, wish.use))

    def _round(self, gpu: Gpu, key: str, launch: GpuLaunch, counting: bool) -> bool:
        """Times and counts of one target; whether counting is worth trying again.

        Of the counters only those that take one pass: the others were read when it began.
        """
        timing = gpu.time(launch, BATCH, warmup_ms=0.0, cancel=self._stop.is_set)
        self._report(TimingReport(key, timing.microseconds))
        if not counting:
            return False
        try:
            self._report(CounterReport(key, gpu.count(launch, "live", self._stop.is_set)))
        except CountersUnavailable:
            return False
        return True


def pause(busy: float, use: float) -> float:
    """Seconds to rest after so many busy ones, for the GPU to be in use for that share."""
    return max(busy * (1 / use - 1), PAUSE_SECONDS)
