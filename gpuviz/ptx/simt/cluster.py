"""Thread-block clusters: which blocks of a grid are neighbours, and addresses in their memory.

Addresses of shared memory have the rank of their block from bit 24 on, also those that a block
takes of its own variables: on an H200 so, and a matrix descriptor made of one without cutting it
to 18 bits is wrong there in every block but the first (tests/data/cluster_multicast_h200.json).
Who is told of an access hears offsets: in the block's own memory as they are, in that of another
with one more than its rank from bit 24 on.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.traces.geometry import Triple

RANK_BIT = 24
_OFFSET = (1 << RANK_BIT) - 1


@dataclass(frozen=True)
class Cluster:
    """How a grid is cut into clusters of `shape` blocks."""

    grid: Triple
    shape: Triple = (1, 1, 1)

    @property
    def size(self) -> int:
        """Blocks of a cluster."""
        return self.shape[0] * self.shape[1] * self.shape[2]

    @property
    def run(self) -> int:
        """How many blocks in a row, from a multiple of them on, hold whole clusters only."""
        (gx, gy, _), (cx, cy, cz) = self.grid, self.shape
        return gx * gy * cz if cz > 1 else gx * cy if cy > 1 else cx

    def index(self, block: Array) -> tuple[Array, Array, Array]:
        """x, y, z of blocks in the grid."""
        gx, gy, _ = self.grid
        return block % gx, block // gx % gy, block // (gx * gy)

    def within(self, block: Array) -> tuple[Array, Array, Array]:
        """x, y, z of blocks in their clusters."""
        x, y, z = (i % c for i, c in zip(self.index(block), self.shape, strict=True))
        return x, y, z

    def rank(self, block: Array) -> Array:
        """Of blocks in their clusters."""
        (x, y, z), (cx, cy, _) = self.within(block), self.shape
        return np.asarray(x + cx * (y + cy * z))

    def peer(self, block: I64, rank: I64) -> I64:
        """The blocks of some ranks in the clusters of blocks."""
        (gx, gy, _), (cx, cy, _) = self.grid, self.shape
        there = (rank % cx, rank // cx % cy, rank // (cx * cy))
        x, y, z = (
            i - w + t for i, w, t in zip(self.index(block), self.within(block), there, strict=True)
        )
        return np.asarray(x + gx * (y + gy * z))

    def number(self, block: I64) -> I64:
        """Which cluster of the grid blocks are in, x fastest."""
        (gx, gy, _), (cx, cy, cz) = self.grid, self.shape
        x, y, z = self.index(block)
        return np.asarray(x // cx + gx // cx * (y // cy + gy // cy * (z // cz)))

    def block(self, number: I64, rank: I64) -> I64:
        """The blocks of some ranks in some clusters."""
        (gx, gy, _), (cx, cy, cz) = self.grid, self.shape
        wide, high = gx // cx, gy // cy
        x, y, z = number % wide * cx, number // wide % high * cy, number // (wide * high) * cz
        return self.peer(x + gx * (y + gy * z), rank)

    def own(self, offset: int, block: I64, dtype: Any) -> Array:
        """What blocks have as the address of an offset in their own shared memory."""
        return np.asarray((offset + (self.rank(block) << RANK_BIT)).astype(dtype))

    def told(self, address: Array, block: I64) -> Array:
        """Addresses as accesses are told, by blocks."""
        high = address >> address.dtype.type(RANK_BIT)
        offset = address & address.dtype.type(_OFFSET)
        other = high != self.rank(block).astype(address.dtype)
        one, bit = high.dtype.type(1), high.dtype.type(RANK_BIT)
        return np.asarray(np.where(other, offset | (high + one) << bit, offset))


def mapped(address: Array, rank: Array) -> Array:
    """`mapa`: the same place in the shared memory of the block of a rank."""
    high = rank.astype(address.dtype) << address.dtype.type(RANK_BIT)
    window = address & ~address.dtype.type(0xFFFFFFFF) if address.dtype.itemsize == 8 else 0
    return np.asarray(window | high | (address & address.dtype.type(_OFFSET)))


def split(address: I64) -> tuple[I64, I64]:
    """Addresses within the window of shared memory as rank and offset."""
    return address >> RANK_BIT, address & _OFFSET


def split_told(address: I64) -> tuple[I64, I64]:
    """Likewise of addresses as they are told; rank -1: one's own."""
    return (address >> RANK_BIT) - 1, address & _OFFSET
