"""Thread-block clusters: which blocks of a grid are neighbours, and addresses in their memory.

An address of `shared::cluster` has one more than the rank of its block from bit 24 on; without
one, it lies in the block's own shared memory, as addresses of `shared::cta` do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64, Array

RANK_BIT = 24
_OFFSET = (1 << RANK_BIT) - 1
Geometry = tuple[int, int, int]


@dataclass(frozen=True)
class Cluster:
    """How a grid is cut into clusters of `shape` blocks."""

    grid: Geometry
    shape: Geometry = (1, 1, 1)

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


def mapped(address: Array, rank: Array) -> Array:
    """`mapa`: the same place in the shared memory of the block of a rank."""
    high = (rank.astype(address.dtype) + address.dtype.type(1)) << address.dtype.type(RANK_BIT)
    window = address & ~address.dtype.type(0xFFFFFFFF) if address.dtype.itemsize == 8 else 0
    return np.asarray(window | high | (address & address.dtype.type(_OFFSET)))


def split(offset: I64) -> tuple[I64, I64]:
    """Offsets within the window of shared memory as rank (-1: one's own) and offset."""
    return (offset >> RANK_BIT) - 1, offset & _OFFSET
