"""Places in shared memory that single lanes name: of their own block or of others of its cluster.

Not for loads and stores, which `Memories.index` serves; for what moves many bytes or is an object,
as an mbarrier.
"""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.ptx.simt.cluster import split
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.spaces import SHARED, WINDOW
from gpuviz.ptx.text.ir import Instruction


def active(g: Group) -> I64:
    """(K,) flat indices of the lanes of a group."""
    if g.mask is None:
        return np.arange(g.layout.size)
    return np.flatnonzero(g.layout.full(g.mask))


def of_lanes(g: Group, value: Array, lane: I64) -> Array:
    """(K,) what lanes hold."""
    if value.size == 1:
        return np.broadcast_to(value.reshape(1), lane.shape)
    return np.asarray(g.layout.full(value).reshape(-1)[lane])


@dataclass(frozen=True, eq=False)
class SharedAddresses:
    """(K,) lanes, the rows of the blocks they name, and offsets in those blocks' shared memory."""

    lane: I64
    row: I64
    offset: I64

    def byte(self, g: Group) -> I64:
        """(K,) where in the bytes of all shared memory of the batch."""
        return self.row * g.machine.memory.shared.stride + self.offset


def _inner(at: Instruction) -> bool:
    """Whether an instruction reaches its own block's memory only; an H200 refuses others' as
    illegal instructions.
    """
    return at.opcode.name in ("mbarrier", "cp") and "shared::cluster" not in at.opcode.mods


def shared_addresses(
    g: Group, address: Array, size: int | I64, align: int, at: Instruction, lane: I64 | None = None
) -> SharedAddresses:
    """What lanes name by shared or generic addresses, of so many bytes each.

    Raises
    ------
    KernelFault : outside of shared memory, of no block of the cluster, of another block than
        one's own where the code does not say `.shared::cluster`, or misaligned
    """
    lane = active(g) if lane is None else lane
    where = of_lanes(g, address, lane).astype(np.int64)
    inside = (where >= SHARED) & (where < SHARED + WINDOW)
    rank, offset = split(np.where(inside, where - SHARED, where))
    machine = g.machine
    cluster, first = machine.execution.program.cluster, machine.layout.first_block
    row = np.broadcast_to(g.layout.row, g.layout.shape).reshape(-1)[lane]
    lost = (rank >= cluster.size) | (where >= SHARED + WINDOW) | (where < 0)
    foreign = np.zeros(len(lane), bool)
    if cluster.size > 1 and not lost.any():
        if _inner(at):
            foreign = rank != cluster.rank(row + first)
        row = cluster.peer(row + first, rank) - first
    bad = lost | foreign | (offset + size > machine.memory.shared.size) | (offset % align != 0)
    if bad.any():
        one = int(np.argmax(bad))
        why = (
            "in another block of the cluster, which only .shared::cluster reaches"
            if foreign[one]
            else f"which is no multiple of {align}"
            if not lost[one] and offset[one] % align
            else f"of {machine.memory.shared.size:,} bytes"
        )
        message = (
            f"illegal shared access at {at.where} ({at.opcode.text}): "
            f"{int(size if isinstance(size, int) else size[one]):,} bytes at "
            f"{int(offset[one]):#x} of shared memory, {why}, {g.who(int(lane[one]))}"
        )
        remedy = "let the bytes lie within the block's shared memory, aligned"
        told = message, at, int(lane[one]), remedy, int(offset[one])
        raise g.fault("memory", "illegal shared access", *told)
    return SharedAddresses(lane, row, offset)
