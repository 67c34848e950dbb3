"""A device's facts as one multiprocessor meets them: its share of what all have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.timing import simulation as sim
from gpuviz.timing.device import Device
from gpuviz.timing.schedule import Code, Kind, Pipe
from gpuviz.timing.tensor_cores import busy_cycles

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


def facts(device: Device, launch: Circumstances) -> F64:
    """The numbers that `simulate` wants, for one of the multiprocessors that work."""
    active = min(device.multiprocessors, launch.blocks)
    cold = launch.dram_share > 0
    kept = device.dirty_bytes / max(launch.written_bytes, 1)

    def share(sectors: float) -> float:
        return max(1.0 / device.port, active / sectors)

    named = {
        sim.SLOTS: launch.resident,
        sim.FIRST: 0.0,
        sim.INTERVAL: device.block_interval,
        sim.AGAIN: device.block_again,
        sim.WARP_START: device.warp_start,
        sim.BRANCH: device.branch,
        sim.FETCH: device.fetch,
        sim.FETCH_LINE: device.fetch_line,
        sim.FETCH_FAR: device.fetch_far if cold else device.fetch_line,
        sim.L1_LINES: l1_bytes(device, launch) // _LINE,
        sim.L1_LATENCY: device.l1_latency,
        sim.L2_LATENCY: device.l2_latency,
        sim.L2_SPREAD: device.l2_spread,
        sim.DRAM_LATENCY: device.dram_latency,
        sim.LINE_LATENCY: device.line_latency,
        sim.DRAM_LINE_LATENCY: device.dram_line_latency,
        sim.SHARED_LATENCY: device.shared_latency,
        sim.CONSTANT_LATENCY: device.constant_latency,
        sim.BARRIER_LATENCY: device.barrier_latency,
        sim.RETURN: device.line_return,
        sim.REQUEST: device.request,
        sim.STORE_LINE: device.store_line,
        sim.QUEUE: device.queue,
        sim.WRITES: device.writes,
        sim.L2_READ: share(device.l2_read),
        sim.L2_FILL: active / device.l2_fill,
        sim.DRAM_SPREAD: device.dram_spread,
        sim.L2_REQUEST: active / device.l2_requests,
        sim.L2_WRITE: share(device.l2_write),
        sim.L2_PARTIAL: share(device.l2_partial),
        sim.BULK_LATENCY: device.bulk_latency,
        sim.BULK_LINE: device.bulk_line,
        sim.CROWD: device.crowd,
        sim.PHASE_LATENCY: device.phase_latency,
        sim.DRAM_SECTOR: active / device.dram_read,
        sim.DRAM_SHARE: launch.dram_share,
        sim.DRAM_WRITE: max(0.0, 1.0 - kept) * active / device.dram_write,
        sim.ATOMIC_SECTOR: active / device.atomic_sectors,
        sim.ATOMIC_PACKET: active / (device.atomic_packets * max(launch.atomic_pairs, 1)),
    }
    found = np.zeros(sim.FACTS)
    for place, value in named.items():
        found[place] = value
    return found


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
