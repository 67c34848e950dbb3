"""What blocks of a kernel take of a multiprocessor, resource by resource, and where cliffs lie."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from gpuviz.arch import ARCHITECTURES, Architecture, architecture
from gpuviz.arch.occupancy import Occupancy, Resource, occupancy
from gpuviz.base.arrays import I64
from gpuviz.words.language import grouped, tr

# The multiprocessor of the tutorials ("CUDA memory considerations", "GPGPU programming: memory and
# data locality"): 1536 threads, 8 blocks, 16384 registers and 16 KB of shared memory.
TEXTBOOK = replace(
    architecture("2.0"),
    name="textbook",
    registers=16384,
    registers_per_block=16384,
    shared=16384,
    shared_per_block_optin=16384,
)
G80, GF100 = architecture("1.0"), architecture("2.0")


def name_of(arch: Architecture) -> str:
    """The multiprocessor in words."""
    return str(arch) if arch in ARCHITECTURES else tr("the tutorials' multiprocessor")


@dataclass(frozen=True)
class Demand:
    """One kernel's demands: threads a block, registers a thread, bytes of shared memory a block."""

    threads: int
    registers: int
    shared: int

    def on(self, arch: Architecture) -> Occupancy:
        """What fits."""
        return occupancy(arch, self.threads, self.registers, self.shared)


@dataclass(frozen=True)
class Slots:
    """One resource of a multiprocessor."""

    id: Resource
    name: str  # in words
    capacity: int  # of the multiprocessor
    need: int  # of one block
    room: int | None  # blocks it has room for, None when the kernel uses none of it


@dataclass(frozen=True, eq=False)
class Fit:
    """Everything that is shown of blocks on a multiprocessor."""

    arch: Architecture
    demand: Demand
    found: Occupancy
    slots: tuple[Slots, ...]

    @property
    def limiters(self) -> tuple[Resource, ...]:
        """The resources that set how many blocks fit; none when there is nothing left to fill."""
        return self.found.limiters

    @property
    def limiter(self) -> Slots:
        """The first of them, warps before others: a full one is no loss."""
        held = [s for s in self.slots if s.id in self.limiters]
        return next((s for s in held if s.id == "warps"), held[0])

    @property
    def percent(self) -> str:
        """Occupancy, `94 %`."""
        return percent(self.found.fraction)


def percent(fraction: float) -> str:
    """`94 %`; what is not quite all never reads as 100 %."""
    shown = round(100 * fraction)
    return f"{min(shown, 99) if fraction < 1 else 100} %"


def names() -> Mapping[Resource, str]:
    """The resources in words."""
    return {
        "blocks": tr("blocks"),
        "warps": tr("warps"),
        "registers": tr("registers"),
        "shared": tr("shared memory"),
    }


def fit_of(arch: Architecture, demand: Demand) -> Fit:
    """One kernel on one multiprocessor."""
    found = demand.on(arch)
    warps = -(-demand.threads // arch.warp)
    sizes: dict[Resource, tuple[int, int]] = {
        "warps": (arch.max_warps, -(-warps // arch.warp_rounding) * arch.warp_rounding),
        "blocks": (arch.max_blocks, 1),
        "registers": (arch.registers, found.allocated_registers),
        "shared": (arch.shared, found.allocated_shared),
    }
    slots = tuple(Slots(key, names()[key], *size, found.limits[key]) for key, size in sizes.items())
    return Fit(arch, demand, found, slots)


def reason(fit: Fit) -> str:
    """Why no further block fits."""
    slots, blocks = fit.limiter, fit.found.blocks
    left = slots.capacity - blocks * slots.need
    if blocks == 0:
        return tr(
            "Not even one block fits: the {what} of this multiprocessor are too few for it.",
            what=slots.name,
        )
    if slots.id == "warps":
        idle = blocks * (slots.need * fit.arch.warp - fit.demand.threads)
        if left == 0 and idle:
            return tr(
                "Every warp slot is taken, but {idle} of {lanes} lanes have no thread.",
                idle=grouped(idle),
                lanes=grouped(fit.arch.max_threads),
            )
        if left == 0:
            return tr("Every warp slot is taken: as many threads as there can be.")
        return tr(
            "One block more needs {need} warps, and {left} slots are left.",
            need=slots.need,
            left=left,
        )
    empty = fit.found.max_warps - fit.found.warps
    if slots.id == "blocks":
        return tr(
            "All {n} block slots are taken, while {empty} warp slots stay empty.",
            n=blocks,
            empty=empty,
        )
    if left >= slots.need:
        return tr(
            "{left} registers are left, but spread over {parts} parts: no block fits.",
            left=grouped(left),
            parts=fit.arch.sub_partitions,
        )
    if slots.id == "shared":
        return tr(
            "One block more needs {need} bytes of shared memory, and {left} are left.",
            need=grouped(slots.need),
            left=grouped(left),
        )
    return tr(
        "One block more needs {need} registers, and {left} are left.",
        need=grouped(slots.need),
        left=grouped(left),
    )


@dataclass(frozen=True, eq=False)
class Sweep:
    """Occupancy over one demand, all else kept."""

    id: Literal["threads", "registers", "shared"]
    edges: I64  # (N + 1,) where stretches of equal occupancy start, and where the last one ends
    fits: tuple[Occupancy, ...]  # (N,) what fits in each
    now: int  # the kernel's own value
    cliff: int | None  # the next value above `now` at which fewer warps fit, None for none

    def at(self, value: int) -> Occupancy:
        """What fits at a value."""
        return self.fits[min(int(np.searchsorted(self.edges, value, "right")), len(self.fits)) - 1]


def sweeps_of(arch: Architecture, demand: Demand) -> tuple[Sweep, ...]:
    """Over block size, registers a thread, and shared memory a block."""
    return (
        _sweep(arch, demand, "threads", 1, arch.max_threads_per_block, arch.warp),
        _sweep(arch, demand, "registers", 1, arch.registers_per_thread),
        _sweep(arch, demand, "shared", 0, arch.shared_per_block_optin),
    )


def _sweep(
    arch: Architecture,
    demand: Demand,
    what: Literal["threads", "registers", "shared"],
    first: int,
    last: int,
    unit: int = 1,
) -> Sweep:
    """Occupancy where a demand goes from `first` to `last`, in steps of `unit` for threads."""
    found: dict[int, Occupancy] = {}

    def fits(value: int) -> Occupancy:
        if value not in found:
            found[value] = replace(demand, **{what: value}).on(arch)
        return found[value]

    if what == "threads":
        starts = list(range(first, last + 1, unit))
    else:
        starts = [first, *_falls(lambda v: fits(v).blocks, first, last)]
    edges, now = np.array([*starts, last + 1]), int(asdict(demand)[what])
    here = demand.on(arch).warps
    cliff = next((v for v in starts if v > now and fits(v).warps < here), None)
    return Sweep(what, edges, tuple(map(fits, starts)), now, cliff)


def _falls(height: Callable[[int], int], low: int, high: int) -> list[int]:
    """Where a function that never rises falls, after `low` and up to `high`: by halving."""
    if height(low) == height(high):
        return []
    if high == low + 1:
        return [high]
    middle = (low + high) // 2
    return _falls(height, low, middle) + _falls(height, middle, high)
