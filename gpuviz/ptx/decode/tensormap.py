"""tensormap: tensor maps that a kernel makes or changes itself, field by field.

Source: PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gpuviz.arguments.tensor_maps import FIELDS, MAGIC, SIZE, ZERO_ALONE, kind_number
from gpuviz.base.arrays import I64
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode import bulk
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.mbarrier import address_of
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.shared_addresses import active, of_lanes, shared_addresses
from gpuviz.ptx.text.ir import Imm, Operand

Bytes = npt.NDArray[np.uint8]
_ALIGNMENT = 64
# The field's name in PTX to that in our map, and what its value means there.
_MEANINGS: dict[str, Callable[[int], int]] = {
    "rank": lambda value: value + 1,
    "elemtype": kind_number,
}


def _where(site: Site, operand: Operand, space: str) -> Callable[[Group, I64], list[Bytes]]:
    """The bytes of the map that each lane names."""
    read, at = address_of(site, operand), site.instruction

    def found(g: Group, lane: I64) -> list[Bytes]:
        address = read(g)
        if space == "shared":
            there = shared_addresses(g, address, SIZE, _ALIGNMENT, at, lane)
            cells = g.machine.memory.shared.cells.bytes
            return [cells[start : start + SIZE] for start in there.byte(g)]
        memory = g.machine.execution.program.memory.cells.bytes
        starts = of_lanes(g, address, lane).astype(np.int64)
        return [
            memory[bulk.global_bytes(g, int(start), SIZE, at, int(one))]
            for start, one in zip(starts, lane, strict=True)
        ]

    return found


def _replace(site: Site) -> Step:
    name = next((mod for mod in site.mods if mod in FIELDS), "")
    if "tile" not in site.mods or not name:
        raise site.unsupported("this field of a tensor map")
    address, *numbers, value = site.operands
    number = numbers[0].value if numbers and isinstance(numbers[0], Imm) else 0
    start, size, meaning = *FIELDS[name], _MEANINGS.get(name, int)
    maps = _where(site, address, space_named(site.mods) or "global")
    read, where = site.reader(value, site.kind), site.instruction.where

    def replace(g: Group) -> None:
        lane = active(g)
        for one, given in zip(maps(g, lane), of_lanes(g, read(g), lane), strict=True):
            one[: len(MAGIC)] = np.frombuffer(MAGIC, np.uint8)
            held = meaning(int(given)) & (1 << 8 * size) - 1
            if held and name in ZERO_ALONE:
                raise KernelFault(
                    f"{name} {held} of a tensor map is not emulated, only 0 ({where})"
                )
            first = start + number * size
            one[first : first + size] = np.frombuffer(held.to_bytes(size, "little"), np.uint8)
        g.machine.polling.idle = 0

    return replace


def _copy(site: Site) -> Step:
    """From shared to global memory, where all may see it."""
    to, source = site.operands[:2]
    writes, reads = _where(site, to, "global"), _where(site, source, "shared")

    def copy(g: Group) -> None:
        lane = active(g)
        for target, held in zip(writes(g, lane), reads(g, lane), strict=True):
            target[:] = held

    return copy


def _any(site: Site) -> Step:
    if site.mods[0] == "cp_fenceproxy":
        return _copy(site)
    if site.mods[0] != "replace":
        raise site.unsupported("this form")
    return _replace(site)


STEPS: dict[str, Builder] = {"tensormap": _any}
