"""The facts of every compute capability.

Three tables: `_FAMILIES` holds what changed with a family, `_MEMBERS` what tells its members apart
(one row a compute capability), `_DISPUTES` the values on which documents disagree and the choice
made.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gpuviz.arch.facts import Architecture, Family
from gpuviz.base.errors import InputError

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

# Limits of launches: PG5.5 Table 12, PG12.6 Table 21; memory: their appendices. Lanes of floats:
# "Throughput of Native Arithmetic Instructions" (PG5.5 for 1.x and 2.x, PG12.6 up to 9.0; later
# ones are taken to be as 9.0). Partitions and units of registers: OCC7, OCC13.
_TESLA = Family(
    max_grid=(65535, 65535, 1),
    max_block=(512, 512, 64),
    max_threads_per_block=512,
    register_allocation="block",
    register_unit=256,
    registers_per_thread=124,
    warp_rounding=2,
    sub_partitions=1,
    fitting_partitions=1,
    shared_unit=512,
    float_lanes=8,
    warp_requests=2,
    load_caches=(),
    coalescing="ordered",
    banks=16,
    banking="tesla",
    atomics="locked",
)
_FERMI = Family(
    max_grid=(65535, 65535, 65535),
    max_block=(1024, 1024, 64),
    max_threads_per_block=1024,
    register_allocation="warp",
    register_unit=64,
    doubled_registers=frozenset({21, 22, 29, 30, 37, 38, 45, 46}),
    registers_per_thread=63,
    sub_partitions=2,
    fitting_partitions=2,
    shared_unit=128,
    float_lanes=32,
    load_caches=("ca", "cg"),
    coalescing="lines",
    banks=32,
    banking="fermi",
    atomics="locked",
)
_KEPLER = Family(
    max_grid=(2**31 - 1, 65535, 65535),
    max_block=(1024, 1024, 64),
    max_threads_per_block=1024,
    register_allocation="warp",
    register_unit=256,
    registers_per_thread=63,
    sub_partitions=4,
    fitting_partitions=4,
    shared_unit=256,
    float_lanes=192,
    coalescing="segments",
    banks=32,
    bank_widths=(4, 8),
    banking="kepler",
    atomics="locked",
)
_MAXWELL = replace(
    _KEPLER,
    registers_per_thread=255,
    float_lanes=128,
    coalescing="sectors",
    has_sectors=True,
    bank_widths=(4,),
    banking="maxwell",
    atomics="unit",
)
_AMPERE = replace(
    _MAXWELL, shared_unit=128, shared_reserved=1024, float_lanes=64, atomics="counted"
)
# By the first compute capability that it holds for.
_FAMILIES = {
    (1, 0): _TESLA,
    (1, 2): replace(_TESLA, register_unit=512, coalescing="halves"),
    (2, 0): _FERMI,
    (2, 1): replace(_FERMI, float_lanes=48),
    (3, 0): _KEPLER,
    (3, 2): replace(_KEPLER, registers_per_thread=255),
    (3, 5): replace(_KEPLER, registers_per_thread=255, load_caches=("cg", "ca")),
    (5, 0): _MAXWELL,
    (6, 0): replace(_MAXWELL, sub_partitions=2, float_lanes=64),
    (6, 1): _MAXWELL,
    (7, 0): replace(_MAXWELL, float_lanes=64),
    (8, 0): _AMPERE,
    (8, 6): replace(_AMPERE, float_lanes=128),
}

# Resident threads and blocks. Registers of a multiprocessor and most for a block, in units of 1024.
# Shared memory of a multiprocessor and most for a block that asks, KiB.
_MEMBERS = """
cc    name      threads blocks | regs block | shared optin | sources
1.0   Tesla         768      8 |    8     8 |     16    16 | PG5.5 OCC7 CALC HS
1.1   Tesla         768      8 |    8     8 |     16    16 | PG5.5 OCC7 CALC HS
1.2   Tesla        1024      8 |   16    16 |     16    16 | PG5.5 OCC7 CALC HS
1.3   Tesla        1024      8 |   16    16 |     16    16 | PG5.5 OCC7 CALC HS
2.0   Fermi        1536      8 |   32    32 |     48    48 | PG5.5 OCC7 XLS
2.1   Fermi        1536      8 |   32    32 |     48    48 | PG5.5 OCC7 XLS
3.0   Kepler       2048     16 |   64    64 |     48    48 | PG5.5 OCC7 OCC13 XLS
3.2   Kepler       2048     16 |   64    32 |     48    48 | HS XLS
3.5   Kepler       2048     16 |   64    64 |     48    48 | PG5.5 OCC7 OCC13 XLS
3.7   Kepler       2048     16 |  128    64 |    112    48 | OCC13 XLS HS
5.0   Maxwell      2048     32 |   64    64 |     64    48 | PG12.6 OCC13 XLS CCCL
5.2   Maxwell      2048     32 |   64    64 |     96    48 | PG12.6 OCC13 CCCL
5.3   Maxwell      2048     32 |   64    32 |     64    48 | PG12.6 OCC13 XLS CCCL
6.0   Pascal       2048     32 |   64    64 |     64    48 | PG12.6 OCC13 XLS CCCL
6.1   Pascal       2048     32 |   64    64 |     96    48 | PG12.6 OCC13 XLS CCCL
6.2   Pascal       2048     32 |   64    32 |     64    48 | PG12.6 OCC13 CCCL
7.0   Volta        2048     32 |   64    64 |     96    96 | PG12.6 OCC13 XLS CCCL
7.2   Volta        2048     32 |   64    64 |     96    96 | PG12.6 OCC13 HS
7.5   Turing       1024     16 |   64    64 |     64    64 | PG12.6 OCC13 XLS CCCL
8.0   Ampere       2048     32 |   64    64 |    164   163 | PG12.6 OCC13 XLS CCCL
8.6   Ampere       1536     16 |   64    64 |    100    99 | PG12.6 OCC13 XLS CCCL
8.7   Ampere       1536     16 |   64    64 |    164   163 | PG12.6 OCC13 CCCL
8.8   Ampere       1536     16 |   64    64 |    100    99 | OCC13 CCCL
8.9   Ada          1536     24 |   64    64 |    100    99 | PG12.6 OCC13 CCCL
9.0   Hopper       2048     32 |   64    64 |    228   227 | PG12.6 OCC13 CCCL
10.0  Blackwell    2048     32 |   64    64 |    228   227 | OCC13 CCCL HS
10.1  Blackwell    1536     24 |   64    64 |    228   227 | OCC13 HS
10.3  Blackwell    2048     32 |   64    64 |    228   227 | OCC13 CCCL
10.7  Rubin        1024     16 |   64    64 |    228   227 | OCC13 CCCL
11.0  Blackwell    1536     24 |   64    64 |    228   227 | OCC13 CCCL
12.0  Blackwell    1536     24 |   64    64 |    100    99 | OCC13 CCCL HS
12.1  Blackwell    1536     24 |   64    64 |    100    99 | OCC13 CCCL
"""

_TESLA_NOTE = (
    "Registers of a thread: the guide's table says 128, the calculators 124 (taken). Static shared "
    "memory also holds the kernel's parameters and 16 bytes of built-in values."
)
_FERMI_NOTE = "The register unit is doubled for some counts of registers a thread (OCC7)."
_PARTITIONED = "With -dlcm=ca a block may use only half of a multiprocessor (OCC13): not modelled. "
_DISPUTES = {
    "1.0": _TESLA_NOTE,
    "1.1": _TESLA_NOTE,
    "1.2": _TESLA_NOTE,
    "1.3": _TESLA_NOTE,
    "2.0": _FERMI_NOTE,
    "2.1": _FERMI_NOTE,
    "3.0": "Registers of a thread: OCC13 says 255 for all of 3.x, PG5.5 and the assembler 63.",
    "3.2": "Registers of a block and a thread: HS says 32768 and 255 (taken), XLS 65536 and 63.",
    "5.2": _PARTITIONED + "Registers of a block: PG12.6 and CCCL say 65536 (taken), XLS 32768.",
    "5.3": _PARTITIONED.strip(),
    "6.0": "OCC13 also demands that a block fits when registers are split in four.",
    "6.1": _PARTITIONED.strip(),
    "6.2": _PARTITIONED + "Registers of a block: PG12.6 says 32768 (taken), XLS 65536.",
    "7.2": "Shared memory of a block: PG12.6 says 96 KiB (taken); HS once listed 48.",
    "8.8": "CCCL: identical to 8.6.",
    "10.0": "A further limit of 128 virtual resources a multiprocessor (OCC13).",
    "10.1": "Renamed to 11.0 by CUDA 13.",
    "10.7": "Shared memory: CCCL says as 10.0, 228 KiB (taken); OCC13 lets it be set to 328 KiB, "
    "and the release notes of CUTLASS 4.8 speak of allocations of 328 KB on Rubin.",
}


def _member(row: str) -> Architecture:
    """One row of `_MEMBERS` with what its family shares."""
    version, name, threads, blocks, regs, block, shared, optin, *cited = row.replace(
        "|", " "
    ).split()
    major, minor = map(int, version.split("."))
    family = _FAMILIES[max(first for first in _FAMILIES if first <= (major, minor))]
    return Architecture(
        cc=(major, minor),
        name=name,
        max_threads=int(threads),
        max_blocks=int(blocks),
        registers=int(regs) * 1024,
        registers_per_block=int(block) * 1024,
        shared=int(shared) * 1024,
        shared_per_block_optin=int(optin) * 1024,
        sources=tuple(cited),
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
