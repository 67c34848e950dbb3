"""What the worker process does with its GPU, through CuPy. Nothing here runs in gpuviz itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gpuviz.base.errors import Error, InputError
from gpuviz.gpu import protocol
from gpuviz.gpu.buffers import Buffers
from gpuviz.gpu.counters import (
    LIVE_FORMS,
    SETS,
    Which,
    all_metrics,
    combine,
    metrics_for,
    readings_of,
)
from gpuviz.gpu.cupti.library import load, unavailable
from gpuviz.gpu.cupti.profiler import Chip, Profiler
from gpuviz.gpu.faults import CountersUnavailable, NoDevice, in_words, is_fatal
from gpuviz.gpu.kernel import Kernel, driver_name
from gpuviz.gpu.placement import NOT_STARTED, SPANS
from gpuviz.gpu.protocol import Reply
from gpuviz.gpu.stopwatch import Stopwatch
from gpuviz.recordings.measurement import DeviceFacts, Telemetry

NO_CUPY = (
    "CuPy, which runs kernels on the GPU, is not installed: pip install cupy-cuda13x for drivers "
    "from 580 on, cupy-cuda12x for older ones"
)
_PRISTINE = 8  # that part of the device's memory at most holds buffers as they begin
_LIMITS = (
    "warpSize",
    "maxThreadsPerBlock",
    "maxThreadsPerMultiProcessor",
    "regsPerBlock",
    "regsPerMultiprocessor",
    "sharedMemPerBlock",
    "sharedMemPerBlockOptin",
    "sharedMemPerMultiprocessor",
)


def _check_driver() -> None:
    """NoDevice when there is no driver: then CuPy would not help."""
    name = driver_name()
    try:
        ctypes.CDLL(name)
    except OSError:
        raise NoDevice(
            f"there is no NVIDIA driver on this machine ({name} is missing), so kernels "
            "cannot run on a GPU here; emulation and recordings need none"
        ) from None


def _open_cupy() -> Any:
    _check_driver()
    try:
        import cupy
    except ImportError as error:
        raise NoDevice(f"{NO_CUPY} ({error})") from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise NoDevice(f"no NVIDIA GPU answers: {error}") from None
    if count == 0:
        raise NoDevice("no NVIDIA GPU is there")
    return cupy


class Device:
    """One GPU; a method for each kind of request."""

    def __init__(self, index: int) -> None:
        self._cupy = _open_cupy()
        count = self._cupy.cuda.runtime.getDeviceCount()
        if not 0 <= index < count:
            raise NoDevice(f"there is no GPU number {index}: this machine has {count}, from 0")
        self._index = index
        self._cupy.cuda.Device(index).use()
        self._cupy.cuda.runtime.free(0)  # makes the context
        self._kernels: dict[str, Kernel] = {}
        self._buffers = Buffers(self._cupy, self._facts(index).memory // _PRISTINE)
        self._counters = Counters(self._cupy, index)
        self._trouble: Exception | None = None

    def fatal(self, error: Exception) -> bool:
        """Whether the context is lost."""
        cause = error.__cause__
        return is_fatal(cause if isinstance(cause, Exception) else error)

    def _guarded(self, do: Callable[[], Any]) -> Any:
        """Do it and wait for the GPU; its errors in words."""
        try:
            result = do()
            self._cupy.cuda.get_current_stream().synchronize()
            return result
        except Error:
            raise
        except Exception as error:
            raise in_words(error) from error

    @cached_property
    def _sensor(self) -> Sensor:
        return Sensor(self._cupy.cuda.Device(self._index).pci_bus_id)

    @cached_property
    def _stopwatch(self) -> Stopwatch:
        facts = self._facts(self._index)
        return Stopwatch(self._cupy, facts.sm, facts.l2)

    def describe(self, request: protocol.Describe) -> Reply:
        """All GPUs; counters are tried on the own one."""
        count = self._cupy.cuda.runtime.getDeviceCount()
        devices = [self._facts(i) for i in range(count)]
        own = replace(devices[self._index], counters=self._why_no_counters())
        devices[self._index] = own
        return Reply({"devices": devices, "own": self._index})

    def _why_no_counters(self) -> str:
        try:
            self._counters.check()
        except CountersUnavailable as error:
            return str(error)
        return ""

    def _facts(self, index: int) -> DeviceFacts:
        runtime = self._cupy.cuda.runtime
        found = runtime.getDeviceProperties(index)
        bus = self._cupy.cuda.Device(index).pci_bus_id
        sensor, cuda = Sensor(bus), runtime.driverGetVersion()
        return DeviceFacts(
            index=index,
            name=found["name"].decode(),
            driver=sensor.driver(),
            capability=f"{found['major']}.{found['minor']}",
            cuda=f"{cuda // 1000}.{cuda % 1000 // 10}",
            multiprocessors=int(found["multiProcessorCount"]),
            memory=int(found["totalGlobalMem"]),
            l2=int(found["l2CacheSize"]),
            bus=str(bus),
            clock_mhz=sensor.highest_clock() or 0.0,
            memory_clock_mhz=sensor.memory_clock() or 0.0,
            limits={name: int(found[name]) for name in _LIMITS if name in found},
        )

    def load(self, request: protocol.Load) -> Reply:
        """Keep a launch."""
        kernel = self._guarded(lambda: Kernel(self._cupy, request, self._buffers))
        self._kernels[request.key] = kernel
        return Reply({"resident_blocks": kernel.resident_blocks(), "registers": kernel.registers()})

    def drop(self, request: protocol.Drop) -> Reply:
        """Forget a launch."""
        self._kernels.pop(request.key, None)
        self._cupy.get_default_memory_pool().free_all_blocks()
        return Reply()

    def _kernel(self, key: str) -> Kernel:
        if key not in self._kernels:
            raise InputError(f"no launch {key!r} was loaded on the GPU")
        return self._kernels[key]

    def run(self, request: protocol.Run) -> Reply:
        """Launch once on fresh buffers."""
        kernel = self._kernel(request.key)

        def go() -> None:
            kernel.stay()
            kernel.reset()
            kernel.launch()

        self._guarded(go)
        return request.reply(kernel.outputs())

    def time(self, request: protocol.Time) -> Reply:
        """Durations, and the clock before and after."""
        kernel = self._kernel(request.key)
        before = self._sensor.clock() if not request.warmup_ms else None
        times = self._guarded(
            lambda: self._stopwatch.time(kernel, request.count, request.warmup_ms, request.mode)
        )
        clocks = [clock for clock in (before, self._sensor.clock()) if clock is not None]
        return Reply({"clocks": clocks}, (times,))

    def count(self, request: protocol.Count) -> Reply:
        """Counters of one launch."""
        kernel = self._kernel(request.key)
        return Reply(vars(self._guarded(lambda: self._counters.read(kernel, request.which))))

    def place(self, request: protocol.Place) -> Reply:
        """Where and when blocks ran, in the second of two launches."""
        kernel = self._kernel(request.key)
        spans = self._cupy.zeros((request.blocks, 3), self._cupy.int64)
        empty = np.tile(np.array([NOT_STARTED, NOT_STARTED, 0], np.int64), (request.blocks, 1))
        kernel.point(SPANS, spans)

        def go() -> None:
            kernel.reset()
            spans.set(empty)
            kernel.launch()

        self._guarded(go)
        self._guarded(go)
        return Reply(arrays=(spans.get(),))

    def peaks(self, request: protocol.Peaks) -> Reply:
        """What this GPU reaches at best."""
        facts = self._facts(self._index)
        found = self._guarded(lambda: self._stopwatch.peaks(facts.multiprocessors, facts.memory))
        return Reply(vars(found))

    def sense(self, request: protocol.Sense) -> Reply:
        """Clocks, temperature, power."""
        return Reply(vars(self._sensor.read()))


@dataclass(frozen=True)
class CounterValues:
    """Values by key, why there are none under some, and how many times the kernel ran for them."""

    values: dict[str, float]
    whys: dict[str, str]
    passes: int


class Counters:
    """Reads counters in the current context of a device: one profiler at a time is kept, while the
    same set is read.
    """

    def __init__(self, cupy: Any, device: int) -> None:
        self._cupy, self._device = cupy, device
        self._chip: Chip | None = None
        self._available: frozenset[str] = frozenset()
        self._profiler: Profiler | None = None

    def _found(self) -> Chip:
        if self._chip is None:
            self._chip = Chip(load(), self._device)
            self._available = self._chip.metrics()
        return self._chip

    def check(self) -> None:
        """Try them once.

        Raises
        ------
        CountersUnavailable : and why
        """
        self._found()
        self._select(metrics_for(LIVE_FORMS, self._available))

    def read(self, kernel: Kernel, which: Which) -> CounterValues:
        """What one launch says, read in groups of what may be read together.

        Raises
        ------
        CountersUnavailable : CUPTI refuses the first group; of others it is noted why
        """
        self._found()
        values: dict[str, float] = {}
        whys: dict[str, str] = {}
        passes = 0
        for chosen in readings_of(metrics_for(SETS[which], self._available)):
            try:
                found, took = self._read(kernel, chosen)
            except CountersUnavailable as error:
                if not values:
                    raise
                whys |= dict.fromkeys(chosen, str(error))
            else:
                values, passes = values | found, passes + took
        return CounterValues(values, whys, passes)

    def _read(
        self, kernel: Kernel, chosen: dict[str, tuple[str, ...]]
    ) -> tuple[dict[str, float], int]:
        """One configuration of the profiler."""
        profiler = self._select(chosen)
        kernel.stay()
        kernel.reset()
        found = profiler.read(lambda: self._launch(kernel))
        if len(found) != 1:
            raise unavailable("failed", f"{len(found)} kernels were measured instead of one")
        return combine(chosen, found[0]), profiler.passes

    def _launch(self, kernel: Kernel) -> None:
        kernel.launch()
        self._cupy.cuda.get_current_stream().synchronize()

    def _select(self, chosen: dict[str, tuple[str, ...]]) -> Profiler:
        metrics = all_metrics(chosen, self._available)
        if self._profiler is not None and self._profiler.metrics == metrics:
            return self._profiler
        if self._profiler is not None:
            self._profiler.close()
            self._profiler = None
        context = self._cupy.cuda.driver.ctxGetCurrent()
        self._profiler = Profiler(self._found(), context, metrics)
        return self._profiler


_SM, _MEMORY, _TEMPERATURE = 1, 2, 0  # NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU

# nvml.h, nvmlClocksEventReasons: why the clock is lower than it could be.
_REASONS = {
    0x4: "power limit",
    0x8: "hardware slowdown",
    0x20: "temperature (driver)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}


class Sensor:
    """Clocks, temperature, power of one GPU, named by its PCI bus id, through NVML; what that does
    not tell is left out. Without NVML every reading is empty.
    """

    def __init__(self, bus: str) -> None:
        self._nvml, self._handle = _open(bus)

    def read(self) -> Telemetry:
        """The GPU now."""
        memory = self._ask("nvmlDeviceGetMemoryInfo")
        reasons = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons") or 0
        power = self._ask("nvmlDeviceGetPowerUsage")
        return Telemetry(
            sm_clock=self.clock(),
            memory_clock=self._ask("nvmlDeviceGetClockInfo", _MEMORY),
            temperature=self._ask("nvmlDeviceGetTemperature", _TEMPERATURE),
            power=None if power is None else power / 1000,
            memory_used=None if memory is None else int(memory.used),
            throttle=tuple(text for bit, text in _REASONS.items() if reasons & bit),
        )

    def clock(self) -> float | None:
        """Clock of the multiprocessors, MHz."""
        return _number(self._ask("nvmlDeviceGetClockInfo", _SM))

    def memory_clock(self) -> float | None:
        """Highest clock of the memory, MHz."""
        return _number(self._ask("nvmlDeviceGetMaxClockInfo", _MEMORY))

    def highest_clock(self) -> float | None:
        """Highest clock of the multiprocessors, MHz."""
        return _number(self._ask("nvmlDeviceGetMaxClockInfo", _SM))

    def driver(self) -> str:
        """Version of the driver, "" when not told."""
        if self._nvml is None:
            return ""
        try:
            return str(self._nvml.nvmlSystemGetDriverVersion())
        except self._nvml.NVMLError:
            return ""

    def _ask(self, function: str, *arguments: int) -> Any:
        if self._nvml is None:
            return None
        ask: Callable[..., Any] | None = getattr(self._nvml, function, None)
        if ask is None:
            return None
        try:
            return ask(self._handle, *arguments)
        except self._nvml.NVMLError:
            return None


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _open(bus: str) -> tuple[Any, Any]:
    try:
        import pynvml
    except ImportError:
        return None, None
    try:
        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode())
    except pynvml.NVMLError:
        return None, None
