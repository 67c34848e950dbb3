"""Where the lanes of a memory instruction access memory: addresses, checked, as cell indices."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.decode.operands import Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.rows import access_of
from gpuviz.ptx.simt.spaces import BASES, space_of
from gpuviz.ptx.simt.values import constant
from gpuviz.ptx.text.ir import Addr, Instruction, Operand, Reg, Sym
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import MemoryInstruction, Op, Space

_SPACE_NAMES: dict[str, Space] = {
    "global": "global",
    "shared": "shared",
    "local": "local",
    "const": "constant",
}
_SPACES = ("global", "shared", "local", "const", "param")
# Where PTX lets generic addresses point; else nothing is promised: on an H200 atomics of a warp on
# its local memory all change the word of the last lane, and constants can be overwritten.
REACHED: dict[Op, tuple[str, ...]] = {
    "load": ("const", "global", "local", "shared"),
    "store": ("global", "local", "shared"),
    "atomic": ("global", "shared"),
    "reduction": ("global", "shared"),
}


@dataclass(frozen=True)
class Shape:
    """What a memory instruction says of its access: space "" is generic.

    `unused` has bit i set when nobody uses byte i of what it loads.
    """

    space: str
    kind: str
    unit: int
    count: int
    unused: int = 0

    @property
    def width(self) -> int:
        """Bytes per lane."""
        return self.unit * self.count


def space_named(mods: tuple[str, ...]) -> str:
    """The state space among an opcode's modifiers, "" for generic."""
    bare = [m.split("::")[0] for m in mods]
    return next((m for m in bare if m in _SPACES), "")


def describe(
    instruction: Instruction,
    function: str,
    space: str,
    op: Op,
    width: int,
    form: str = "",
    unused: int = 0,
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
        next((mod for mod in mods if mod == "nc" or (mod == "cg" and op == "copy")), ""),
        function,
        form,
        unused,
    )


@dataclass(eq=False, slots=True)
class Location:
    """Where the lanes of a group access memory; kept while `base` and what follows stay the same.

    `index` are the cells; `access` is what sinks are told, None when nobody listens.
    """

    base: Array
    mask: Bool | None
    layout: Layout
    local_base: int
    space: str
    index: I64
    access: Access | None


class Locator:
    """Turns an address operand into checked cell indices, and tells the sinks.

    The result is kept: a loop that reads the same shared addresses again pays for them once.
    """

    def __init__(self, site: Site, operand: Operand, shape: Shape, op: Op, form: str = "") -> None:
        if not isinstance(operand, Addr):
            raise site.unsupported(f"the address {operand}")
        self.source: Reader | None = None  # of a copy: the global addresses it reads from
        self.address = _address_reader(operand, site)
        self._instruction = site.instruction  # not the site: code would hold what holds it
        self._function = site.code.name
        self._shape = shape
        self._op: Op = op
        self._cluster = site.program.cluster
        self._inner = shape.space == "shared" and "shared::cluster" not in site.mods
        self._form = form
        self._offset = operand.offset if isinstance(operand.base, Reg) else 0
        self._records: dict[str, MemoryInstruction] = {}
        self._last: Location | None = None
        site.code.kept_places.append(self._forget)

    def _forget(self) -> None:
        self._last = None

    def __call__(self, g: Group) -> Location:
        """The place of a group whose lanes all hit one space."""
        base, last = self.address(g), self._last
        if (
            last is None
            or last.base is not base
            or last.mask is not g.mask
            or last.layout is not g.layout
            or last.local_base != g.local_base
            or self.source is not None
        ):
            last = self._last = self._locate(g, base)
        if last.access is not None:
            for hear in g.machine.told.access:
                hear(last.access)
        return last

    def full_address(self, g: Group) -> Array:
        """The addresses themselves, base and offset, unchecked."""
        base = self.address(g)
        if not self._offset:
            return base
        return np.asarray(base + base.dtype.type(self._offset & _MASK[base.dtype.itemsize]))

    def _locate(self, g: Group, base: Array) -> Location:
        address, shape, machine = self.full_address(g), self._shape, g.machine
        if g.mask is not None:  # inactive lanes borrow the address of an active one
            chosen = g.layout.full(address).reshape(-1)[g.first_active()]
            address = np.where(g.mask, address, chosen)
        space = shape.space
        if not space:  # one of the parts of `by_space`: all its lanes point into one space
            space = space_of(int(address.reshape(-1)[0]))
            if BASES[space]:
                address = address - address.dtype.type(BASES[space])
            if space not in REACHED[self._op] and (space, self._op) != ("param", "load"):
                machine.memory.refuse(g, address, space, self._op, self._instruction)
        if space == "shared" and self._cluster.size > 1:
            address = self._cluster.told(address, g.layout.row + g.layout.first_block)
            if self._inner:
                machine.memory.check_own(g, address, self._instruction)
        index = machine.memory.index(space, g, address, shape.width, shape.unit, self._instruction)
        access = None
        if space != "param" and machine.told.access:
            source = None if self.source is None else self.source(g)
            access = access_of(self._record(space), g.layout, g.mask, address, source)
        return Location(base, g.mask, g.layout, g.local_base, space, index, access)

    def _record(self, space: str) -> MemoryInstruction:
        if space not in self._records:
            at, shape = self._instruction, self._shape
            self._records[space] = describe(
                at, self._function, space, self._op, shape.width, self._form, shape.unused
            )
        return self._records[space]


_MASK = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFFFFFF, 8: 0xFFFFFFFFFFFFFFFF}


def _address_reader(operand: Addr, site: Site) -> Reader:
    if isinstance(operand.base, Reg):
        index = operand.base.index
        return lambda g: g.regs[index]
    start = operand.offset
    if operand.base is not None:
        name = operand.base.name
        if name in site.code.local_offset:
            start += site.code.local_offset[name]
            return lambda g: constant(g.local_base + start, "u64")
        if site.program.cluster.size > 1 and site.program.spaces.get(name) == "shared":
            return site.reader(Sym(name, start), "u64")
        start += site.address_of(name)
    value = constant(start, "u64")
    return lambda g: value


def generic(step: Step, locate: Locator) -> Step:
    """The step of a generic access: once for each space the lanes point into."""

    def in_each_space(g: Group) -> None:
        for part in by_space(g, locate.address(g)):
            step(part)

    return in_each_space


def by_space(g: Group, address: Array) -> Iterator[Group]:
    """The group itself when its generic addresses hit one space, else one part for each space."""
    mask = g.mask
    flat = g.layout.full(address)
    chosen = flat if mask is None else flat[g.layout.full(mask)]
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
