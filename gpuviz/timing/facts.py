"""A device's facts as one multiprocessor meets them: its share of what all have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.timing.device import Device
from gpuviz.timing.schedule import Code, Kind, Pipe, busy_cycles

_LINE = 128


@dataclass(frozen=True)
class Circumstances:
    """Of a launch: how many blocks it has, what of it matters to the caches.

    `resident` blocks with `shared` bytes each (0: none) are on a multiprocessor at once;
    `written_bytes` go to global memory; atomics hit `atomic_pairs` of lines; memory is read for
    `dram_share` of what a multiprocessor touches first (0: all is in L2).
    """

    blocks: int
    resident: int
    shared: int
    written_bytes: int
    atomic_pairs: int
    dram_share: float


@dataclass(frozen=True, eq=False)
class Facts:
    """The numbers that `simulate` wants, for one of the multiprocessors that work."""

    slots: int  # blocks that reside at once
    l1_lines: int  # capacity
    block_interval: float  # cycles from the start of one block here to that of the next
    block_again: float  # cycles from the end of a block to the start of another in its place
    warp_start: float  # cycles from the start of one warp of a block to that of the next
    branch: float  # cycles that a jump costs its warp beyond what the assembler wrote
    fetch: float  # cycles until a jump's target comes from the instruction cache
    fetch_line: float  # cycles for each line of instructions that comes from beyond it
    fetch_far: float  # cycles until the first of them comes, the first time
    l1_latency: float
    l2_latency: float
    l2_spread: float  # cycles by which the farthest part of L2 is farther than the nearest
    dram_latency: float  # beyond that of L2
    dram_spread: float  # cycles by which a sector from memory may be late
    line_latency: float  # cycles that a request's later lines take longer
    dram_line_latency: float  # cycles that each further line from memory takes longer
    shared_latency: float
    constant_latency: float
    barrier_latency: float
    line_return: float  # cycles that a line takes on its way from L1 to the registers
    request: float  # cycles from one load, or access of shared memory, to the next at the least
    store_line: float  # cycles of the first stage of L1 for each line that is stored to
    queue: float  # cycles of work that may wait before L1
    writes: float  # cycles of writes that may wait before L2
    bulk_latency: float  # cycles until a bulk copy asks for its first line
    bulk_line: float  # cycles from one line of bulk copies to the next at the least
    crowd: float  # cycles that bulk copies are late by, times u / (1 - u) of memory's work
    phase_latency: float  # cycles from the end of an mbarrier's phase until who waits goes on
    l2_read: float  # cycles a sector, at this multiprocessor's share of what all can have
    l2_request: float  # cycles of a line at the least, of which sectors are read
    l2_fill: float  # cycles of L2 for each sector that comes from memory
    l2_write: float
    l2_partial: float  # of a sector that is written in part
    dram_sector: float  # cycles a sector
    dram_share: float  # sectors memory is read for, of those this multiprocessor touches first
    dram_write: float  # cycles of memory for each sector written, where L2 cannot keep it
    atomic_sector: float  # cycles of L2 for each sector of an atomic
    atomic_packet: float  # cycles of L2 for each packet, where few pairs of lines share the work
    busy: F64  # (I,) cycles that each instruction keeps its unit
    latency: F64  # (I,) cycles until the result is there that a scoreboard watches


_AS_MEASURED = (
    *("block_interval", "block_again", "warp_start", "branch", "fetch", "fetch_line"),
    *("l1_latency", "l2_latency", "l2_spread", "dram_latency", "dram_spread", "line_latency"),
    *("dram_line_latency", "shared_latency", "constant_latency", "barrier_latency"),
    *("line_return", "request", "store_line", "queue", "writes", "bulk_latency", "bulk_line"),
    *("crowd", "phase_latency"),
)


def facts(device: Device, launch: Circumstances, code: Code) -> Facts:
    """What `simulate` wants to know of a device."""
    active = min(device.multiprocessors, launch.blocks)
    cold = launch.dram_share > 0
    kept = device.dirty_bytes / max(launch.written_bytes, 1)

    def share(sectors: float) -> float:
        return max(1.0 / device.port, active / sectors)

    return Facts(
        **{name: getattr(device, name) for name in _AS_MEASURED},
        slots=launch.resident,
        l1_lines=l1_bytes(device, launch) // _LINE,
        fetch_far=device.fetch_far if cold else device.fetch_line,
        l2_read=share(device.l2_read),
        l2_request=active / device.l2_requests,
        l2_fill=active / device.l2_fill,
        l2_write=share(device.l2_write),
        l2_partial=share(device.l2_partial),
        dram_sector=active / device.dram_read,
        dram_share=launch.dram_share,
        dram_write=max(0.0, 1.0 - kept) * active / device.dram_write,
        atomic_sector=active / device.atomic_sectors,
        atomic_packet=active / (device.atomic_packets * max(launch.atomic_pairs, 1)),
        busy=busy(device, code),
        latency=latency(device, code),
    )


def l1_bytes(device: Device, launch: Circumstances) -> int:
    """What shared memory leaves to L1: it is given the least of its sizes that holds the blocks."""
    wanted = max(launch.shared, device.block_shared) * launch.resident
    carved = [size for size in device.carve_outs if size >= wanted] or [device.carve_outs[-1]]
    return device.l1_bytes - carved[0]


def busy(device: Device, code: Code) -> F64:
    """(I,) cycles that each instruction keeps its unit."""
    found = np.array(
        [_busy(device, *of) for of in zip(code.pipe.tolist(), code.shape, strict=True)]
    )
    return np.asarray(np.where(code.special, device.busy["function"], found), np.float64)


def _busy(device: Device, pipe: int, shape: str) -> float:
    cycles = busy_cycles(shape, device) if shape else device.busy[Pipe(pipe).name.lower()]
    assert cycles is not None, shape  # who lets a launch be modelled asks `not_measured` before
    return cycles


def latency(device: Device, code: Code) -> F64:
    """(I,) cycles until the result of an instruction that a scoreboard watches is there."""
    found = np.where(code.pipe == Pipe.SPECIAL, device.special_latency, device.queued_latency)
    products = code.pipe == Pipe.TENSOR
    found = np.where(products, busy(device, code) + device.tensor_latency, found)
    found = np.where(code.kind == Kind.PRODUCT, device.wgmma_latency, found)
    return np.asarray(found, np.float64)
