"""The warps and bytes of clusters, counted as if each cluster were one block.

Warps of its blocks come one block after the other, in whole warpgroups, and so does their shared
memory.
"""

from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.simt.cluster import Cluster
from gpuviz.traces.observe import Values, Warps
from gpuviz.traces.trace import LANES, Launch

_GROUP = 4  # warps of a warpgroup


@dataclass(frozen=True, eq=False)
class Numbers:
    """Where warps and bytes of blocks are in their clusters: `warps` and `stride` of each block."""

    cluster: Cluster
    launch: Launch
    stride: int

    @property
    def warps(self) -> int:
        """Of a block, in whole warpgroups."""
        return -(-self.launch.warps_per_block // _GROUP) * _GROUP

    @property
    def per_cluster(self) -> int:
        """Warps."""
        return self.warps * self.cluster.size

    def as_blocks(self) -> Launch:
        """A launch whose blocks are the clusters."""
        clusters = self.launch.blocks // self.cluster.size
        return replace(self.launch, grid=(clusters, 1, 1), block=(self.per_cluster * LANES, 1, 1))

    def warp(self, warp: I64) -> I64:
        """Warps of the launch, as they are counted over clusters."""
        block, within = np.divmod(warp, self.launch.warps_per_block)
        first = self.cluster.number(block) * self.cluster.size + self.cluster.rank(block)
        return np.asarray(first * self.warps + within)

    def thread(self, thread: I64) -> I64:
        """Likewise of threads."""
        return self.warp(thread // LANES) * LANES + thread % LANES

    def place(self, offset: I64, block: I64) -> I64:
        """Offsets in the shared memory of blocks, in that of their clusters."""
        return np.asarray(self.cluster.rank(block) * self.stride + offset)

    def block(self, cluster: int, thread: int) -> int:
        """The block that a thread of a cluster belongs to."""
        rank = thread // (self.warps * LANES)
        return int(self.cluster.block(np.array(cluster), np.array(rank)))

    def back(self, warp: I64) -> I64:
        """Warps counted over clusters, as those of the launch."""
        first, within = np.divmod(warp, self.warps)
        number, rank = np.divmod(first, self.cluster.size)
        return np.asarray(self.cluster.block(number, rank) * self.launch.warps_per_block + within)


@dataclass(frozen=True, eq=False)
class Rows:
    """Lanes of warps that are counted over clusters."""

    warps_of: Warps
    active: Bool | None
    threads: int = 0
    warps: int = 0

    def rows(self) -> tuple[Warps, Bool | None]:
        """The warps, and which of their lanes."""
        return self.warps_of, self.active


@dataclass(frozen=True, eq=False)
class ClusterStores:
    """What warps store that are counted over clusters."""

    numbers: Numbers
    values: Values

    def written(self, warps: I64) -> tuple[Array, ...]:
        """What they write."""
        return self.values.written(self.numbers.back(warps))

    def before(self, warps: I64) -> tuple[Array, ...]:
        """What is there until then."""
        return self.values.before(self.numbers.back(warps))
