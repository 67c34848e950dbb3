"""What is known of one compute capability: sizes, limits, and the names of its rules."""

from dataclasses import dataclass
from typing import Literal

Coalescing = Literal["ordered", "halves", "lines", "segments", "sectors"]
Banking = Literal["tesla", "fermi", "kepler", "maxwell"]
Atomics = Literal["locked", "unit", "counted"]
Allocation = Literal["block", "warp"]
Cache = Literal["ca", "cg"]
Transaction = Literal["sector", "line", "segment"]
Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Family:
    """What holds from one compute capability on, until the next family begins. Sizes in bytes."""

    max_grid: Dim3  # most blocks along x, y, z
    max_block: Dim3  # most threads along x, y, z
    max_threads_per_block: int
    register_allocation: Allocation  # who is given registers
    register_unit: int  # in which steps
    registers_per_thread: int  # most for one thread
    sub_partitions: int  # parts of a multiprocessor the registers are split over
    fitting_partitions: int  # a block must fit as well when they are split over so many
    shared_unit: int  # allocation step
    float_lanes: int  # that add or multiply 32-bit floats of a multiprocessor at once
    coalescing: Coalescing  # the rule that makes transactions, of `gpuviz.memory.coalescing`
    banks: int  # of shared memory
    banking: Banking  # the rule of `gpuviz.memory.banks`
    atomics: Atomics  # how shared ones are carried out, a rule of `gpuviz.memory.atomics`
    doubled_registers: frozenset[int] = frozenset()  # a thread: the step is twice as large for them
    warp_rounding: int = 1  # a block is given a multiple of this many warps
    shared_reserved: int = 0  # what the system takes of every block
    warp_requests: int = 1  # that one access of a warp is at the least: two half warps on 1.x
    # Ways through the caches that loads can be compiled for (-dlcm), the usual one first: L1 in
    # lines and L2 ("ca") or L2 ("cg"); none on 1.x.
    load_caches: tuple[Cache, ...] = ("cg",)
    has_sectors: bool = False  # whether transactions are sectors of 32 bytes (5.0 and later)
    bank_widths: tuple[int, ...] = (4,)  # of a bank, the usual one first


@dataclass(frozen=True, kw_only=True)
class Architecture(Family):
    """Facts of one compute capability, those of its family among them."""

    cc: tuple[int, int]  # compute capability, (9, 0)
    name: str  # what its chips are called
    max_threads: int  # resident on one multiprocessor
    max_blocks: int
    registers: int  # of a multiprocessor
    registers_per_block: int  # most for one block
    shared: int  # of a multiprocessor
    shared_per_block_optin: int  # most for a block that asks for it
    sources: tuple[str, ...]  # keys of `SOURCES` the row was taken from
    notes: str = ""  # where documents disagree, and which value was taken
    warp: int = 32  # lanes
    line: int = 128  # bytes of a cache line
    sector: int = 32

    @property
    def max_warps(self) -> int:
        """Warps resident on a multiprocessor."""
        return self.max_threads // self.warp

    @property
    def version(self) -> str:
        """The compute capability as written in documents: 9.0."""
        return f"{self.cc[0]}.{self.cc[1]}"

    @property
    def sm(self) -> str:
        """The name compilers use: sm_90."""
        return f"sm_{self.cc[0]}{self.cc[1]}"

    @property
    def needs_order(self) -> bool:
        """Whether lanes must ask for their words in order to be served together (1.0, 1.1)."""
        return self.coalescing == "ordered"

    @property
    def caches_global(self) -> bool:
        """Whether loads of global and local memory can be served by a cache (2.0 and later)."""
        return bool(self.load_caches)

    @property
    def looks_in_l1(self) -> bool:
        """Whether loads of global memory are looked up in L1 as they are compiled by default: on
        2.x, and from 7.0 on (PG 12.6, 19.6.3); on 5.x and 6.x that is an option.
        """
        return self.cc >= (7, 0) or self.load_caches[:1] == ("ca",)

    def transaction(self, size: int = 32) -> Transaction:
        """What a transaction of so many bytes is called: only 2.x moves whole lines."""
        if self.has_sectors:
            return "sector"
        return "line" if self.coalescing == "lines" and size == self.line else "segment"

    def __str__(self) -> str:
        """The name shown to people: Hopper (9.0)."""
        return f"{self.name} ({self.version})"
