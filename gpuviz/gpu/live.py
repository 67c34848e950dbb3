"""Everything a GPU says of one launch, gathered into a measurement; the same of a pattern.

The kernels of patterns issue one shared-memory instruction with one warp, for any pattern of
addresses: the element index of each lane comes from a buffer, so one kernel serves all patterns of
an operation and width. Volatile PTX keeps the compiler from removing, splitting or merging the
access, and lanes that take no part have ended, so that the access itself is not predicated.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from string import Template
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuviz.arch import architecture
from gpuviz.arguments.specs import ArrayArgument
from gpuviz.base import resources
from gpuviz.base.errors import InputError, UnsupportedError
from gpuviz.base.waiting import Cancel, Progress, go_on
from gpuviz.compile import compile_cuda
from gpuviz.gpu.client import Gpu, GpuLaunch, launch_of
from gpuviz.gpu.consent import NOBODY, own_permit
from gpuviz.gpu.counters import FORMS
from gpuviz.gpu.faults import CountersUnavailable
from gpuviz.gpu.placement import PLACED_BLOCKS
from gpuviz.gpu.protocol import Mode
from gpuviz.gpu.wire_arguments import wire_arguments
from gpuviz.launch.job import Job, check_limits
from gpuviz.memory.counts import Count
from gpuviz.memory.metrics import RAW
from gpuviz.recordings.measured_file import MeasuredLaunch, MeasuredPattern
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement, Peaks, Placement
from gpuviz.run.verification import Measurements, job_of


@dataclass(frozen=True)
class MeasureOptions:
    """What to measure of a launch; `repeats` launches are timed, none for 0."""

    repeats: int = 100
    mode: Mode = "warm"
    counters: bool = True
    places: bool = False
    peaks: Peaks | None = None


def measure(
    gpu: Gpu,
    job: Job,
    options: MeasureOptions = MeasureOptions(),
    *,
    agreed: Container[str] = NOBODY,
    expected: Mapping[str, npt.NDArray[Any]] | None = None,
    cancel: Cancel = go_on,
    progress: Progress = lambda fraction: None,
) -> Measurement:
    """Run a launch on a GPU and measure it. `expected` are the buffers the emulator left.

    Raises
    ------
    NotAgreed : it is a stranger's, and none of those that the user `agreed` to run
    KernelFault, TimeLimit, WorkerLost, LaunchError, NoDevice, Cancelled : as `Gpu.run`
    """
    check_limits(job, architecture(gpu.facts().capability))
    launch = launch_of(job, agreed, gpu.facts().known_by)
    return measure_launch(gpu, launch, options, expected=expected, cancel=cancel, progress=progress)


def measure_launch(
    gpu: Gpu,
    launch: GpuLaunch,
    options: MeasureOptions = MeasureOptions(),
    *,
    expected: Mapping[str, npt.NDArray[Any]] | None = None,
    cancel: Cancel = go_on,
    progress: Progress = lambda fraction: None,
) -> Measurement:
    """As `measure`, of a launch that may run. Times come first: a launch that has run to its end
    is waited for where it is not wanted any more.
    """
    timing = (
        gpu.time(launch, options.repeats, mode=options.mode, cancel=cancel, progress=progress)
        if options.repeats
        else None
    )
    counters, why = _counters(gpu, launch, cancel) if options.counters else ({}, "")
    placement, note = placed(gpu, launch, cancel) if options.places else (None, "")
    notes = (why, note, timing.clock_note if timing else "")
    return Measurement(
        "live",
        datetime.now(UTC).date().isoformat(),
        gpu.facts(),
        counters,
        timing,
        placement,
        gpu.telemetry(),
        options.peaks,
        gpu.differences(launch, expected, cancel) if expected else {},
        tuple(text for text in notes if text),
        gpu.resident_blocks(launch, cancel),
        registers=gpu.registers(launch, cancel),
    )


def _counters(gpu: Gpu, launch: GpuLaunch, cancel: Cancel) -> tuple[dict[str, CounterValue], str]:
    """Readings of everything; when refused, each is unavailable, and a note says why."""
    try:
        return gpu.count(launch, cancel=cancel), ""
    except CountersUnavailable as error:
        return {key: CounterValue(None, str(error)) for key in FORMS}, str(error)


def placed(gpu: Gpu, launch: GpuLaunch, cancel: Cancel) -> tuple[Placement | None, str]:
    """Where and when the blocks of a launch run; None when they are too many, and None and the
    reason when that cannot be had.
    """
    if launch.blocks > PLACED_BLOCKS:
        return None, ""
    try:
        return gpu.place(launch, cancel), ""
    except UnsupportedError as error:
        return None, str(error)


def remeasured(
    measured: Measurements,
    gpu: Gpu,
    agreed: Container[str] = NOBODY,
    progress: Any = lambda name: None,
) -> Measurements:
    """The same launches and patterns, with this GPU's counters in place of the file's.

    Raises
    ------
    NotAgreed : a kernel is a stranger's, and none of those that the user `agreed` to run
    CountersUnavailable : no counters, no comparison; and as `Gpu.run`
    """
    here = on_device(measured, gpu.facts())
    return replace(
        here,
        launches=tuple(_launch(gpu, here, one, agreed, progress) for one in measured.launches),
        cases=tuple(_case(gpu, case, progress) for case in measured.cases),
    )


def on_device(measured: Measurements, facts: DeviceFacts) -> Measurements:
    """The launches as they are compiled for a GPU."""
    return replace(measured, device=facts.name, arch=architecture(facts.capability))


def _launch(
    gpu: Gpu, here: Measurements, launch: MeasuredLaunch, agreed: Container[str], progress: Any
) -> MeasuredLaunch:
    progress(launch.name)
    leave = agreed, gpu.facts().known_by
    readings = gpu.count(launch_of(job_of(here, launch), *leave))
    values = {key: reading.value for key, reading in readings.items()}
    return replace(launch, measured=values)


_WAVEFRONTS = {"load": Count.SHARED_LOAD_WAVEFRONTS, "store": Count.SHARED_STORE_WAVEFRONTS}


def _case(gpu: Gpu, case: MeasuredPattern, progress: Any) -> MeasuredPattern:
    progress(case.pattern)
    readings = gpu.count(pattern_launch(case, gpu.facts().sm))
    reading = readings[_WAVEFRONTS.get(case.op, Count.SHARED_ATOMIC_WAVEFRONTS) + RAW]
    if reading.value is None:
        raise CountersUnavailable(reading.why)
    return replace(case, wavefronts=reading.value)


def pattern_launch(case: MeasuredPattern, sm: str) -> GpuLaunch:
    """The launch of one warp that issues the shared-memory instruction of a pattern."""
    program = compile_cuda(pattern_source(case.op, case.width_bytes), arch=sm)
    index = np.array(case.index, np.int32)
    words = np.arange(128, dtype=np.uint32) * np.uint32(7) + np.uint32(3)
    return GpuLaunch(
        "cubin",
        program.cubin,
        program.ptx,
        "pattern",
        (1, 1, 1),
        (32, 1, 1),
        0,
        wire_arguments((ArrayArgument(index), ArrayArgument(words))),
        own_permit(program.cubin, program.ptx, "pattern"),
    )


_PATTERN_BYTES = 16384  # of shared memory, and of the addresses a pattern may use

_VECTORS = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}

# What to do with element `at` of the shared array; `v` holds four words of the lane's own.
_ATOMICS = {
    "atomic": ("int", "atomicAdd(s + at, (int)v[0]);"),
    "atomic_add_s32": ("int", "atomicAdd(s + at, (int)v[0]);"),
    "atomic_add_s32_returned": ("int", "v[0] = atomicAdd(s + at, (int)v[0]);"),
    "atomic_exch_b32": ("int", "v[0] = atomicExch(s + at, (int)v[0]);"),
    "atomic_cas_b32": ("int", "v[0] = atomicCAS(s + at, (int)v[0], (int)v[1]);"),
    "atomic_add_f32": ("float", "atomicAdd(s + at, (float)v[0]);"),
    "atomic_add_u64": ("unsigned long long", "atomicAdd(s + at, (unsigned long long)v[0]);"),
}


def pattern_source(op: str, width: int) -> str:
    """CUDA C of the kernel `pattern(const int* index, uint4* words)`, for one block of 32 threads.

    Lanes whose index is negative take no part.

    Raises
    ------
    InputError : an operation or width that is not known
    """
    if op in _ATOMICS:
        return _kernel(*_ATOMICS[op])
    if op not in ("load", "store") or width not in _VECTORS:
        raise InputError(f"no kernel for the pattern {op} of {width} bytes")
    return _kernel("unsigned char", _moved(op, width))


def _kernel(kind: str, body: str) -> str:
    """The kernel, for elements of a type."""
    text = Template(resources.text("gpu/pattern.cu"))
    return text.substitute(kind=kind, bytes=_PATTERN_BYTES, body=body)


def _moved(op: str, width: int) -> str:
    words = max(1, width // 4)
    places = ", ".join(f"%{n}" for n in range(words))
    group = f"{{{places}}}" if words > 1 else places
    address, bits = f"[%{words}]", f"(unsigned)__cvta_generic_to_shared(s + at * {width})"
    constraint = '"{}r"(v[{}])'
    if op == "load":
        text = f"ld.volatile.shared.{_VECTORS[width]} {group}, {address};"
        outs = ", ".join(constraint.format("=", n) for n in range(words))
        return f'asm volatile("{text}" : {outs} : "r"({bits}) : "memory");'
    text = f"st.volatile.shared.{_VECTORS[width]} {address}, {group};"
    ins = ", ".join(constraint.format("", n) for n in range(words))
    return f'asm volatile("{text}" :: {ins}, "r"({bits}) : "memory");'
