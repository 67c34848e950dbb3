"""A launch asked for, held against limits; what its calls return, and what a check then finds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import F32
from gpuviz.base.errors import LaunchError
from gpuviz.course.organisation.gates import Gate
from gpuviz.launch.job import check_limits
from gpuviz.recordings import launch_calls
from gpuviz.recordings.launch_calls import LaunchCalls
from gpuviz.story.lesson import Plan, Runs, Values, number
from gpuviz.story.perform import job_of
from gpuviz.words.language import grouped, tr, trn

SET, FMA = "set", "fma4"
CORRECTED = {SET: "set, corrected", FMA: "fma4, corrected"}
ELEMENTS, THREADS = 1 << 22, 128  # of the corrected launch, as published
A, B, C = 0.6, 0.7, 0.4  # what `set` writes
_KERNEL = "fma4.cu"
SUCCESS = "cudaSuccess"
_ROUNDING = 1e-5  # a difference that rounding explains, of numbers below 1

# What the documents say of their cards: limit by row id; what they do not say is left out.
PUBLISHED: Mapping[str, Mapping[str, int]] = {
    "GF100": {
        "threads": 1024,
        "block x": 1024,
        "block y": 1024,
        "block z": 64,
        "grid x": 65535,
        "grid y": 65535,
        "grid z": 65535,
        "shared": 49152,
        "registers": 32768,
    },
    "8600 GTS": {
        "threads": 512,
        "block x": 512,
        "block y": 512,
        "block z": 64,
        "grid x": 65535,
        "grid y": 65535,
        "shared": 16384,
        "registers": 8192,
        "warp": 32,
    },
}


def attempted(values: Values, entry: str = FMA) -> Plan:
    """The launch asked for, which a device may refuse."""
    shape = number(values, "elements"), number(values, "threads"), str(values["along"])
    return _launched(entry, entry, *shape, 1024 * number(values, "shared"))


def plan(values: Values) -> tuple[Plan, ...]:
    """Both kernels as asked for; where they are refused, the corrected launch is run instead."""
    return tuple(
        replace(
            attempted(values, entry),
            otherwise=_launched(CORRECTED[entry], entry, ELEMENTS, THREADS, "y", 0),
        )
        for entry in (SET, FMA)
    )


def _launched(role: str, entry: str, elements: int, threads: int, along: str, shared: int) -> Plan:
    """One of the kernels over so many elements in blocks of so many threads."""
    blocks = -(-elements // threads)
    grid = (blocks, 1, 1) if along == "x" else (1, blocks, 1)
    fills = ("zeros", "zeros", "zeros") if entry == SET else (A, B, C, "zeros")
    return Plan(
        role,
        _KERNEL,
        entry,
        grid,
        (threads, 1, 1),
        (*(f"f32[{elements}]={fill}" for fill in fills), f"i32={elements}"),
        dynamic_shared=shared,
        record=(blocks - 1,),
        size=trn("{n} element", "{n} elements", elements, n=grouped(elements)),
        outputs=entry == FMA,
    )


def refusal(asked: Plan, arch: str) -> str:
    """Why an architecture refuses a launch, or ""."""
    try:
        check_limits(job_of(asked, arch), architecture(arch))
    except LaunchError as error:
        return str(error)
    return ""


def gates(asked: Plan, arch: Architecture, registers: int | None) -> tuple[Gate, ...]:
    """What the launch asks for beside what the device and the documents' cards allow."""
    threads = asked.threads_per_block
    rows = (
        ("threads", tr("threads a block"), threads, arch.max_threads_per_block),
        *(
            (f"block {axis}", tr("block {axis}", axis=axis), asked.block[i], arch.max_block[i])
            for i, axis in enumerate("xyz")
        ),
        *(
            (f"grid {axis}", tr("grid {axis}", axis=axis), asked.grid[i], arch.max_grid[i])
            for i, axis in enumerate("xyz")
        ),
        ("shared", tr("shared bytes"), asked.dynamic_shared, arch.shared_per_block_optin),
        ("registers", tr("registers"), registers and registers * threads, arch.registers_per_block),
        ("warp", tr("lanes a warp"), None, arch.warp),
    )
    return tuple(
        Gate(name, value, (here, *(card.get(key) for card in PUBLISHED.values())))
        for key, name, value, here in rows
    )


def sequential(a: F32, b: F32, c: F32) -> F32:
    """What a loop on the host computes: a product, rounded, then a sum, rounded."""
    return np.asarray(a * b + c, dtype=np.float32)


Four = tuple[float, float, float, float]
_NOTHING: Four = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Attempt:
    """A launch asked for, and what comes of it."""

    asked: Plan
    arch: Architecture
    why: str  # the reason why the device refuses it, "" when it does not
    gates: tuple[Gate, ...]
    way: str  # how the arrays are copied, a `launch_calls.Way`
    # device, host: the first element of a, b, c and d after the launches, and after the copies;
    # `host` is None where nobody knows.
    device: Four
    host: Four | None
    # What a GPU of this architecture returned; None where no recording says it.
    calls: LaunchCalls | None
    filled: float  # what d holds on the device before
    difference: float  # the largest one between what the kernel computed and a sequential version

    @property
    def ran(self) -> bool:
        """Whether the kernels ran."""
        return not self.why

    @property
    def elements(self) -> int:
        """How many elements there are to compute."""
        return int(self.asked.arguments[-1].partition("=")[2])

    @property
    def passes(self) -> bool | None:
        """Whether the check of what the host has finds nothing wrong; None: nobody knows."""
        if self.host is None:
            return None
        if self.proven:
            return self.difference < _ROUNDING
        a, b, c, d = self.host
        return bool(abs(d - (a * b + c)) < _ROUNDING)

    @property
    def proven(self) -> bool:
        """Whether what was checked is what the kernel computed."""
        return self.ran and self.way == "symbol"

    @property
    def copies(self) -> bool:
        """Whether anything is copied."""
        return self.host is not None and self.way != "directed"

    @property
    def launch_result(self) -> str | None:
        """What the launch returned on a GPU; None when no recording says it."""
        found = self.calls and self.calls.launch(
            self.asked.grid, self.asked.block, self.asked.dynamic_shared
        )
        return found.result if found else None

    @property
    def copy_result(self) -> str | None:
        """What the copies returned on a GPU; None when no recording says it."""
        found = self.calls and self.calls.copy(self.way, self.ran)
        return found.result if found else None

    @property
    def logged(self) -> str:
        """What a profiler's log calls the copies; "" where there were none, or no recording."""
        found = self.calls and self.calls.copy(self.way, self.ran)
        return found.kinds[0] if found and found.kinds else ""


def attempt_of(values: Values, runs: Runs) -> Attempt:
    """All that is known of the launch asked for."""
    run = runs[FMA] if FMA in runs else runs[CORRECTED[FMA]]
    arch, asked, way = architecture(run.arch), attempted(values), str(values["copy"])
    why = "" if FMA in runs else refusal(asked, run.arch)
    filled = float("nan") if values["filled"] else 0.0
    a, b, c, d = (run.outputs[name] for name in "abcd")
    firsts = float(a[0]), float(b[0]), float(c[0]), float(d[0])
    device = (0.0, 0.0, 0.0, filled) if why else firsts
    calls = launch_calls.shipped()
    known = calls if calls is not None and calls.capability == arch.version else None
    copied = known.copy(way, not why) if known else None
    # An error leaves the host's arrays as they were; without one nobody says what a wrong
    # direction does.
    directed = _NOTHING if copied and copied.result != SUCCESS else None
    return Attempt(
        asked,
        arch,
        why,
        gates(asked, arch, run.resources.registers if run.resources else None),
        way,
        device,
        {"symbol": device, "default": _NOTHING, "directed": directed}[way],
        known,
        filled,
        float(np.abs(d - sequential(a, b, c)).max()),
    )


def number_of(value: float) -> str:
    """`0.82`, `0`, `NaN`."""
    return "NaN" if value != value else f"{value:.3g}"
