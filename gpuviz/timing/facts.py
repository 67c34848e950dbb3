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
    `written_bytes` go to global memory, of `used_bytes` that are read or written; atomics hit
    `atomic_slices` of L2; memory is read for `dram_share` of what a multiprocessor touches first
    (0: all is in L2).
    """

    blocks: int
    resident: int
    shared: int
    written_bytes: int
    used_bytes: int
    atomic_slices: int
    dram_share: float


@dataclass(frozen=True, eq=False)
class Facts:
    """The numbers that `simulate` wants, in cycles: of a device, and of the share that one of the
    multiprocessors that work has of it.
    """

    device: Device
    slots: int  # blocks that reside at once
    l1_lines: int  # capacity
    fetch_far: float  # cycles until the first of them comes, the first time
    l2_read: float  # cycles a sector, at this multiprocessor's share of what all can have
    l2_request: float  # cycles of a line at the least, of which sectors are read
    l2_fill: float  # cycles of L2 for each sector that comes from memory
    l2_write: float
    l2_partial: float  # of a line at the least, of which sectors are written in part
    dram_sector: float  # cycles a sector
    dram_share: float  # sectors memory is read for, of those this multiprocessor touches first
    dram_write: float  # cycles of memory for each sector written, where L2 cannot keep it
    atomic_sector: float  # cycles of L2 for each sector of an atomic
    atomic_packet: float  # cycles of L2 for half a packet, where few slices share the work
    busy: F64  # (I,) cycles that each instruction keeps its unit
    latency: F64  # (I,) cycles until the result is there that a scoreboard watches


def facts(device: Device, launch: Circumstances, code: Code) -> Facts:
    """What `simulate` wants to know of a device."""
    active = min(device.multiprocessors, launch.blocks)
    cold = launch.dram_share > 0
    written, read = launch.written_bytes, launch.used_bytes - launch.written_bytes
    held = min(device.dirty_bytes, device.l2_bytes * written / max(launch.used_bytes, 1))
    out = max(0.0, written - held)  # to memory; the rest is in L2 when the launch has ended
    turning = min(1.0, read / max(out, 1.0)) * device.dram_turn

    def share(sectors: float) -> float:
        return max(1.0 / device.port, active / sectors)

    return Facts(
        device,
        slots=launch.resident,
        l1_lines=l1_bytes(device, launch) // _LINE,
        fetch_far=device.fetch_far if cold else device.fetch_line,
        l2_read=share(device.l2_read),
        l2_request=active / device.l2_requests,
        l2_fill=active / device.l2_fill,
        l2_write=share(device.l2_write),
        l2_partial=active / device.l2_partial,
        dram_sector=active / device.dram_read,
        dram_share=launch.dram_share,
        dram_write=out / max(written, 1) * active * (1.0 / device.dram_write + turning),
        atomic_sector=active / device.atomic_sectors,
        atomic_packet=active / (2.0 * device.atomic_packets * max(launch.atomic_slices, 1)),
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
