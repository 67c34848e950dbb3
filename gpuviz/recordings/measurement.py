"""What a GPU said of one launch: live, or from a recording. Sizes in bytes, times as named."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gpuviz.arguments.tensor_maps import maps_in
from gpuviz.base.arrays import F64, I64
from gpuviz.words.language import duration, later, tr

_ENOUGH_TIMES = 4
Kind = Literal["live", "recorded", "file"]
WORDS: Mapping[str, str] = {
    "live": later("live"),
    "recorded": later("recorded"),
    "file": later("from a file"),
}
"""The one word of a badge: measured now, in a recording that ships, in one that a file brought."""

OVERHEAD = 3.0  # times an empty kernel's: what takes less is mostly the launching
MOVED = 0.02  # a clock that moved by more than this fraction is worth a word


@dataclass(frozen=True)
class CounterValue:
    """One counter: its value, or why there is none."""

    value: float | None
    why: str = ""

    @property
    def status(self) -> Literal["measured", "unavailable"]:
        """Whether there is a value."""
        return "unavailable" if self.value is None else "measured"


@dataclass(frozen=True)
class DeviceFacts:
    """One GPU. `counters` is "" when hardware counters can be read, else why not."""

    index: int
    name: str
    capability: str
    driver: str
    cuda: str
    multiprocessors: int
    memory: int
    l2: int
    bus: str = ""
    clock_mhz: float = 0.0
    memory_clock_mhz: float = 0.0
    limits: Mapping[str, int] = field(default_factory=dict)
    counters: str = ""

    @property
    def sm(self) -> str:
        """The name compilers use: sm_90."""
        return "sm_" + self.capability.replace(".", "")

    @property
    def known_by(self) -> str:
        """What tells one GPU of a computer from the others."""
        return f"{self.name} {self.bus}"


@dataclass(frozen=True)
class Telemetry:
    """The GPU at one moment; None where NVML does not tell. Clocks in MHz, power in watts."""

    sm_clock: float | None = None
    memory_clock: float | None = None
    temperature: float | None = None
    power: float | None = None
    memory_used: int | None = None
    throttle: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Timing:
    """Durations of launches in microseconds, (N,), in the order launched.

    `mode` says what was in the cache; `clocks` are those of the multiprocessors in MHz, read before
    and after each batch of launches.
    """

    microseconds: F64
    mode: str = "warm"
    clocks: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """The middle duration."""
        return float(np.median(self.microseconds))

    @property
    def minimum(self) -> float:
        """The shortest one."""
        return float(self.microseconds.min())

    @property
    def spread(self) -> float:
        """From the first to the third quartile."""
        low, high = np.percentile(self.microseconds, (25, 75))
        return float(high - low)

    @property
    def clock_note(self) -> str:
        """A sentence when the clock moved while launches were timed, else ""."""
        low, high = min(self.clocks, default=0.0), max(self.clocks, default=0.0)
        if high - low <= MOVED * high:
            return ""
        return f"the clock moved between {low:.0f} and {high:.0f} MHz during the measurement"


@dataclass(frozen=True, eq=False)
class Placement:
    """Where and when each block ran, (B,) each: linear block, multiprocessor, nanoseconds.

    Times count from the start of the first block. They come from the GPU's global timer, which
    ticks at intervals of its own (`tick_ns`; 32 ns on an H200).
    """

    block: I64
    sm: I64
    start_ns: I64
    end_ns: I64

    @property
    def tick_ns(self) -> int:
        """The step all times are multiples of, 0 when there are too few times to tell."""
        times = np.unique(np.concatenate([self.start_ns, self.end_ns]))
        return int(np.gcd.reduce(times)) if len(times) > _ENOUGH_TIMES else 0


@dataclass(frozen=True)
class Peaks:
    """What a plain copy (bytes read and written) and a loop of multiply-adds reached, a second.

    `empty_us` is how many microseconds a kernel that does nothing takes: no launch takes less.
    None where it was not measured, as in recordings of before.
    """

    bytes_per_second: float
    flops_per_second: float
    empty_us: float | None = None


@dataclass(frozen=True, eq=False)
class Measurement:
    """Everything measured of one launch.

    `counters` are by the keys of `gpuviz.memory.counting`, and some of their own (see
    `gpuviz.gpu.counters`). `differences` holds, for each buffer, the largest absolute
    difference between the GPU's result and the emulator's. `resident_blocks` is how many blocks the
    driver says fit on one multiprocessor (cuOccupancyMaxActiveBlocksPerMultiprocessor), `registers`
    how many it gives a thread; None when it was not asked. `file` is the name of the file that says
    all this, "" where gpuviz does.
    """

    source: Literal["live", "recorded"]
    date: str
    device: DeviceFacts
    counters: Mapping[str, CounterValue] = field(default_factory=dict)
    timing: Timing | None = None
    placement: Placement | None = None
    telemetry: Telemetry | None = None
    peaks: Peaks | None = None
    differences: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    resident_blocks: int | None = None
    file: str = ""
    registers: int | None = None

    @property
    def kind(self) -> Kind:
        """What kind of source its numbers have."""
        return "file" if self.file else self.source

    @property
    def badge(self) -> str:
        """As shown beside its numbers: one word, in the language in use."""
        return tr(WORDS[self.kind])

    @property
    def overhead_us(self) -> float | None:
        """What an empty kernel takes, where the launch takes so little more that its time tells
        nothing of the kernel; None where it does, or where that is not known.
        """
        empty = self.peaks.empty_us if self.peaks is not None else None
        if empty is None or self.timing is None or self.timing.median >= OVERHEAD * empty:
            return None
        return empty

    @property
    def overhead(self) -> str:
        """What to know of a time of which much is the launching, in words; "" where it is not."""
        if (empty := self.overhead_us) is None or self.timing is None:
            return ""
        if 2 * empty > self.timing.median:
            return tr("mostly launch overhead ({time})", time=duration(empty))
        return tr("launch overhead: {time} of it", time=duration(empty))

    @property
    def gpu(self) -> str:
        """The GPU's name; of a recording that a file brought also that file's."""
        if not self.file:
            return self.device.name
        return tr("{device}, from {file}", device=self.device.name, file=self.file)

    @property
    def caption(self) -> str:
        """Where the numbers come from, in English."""
        if self.source == "live":
            return f"measured on {self.device.name}, {self.date}"
        name = f", from {self.file}" if self.file else ""
        return f"recorded on {self.device.name}, {self.date}{name}"

    def values(self) -> dict[str, float]:
        """The counters that have a value."""
        return {k: r.value for k, r in self.counters.items() if r.value is not None}


def largest_difference(got: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    """Largest absolute difference; values that are not numbers in both places count as equal."""
    if got.dtype.kind in "iu":
        equal = np.array_equal(got, expected)
        wide = np.abs(got.astype(np.float64) - expected.astype(np.float64))
        return 0.0 if equal else float(wide.max(initial=0.0))
    with np.errstate(invalid="ignore"):
        apart = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    apart[(got == expected) | (np.isnan(got) & np.isnan(expected))] = 0.0
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0))


def without_maps(expected: npt.NDArray[Any], got: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What is expected, but for tensor maps that a kernel of the emulator made in bytes: these are
    as the GPU has them, which encodes them in its own way.
    """
    if expected.dtype != np.uint8 or expected.nbytes != got.nbytes:
        return expected
    taken, theirs = expected.copy(), got.reshape(-1)
    for where in maps_in(expected.tobytes()):
        taken.reshape(-1)[where] = theirs[where]
    return taken


_NEVER = np.iinfo(np.int64).min


def slots_of(placement: Placement) -> I64:
    """(B,) a slot for each block, so that no two share one of a multiprocessor at a time.

    Each takes the first that is free when it begins; a block lasts a nanosecond at least. All
    multiprocessors advance by a block at a time.
    """
    slot = np.zeros(len(placement.block), np.int64)
    sms, owner = np.unique(placement.sm, return_inverse=True)
    end = np.maximum(placement.end_ns, placement.start_ns + 1)
    free = np.full((len(sms), 1), _NEVER)  # when each slot is free again
    for blocks in _nth(owner, np.lexsort((placement.block, placement.start_ns, owner))):
        rows = owner[blocks]
        open_ = free[rows] <= placement.start_ns[blocks, None]
        if not open_.any(axis=1).all():
            free = np.pad(free, ((0, 0), (0, 1)), constant_values=_NEVER)
            open_ = np.pad(open_, ((0, 0), (0, 1)), constant_values=True)
        slot[blocks] = open_.argmax(axis=1)
        free[rows, slot[blocks]] = end[blocks]
    return slot


def _nth(owner: I64, order: I64) -> list[I64]:
    """The first block of each owner, the second of each, and so on, as they are ordered."""
    counts = np.bincount(owner)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    rank = np.arange(len(order)) - first
    by_rank = order[np.argsort(rank, kind="stable")]
    return np.split(by_rank, np.cumsum(np.bincount(rank))[:-1])
