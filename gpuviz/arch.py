"""Facts of each compute capability from 1.0 to 12.1, each with its source.

Three tables: `_FAMILIES` holds what all members of a family share, `_MEMBERS` what tells them apart
(one row a compute capability), `_DISPUTES` the values on which documents disagree and the choice
made. Compute capability 10.7 is left out: no released chip has it and its documents disagree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gpuviz.errors import InputError

Coalescing = Literal["ordered", "halves", "lines", "segments", "sectors"]
Banking = Literal["tesla", "fermi", "kepler", "maxwell"]
Dim3 = tuple[int, int, int]

SOURCES = {
    "PG5.5": "CUDA C Programming Guide 5.5, Table 12 and Appendix G",
    "PG12.6": "CUDA C++ Programming Guide 12.6, Table 21 and chapter 19",
    "OCC7": "cuda_occupancy.h of CUDA 7.0",
    "OCC13": "cuda_occupancy.h of CUDA 13.0 to 13.5",
    "XLS": "CUDA Occupancy Calculator 11.1 (spreadsheet)",
    "CCCL": "CCCL arch_traits.h 13.3.5",
    "CALC": "xmartlabs/cuda-calculator, calculator.coffee",
    "HS": "tmcdonell/cuda, Foreign/CUDA/Analysis/Device.chs",
}


@dataclass(frozen=True)
class Architecture:
    """Facts of one compute capability. Sizes in bytes unless the name says otherwise.

    Attributes
    ----------
    cc : compute capability, (9, 0)
    name, chips : family name, and the chips that have this capability
    warp : lanes in a warp
    line, sector, word : bytes of a cache line, a sector, and a shared-memory word
    max_grid, max_block : most blocks / threads along x, y, z
    max_threads_per_block, max_threads, max_warps, max_blocks : per block, and resident on one
        multiprocessor
    registers, registers_per_block, registers_per_thread : of a multiprocessor; most for one block;
        most for one thread
    register_allocation, register_unit : who is given registers (a block or a warp), in which steps
    warp_rounding : a block is given a multiple of this many warps
    sub_partitions : parts of a multiprocessor the registers are split over
    shared, shared_per_block, shared_per_block_optin : of a multiprocessor; most for a block; most
        after asking for it
    shared_unit, shared_reserved : allocation step, and what the system takes of every block
    carveouts_kb : sizes shared memory can be set to, KiB
    banks, bank_widths : shared-memory banks, and the widths of one (two where there are two modes)
    max_grids, max_barriers : resident grids; barriers of a multiprocessor (0: not published)
    clusters : thread block clusters exist
    coalescing, banking : which rules of `gpuviz.memory` hold
    sources : keys of `SOURCES` the row was taken from
    notes : where documents disagree, and which value was taken
    """

    cc: tuple[int, int]
    name: str
    chips: tuple[str, ...]
    max_grid: Dim3
    max_block: Dim3
    max_threads_per_block: int
    max_threads: int
    max_blocks: int
    registers: int
    registers_per_block: int
    registers_per_thread: int
    register_allocation: Literal["block", "warp"]
    register_unit: int
    warp_rounding: int
    sub_partitions: int
    shared: int
    shared_per_block: int
    shared_per_block_optin: int
    shared_unit: int
    shared_reserved: int
    carveouts_kb: tuple[int, ...]
    banks: int
    bank_widths: tuple[int, ...]
    max_grids: int
    max_barriers: int
    clusters: bool
    coalescing: Coalescing
    banking: Banking
    sources: tuple[str, ...]
    notes: str = ""
    warp: int = 32
    line: int = 128
    sector: int = 32
    word: int = 4

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
    def has_sectors(self) -> bool:
        """Whether global memory is counted in sectors of 32-byte (5.0 and later)."""
        return self.coalescing == "sectors"

    def __str__(self) -> str:
        """The name shown to people: Hopper (9.0)."""
        return f"{self.name} ({self.version})"


@dataclass(frozen=True)
class _Family:
    """What the members of a family share; the fields are those of `Architecture`."""

    max_grid: Dim3
    max_block: Dim3
    max_threads_per_block: int
    register_allocation: Literal["block", "warp"]
    warp_rounding: int
    shared_unit: int
    shared_reserved: int
    bank_widths: tuple[int, ...]
    banking: Banking


_GRID_2D, _GRID_3D, _GRID_LONG = (65535, 65535, 1), (65535,) * 3, (2**31 - 1, 65535, 65535)
_BLOCK_512, _BLOCK_1024 = (512, 512, 64), (1024, 1024, 64)

# Grid, block and thread limits: PG5.5 Table 12, PG12.6 Table 21. Banks: their appendices.
_FAMILIES = {
    1: _Family(_GRID_2D, _BLOCK_512, 512, "block", 2, 512, 0, (4,), "tesla"),
    2: _Family(_GRID_3D, _BLOCK_1024, 1024, "warp", 1, 128, 0, (4,), "fermi"),
    3: _Family(_GRID_LONG, _BLOCK_1024, 1024, "warp", 1, 256, 0, (4, 8), "kepler"),
    5: _Family(_GRID_LONG, _BLOCK_1024, 1024, "warp", 1, 256, 0, (4,), "maxwell"),
    8: _Family(_GRID_LONG, _BLOCK_1024, 1024, "warp", 1, 128, 1024, (4,), "maxwell"),
}

# Register columns: of a multiprocessor (KiB registers), of a block (KiB registers), of a thread,
# allocation unit, sub-partitions. Shared: of a multiprocessor, opt-in limit of a block (KiB).
_MEMBERS = """
cc    name      threads blocks | regs block thread unit parts | shared optin | grids bars | sources
1.0   Tesla         768      8 |    8     8    124  256     1 |     16    16 |     1    0 | A
1.1   Tesla         768      8 |    8     8    124  256     1 |     16    16 |     1    0 | A
1.2   Tesla        1024      8 |   16    16    124  512     1 |     16    16 |     1    0 | A
1.3   Tesla        1024      8 |   16    16    124  512     1 |     16    16 |     1    0 | A
2.0   Fermi        1536      8 |   32    32     63   64     2 |     48    48 |    16    0 | B
2.1   Fermi        1536      8 |   32    32     63   64     2 |     48    48 |    16    0 | B
3.0   Kepler       2048     16 |   64    64     63  256     4 |     48    48 |    16    0 | C
3.2   Kepler       2048     16 |   64    32    255  256     4 |     48    48 |     4    0 | D
3.5   Kepler       2048     16 |   64    64    255  256     4 |     48    48 |    32    0 | C
3.7   Kepler       2048     16 |  128    64    255  256     4 |    112    48 |    32    0 | E
5.0   Maxwell      2048     32 |   64    64    255  256     4 |     64    48 |    32    0 | F
5.2   Maxwell      2048     32 |   64    64    255  256     4 |     96    48 |    32    0 | G
5.3   Maxwell      2048     32 |   64    32    255  256     4 |     64    48 |    16    0 | F
6.0   Pascal       2048     32 |   64    64    255  256     2 |     64    48 |   128    0 | F
6.1   Pascal       2048     32 |   64    64    255  256     4 |     96    48 |    32    0 | F
6.2   Pascal       2048     32 |   64    32    255  256     4 |     64    48 |    16    0 | G
7.0   Volta        2048     32 |   64    64    255  256     4 |     96    96 |   128    0 | F
7.2   Volta        2048     32 |   64    64    255  256     4 |     96    96 |    16    0 | H
7.5   Turing       1024     16 |   64    64    255  256     4 |     64    64 |   128    0 | F
8.0   Ampere       2048     32 |   64    64    255  256     4 |    164   163 |   128   64 | F
8.6   Ampere       1536     16 |   64    64    255  256     4 |    100    99 |   128   16 | F
8.7   Ampere       1536     16 |   64    64    255  256     4 |    164   163 |   128   16 | G
8.8   Ampere       1536     16 |   64    64    255  256     4 |    100    99 |   128   16 | I
8.9   Ada          1536     24 |   64    64    255  256     4 |    100    99 |   128   24 | G
9.0   Hopper       2048     32 |   64    64    255  256     4 |    228   227 |   128   64 | G
10.0  Blackwell    2048     32 |   64    64    255  256     4 |    228   227 |   128   64 | J
10.1  Blackwell    1536     24 |   64    64    255  256     4 |    228   227 |   128   24 | K
10.3  Blackwell    2048     32 |   64    64    255  256     4 |    228   227 |   128   32 | I
11.0  Blackwell    1536     24 |   64    64    255  256     4 |    228   227 |   128   24 | I
12.0  Blackwell    1536     24 |   64    64    255  256     4 |    100    99 |   128   24 | J
12.1  Blackwell    1536     24 |   64    64    255  256     4 |    100    99 |   128   24 | I
"""

_CITED = {
    "A": "PG5.5 OCC7 CALC HS",
    "B": "PG5.5 OCC7 XLS",
    "C": "PG5.5 OCC7 OCC13 XLS",
    "D": "HS XLS",
    "E": "OCC13 XLS HS",
    "F": "PG12.6 OCC13 XLS CCCL",
    "G": "PG12.6 OCC13 CCCL",
    "H": "PG12.6 OCC13 HS",
    "I": "OCC13 CCCL",
    "J": "OCC13 CCCL HS",
    "K": "OCC13 HS",
}

_CHIPS = {
    "1.0": "G80",
    "1.1": "G84 G86 G92 G94 G96 G98",
    "1.2": "GT215 GT216 GT218",
    "1.3": "GT200",
    "2.0": "GF100 GF110",
    "2.1": "GF104 GF106 GF108 GF114 GF116 GF117 GF119",
    "3.0": "GK104 GK106 GK107",
    "3.2": "GK20A",
    "3.5": "GK110 GK208",
    "3.7": "GK210",
    "5.0": "GM107 GM108",
    "5.2": "GM200 GM204 GM206",
    "5.3": "GM20B",
    "6.0": "GP100",
    "6.1": "GP102 GP104 GP106 GP107 GP108",
    "6.2": "GP10B",
    "7.0": "GV100",
    "7.2": "GV10B",
    "7.5": "TU102 TU104 TU106 TU116 TU117",
    "8.0": "GA100",
    "8.6": "GA102 GA103 GA104 GA106 GA107",
    "8.7": "GA10B",
    "8.8": "",
    "8.9": "AD102 AD103 AD104 AD106 AD107",
    "9.0": "GH100",
    "10.0": "GB100",
    "10.1": "Thor",
    "10.3": "GB300",
    "11.0": "Thor",
    "12.0": "GB202 GB203 GB205 GB206 GB207",
    "12.1": "GB10",
}

# Keyed by the size of shared memory where the family has only one way to divide it (PG12.6, OCC13).
_CARVEOUTS = {
    "2": "48 16",
    "3": "48 32 16",
    "3.7": "112 96 80",
    "7.0": "0 8 16 32 64 96",
    "7.2": "0 8 16 32 64 96",
    "7.5": "32 64",
    "100": "0 8 16 32 64 100",
    "164": "0 8 16 32 64 100 132 164",
    "228": "0 8 16 32 64 100 132 164 196 228",
}

_TESLA_NOTE = (
    "Registers of a thread: the guide's table says 128, the calculators 124 (taken). Static shared "
    "memory also holds the kernel's parameters and 16 bytes of built-in values."
)
_PARTITIONED = "With -dlcm=ca a block may use only half of a multiprocessor (OCC13): not modelled. "
_DISPUTES = {
    "1.0": _TESLA_NOTE,
    "1.1": _TESLA_NOTE,
    "1.2": _TESLA_NOTE,
    "1.3": _TESLA_NOTE,
    "2.0": "Register unit is 128 for 21, 22, 29, 30, 37, 38, 45 and 46 registers a thread (OCC7).",
    "2.1": "Register unit is 128 for 21, 22, 29, 30, 37, 38, 45 and 46 registers a thread (OCC7).",
    "3.0": "Registers of a thread: OCC13 says 255 for all of 3.x, PG5.5 and the assembler 63.",
    "3.2": "Registers of a block and a thread: HS says 32768 and 255 (taken), XLS 65536 and 63.",
    "5.2": _PARTITIONED + "Registers of a block: PG12.6 and CCCL say 65536 (taken), XLS 32768.",
    "5.3": _PARTITIONED + "Resident grids: PG12.6 says 16 (taken), CCCL 32.",
    "6.0": "OCC13 also demands that a block fits when registers are split in four.",
    "6.1": _PARTITIONED.strip(),
    "6.2": _PARTITIONED + "Registers of a block: PG12.6 says 32768 (taken), XLS 65536.",
    "7.2": "Shared memory of a block: PG12.6 says 96 KiB (taken); HS once listed 48.",
    "8.8": "CCCL: identical to 8.6.",
    "10.0": "A further limit of 128 virtual resources a multiprocessor (OCC13).",
    "10.1": "Renamed to 11.0 by CUDA 13.",
    "10.3": "Barriers: CUDA 13.5's header gives one a block (taken), that of 13.0 two.",
}


def _carveouts(version: str, shared: str) -> tuple[int, ...]:
    """Sizes shared memory can be set to, KiB."""
    keys = (version, version[0] if version[1] == "." else "", shared)
    return tuple(map(int, next((_CARVEOUTS[k] for k in keys if k in _CARVEOUTS), shared).split()))


def _coalescing(cc: tuple[int, int]) -> Coalescing:
    """Which rule turns the lanes' addresses into transactions."""
    if cc >= (5, 0):
        return "sectors"
    if cc >= (2, 0):
        return "segments" if cc >= (3, 0) else "lines"
    return "halves" if cc >= (1, 2) else "ordered"


def _member(row: str) -> Architecture:
    """One row of `_MEMBERS` with what its family shares."""
    version, name, threads, blocks, *rest = row.replace("|", " ").split()
    regs, block, thread, unit, parts, shared, optin, grids, bars, cited = rest
    major, minor = map(int, version.split("."))
    family = _FAMILIES[max(f for f in _FAMILIES if f <= major)]
    return Architecture(
        cc=(major, minor),
        name=name,
        chips=tuple(_CHIPS[version].split()),
        max_threads=int(threads),
        max_blocks=int(blocks),
        registers=int(regs) * 1024,
        registers_per_block=int(block) * 1024,
        registers_per_thread=int(thread),
        register_unit=int(unit),
        sub_partitions=int(parts),
        shared=int(shared) * 1024,
        shared_per_block=min(int(shared), 48) * 1024,
        shared_per_block_optin=int(optin) * 1024,
        carveouts_kb=_carveouts(version, shared),
        banks=16 if major == 1 else 32,
        max_grids=int(grids),
        max_barriers=int(bars),
        clusters=major >= 9,
        coalescing=_coalescing((major, minor)),
        sources=tuple(_CITED[cited].split()),
        notes=_DISPUTES.get(version, ""),
        **vars(family),
    )


ARCHITECTURES = tuple(_member(row) for row in _MEMBERS.strip().splitlines()[1:])
_BY_CC = {a.cc: a for a in ARCHITECTURES}
_NAME = re.compile(r"(?:sm_|compute_)?(\d{1,2}?)\.?(\d)[af]?")


def architecture(name: str) -> Architecture:
    """The facts for "9.0", "90", "sm_90", "sm_90a" or "compute_90".

    Raises
    ------
    InputError : when the name is not one of these, or the capability is not in the table
    """
    match = _NAME.fullmatch(name.strip().lower())
    found = _BY_CC.get((int(match[1]), int(match[2]))) if match else None
    if found is None:
        known = ", ".join(a.version for a in ARCHITECTURES)
        raise InputError(f"architecture {name!r} is not known; choose one of {known}")
    return found
