"""A GPU for the rest of gpuviz: blocking calls, each with a time limit, that can be cancelled.

    with Gpu() as gpu:
        facts = gpu.facts()
        launch = launch_of(job)
        outputs = gpu.run(launch)
        timing = gpu.time(launch, 100)
        readings = gpu.count(launch)

Calls may come from any thread, one at a time. A kernel that faults, hangs or kills the worker
raises an error; the next call starts a fresh worker, and loads again what it needs.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gpuviz.arguments import Recipe
from gpuviz.arguments.tensor_maps import SIZE, TensorMapSpec
from gpuviz.base import records
from gpuviz.base.arrays import Array
from gpuviz.base.errors import Error, LaunchError
from gpuviz.base.waiting import Cancel, Progress, go_on
from gpuviz.gpu import protocol, sense
from gpuviz.gpu.consent import (
    NOBODY,
    Permit,
    arguments_of,
    code_of,
    kernel_digest,
    launch_digest,
    permit,
)
from gpuviz.gpu.counters import SETS, Which, why_missing
from gpuviz.gpu.placement import decode, for_driver, instrument
from gpuviz.gpu.process import RUNS, Process, command
from gpuviz.gpu.protocol import Mode, Reply, Request
from gpuviz.gpu.wire_arguments import WireArguments
from gpuviz.launch.job import Job
from gpuviz.ptx.text.parser import parse
from gpuviz.recordings.measurement import (
    CounterValue,
    DeviceFacts,
    Peaks,
    Placement,
    Telemetry,
    Timing,
    largest_difference,
    without_maps,
)
from gpuviz.traces.geometry import Geometry, Triple
from gpuviz.words.language import brief

LIMIT_SECONDS = 20.0
START_SECONDS = 60.0  # the first request waits for Python, CuPy and a context as well
WARMUP_MS = 50.0
BATCH = 25  # launches timed in one request, so that cancelling does not have to kill
_KEPT = 32  # launches on the device; the one used longest ago goes first
_SHARE = 0.25  # of the device's memory that they may take, all together


@dataclass(frozen=True, eq=False)
class GpuLaunch(Geometry):
    """A launch with everything a GPU needs, and the leave to run it. `ptx` serves block placement.

    Raises
    ------
    ValueError : the permit is for another launch
    """

    form: Literal["cubin", "ptx"]
    code: bytes
    ptx: str
    entry: str
    grid: Triple
    block: Triple
    dynamic_shared: int
    arguments: WireArguments
    permit: Permit

    def __post_init__(self) -> None:
        if self.permit.digest not in (self._kernel, self.key):
            raise ValueError(f"the permit of {self.entry} is for another launch")

    @cached_property
    def _kernel(self) -> str:
        return kernel_digest(self.code, self.ptx, self.entry)

    @cached_property
    def key(self) -> str:
        """A name made of all that decides what happens."""
        shape = self.grid, self.block, self.dynamic_shared
        return launch_digest(self._kernel, *shape, self.arguments)

    def load(self, key: str, form: Literal["cubin", "ptx"], code: bytes) -> protocol.Load:
        """The request to keep it on the device, be it with other code."""
        arguments = self.arguments
        made = tuple(
            protocol.BufferOrigin(str(one.spec), one.seed)
            if isinstance(one, Recipe)
            else protocol.BufferOrigin()
            for one in arguments.buffers
        )
        travel = (one for one in arguments.buffers if not isinstance(one, Recipe))
        return protocol.Load(
            key,
            form,
            self.entry,
            self.grid,
            self.block,
            self.dynamic_shared,
            made,
            arguments.parameters,
            arguments.variables,
            (np.frombuffer(code, np.uint8), *travel),
        )


def launch_of(job: Job, agreed: Container[str] = NOBODY, device: str = "") -> GpuLaunch:
    """A job's machine code with its arguments; its PTX where it came without machine code.

    Raises
    ------
    NotAgreed : it is a stranger's, and none of those that the user `agreed` to run on this GPU
    LaunchError : a pointer is into what is no buffer, or to a tensor map
    """
    program, given = job.program, arguments_of(job)
    leave = permit(job, given, agreed, device)
    _check_maps(job)
    return GpuLaunch(
        "cubin" if program.cubin else "ptx",
        code_of(program),
        program.ptx,
        job.entry,
        job.grid,
        job.block,
        job.dynamic_shared,
        given,
        leave,
    )


def _check_maps(job: Job) -> None:
    """Refuse pointers to tensor maps, which would have to be copied to the GPU."""
    if not any(isinstance(spec, TensorMapSpec) for spec in job.arguments):
        return
    function = parse(job.program.ptx).by_name.get(job.entry)
    parameters = function.params if function is not None else ()
    for parameter, spec in zip(parameters, job.arguments, strict=False):
        if isinstance(spec, TensorMapSpec) and parameter.size < SIZE:
            raise LaunchError(
                f"{parameter.name} is a pointer to a tensor map: such launches are emulated, not "
                "made on a GPU; those that take a __grid_constant__ CUtensorMap are"
            )


@dataclass
class _DeviceLaunch:
    """A launch on the device: what the driver says of resident blocks and registers, the bytes it
    takes there, and whether it has run to its end before."""

    resident: int | None
    registers: int | None
    size: int
    ends: bool = False


class Gpu:
    """One GPU, owned by a process of its own that is started when first needed."""

    def __init__(
        self,
        device: int = 0,
        *,
        limit: float = LIMIT_SECONDS,
        arguments: Sequence[str] | None = None,
    ) -> None:
        self._arguments = tuple(arguments or command(device))
        self._limit = limit
        self._process: Process | None = None
        self._loaded: dict[str, _DeviceLaunch] = {}
        self._devices: tuple[DeviceFacts, ...] = ()
        self._own = device
        self._lock = threading.RLock()

    def __enter__(self) -> Gpu:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker; a later call would start another."""
        process = self._process
        if process is not None:
            process.close()

    def _ask(self, request: Request, cancel: Cancel = go_on) -> Reply:
        with self._lock:
            if not isinstance(request, RUNS):
                return self._running().ask(request, self._limit, cancel, ends=True)
            process, loaded = self._process, self._loaded[request.key]
            assert process is not None  # it has what is to run, be it lost; another has not
            reply = process.ask(request, self._limit, cancel, loaded.ends)
            loaded.ends = True
            return reply

    def _running(self) -> Process:
        """The worker, started if there is none; its first answer may take long."""
        if self._process is None or not self._process.alive:
            self._loaded.clear()
            process = self._process = Process(self._arguments)
            try:
                reply = process.ask(protocol.Describe(), START_SECONDS)
                self._devices, self._own = sense.devices(reply.values)
            except Error:
                process.kill()  # what does not know its GPU is asked nothing
                raise
        return self._process

    @property
    def alive(self) -> bool:
        """Whether a worker is there right now."""
        return self._process is not None and self._process.alive

    @property
    def printed(self) -> str:
        """The last lines that kernels printed, or that the worker complained with."""
        return self._process.printed if self._process is not None else ""

    def devices(self) -> tuple[DeviceFacts, ...]:
        """All GPUs of this machine. NoDevice when there is none."""
        with self._lock:
            if not self._devices:
                self._running()
            return self._devices

    def facts(self) -> DeviceFacts:
        """This GPU."""
        return self.devices()[self._own]

    def _load(self, launch: GpuLaunch, cancel: Cancel) -> str:
        request = launch.load(launch.key, launch.form, launch.code)
        return self._keep(launch, request, cancel)

    def _keep(self, launch: GpuLaunch, request: protocol.Load, cancel: Cancel) -> str:
        self._running()
        if launch.permit.device not in ("", self.facts().known_by):
            raise ValueError(f"the permit of {launch.entry} is for another GPU")
        size = launch.arguments.size
        if request.key in self._loaded:
            self._loaded[request.key] = self._loaded.pop(request.key)
            return request.key
        most = _SHARE * self.facts().memory
        while self._loaded and (
            len(self._loaded) >= _KEPT or size + sum(x.size for x in self._loaded.values()) > most
        ):
            self._drop(next(iter(self._loaded)))
        said = self._ask(request, cancel).values
        with sense.held("a launch"):
            fit, registers = (
                None if said.get(name) is None else int(sense.number(said[name]))
                for name in ("resident_blocks", "registers")
            )
        self._loaded[request.key] = _DeviceLaunch(fit, registers, size)
        return request.key

    def _drop(self, key: str) -> None:
        """Free it, if there still is a worker."""
        if self.alive:
            self._ask(protocol.Drop(key))
        self._loaded.pop(key, None)

    def resident_blocks(self, launch: GpuLaunch, cancel: Cancel = go_on) -> int | None:
        """How many blocks of a launch the driver says fit on one multiprocessor; errors as `run`.

        None when it does not say.
        """
        with self._lock:
            return self._loaded[self._load(launch, cancel)].resident

    def registers(self, launch: GpuLaunch, cancel: Cancel = go_on) -> int | None:
        """How many registers the driver gives each thread; as `resident_blocks`."""
        with self._lock:
            return self._loaded[self._load(launch, cancel)].registers

    def run(self, launch: GpuLaunch, cancel: Cancel = go_on) -> tuple[Array, ...]:
        """The buffers after one launch, in the order of the arguments.

        Raises
        ------
        KernelFault : an illegal address or the like; TimeLimit when it never ends
        WorkerLost, Cancelled, NoDevice, LaunchError
        """
        with self._lock:
            arrays = self._ask(protocol.Run(self._load(launch, cancel)), cancel).arrays
        sense.buffers(arrays, launch.arguments.sizes, ())
        return arrays

    def differences(
        self, launch: GpuLaunch, expected: Mapping[str, Array], cancel: Cancel = go_on
    ) -> dict[str, float]:
        """The largest difference of each buffer after one launch from the one expected of it, by
        names in the order of the arguments; errors as `run`. What is equal does not travel, and
        tensor maps that the kernel makes are not compared: the emulator's are its own.
        """
        known = tuple(map(protocol.digest, expected.values()))
        with self._lock:
            reply = self._ask(protocol.Run(self._load(launch, cancel), known), cancel)
        with sense.held("buffers"):
            same = set(reply.values["same"])
        sense.buffers(reply.arrays, launch.arguments.sizes, same)
        return {
            name: 0.0 if number in same else largest_difference(got, without_maps(want, got))
            for number, ((name, want), got) in enumerate(
                zip(expected.items(), reply.arrays, strict=False)
            )
        }

    def time(
        self,
        launch: GpuLaunch,
        count: int = 100,
        *,
        mode: Mode = "warm",
        warmup_ms: float = WARMUP_MS,
        cancel: Cancel = go_on,
        progress: Progress = lambda fraction: None,
    ) -> Timing:
        """Durations of `count` launches; errors as `run`."""
        times: list[Any] = []
        clocks: list[float] = []
        with self._lock:
            key = self._load(launch, cancel)
            for first in range(0, count, BATCH):
                size = min(BATCH, count - first)
                reply = self._ask(
                    protocol.Time(key, size, 0.0 if first else warmup_ms, mode), cancel
                )
                times.append(sense.times(reply.arrays, size))
                with sense.held("clocks"):
                    clocks += map(sense.number, reply.values["clocks"])
                progress((first + size) / count)
        return Timing(np.concatenate(times), mode, tuple(clocks))

    def count(
        self, launch: GpuLaunch, which: Which = "all", cancel: Cancel = go_on
    ) -> dict[str, CounterValue]:
        """Counters of one launch, by the keys of a set of `gpuviz.gpu.counters.SETS`.

        Raises
        ------
        CountersUnavailable : denied, busy or not supported; and as `run`
        """
        with self._lock:
            reply = self._ask(protocol.Count(self._load(launch, cancel), which), cancel)
        with sense.held("counters"):
            values, whys = reply.values["values"], reply.values["whys"]
            return {key: _reading(key, values, whys) for key in SETS[which]}

    def place(self, launch: GpuLaunch, cancel: Cancel = go_on) -> Placement:
        """Where and when each block ran; errors as `run`."""
        with self._lock:
            major, _, minor = self.facts().cuda.partition(".")
            ptx = for_driver(instrument(launch.ptx), (int(major), int(minor)))
            request = launch.load(launch.key + "+places", "ptx", ptx.encode())
            key = self._keep(launch, request, cancel)
            arrays = self._ask(protocol.Place(key, launch.blocks), cancel).arrays
        with sense.held("places"):
            (spans,) = arrays
            if spans.shape != (launch.blocks, 3) or spans.dtype != np.int64:
                raise ValueError(f"{spans.dtype} {spans.shape} of {launch.blocks} blocks")
            return decode(spans)

    def peaks(self, cancel: Cancel = go_on) -> Peaks:
        """What this GPU reaches at best; measured anew by each call (a second or so)."""
        return sense.peaks(self._ask(protocol.Peaks(), cancel).values)

    def telemetry(self) -> Telemetry:
        """Clocks, temperature and power now."""
        values = self._ask(protocol.Sense()).values
        return records.record(values, Telemetry, "telemetry")


def _reading(key: str, values: dict[str, float], whys: dict[str, str]) -> CounterValue:
    if key in values:
        return CounterValue(sense.number(values[key]))
    return CounterValue(None, brief(whys.get(key) or why_missing(key), 1000))
