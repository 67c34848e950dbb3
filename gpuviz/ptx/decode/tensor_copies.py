"""cp.async.bulk.tensor: boxes of a tensor that one thread has moved, as a tensor map says.

A box lies in shared memory line by line, its first direction along memory, swizzled by address.
What is beyond the edges of the tensor is read as zeros (or NaN) and written nowhere; an mbarrier
counts it all the same. A box begins at a multiple of 16 bytes of its line: an H200 refused the five
that did not which it was given, as illegal instructions. Not done: im2col, gathered and scattered
rows, interleaved layouts.
Source: PTX ISA, "Tensors", "cp.async.bulk.tensor".
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpuviz.arguments import TensorMap, no_number
from gpuviz.arguments.tensor_maps import FIELDS, MAGIC, SEVERAL, SIZE, ZERO_ALONE, kind_number
from gpuviz.base.arrays import I64, Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode import bulk
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.mbarrier import address_of
from gpuviz.ptx.decode.operands import Builder, Reader, Site, by_form
from gpuviz.ptx.simt import atomic
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.shared_addresses import active, of_lanes, shared_addresses
from gpuviz.ptx.simt.spaces import BASES, GLOBAL, space_of
from gpuviz.ptx.tensor.shared_matrix import swizzled
from gpuviz.ptx.text.ir import Imm, Instruction, Operand, Vec, items
from gpuviz.traces.observe import Runs

_BOX_ALIGNMENT = 128  # of a box in shared memory
_KEPT = 64  # boxes whose places are remembered


class Box:
    """Which elements a box has, and where they lie in shared memory, for one tensor map."""

    def __init__(self, tensor: TensorMap) -> None:
        self.tensor = tensor
        axes = [
            np.arange(count) * step for count, step in zip(tensor.moved, tensor.step, strict=True)
        ]
        grids = np.meshgrid(*axes[::-1], indexing="ij")[::-1]  # the first direction runs fastest
        self._along = [grid.reshape(-1) for grid in grids]
        self._linear = np.arange(len(self._along[0])) * tensor.unit

    def inside(self, corner: list[int]) -> tuple[Array, I64]:
        """Which elements the tensor has, and the addresses of those."""
        tensor = self.tensor
        strides = (tensor.unit, *tensor.strides)
        there = np.ones(len(self._linear), bool)
        where = np.full(len(self._linear), tensor.address, np.int64)
        for along, at, size, stride in zip(self._along, corner, tensor.sizes, strides, strict=True):
            place = along + at
            there &= (place >= 0) & (place < size)
            where += place * stride
        return there, where[there]

    def lines(self, corner: list[int]) -> tuple[I64, I64, I64]:
        """Addresses, bytes, and places in the box, of what the tensor has of each line of it."""
        tensor, count = self.tensor, self.tensor.moved[0]
        strides = (tensor.unit, *tensor.strides)
        first, last = max(0, -corner[0]), min(count, tensor.sizes[0] - corner[0])
        rows = [along[::count] for along in self._along[1:]]
        there = np.full(len(self._linear) // count, last > first)
        where = np.full(len(there), tensor.address + (corner[0] + first) * tensor.unit, np.int64)
        for along, at, size, stride in zip(
            rows, corner[1:], tensor.sizes[1:], strides[1:], strict=True
        ):
            place = along + at
            there &= (place >= 0) & (place < size)
            where += place * stride
        into = self._linear[::count] + first * tensor.unit
        return where[there], np.full(there.sum(), (last - first) * tensor.unit), into[there]

    def shared(self, start: int) -> I64:
        """Offsets in shared memory of the elements of a box that begins at an offset."""
        return swizzled(start + self._linear, self.tensor.swizzle)


@lru_cache(_KEPT)
def _box(tensor: TensorMap) -> Box:
    return Box(tensor)


def _map_of(g: Group, address: int, at: Instruction, lane: int) -> Box:
    """The tensor map at a generic address."""
    space = space_of(address)
    memory, offset = g.machine.execution.program.memory.cells, address - GLOBAL
    if space in ("param", "const"):
        program = g.machine.execution.program
        memory = (program.parameters if space == "param" else program.constants).cells
        offset = address - BASES[space]
    data = memory.bytes[offset : offset + 128].tobytes() if offset >= 0 else b""
    tensor = TensorMap.decoded(data) if len(data) == 128 else None
    if tensor is None:
        raise KernelFault(
            f"there is no tensor map at {address:#x} ({at.opcode.text}, {at.where}, "
            f"{g.who(lane)}): give the argument as tensormap(f16[ROWS,COLUMNS]=FILL, "
            "box=ROWSxCOLUMNS, swizzle=128); maps that the CUDA driver encoded are not understood"
        )
    return _box(tensor)


def _cells(g: Group, box: Box, where: I64, at: Instruction, lane: int) -> I64:
    """Indices of elements in global memory; KernelFault where the tensor leaves its buffer."""
    memory, unit = g.machine.execution.program.memory, box.tensor.unit
    low, high = memory.bounds()
    if len(where):
        slot = low.searchsorted(where, side="right") - 1
        bad = (slot < 0) | (where + unit > high[slot])
        if bad.any():
            first = int(where[np.argmax(bad)])
            message = (
                f"illegal global access at {at.where} ({at.opcode.text}): an element of the tensor "
                f"lies {memory.describe(first)}, address {first:#x}, {g.who(lane)}"
            )
            remedy = "give the tensor map the sizes and strides of its buffer"
            raise g.fault("memory", "illegal global access", message, at, lane, remedy, first)
    return np.asarray((where - GLOBAL) // unit)


class _TensorAddress:
    """`[tensorMap, {coordinates}]`."""

    def __init__(self, site: Site, operand: Operand) -> None:
        if not isinstance(operand, Vec) or len(operand.items) != 2:
            raise site.unsupported("this address of a tensor")
        pointer, corner = operand.items
        self._pointer: Reader = address_of(site, pointer)
        coordinates = items(corner)
        self._corner = [site.reader(o, "s32") for o in coordinates]
        self._at = site.instruction

    def boxes(self, g: Group, lane: I64) -> list[tuple[Box, list[int]]]:
        """The box of each lane, and its corner."""
        pointer = of_lanes(g, self._pointer(g), lane)
        given = (of_lanes(g, read(g), lane).astype(np.uint32) for read in self._corner)
        corner = np.stack([at.view(np.int32) for at in given], 1)
        found = []
        for address, at, one in zip(pointer, corner, lane, strict=True):
            box = _map_of(g, int(address), self._at, int(one))
            if len(box.tensor.sizes) != len(at):
                raise KernelFault(
                    f"{self._at.opcode.text} ({self._at.where}) gives {len(at)} coordinates of a "
                    f"tensor of {len(box.tensor.sizes)} sizes, {g.who(int(one))}"
                )
            begin = [int(x) for x in at]
            _check_begin(g, begin[0] * box.tensor.unit, self._at, int(one))
            found.append((box, begin))
        return found


def _check_begin(g: Group, begin: int, at: Instruction, lane: int) -> None:
    """Refuse a box that begins between multiples of 16 bytes of a line, as an H200 does."""
    if begin % bulk.ALIGNMENT:
        message = (
            f"illegal instruction at {at.where} ({at.opcode.text}): the box begins {begin} bytes "
            f"into its line, which is no multiple of {bulk.ALIGNMENT}, {g.who(lane)}"
        )
        remedy = "begin boxes at elements that lie on 16 bytes, with some of them to spare"
        raise g.fault("memory", "illegal instruction", message, at, lane, remedy)


def _runs(boxes: list[tuple[Box, list[int]]]) -> Runs:
    """The lines of boxes."""
    found = [box.lines(corner) for box, corner in boxes]
    piece = np.arange(len(found)).repeat([len(one[0]) for one in found])
    address, size, into = (np.concatenate(column) for column in zip(*found, strict=True))
    return Runs(piece, address, size, into)


def copy(site: Site) -> Step | None:
    """Boxes into shared memory, out of it, or only into L2."""
    mods = site.mods
    if any(m.startswith(("im2col", "tile::")) for m in mods):
        raise site.unsupported("another way through a tensor than boxes")
    if "prefetch" in mods:
        return None
    return _load(site) if mods[mods.index("tensor") + 2].startswith("shared") else _store(site)


def _load(site: Site) -> Step:
    to, source, barrier, *rest = site.operands
    named, writes, mbarrier = (
        _TensorAddress(site, source),
        address_of(site, to),
        address_of(site, barrier),
    )
    copies, at = bulk.everywhere(site, rest), site.instruction

    def load(g: Group) -> None:
        lane = active(g)
        boxes = named.boxes(g, lane)
        size = np.array([box.tensor.moved_bytes for box, _ in boxes])
        values = [
            _read(g, box, corner, at, int(one))
            for (box, corner), one in zip(boxes, lane, strict=True)
        ]
        shared, before = g.machine.memory.shared, np.zeros(0, np.int64)
        for some, address, barrier in copies(g, lane, writes(g), mbarrier(g)):
            chosen = np.flatnonzero(np.isin(lane, some))
            where = shared_addresses(g, address, size[chosen], _BOX_ALIGNMENT, at, some)
            for row, start, n in zip(where.row, where.offset, chosen, strict=True):
                unit, offset = boxes[n][0].tensor.unit, boxes[n][0].shared(int(start))
                shared.cells.of(unit)[(int(row) * shared.stride + offset) // unit] = values[n]
            counted = shared_addresses(g, barrier, 8, 8, at, some)
            several = bulk.several_blocks(site, some, before)
            runs = _runs([boxes[n] for n in chosen])
            bulk.tell(g, at, "load", where, size[chosen], counted.offset, runs=runs, **several)
            before = np.append(before, some)
            bulk.complete(g, counted, size[chosen], at)
        g.machine.polling.idle = 0

    return load


def _read(g: Group, box: Box, corner: list[int], at: Instruction, lane: int) -> Array:
    tensor = box.tensor
    there, where = box.inside(corner)
    outside = no_number(tensor.dtype) if tensor.nan else 0
    values = np.full(len(there), outside, f"u{tensor.unit}")
    cells = g.machine.execution.program.memory.cells.of(tensor.unit)
    values[there] = cells[_cells(g, box, where, at, lane)]
    return values


def _store(site: Site) -> Step:
    to, source = site.operands[:2]
    named, reads, at = _TensorAddress(site, to), address_of(site, source), site.instruction
    reduction = bulk.Reduction.named(site) if site.mods[0] == "reduce" else ""

    def store(g: Group) -> None:
        lane = active(g)
        boxes = named.boxes(g, lane)
        size = np.array([box.tensor.moved_bytes for box, _ in boxes])
        where = shared_addresses(g, reads(g), size, _BOX_ALIGNMENT, at, lane)
        shared = g.machine.memory.shared
        for (box, corner), row, start, one in zip(
            boxes, where.row, where.offset, lane, strict=True
        ):
            unit = box.tensor.unit
            there, address = box.inside(corner)
            offset = box.shared(int(start))[there]
            moved = shared.cells.of(unit)[(int(row) * shared.stride + offset) // unit]
            cells = g.machine.execution.program.memory.cells.of(unit)
            index = _cells(g, box, address, at, int(one))
            if reduction:
                atomic.apply(reduction, _type(box.tensor.dtype), cells, index, moved)
            else:
                cells[index] = moved
        bulk.tell(g, at, "reduce" if reduction else "store", where, size, runs=_runs(boxes))
        g.machine.polling.idle = 0

    return store


def _type(dtype: str) -> str:
    """The PTX type of a tensor's elements."""
    return dtype.replace("i", "s") if dtype.startswith("i") else dtype


# --- tensor maps ---------------------------------------------------------------------------------
#
# Those that a kernel makes or changes itself, field by field.
# Source: PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy".

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
    if not 0 <= number < SEVERAL.get(name, 1):
        raise site.unsupported(f"{name} number {number} of a tensor map")
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


STEPS: dict[str, Builder] = {"tensormap": by_form({"replace": _replace, "cp_fenceproxy": _copy})}
