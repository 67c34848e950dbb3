"""What one device measures: latencies, widths, capacities, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gpuviz.arch import Architecture
from gpuviz.base import records, resources
from gpuviz.base.errors import UnavailableError

KIB = 1024
SECTOR = 32  # bytes
_SCHEDULERS = 4  # of a multiprocessor


@dataclass(frozen=True)
class Device:
    """A device as the model of time needs it. Latencies and intervals in cycles, rates of all of
    L2 and memory in sectors a cycle.
    """

    name: str
    multiprocessors: int
    clock_ghz: float  # under load
    launch_us: float  # what a launch takes beyond the time in which blocks run
    block_interval: float  # from one block's start on a multiprocessor to the next's, all being fed
    block_again: float  # from the end of a block to the start of another in its place
    warp_start: float  # from the start of one warp of a block to the next
    skipped: frozenset[int]  # places in the dealing order that a second, last round leaves out
    branch: float  # what a jump costs its warp beyond what the assembler wrote
    fetch: float  # until a jump's target comes from the multiprocessor's instruction cache
    fetch_line: float  # for each 8 instructions from beyond it
    fetch_far: float  # until the first of those come, the first time
    l1_bytes: int  # L1 and shared memory together
    block_shared: int  # what each block has of shared memory at the least
    carve_outs: tuple[int, ...]  # the sizes shared memory can be given
    l1_latency: float
    shared_latency: float
    constant_latency: float
    queued_latency: float  # of shuffles, special registers
    special_latency: float  # of sines and the like
    l2_latency: float  # of the nearest part of L2
    l2_spread: float  # how much farther the farthest is
    dram_latency: float  # beyond that of L2
    dram_spread: float  # by how much more some sectors take
    line_latency: float  # what each further line of a request adds
    dram_line_latency: float  # what each further line from memory adds
    line_return: float  # of L1 for each wavefront returned
    request: float  # from one load, or access of shared memory, to the next at the least
    store_line: float  # of L1 for each line that is stored to
    queue: float  # of work that may wait before L1
    writes: float  # of writes that may wait before L2
    port: float  # sectors a cycle between a multiprocessor and L2
    l2_read: float
    l2_requests: float  # lines a cycle of which L2 gives some sectors
    l2_fill: float  # that come from memory
    l2_write: float  # that are written whole
    l2_partial: float  # lines a cycle that are written in part
    dram_read: float
    dram_write: float  # where nothing is read
    dram_turn: float  # cycles that a sector written takes more where as many are read
    dirty_bytes: float  # what L2 keeps without writing
    l2_bytes: float  # of what is read and written, what L2 holds of it in the end
    dram_rest: float  # sectors read beside a kernel's data, less those of its code
    atomic_sectors: float
    atomic_packets: float  # of a slice
    swap: float  # a try to swap a word of shared memory
    barrier_latency: float  # from the last warp's arrival until all go on
    warm_bytes: int  # data that is still in L2 when a launch is measured again
    bulk_latency: float  # until a bulk copy asks for its first line
    bulk_line: float  # from line to line of bulk copies at the least
    crowd: float  # by how much later memory brings bulk copies, times u / (1 - u) of its work
    phase_latency: float  # from the end of an mbarrier's phase until who waits for it goes on
    error: tuple[float, float]  # of times: median, 90th percentile in % (`gpuviz verify --time`)
    tensor_error: int  # the largest with tensor cores: rungs 11 to 17 of `ladder`, both sizes
    wgmma_column: float  # that a warpgroup's product keeps a tensor core for each column of B
    wgmma_read: float  # that each row of A and column of B takes to be read
    wgmma_latency: float  # from when the tensor core is free until what was multiplied is there
    tensor_latency: float  # until the product of doubles is there, beyond what keeps the core
    # What was measured for each microsecond modelled, by class (`timing.interval`): of ten launches
    # one took less than the first, one more than the second.
    interval: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    tensor: Mapping[str, float] = field(default_factory=dict)  # a warp's product keeps it, by shape
    busy: Mapping[str, float] = field(default_factory=dict)  # a warp keeps a unit of a scheduler

    def microseconds(self, cycles: float) -> float:
        """What a launch takes whose blocks run for so many cycles."""
        return cycles / self.clock_ghz / 1e3 + self.launch_us

    def memory_work(self, read: float, written: float, active: int) -> tuple[float, float]:
        """Bytes that go to and from memory for so many sectors, and the seconds they take at least
        when `active` multiprocessors work; of what is written L2 keeps what it can.
        """
        left = max(0.0, written - self.dirty_bytes / SECTOR)
        reading = read / min(self.dram_read, active * self.port)
        seconds = (reading + left / self.dram_write) / (self.clock_ghz * 1e9)
        return SECTOR * (read + left), seconds

    def multiply_adds(self, active: int) -> float:
        """Operations of 32-bit multiply-adds a second, of the `active` multiprocessors."""
        return active * _SCHEDULERS * 2 * 32 / self.busy["fma"] * self.clock_ghz * 1e9

    @property
    def far_latency(self) -> float:
        """Cycles until a sector is there that comes from memory, on average."""
        return self.l2_latency + self.dram_latency + (self.l2_spread + self.dram_spread) / 2


def _devices() -> Iterator[tuple[str, Device]]:
    """Each of resources/devices, by the architecture that it stands for."""
    for file in sorted(resources.path("devices").glob("*.toml")):
        plain = resources.table(f"devices/{file.name}")
        yield plain["arch"], records.record(plain, Device, file.name)


DEVICES = MappingProxyType(dict(_devices()))
H200 = DEVICES["sm_90"]


def device_of(arch: Architecture) -> Device:
    """The device that stands for an architecture.

    Raises
    ------
    UnavailableError : none of it has been measured; what is published of it, and what is lacking
    """
    if arch.sm in DEVICES:
        return DEVICES[arch.sm]
    measured = ", ".join(f"{sm} ({device.name})" for sm, device in DEVICES.items())
    raise UnavailableError(
        f"no time is modelled for {arch.sm}: published are its {arch.max_warps} resident warps, "
        f"{arch.registers:,} registers and {arch.shared // KIB} KiB of shared memory a "
        "multiprocessor; not known are its latencies and what its caches and memory give in a "
        f"cycle. Choose an architecture that was measured: {measured}"
    )
