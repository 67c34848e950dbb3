"""What one device measures: latencies, widths, capacities, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gpuviz.arch import Architecture
from gpuviz.base.errors import UnavailableError

KIB = 1024


@dataclass(frozen=True)
class Device:
    """A device as the model of time needs it. Latencies and intervals in cycles.

    Attributes
    ----------
    multiprocessors, clock_ghz : how many, and how fast under load
    launch_us : what a launch takes beyond the time in which blocks run
    block_interval : from the start of one block on a multiprocessor to the next, while all are fed
    block_again : from the end of a block to the start of another in its place
    warp_start : from the start of one warp of a block to the next
    skipped : places in the dealing order that a second, last round of blocks leaves out
    branch : what a jump costs its warp beyond what the assembler wrote
    fetch, fetch_line, fetch_far : until a jump's target comes from the multiprocessor's instruction
        cache; for each 8 instructions from beyond it; until the first of those come
    l1_bytes, block_shared, carve_outs : L1 and shared memory together; what each block has of it at
        the least; the sizes shared memory can be given
    l1_latency, shared_latency, constant_latency, queued_latency, special_latency : until a result
        is there (`queued`: shuffles, special registers; `special`: sines and the like)
    l2_latency, l2_spread : of the nearest part of L2, and how much farther the farthest is
    dram_latency, dram_spread : beyond that of L2; by how much more some sectors take
    line_latency, dram_line_latency : what each further line of a request adds
    line_return, request, store_line : cycles of L1 for each wavefront returned, from one request to
        the next at the least, and for each line that is stored to
    queue, writes : cycles of work that may wait before L1, and of writes before L2
    port : sectors a cycle between a multiprocessor and L2
    l2_read, l2_requests : sectors a cycle that all of L2 gives, and lines of which it gives some
    l2_fill, l2_write, l2_partial : sectors a cycle that come from memory, are written whole, or in
        part
    dram_read, dram_write, dirty_bytes : sectors a cycle of memory; what L2 keeps without writing
    dram_rest : sectors read from memory beside a kernel's data, less those of its code
    atomic_sectors, atomic_packets : sectors of atomics a cycle, and packets of them at two lines
    barrier_latency : from the last warp's arrival until all go on
    bulk_latency, bulk_line : until a bulk copy asks for its first line, and from line to line
    crowd : by how much later memory brings what bulk copies ask for, times u / (1 - u) of its work
    phase_latency : from the end of an mbarrier's phase until who waits for it goes on
    warm_bytes : data that is still in L2 when a launch is measured again
    error : of times in hundredths, median and 90th percentile (`gpuviz verify --time`)
    tensor_error : likewise the largest of launches with tensor cores: rungs 11 to 17 of the lesson
        `ladder` at both of its sizes, as recorded
    wgmma_column, wgmma_read : cycles that a warpgroup's product keeps the tensor core of a
        scheduler for each column of B; that each row of A and column of B takes to be read
    wgmma_latency : from when the tensor core is free until what was multiplied is there
    tensor_latency : until the product of doubles is there, beyond what keeps the tensor core
    tensor : cycles that a warp's product keeps it, by shape
    busy : cycles that a warp's instruction keeps a unit of a scheduler, by unit
    """

    name: str
    multiprocessors: int
    clock_ghz: float
    launch_us: float
    block_interval: float
    block_again: float
    warp_start: float
    skipped: frozenset[int]
    branch: float
    fetch: float
    fetch_line: float
    fetch_far: float
    l1_bytes: int
    block_shared: int
    carve_outs: tuple[int, ...]
    l1_latency: float
    shared_latency: float
    constant_latency: float
    queued_latency: float
    special_latency: float
    l2_latency: float
    l2_spread: float
    dram_latency: float
    dram_spread: float
    line_latency: float
    dram_line_latency: float
    line_return: float
    request: float
    store_line: float
    queue: float
    writes: float
    port: float
    l2_read: float
    l2_requests: float
    l2_fill: float
    l2_write: float
    l2_partial: float
    dram_read: float
    dram_write: float
    dirty_bytes: float
    dram_rest: float
    atomic_sectors: float
    atomic_packets: float
    barrier_latency: float
    warm_bytes: int
    bulk_latency: float
    bulk_line: float
    crowd: float
    phase_latency: float
    error: tuple[float, float]
    tensor_error: int
    wgmma_column: float
    wgmma_read: float
    wgmma_latency: float
    tensor_latency: float
    tensor: Mapping[str, float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)

    def microseconds(self, cycles: float) -> float:
        """What a launch takes whose blocks run for so many cycles."""
        return cycles / self.clock_ghz / 1e3 + self.launch_us

    @property
    def far_latency(self) -> float:
        """Cycles until a sector is there that comes from memory, on average."""
        return self.l2_latency + self.dram_latency + (self.l2_spread + self.dram_spread) / 2


H200 = Device(
    name="NVIDIA H200",
    multiprocessors=132,
    clock_ghz=1.98,
    launch_us=2.2,
    block_interval=155.0,
    block_again=380.0,
    warp_start=4.0,
    skipped=frozenset({62, 63, 94, 95, 112, 113, 130, 131}),
    branch=7.2,
    fetch=10.0,
    fetch_line=17.8,
    fetch_far=360.0,
    l1_bytes=256 * KIB,
    block_shared=KIB,
    carve_outs=tuple(n * KIB for n in (8, 16, 32, 64, 100, 132, 164, 196, 228)),
    l1_latency=33.0,
    shared_latency=22.0,
    constant_latency=30.0,
    queued_latency=20.0,
    special_latency=18.0,
    l2_latency=217.0,
    l2_spread=180.0,
    dram_latency=280.0,
    dram_spread=200.0,
    line_latency=2.0,
    dram_line_latency=10.0,
    line_return=1.0,
    request=1.185,
    store_line=1.4,
    queue=32.0,
    writes=333.0,
    port=2.0,
    l2_read=155.0,
    l2_requests=85.0,
    l2_fill=145.0,
    l2_write=69.0,
    l2_partial=32.0,
    dram_read=70.0,
    dram_write=28.0,
    dirty_bytes=19e6,
    dram_rest=72.0,
    atomic_sectors=9.2,
    atomic_packets=0.75,
    barrier_latency=20.0,
    warm_bytes=1 << 20,
    bulk_latency=0.0,
    bulk_line=1.0,
    crowd=150.0,
    phase_latency=0.0,
    error=(3.4, 14.1),
    tensor_error=26,
    wgmma_column=0.5,
    wgmma_read=0.25,
    wgmma_latency=45.0,
    tensor_latency=15.0,
    tensor=MappingProxyType(
        {
            "HMMA.16816": 6.125,
            "HMMA.1688": 4.0,
            "HMMA.1688.TF32": 6.125,
            "HMMA.1684.TF32": 4.0,
            "HMMA.SP.16832": 8.5,
            "HMMA.SP.16816": 6.2,
            "IMMA.16832": 6.25,
            "IMMA.16816": 4.06,
            "BMMA.168256": 6.25,
            "DMMA.8x8x4": 16.0,
            "DMMA.16x8x4": 17.0,
            "DMMA.16x8x8": 33.0,
            "DMMA.16x8x16": 67.0,
        }
    ),
    busy=MappingProxyType(
        {
            "none": 0.0,
            "alu": 2.0,
            "fma": 1.0,
            "heavy": 2.0,
            "double": 2.0,
            "special": 4.0,
            "function": 8.0,
            "mio": 1.0,
            "uniform": 2.0,
        }
    ),
)

DEVICES = MappingProxyType({"sm_90": H200})


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
