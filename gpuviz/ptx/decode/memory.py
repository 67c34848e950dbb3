"""Loads, stores, atomics and asynchronous copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuviz.arrays import I64, Array, Bool
from gpuviz.ptx.decode.operands import Reader, reader, unsupported, writers
from gpuviz.ptx.simt.access import make_access
from gpuviz.ptx.simt.code import FunctionCode, Step, polls
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import constant
from gpuviz.ptx.simt.windows import BASES, space_of
from gpuviz.ptx.text.ir import Addr, Imm, Instruction, Operand, Reg, Vec
from gpuviz.ptx.text.stream import type_bytes
from gpuviz.trace import Access, MemoryInstruction, Op, Space

_SPACE_NAMES: dict[str, Space] = {
    "global": "global",
    "shared": "shared",
    "local": "local",
    "const": "constant",
}
_SPACES = ("global", "shared", "local", "const", "param")


@dataclass(frozen=True)
class Shape:
    """What a memory instruction says of its access: space "" is generic."""

    space: str
    kind: str
    unit: int
    count: int

    @property
    def width(self) -> int:
        """Bytes per lane."""
        return self.unit * self.count


def space_named(mods: tuple[str, ...]) -> str:
    """The state space among an opcode's modifiers, "" for generic."""
    bare = [m.split("::")[0] for m in mods]
    return next((m for m in bare if m in _SPACES), "")


def describe(
    instruction: Instruction, function: str, space: str, op: Op, width: int, form: str = ""
) -> MemoryInstruction:
    """The record of a memory instruction for the trace."""
    mods = instruction.opcode.mods
    return MemoryInstruction(
        instruction.pc,
        instruction.line,
        instruction.ptx_line,
        instruction.opcode.text,
        op,
        _SPACE_NAMES[space],
        width,
        mods[-1],
        "nc" if "nc" in mods else "",
        function,
        form,
    )


@dataclass(eq=False, slots=True)
class Place:
    """Where the lanes of a group access memory, checked; kept while its inputs stay the same."""

    base: Array
    mask: Bool | None
    view: Any
    local_base: int
    space: str
    address: Array
    index: I64
    access: Access | None


class Locator:
    """Turns an address operand into checked cell indices, and tells the sinks.

    The result is kept: a loop that reads the same shared addresses again pays for them once.
    """

    def __init__(
        self,
        instruction: Instruction,
        operand: Operand,
        shape: Shape,
        op: Op,
        code: FunctionCode,
        program: Program,
        form: str = "",
    ) -> None:
        if not isinstance(operand, Addr):
            raise unsupported(instruction, f"the address {operand}")
        self.form = form
        self.source: Reader | None = None  # of a copy: the global addresses it reads from
        self.instruction = instruction
        self.shape = shape
        self.op: Op = op
        self.function = code.name
        self.offset = operand.offset
        self.address = _address_reader(operand, instruction, code, program)
        self.relative = operand.offset if isinstance(operand.base, Reg) else 0
        self.memo: Place | None = None
        code.kept_places.append(self._forget)

    def _forget(self) -> None:
        self.memo = None

    def __call__(self, g: Group) -> Place:
        """The place of a group whose lanes all hit one space."""
        base = self.address(g)
        last = self.memo
        if (
            last is not None
            and self.source is None
            and last.base is base
            and last.mask is g.mask
            and last.view is g.view
            and last.local_base == g.local_base
        ):
            if last.access is not None:
                g.machine.emit(last.access)
            if g.machine.recording:
                g.machine.record(self.record_of(last.space), g, last.address)
            return last
        place = self._locate(g, base)
        self.memo = place
        return place

    def full_address(self, g: Group) -> Array:
        """The addresses themselves, base and offset, unchecked."""
        base = self.address(g)
        return (
            base + base.dtype.type(self.relative & _MASK[base.dtype.itemsize])
            if (self.relative)
            else base
        )

    def record_of(self, space: str) -> MemoryInstruction:
        """The trace's record of this instruction in a space."""
        return describe(
            self.instruction, self.function, space, self.op, self.shape.width, self.form
        )

    def _locate(self, g: Group, base: Array) -> Place:
        address = safe = self.full_address(g)
        if g.mask is not None:
            chosen = g.view.full(address).reshape(-1)[g.first_active()]
            safe = np.where(g.mask, address, chosen)
        space = self.shape.space
        if not space:
            space, safe = self._generic(g, safe)
        index = g.machine.index(space, g, safe, self.shape.width, self.shape.unit, self.instruction)
        access = None
        if space != "param":
            record = self.record_of(space)
            source = None if self.source is None else self.source(g)
            access = make_access(record, g.view, safe, g.mask, source)
            if access is not None:
                g.machine.emit(access)
            if g.machine.recording:
                g.machine.record(record, g, safe)
        return Place(base, g.mask, g.view, g.local_base, space, safe, index, access)

    def _generic(self, g: Group, safe: Array) -> tuple[str, Array]:
        """The one space all lanes point into (`by_space` has split the group before)."""
        space = space_of(int(safe.reshape(-1)[0]))
        base = BASES[space]
        return space, safe - safe.dtype.type(base) if base else safe


_MASK = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFFFFFF, 8: 0xFFFFFFFFFFFFFFFF}


def _address_reader(
    operand: Addr, instruction: Instruction, code: FunctionCode, program: Program
) -> Reader:
    if operand.base is None:
        value = constant(operand.offset, "u64")
        return lambda g: value
    if isinstance(operand.base, Reg):
        index = operand.base.index
        return lambda g: g.regs[index]
    if operand.base.name in code.local_offset:
        offset = code.local_offset[operand.base.name] + operand.offset
        return lambda g: constant(g.local_base + offset, "u64")
    address = program.address_of(operand.base.name)
    if address is None:
        raise unsupported(instruction, f"the name {operand.base.name}")
    value = constant(address + operand.offset, "u64")
    return lambda g: value


def by_space(g: Group, address: Array) -> Iterator[Group]:
    """The group itself when its generic addresses hit one space, else one part for each space."""
    mask = g.mask
    flat = g.view.full(address)
    chosen = flat if mask is None else flat[g.view.full(mask)]
    low, high = int(chosen.min()), int(chosen.max())
    if space_of(low) == space_of(high):
        yield g
        return
    windows = {space_of(int(a)) for a in np.unique(chosen >> np.uint64(32)) << np.uint64(32)}
    for space in sorted(windows):
        base = BASES[space]
        inside = (
            (flat >> np.uint64(32) == np.uint64(base >> 32))
            if base
            else (flat >= np.uint64(BASES["param"] + (1 << 32)))
            | (flat < np.uint64(BASES["shared"]))
        )
        part = inside if mask is None else inside & mask
        if part.any():
            yield g.fork(part)


def _shape(instruction: Instruction, value: Operand) -> Shape:
    kind = instruction.opcode.mods[-1]
    count = len(value.items) if isinstance(value, Vec) else 1
    if kind == "b128":
        return Shape(space_named(instruction.opcode.mods), "b64", 8, 2 * count)
    return Shape(space_named(instruction.opcode.mods), kind, type_bytes(kind), count)


def load_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """`ld`, `ldu`, in every space but the parameters of device functions."""
    target, address = instruction.operands[:2]
    shape = _shape(instruction, target)
    locate = Locator(instruction, address, shape, "load", code, program)
    puts = writers(target, (shape.kind,) * shape.count, instruction)
    polled = polls(instruction)

    def load(g: Group) -> None:
        place = locate(g)
        cells = g.machine.cells(place.space, shape.unit)
        if place.space == "shared":
            g.machine.check_written(g, place.index, shape.width, shape.unit, instruction)
        index = place.index
        values = [cells.take(index if i == 0 else index + i) for i in range(shape.count)]
        for put, value in zip(puts, values, strict=True):
            put(g, value)
        if polled:
            g.machine.poll(instruction, place.base)

    return load if shape.space else generic_step(load, locate)


def generic_step(step: Step, locate: Locator) -> Step:
    """The step of a generic access: once for each space the lanes point into."""

    def generic(g: Group) -> None:
        for part in by_space(g, locate.address(g)):
            step(part)

    return generic


def store_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """`st`, in every space but parameters."""
    address, value = instruction.operands[:2]
    shape = _shape(instruction, value)
    locate = Locator(instruction, address, shape, "store", code, program)
    items = value.items if isinstance(value, Vec) else (value,)
    readers = [reader(o, shape.kind, instruction, code, program) for o in items]

    def store(g: Group) -> None:
        place = locate(g)
        for i, read in enumerate(readers):
            put_cells(g, place, place.index + i if i else place.index, read(g), shape.unit)

    return store if shape.space else generic_step(store, locate)


def put_cells(g: Group, place: Place, index: I64, value: Array, unit: int) -> None:
    """Write values to cells; where lanes hit one cell the highest lane wins."""
    cells = g.machine.cells(place.space, unit)
    wide = np.broadcast_shapes(index.shape, value.shape)
    if g.mask is not None:
        keep = g.view.full(g.mask)
        index, value = g.view.full(index)[keep], g.view.full(value)[keep]
    elif wide != index.shape:
        index = np.broadcast_to(index, wide)
    cells[index] = value
    g.machine.idle = 0
    if place.space == "shared":
        g.machine.shared.mark_written(index, unit)


def copy_step(instruction: Instruction, code: FunctionCode, program: Program) -> Step:
    """`cp.async`: the copy is done at once; the waits then have nothing to wait for."""
    target, source, size = instruction.operands[:3]
    if not isinstance(size, Imm):
        raise unsupported(instruction, "a copy size that is not a constant")
    width = size.value
    unit = min(width, 8)
    read = Locator(
        instruction, source, Shape("global", "b8", unit, width // unit), "copy", code, program
    )
    write = Locator(
        instruction, target, Shape("shared", "b8", unit, width // unit), "copy", code, program
    )
    write.source = read.full_address
    valid = _valid_bytes(instruction, width, code, program)

    def step(g: Group) -> None:
        count = valid(g)
        wanted = g.view.full(count) > 0
        to = write(g)
        some = wanted if g.mask is None else wanted & g.mask
        values: list[Array] = [np.zeros(1, f"u{unit}")] * (width // unit)
        if some.any():
            part = g if some.all() else g.fork(np.asarray(some))
            at = read(part)
            cells = g.machine.cells("global", unit)
            values = [
                _masked_bytes(cells.take(at.index + i), count, i, unit)
                for i in range(width // unit)
            ]
        for i, value in enumerate(values):
            put_cells(g, to, to.index + i if i else to.index, value, unit)

    return step


def _valid_bytes(
    instruction: Instruction, width: int, code: FunctionCode, program: Program
) -> Callable[[Group], Array]:
    """How many bytes are copied; the rest is filled with zeros (`src-size`, `ignore-src`)."""
    extra = list(instruction.operands[3:])
    if not extra:
        full = np.array([width], np.int64)
        return lambda g: full
    if isinstance(extra[0], Reg) and extra[0].type == "pred":
        skip = reader(extra[0], "pred", instruction, code, program)
        return lambda g: np.where(skip(g), 0, width)
    size = reader(extra[0], "u32", instruction, code, program)
    return lambda g: np.minimum(size(g).astype(np.int64), width)


def _masked_bytes(value: Array, count: Array, part: int, unit: int) -> Array:
    """Zero the bytes of a cell at and beyond the valid count."""
    left = np.clip(count - part * unit, 0, unit)
    if (left == unit).all():
        return value
    keep = np.array([(1 << (8 * n)) - 1 for n in range(unit + 1)], np.uint64)[left]
    return np.asarray(value & keep.astype(value.dtype))
