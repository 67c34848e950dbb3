"""How many blocks of a kernel reside on one multiprocessor, and what keeps more from it.

The formulas are those of NVIDIA's occupancy calculator and its header cuda_occupancy.h (CUDA 7.0 up
to 3.0, 13.x for all later). Not modelled: barriers and virtual resources (never the limit of a
kernel with one barrier a block), partitioned global caching (5.2, 5.3, 6.1, 6.2 with -dlcm=ca),
and clusters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from gpuviz.arch import Architecture
from gpuviz.arch.facts import Allocation
from gpuviz.base.errors import InputError

Resource = Literal["blocks", "warps", "registers", "shared"]


@dataclass(frozen=True)
class Occupancy:
    """What fits on one multiprocessor."""

    blocks: int  # resident ones
    warps: int
    threads: int
    max_warps: int  # that the multiprocessor could hold
    limits: Mapping[Resource, int | None]  # blocks that each allows; None where none of it is used
    limiters: tuple[Resource, ...]  # the resources that set `blocks`, several when they agree
    allocated_registers: int  # that one block is given
    allocated_shared: int  # bytes that one block is given

    @property
    def fraction(self) -> float:
        """Resident warps over the most there could be, 0 to 1."""
        return self.warps / self.max_warps


def occupancy(
    arch: Architecture, threads: int, registers: int, shared: int = 0, capacity: int | None = None
) -> Occupancy:
    """Occupancy of a kernel: threads a block, registers a thread, bytes of shared memory a block.

    `shared` is static and dynamic memory together; on 1.x the static part includes parameters and
    16 bytes of built-in values. `capacity` is the size shared memory is set to, in bytes (the
    largest, when left out): Nsight Compute computes with the actual one.

    Raises
    ------
    InputError : without threads, or with a negative count of registers or bytes
    """
    if threads < 1 or registers < 0 or shared < 0:
        raise InputError(
            f"a block of {threads} threads with {registers} registers each and {shared} bytes of "
            "shared memory cannot be; give at least 1 thread, and nothing negative"
        )
    warps = _up(_ceil(threads, arch.warp), arch.warp_rounding)
    given = _up(shared + arch.shared_reserved, arch.shared_unit)
    of_registers, by_registers = _REGISTERS[arch.register_allocation](arch, warps, registers)
    limits: dict[Resource, int | None] = {
        "blocks": arch.max_blocks,
        "warps": arch.max_warps // warps if threads <= arch.max_threads_per_block else 0,
        "registers": by_registers if registers else None,
        "shared": _by_shared(arch, shared, given, capacity),
    }
    return _fit(arch, threads, limits, of_registers, given)


def waves(grid: int, blocks: int, multiprocessors: int) -> float:
    """How many times a grid of blocks fills the device: `blocks` on each multiprocessor.

    Raises
    ------
    InputError : when no block fits, or there is no multiprocessor
    """
    if blocks < 1 or multiprocessors < 1:
        raise InputError(f"{blocks} blocks on {multiprocessors} multiprocessors run no grid")
    return grid / (blocks * multiprocessors)


def _fit(
    arch: Architecture,
    threads: int,
    limits: dict[Resource, int | None],
    registers: int,
    shared: int,
) -> Occupancy:
    """The smallest limit, and which resources set it."""
    blocks = min(v for v in limits.values() if v is not None)
    limiters = tuple(name for name, value in limits.items() if value == blocks)
    warps = blocks * _ceil(threads, arch.warp)
    return Occupancy(
        blocks,
        warps,
        blocks * threads,
        arch.max_warps,
        MappingProxyType(limits),
        limiters,
        registers,
        shared,
    )


def _by_shared(arch: Architecture, shared: int, given: int, capacity: int | None) -> int | None:
    """Blocks that shared memory allows."""
    if given == 0:
        return None
    if shared > arch.shared_per_block_optin:
        return 0
    return (arch.shared if capacity is None else capacity) // given


def _of_block(arch: Architecture, warps: int, registers: int) -> tuple[int, int]:
    """Registers that a block is given, and blocks that they allow: given out by the block (1.x)."""
    given = _up(warps * arch.warp * registers, arch.register_unit)
    return given, arch.registers // given if given else 0


def _of_warps(arch: Architecture, warps: int, registers: int) -> tuple[int, int]:
    """The same where every warp is given its own (2.0 and later)."""
    unit = arch.register_unit * (2 if registers in arch.doubled_registers else 1)
    warp = _up(registers * arch.warp, unit)
    fits = _split(arch, warps, warp, arch.fitting_partitions)
    return warp * warps, _split(arch, warps, warp, arch.sub_partitions) if fits else 0


_REGISTERS: dict[Allocation, Callable[[Architecture, int, int], tuple[int, int]]] = {
    "block": _of_block,
    "warp": _of_warps,
}


def _split(arch: Architecture, warps: int, warp: int, parts: int) -> int:
    """Blocks whose warps get `warp` registers each, of equal parts to which they are dealt out."""
    if not warp or warp * _up(warps, parts) > arch.registers_per_block:
        return 0
    return arch.registers // parts // warp * parts // warps


def _ceil(value: int, unit: int) -> int:
    """Quotient, rounded up."""
    return -(-value // unit)


def _up(value: int, unit: int) -> int:
    """Next multiple of the unit."""
    return _ceil(value, unit) * unit
