"""What is known of one compute capability: sizes, limits, and the names of its rules."""

from __future__ import annotations

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
    """What holds from one compute capability on, until the next family begins. Sizes in bytes.

    Attributes
    ----------
    max_grid, max_block : most blocks / threads along x, y, z
    max_threads_per_block : most threads of a block
    register_allocation, register_unit : who is given registers (a block or a warp), in which steps
    doubled_registers : counts of registers a thread for which that step is twice as large
    registers_per_thread : most for one thread
    warp_rounding : a block is given a multiple of this many warps
    sub_partitions : parts of a multiprocessor the registers are split over
    fitting_partitions : a block must fit as well when they are split over so many
    shared_unit, shared_reserved : allocation step, and what the system takes of every block
    float_lanes : lanes that a multiprocessor adds or multiplies 32-bit floats of at once
    warp_requests : requests that one access of a warp is at the least: two half warps on 1.x
    load_caches : ways through the caches that loads can be compiled for (-dlcm), the usual one
        first: L1 in lines and L2 ("ca") or L2 ("cg"); none on 1.x
    coalescing : the rule that makes transactions of addresses, of `gpuviz.memory.coalescing`
    has_sectors : whether these are sectors of 32 bytes (5.0 and later)
    banks, bank_widths, banking : shared-memory banks, the widths of one (the usual one first), and
        the rule of `gpuviz.memory.banks`
    atomics : how shared atomics are carried out, a rule of `gpuviz.memory.atomics`
    """

    max_grid: Dim3
    max_block: Dim3
    max_threads_per_block: int
    register_allocation: Allocation
    register_unit: int
    registers_per_thread: int
    sub_partitions: int
    fitting_partitions: int
    shared_unit: int
    float_lanes: int
    coalescing: Coalescing
    banks: int
    banking: Banking
    atomics: Atomics
    doubled_registers: frozenset[int] = frozenset()
    warp_rounding: int = 1
    shared_reserved: int = 0
    warp_requests: int = 1
    load_caches: tuple[Cache, ...] = ("cg",)
    has_sectors: bool = False
    bank_widths: tuple[int, ...] = (4,)


@dataclass(frozen=True, kw_only=True)
class Architecture(Family):
    """Facts of one compute capability, those of its family among them.

    Attributes
    ----------
    cc : compute capability, (9, 0)
    name : what its chips are called
    warp : lanes in a warp
    line, sector : bytes of a cache line and of a sector
    max_threads, max_blocks : resident on one multiprocessor
    registers, registers_per_block : of a multiprocessor; most for one block
    shared, shared_per_block_optin : of a multiprocessor; most for a block that asks for it
    sources : keys of `SOURCES` the row was taken from
    notes : where documents disagree, and which value was taken
    """

    cc: tuple[int, int]
    name: str
    max_threads: int
    max_blocks: int
    registers: int
    registers_per_block: int
    shared: int
    shared_per_block_optin: int
    sources: tuple[str, ...]
    notes: str = ""
    warp: int = 32
    line: int = 128
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
