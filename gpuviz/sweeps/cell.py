"""The work on one cell of a sweep: emulate or measure its launches. Done in any process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.arguments import parse
from gpuviz.base.errors import Error
from gpuviz.compile import Program
from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.consent import kept
from gpuviz.gpu.live import MeasureOptions
from gpuviz.launch.job import Job, Whose
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated
from gpuviz.run.run import Level
from gpuviz.traces.geometry import Triple

On = Literal["emulator", "gpu"]


@dataclass(frozen=True, eq=False)
class Launch:
    """One launch as plain values: `arguments` are SPECs."""

    role: str
    program: Program
    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    dynamic_shared: int
    whose: Whose = "stranger"

    @classmethod
    def of(cls, role: str, job: Job) -> Launch:
        """A job, ready to be sent."""
        texts = tuple(map(str, job.arguments))
        shape = job.grid, job.block
        return cls(role, job.program, job.entry, *shape, texts, job.dynamic_shared, job.whose)

    @property
    def job(self) -> Job:
        """What was sent."""
        given = tuple(map(parse, self.arguments))
        shape = self.grid, self.block
        return Job(self.program, self.entry, *shape, given, self.dynamic_shared, self.whose)


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be found out of a cell: `repeats` launches are timed on a GPU. `time` says whether
    the emulator's cells have a modelled time, too, which takes longer than counting.
    """

    launches: tuple[Launch, ...]
    arch: str
    on: On = "emulator"
    level: Level = "sass"
    repeats: int = 20
    time: bool = False


@dataclass(frozen=True)
class Found:
    """What was found out of one launch."""

    role: str
    # By name (`memory.counts.Count`): predicted, those that are not 0, or what a GPU's counters
    # read.
    counts: Mapping[str, float]
    thread_instructions: int | None = None
    warp_instructions: int | None = None
    registers: int | None = None
    # Resident warps over the most there can be; None where registers are not known.
    occupancy: float | None = None
    # Median of the launches timed; None for one that was emulated.
    microseconds: float | None = None
    launches: tuple[float, ...] = ()  # the durations of all of them, in the order launched
    # The lowest and the highest of the multiprocessors meanwhile, in MHz.
    clocks: tuple[float, float] | None = None
    resident_blocks: int | None = None  # how many the driver says fit on a multiprocessor
    # Microseconds as the model of time has them, the data in memory; None where nobody asked for
    # it.
    modelled: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of a cell: something of each launch, or the words of what went wrong.

    `seconds` is what the work took.
    """

    found: tuple[Found, ...] = ()
    error: str = ""
    seconds: float = field(default=0.0, compare=False)


def outcome(task: Task, device: int = 0) -> Outcome:
    """Do the work. Errors that are the launch's own are outcomes; `device` numbers the GPU."""
    began = time.perf_counter()
    try:
        found = tuple(_found(launch, task, device) for launch in task.launches)
    except Error as error:
        return Outcome(error=str(error), seconds=time.perf_counter() - began)
    return Outcome(found, seconds=time.perf_counter() - began)


def _found(launch: Launch, task: Task, device: int) -> Found:
    job = launch.job
    made = _emulated if task.on == "emulator" else _measured
    return made(launch.role, job, task, device)


def _emulated(role: str, job: Job, task: Task, device: int) -> Found:
    arch = architecture(task.arch)
    run = emulated.run(job, arch, level=task.level, options=Options(record=(), blocks="classes"))
    counts = {str(name): float(value) for name, value in run.counts.totals.items() if value}
    trace = run.trace
    done = trace.thread_instructions, trace.warp_instructions
    modelled = _modelled(job, arch) if task.time else None
    return Found(role, counts, *done, _registers(job), _occupancy(job, arch), modelled=modelled)


def _modelled(job: Job, arch: Architecture) -> float:
    from gpuviz.run.predicted import launched
    from gpuviz.timing.device import device_of  # the model of time is loaded where it is asked for
    from gpuviz.timing.prediction import predict

    device = device_of(arch)
    known = launched(job, arch, device, Options(blocks="classes"))
    return round(predict(known, device).microseconds, 3)


def _measured(role: str, job: Job, task: Task, device: int) -> Found:
    gpu = _gpu(device)
    measurement = live.measure(gpu, job, MeasureOptions(task.repeats), agreed=kept())
    readings = measurement.counters.items()
    counts = {str(name): one.value for name, one in readings if one.value is not None}
    timing, arch = measurement.timing, architecture(gpu.facts().capability)
    clocks = timing.clocks if timing else ()
    return Found(
        role,
        counts,
        registers=_registers(job),
        occupancy=_occupancy(job, arch),
        microseconds=timing.median if timing else None,
        launches=tuple(np.round(timing.microseconds, 3).tolist()) if timing else (),
        clocks=(min(clocks), max(clocks)) if clocks else None,
        resident_blocks=measurement.resident_blocks,
    )


_gpus: dict[int, Gpu] = {}


def _gpu(device: int) -> Gpu:
    """The connection that this process keeps."""
    if device not in _gpus:
        _gpus[device] = Gpu(device)
    return _gpus[device]


def close() -> None:
    """End the connections of this process."""
    while _gpus:
        _gpus.popitem()[1].close()


def _registers(job: Job) -> int | None:
    return job.resources.registers if job.resources else None


def _occupancy(job: Job, arch: Architecture) -> float | None:
    if job.resources is None:
        return None
    x, y, z = job.block
    shared = job.resources.static_shared_bytes + job.dynamic_shared
    return occupancy(arch, x * y * z, job.resources.registers, shared).fraction
