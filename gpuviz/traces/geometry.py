"""How a launch is shaped: blocks in a grid, threads in a block; a launch as plain values."""

import math
from dataclasses import dataclass, field

from gpuviz.words.language import grouped, trn

Triple = tuple[int, int, int]
LANES = 32


class Geometry:
    """What follows from the `grid` and the `block` of a launch, for each record that has both.

    `size` is how big it is as its lesson says it, "" where none does.
    """

    grid: Triple
    block: Triple
    size: str = ""

    @property
    def blocks(self) -> int:
        """Number of blocks in the grid."""
        return math.prod(self.grid)

    @property
    def threads_per_block(self) -> int:
        """Number of threads in a block."""
        return math.prod(self.block)

    @property
    def warps_per_block(self) -> int:
        """Number of warps in a block, the last one possibly partial."""
        return -(-self.threads_per_block // LANES)

    @property
    def threads(self) -> int:
        """Number of threads in all blocks."""
        return self.blocks * self.threads_per_block

    @property
    def size_words(self) -> str:
        """How big it is, in words: as the lesson has it, or its blocks and threads."""
        return self.size or size_of(self.grid, self.block)


def size_of(grid: Triple, block: Triple) -> str:
    """How big a launch is, in words, where nobody has said what it works on."""
    blocks, threads = math.prod(grid), math.prod(block)
    each = trn("{n} thread", "{n} threads", threads, n=grouped(threads))
    return trn("{n} block of {each}", "{n} blocks of {each}", blocks, n=grouped(blocks), each=each)


@dataclass(frozen=True)
class LaunchSpec(Geometry):
    """One launch of a lesson. `arguments` are SPECs of the command line (`f32[64]=rand`).

    `role` names the run within the lesson ("tiled", "naive"); `kernel` is a file in
    resources/kernels, or the absolute path of a user's own; `defines` are macros with their values,
    `options` those of the compiler, and folders of headers (`-IFOLDER`) of a user's own kernel.
    """

    role: str
    kernel: str
    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    defines: tuple[tuple[str, str], ...] = ()
    dynamic_shared: int = 0
    options: tuple[str, ...] = field(default=(), kw_only=True)
