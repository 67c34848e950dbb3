"""Loads, stores and asynchronous copies."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.ptx.decode import bulk, tensor_copies
from gpuviz.ptx.decode.locate import Location, Locator, Shape, generic, space_named
from gpuviz.ptx.decode.mbarrier import address_of, arrive_of_copies, tell
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.rows import StoreValues
from gpuviz.ptx.simt.shared_addresses import shared_addresses
from gpuviz.ptx.text.ir import Function, Imm, Instruction, Operand, Reg, Vec, items
from gpuviz.ptx.text.isa import registers_read
from gpuviz.ptx.text.stream import type_bytes
from gpuviz.traces.observe import NOTHING


def polls(instruction: Instruction) -> bool:
    """Whether it reads memory as a loop does that waits for others to write there."""
    opcode = instruction.opcode
    if opcode.name == "ld":
        return any(m in opcode.mods for m in ("volatile", "acquire", "relaxed", "mmio"))
    return opcode.name == "nanosleep" or (
        opcode.name == "atom"
        and ("add" in opcode.mods or "or" in opcode.mods)
        and instruction.operands[2:3] == (Imm(0),)
    )


def _shape(site: Site, value: Operand) -> Shape:
    kind, space = site.kind, space_named(site.mods)
    count = len(items(value))
    if count not in (1, 2, 4, 8):
        raise site.unsupported(f"an access of {count} elements")
    if kind == "b128":
        return Shape(space, "b64", 8, 2 * count)
    return Shape(space, kind, type_bytes(kind), count)


def load_step(site: Site) -> Step:
    """`ld`, `ldu`, in every space but the parameters of device functions."""
    target, address = site.operands[:2]
    instruction, shape = site.instruction, _shape(site, target)
    if isinstance(target, Vec):
        unused = unused_bytes(instruction, site.code.function, target, shape.width)
        shape = replace(shape, unused=unused)
    locate = Locator(site, address, shape, "load")
    puts = site.writers(target, (shape.kind,) * shape.count)
    polled = polls(instruction)

    def load(g: Group) -> None:
        place = locate(g)
        cells, index = g.machine.memory.cells(place.space, shape.unit), place.index
        values = [cells.take(index if i == 0 else index + i) for i in range(shape.count)]
        for put, value in zip(puts, values, strict=True):
            put(g, value)
        if polled:
            g.machine.polling.read(instruction, place.base)

    return load if shape.space else generic(load, locate)


def unused_bytes(at: Instruction, function: Function, target: Vec, width: int) -> int:
    """The bytes of a vector load whose registers nothing reads; a vector store only moves them."""
    others = [
        i
        for i in function.body
        if i is not at and not (i.opcode.name == "st" and isinstance(i.operands[1], Vec))
    ]
    used = {operand for other in others for operand in registers_read(other)}
    size = width // len(target.items)
    dropped = [i for i, item in enumerate(target.items) if item not in used]
    return sum(((1 << size) - 1) << size * i for i in dropped)


def store_step(site: Site) -> Step:
    """`st`, in every space but parameters."""
    address, value, *counts = site.operands
    shape = _shape(site, value)
    locate = Locator(site, address, shape, "store")
    readers = [site.reader(o, shape.kind) for o in items(value)]
    if counts:
        return _counted_store(site, counts[0], shape, locate, readers)

    def store(g: Group) -> None:
        write(g, locate(g), [read(g) for read in readers], shape.unit)

    return store if shape.space else generic(store, locate)


def _counted_store(
    site: Site, mbarrier: Operand, shape: Shape, locate: Locator, readers: list[Reader]
) -> Step:
    """`st.async`: an mbarrier counts the bytes, which are there at once."""
    counts, at = address_of(site, mbarrier), site.instruction

    def store(g: Group) -> None:
        write(g, locate(g), [read(g) for read in readers], shape.unit)
        where = shared_addresses(g, counts(g), 8, 8, at)
        tell(g, at, "arrive", where)
        bulk.complete(g, where, np.full(len(where.lane), shape.width), at)

    return store if shape.space else generic(store, locate)


def write(g: Group, place: Location, values: list[Array], unit: int) -> None:
    """Store what lies side by side at a place, `unit` bytes each, and tell who listens."""
    if g.machine.told.stored and place.access is not None:
        _tell_stored(g, place, values, unit)
    for i, value in enumerate(values):
        _put_cells(g, place, place.index + i if i else place.index, value, unit)


def _tell_stored(g: Group, place: Location, values: list[Array], unit: int) -> None:
    assert place.access is not None
    cells = g.machine.memory.cells(place.space, unit)
    storing = StoreValues(g.layout, values, place.index, cells)
    for hear in g.machine.told.stored:
        hear(place.access, storing)


def _put_cells(g: Group, place: Location, index: I64, value: Array, unit: int) -> None:
    """Write values to cells; where lanes hit one cell the highest lane wins."""
    cells = g.machine.memory.cells(place.space, unit)
    wide = np.broadcast_shapes(index.shape, value.shape)
    if g.mask is not None:
        keep = g.layout.full(g.mask)
        index, value = g.layout.full(index)[keep], g.layout.full(value)[keep]
    elif wide != index.shape:
        index = np.broadcast_to(index, wide)
    cells[index] = value
    g.machine.polling.idle = 0


def _copy(site: Site) -> Step | None:
    """`cp`: the copy is done at once; the waits then have nothing to wait for."""
    mods = site.mods
    if "async" not in mods:
        raise site.unsupported("this copy")
    if "tensor" in mods:
        return tensor_copies.copy(site)
    if "bulk" in mods:
        groups = "commit_group" in mods or "wait_group" in mods
        return bulk.group_of_transfers(site) if groups else bulk.plain(site)
    if mods[1] == "mbarrier":
        return arrive_of_copies(site)
    if mods[1] in ("commit_group", "wait_group", "wait_all"):
        return _group_of_copies(site)
    target, source, size = site.operands[:3]
    if not isinstance(size, Imm) or size.value not in (4, 8, 16):
        raise site.unsupported("a copy of other than 4, 8 or 16 bytes")
    unit = min(size.value, 8)
    parts = size.value // unit
    read = Locator(site, source, Shape("global", "b8", unit, parts), "copy")
    write = Locator(site, target, Shape("shared", "b8", unit, parts), "copy")
    valid = _valid_bytes(site, size.value)

    def source_read(g: Group) -> Array:
        return np.where(valid(g) > 0, read.full_address(g).astype(np.uint64), np.uint64(NOTHING))

    write.source = source_read if site.operands[3:] else read.full_address

    def copy(g: Group) -> None:
        count = valid(g)
        wanted = g.layout.full(count) > 0
        to = write(g)
        some = wanted if g.mask is None else wanted & g.mask
        values: list[Array] = [np.zeros(1, f"u{unit}")] * parts
        if some.any():
            at = read(g if some.all() else g.fork(np.asarray(some)))
            cells = g.machine.memory.cells("global", unit)
            values = [_masked_bytes(cells.take(at.index + i), count, i, unit) for i in range(parts)]
        for i, value in enumerate(values):
            _put_cells(g, to, to.index + i if i else to.index, value, unit)

    return copy


def _group_of_copies(site: Site) -> Step:
    """Copies are done at once, so that nobody waits; sinks are told."""
    first = site.operands[0] if site.operands else None
    left = {"commit_group": None, "wait_all": -1}.get(
        site.mods[1], first.value if isinstance(first, Imm) else 0
    )

    def step(g: Group) -> None:
        for hear in g.machine.told.copies:
            hear(left, g)

    return step


def _valid_bytes(site: Site, width: int) -> Callable[[Group], Array]:
    """How many bytes are copied; the rest is filled with zeros (`src-size`, `ignore-src`)."""
    extra = site.operands[3:]
    if not extra:
        full = np.array([width], np.int64)
        return lambda g: full
    if isinstance(extra[0], Reg) and extra[0].type == "pred":
        skip = site.reader(extra[0], "pred")
        return lambda g: np.where(skip(g), 0, width)
    size = site.reader(extra[0], "u32")
    return lambda g: np.minimum(size(g).astype(np.int64), width)


def _masked_bytes(value: Array, count: Array, part: int, unit: int) -> Array:
    """Zero the bytes of a cell at and beyond the valid count."""
    left = np.clip(count - part * unit, 0, unit)
    if (left == unit).all():
        return value
    keep = np.array([(1 << (8 * n)) - 1 for n in range(unit + 1)], np.uint64)[left]
    return np.asarray(value & keep.astype(value.dtype))


STEPS: dict[str, Builder] = {"cp": _copy}
