"""The four warps of a warpgroup that multiply together, and what they read of shared memory.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode.matrices import warp_rows
from gpuviz.ptx.decode.operands import Reader, Site
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.shared_matrix import PIECE, Descriptor
from gpuviz.ptx.text.ir import Instruction
from gpuviz.traces.observe import Place, Transfer
from gpuviz.traces.trace import LANES

WARPS = 4  # of a warpgroup


@dataclass(frozen=True)
class Warpgroups:
    """The warpgroups of a group of lanes: rows of its warps, (G, 4), and their blocks (G,)."""

    rows: I64
    block: I64
    height: int

    def gather(self, g: Group, readers: tuple[Reader, ...]) -> Array:
        """(G * 4, 32, registers)."""
        return np.stack([warp_rows(g, read(g)) for read in readers], 2)[self.rows.reshape(-1)]

    def first(self, g: Group, read: Reader) -> Array:
        """(G,) what the first lane has."""
        return np.asarray(warp_rows(g, read(g))[self.rows[:, 0], 0])

    def scatter(self, g: Group, held: Array) -> Array:
        """(G * 4, 32) to the values of the group."""
        rows = np.zeros((self.height, LANES), held.dtype)
        rows[self.rows.reshape(-1)] = held
        return g.layout.from_warp_rows(rows)


def warpgroups(g: Group, at: Instruction) -> Warpgroups:
    """The warpgroups that execute an instruction together; KernelFault unless they are whole."""
    layout, per_block = g.layout, g.layout.threads // LANES
    active = None if g.mask is None else warp_rows(g, g.mask)
    present = layout.present
    if present is not None:
        active = present if active is None else active & present
    numbers = layout.warp_numbers()
    rows = np.arange(len(numbers)) if active is None else np.flatnonzero(active.any(axis=1))
    warp = numbers[rows] % per_block
    whole = active is None or bool(active[rows].all())
    if not whole or len(rows) % WARPS or (warp % WARPS != np.arange(len(rows)) % WARPS).any():
        raise KernelFault(
            f"{at.opcode.text} ({at.where}) is executed by part of a warpgroup only, "
            f"{g.who(g.first_active())}: all 128 threads of four neighbouring warps, the first of "
            "them a multiple of 4, have to come to it together"
        )
    found = rows.reshape(-1, WARPS)
    return Warpgroups(found, numbers[found[:, 0]] // per_block, len(numbers))


def together(site: Site) -> Callable[[Group], bool]:
    """A check that no running lane of the warpgroups of a group is elsewhere."""

    def check(g: Group) -> bool:
        layout, running = g.layout, g.machine.running
        per_block = layout.threads // LANES
        active = layout.present if g.mask is None else warp_rows(g, g.mask)
        numbers = layout.warp_numbers()
        here = np.zeros((layout.blocks * per_block, LANES), bool)
        here[numbers] = True if active is None else active
        alive = running.rows(g.machine.layout)
        group = (
            np.arange(len(here)) // per_block * per_block + np.arange(len(here)) % per_block // 4
        )
        missing = (alive & ~here).any(axis=1)
        return not np.isin(group[missing], group[here.any(axis=1)]).any()

    return check


@dataclass(frozen=True)
class InShared:
    """A or B where a descriptor says: `lines` are m or n, `inner` the elements of k that are held,
    `turned` when k goes across lines.
    """

    read: Reader
    lines: int
    inner: int
    bits: int
    turned: bool
    at: Instruction

    def __call__(self, g: Group, groups: Warpgroups) -> Array:
        """(G, m or n, k) the bits of its elements."""
        described = Descriptor.of(groups.first(g, self.read))
        if self.turned:
            address = described.pieces(
                self.lines * self.bits // 8 // PIECE, self.inner, along=False
            )
        else:
            address = described.pieces(self.lines, self.inner * self.bits // 8 // PIECE, along=True)
        raw = _pieces_at(g, groups, address, self.at)
        if self.bits == 1:
            return np.unpackbits(raw, axis=2, bitorder="little")
        lines = raw.view(f"u{self.bits // 8}")
        return lines.transpose(0, 2, 1) if self.turned else lines


def _pieces_at(g: Group, groups: Warpgroups, address: I64, at: Instruction) -> Array:
    """(G, lines, bytes) what lies at addresses (G, lines, pieces) of shared memory."""
    shared = g.machine.memory.shared
    if address.size and int(address.max()) + PIECE > shared.size:
        rank = "; in a cluster addresses have the block's rank from bit 24 on: keep & 0x3ffff"
        clusters = g.machine.execution.program.cluster.size > 1
        raise KernelFault(
            f"{at.opcode.text} ({at.where}) reads {PIECE} bytes at {int(address.max()):#x} of "
            f"shared memory, which has {shared.size:,} bytes, {g.who(g.first_active())}: look at "
            f"the strides of the matrix descriptor{rank * clusters}"
        )
    if g.machine.told.transfer:
        _tell(g, groups, address, at)
    cells = shared.cells.of(8)
    index = (address >> 3) + (groups.block * (shared.stride >> 3))[:, None, None]
    words = np.stack([cells.take(index), cells.take(index + 1)], axis=3)
    return np.ascontiguousarray(words).view(np.uint8).reshape(*address.shape[:2], -1)


def _tell(g: Group, groups: Warpgroups, address: I64, at: Instruction) -> None:
    """Tell sinks what a warpgroup reads, in the name of its first thread."""
    layout, each = g.layout, address[0].size
    first = layout.warp_numbers()[groups.rows[:, 0]] * LANES + layout.first_block * layout.threads
    none = np.full(address.size, -1)
    read = Transfer(
        Place.of(at),
        at.opcode.text,
        "product",
        first.repeat(each),
        (groups.block + layout.first_block).repeat(each),
        address.reshape(-1),
        np.full(address.size, PIECE),
        none,
        none,
    )
    for hear in g.machine.told.transfer:
        hear(read)
