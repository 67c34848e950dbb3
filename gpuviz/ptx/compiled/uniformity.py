"""What the lanes of a warp have in common: registers that are a scalar plus a constant a lane.

Found for warps whose lanes are together, over all places that write a register. A scalar plus a
pattern is exact at any width, as integers wrap; where one is widened, the code checks that it did
not wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuviz.ptx.arithmetic.kinds import CONTAINERS, WIDTHS, Variant, bits_of
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.compiled.graph import Copy, Graph, Op, parts_of, written
from gpuviz.ptx.compiled.writer import SAME, Pattern
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.outline import param_accesses
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import immediate
from gpuviz.ptx.text.ir import Addr, Imm, Not, Operand, Reg, Sym, Vec
from gpuviz.ptx.text.isa import targets
from gpuviz.traces.trace import LANES

MOST = 1 << 20  # a larger step from lane to lane is no address
Shape = Pattern | None  # None: each lane its own


@dataclass(frozen=True)
class Threads:
    """Which threads a warp holds: patterns of %tid.x, .y and .z over its lanes, if all have one."""

    tids: tuple[Shape, Shape, Shape]

    @classmethod
    def of(cls, block: tuple[int, int, int]) -> Threads:
        """Of all warps of a block; lanes that do not exist may have any value."""
        x, y, z = block
        return cls(tuple(_common(x * y * z, x, y, axis) for axis in range(3)))  # type: ignore[arg-type]


def _common(threads: int, x: int, y: int, axis: int) -> Shape:
    """The pattern of an index, if it is that of all warps."""
    found: list[int] | None = None
    for first in range(0, threads, LANES):
        base = _tid(first, x, y, axis)
        last = min(first + LANES, threads)
        own = [_tid(thread, x, y, axis) - base for thread in range(first, last)]
        found = found or own + [0] * (LANES - len(own))
        if found[: len(own)] != own:
            return None
    return tuple(found or SAME)


def _tid(thread: int, x: int, y: int, axis: int) -> int:
    return (thread % x, thread // x % y, thread // (x * y))[axis]


def special_shape(name: str, threads: Threads) -> Shape:
    """The pattern of a special register."""
    if name.startswith("%tid."):
        return threads.tids["xyz".index(name[-1])]
    if name == "%laneid":
        return tuple(range(LANES))
    return None if name.startswith("%lanemask") else SAME


def _scaled(shape: Shape, factor: int) -> Shape:
    return None if shape is None else small(tuple(p * factor for p in shape))


def _summed(a: Shape, b: Shape, sign: int = 1) -> Shape:
    if a is None or b is None:
        return None
    return small(tuple(p + sign * q for p, q in zip(a, b, strict=True)))


def small(pattern: Pattern) -> Shape:
    """The pattern, unless it steps too far for an address."""
    return pattern if max(map(abs, pattern)) < MOST else None


def _product(a: Shape, b: Shape, constants: Sequence[int | None]) -> Shape:
    if a == SAME and b == SAME:
        return SAME
    for shape, factor in ((a, constants[1]), (b, constants[0])):
        if factor is not None and abs(factor) < MOST:
            return _scaled(shape, factor)
    return None


def widens(name: str, v: Variant) -> bool:
    """Whether an opcode makes its first operands wider."""
    if name == "cvt":
        return len(v.kinds) == 2 and WIDTHS[v.kinds[0]] > WIDTHS[v.kinds[1]]
    return v.has("wide")


def computed(
    name: str, v: Variant, shapes: Sequence[Shape], constants: Sequence[int | None]
) -> Shape:
    """The pattern of the result of an arithmetic opcode."""
    if all(shape == SAME for shape in shapes):
        return SAME
    kind = v.kinds[-1] if v.kinds else ""
    whole = kind[:1] in ("u", "s", "b") and not kind.endswith("x2") and WIDTHS.get(kind, 0) >= 32
    if not whole or v.has("sat", "cc", "hi", "relu"):
        return None
    if v.has("wide") and kind[0] == "u":  # such a factor is a large one there, no negative one
        constants = [None if one is None or one < 0 else one for one in constants]
    if name == "mov":
        return shapes[0]
    if name in ("add", "sub"):
        return _summed(shapes[0], shapes[1], 1 if name == "add" else -1)
    if name == "shl":
        count = constants[1]
        return _scaled(shapes[0], 1 << count) if count is not None and 0 <= count <= 20 else None
    if name == "mul":
        return _product(shapes[0], shapes[1], constants)
    if name == "mad":
        return _summed(_product(shapes[0], shapes[1], constants), shapes[2])
    if name == "neg":
        return _scaled(shapes[0], -1)
    if name == "cvt" and len(v.kinds) == 2 and v.kinds[0][:1] in ("u", "s", "b"):
        return shapes[0] if WIDTHS[v.kinds[0]] >= 32 else None
    return None


class Uniformity:
    """The shape of every register of a graph.

    `apart` are instructions (their pc) whose result is to be taken as one value a lane.
    """

    def __init__(
        self, graph: Graph, program: Program, threads: Threads, apart: frozenset[int], start: int
    ) -> None:
        self.graph = graph
        self.program = program
        self.threads = threads
        self.apart = apart
        unknown = object()
        self.of: list[Shape | object] = [unknown] * len(graph.registers)
        self._unknown = unknown
        for register in range(len(graph.registers)):
            if start >> register & 1:  # read before anybody writes it: 0
                self.of[register] = SAME
        self._settle()
        self.of = [SAME if shape is unknown else shape for shape in self.of]

    def __getitem__(self, register: int) -> Shape:
        return self.of[register]  # type: ignore[return-value]

    def _settle(self) -> None:
        ops = [op for block in self.graph.blocks for op in block.ops]
        ends = [
            (block.place.register(t), SAME)
            for block in self.graph.blocks
            if block.end.how == "barrier"
            and block.end.at is not None
            and "red" in block.end.at.opcode.mods
            for t in targets(block.end.at)
            if isinstance(t, Reg)
        ]
        changed = True
        while changed:
            changed = False
            for op in ops:
                found = self.results(op)
                if found is self._unknown:
                    continue
                for register in written(op):
                    changed |= self._meet(register, found)
            for register, shape in ends:
                changed |= self._meet(register, shape)

    def _meet(self, register: int, shape: Shape | object) -> bool:
        old = self.of[register]
        if old is self._unknown:
            self.of[register] = shape
            return True
        if old != shape and old is not None:
            self.of[register] = None
            return True
        return False

    def results(self, op: Op | Copy) -> Shape | object:
        """The shape of what an op writes."""
        guard = op.guard if isinstance(op, Copy) else op.at.guard
        if guard is not None:
            held = self.operand(guard, op)
            if held is self._unknown:
                return held
            if held != SAME:
                return None
        return self.value(op)

    def value(self, op: Op | Copy) -> Shape | object:
        """The shape of what an op computes, its guard aside."""
        if isinstance(op, Copy):
            if not isinstance(op.source, tuple):
                return self._plain([self.operand(op.source, op)])
            whole = [(byte, size) for _, byte, size in op.source] == [(0, op.size)]
            whole = whole and bits_of(self.graph.registers[op.target]) == 8 * op.size
            return self._plain([self.of[r] for r, _, _ in op.source], whole)
        at, name = op.at, op.at.opcode.name
        if at.pc in self.apart:
            return None
        if name in ("ld", "ldu"):
            return self._load(op)
        if name == "st":
            return self._plain([self.operand(at.operands[1], op)])
        if name in ("vote", "redux", "activemask", "elect") or (name == "cvta"):
            if name == "cvta":
                return self.operand(at.operands[1], op)
            return SAME if name in ("vote", "activemask") else None
        if name == "mov" and any(isinstance(o, Vec) for o in at.operands):
            return self._plain([self.operand(o, op) for o in at.operands[1:]])
        found = operation(at.opcode, len(targets(at)))
        if found is None:
            return None
        sources = [self.operand(o, op) for o in at.operands[1:]]
        if name in ("addc", "subc", "madc"):
            sources.append(self.of[op.place.carry])
        if any(s is self._unknown for s in sources):
            return self._unknown
        shapes = [
            s if s == SAME or self._fits(o, k) else None
            for s, o, k in zip(sources, at.operands[1:], found.sources, strict=False)
        ]
        shapes += sources[len(shapes) :]
        constants = [_signed(o, k) for o, k in zip(at.operands[1:], found.sources, strict=False)]
        constants += [None] * 3
        shape = computed(name, Variant(at.opcode.mods), shapes, constants)  # type: ignore[arg-type]
        if shape is not None and shape != SAME:
            target = targets(at)[0]
            if not (isinstance(target, Reg) and self._fits(target, found.results[0])):
                return None
        return shape

    def _fits(self, operand: Operand, kind: str) -> bool:
        if not isinstance(operand, Reg):
            return True
        return CONTAINERS[operand.type] == CONTAINERS[kind]

    def _plain(self, shapes: list[Shape | object], alone: bool = False) -> Shape | object:
        if any(s is self._unknown for s in shapes):
            return self._unknown
        if alone:
            return shapes[0]
        return SAME if all(s == SAME for s in shapes) else None

    def _load(self, op: Op) -> Shape | object:
        at = op.at
        space = space_named(at.opcode.mods)
        slots = param_accesses(at)
        of_kernel = op.place.code.function.entry and slots
        if slots and not (of_kernel and slots[0][0] in self.program.parameter_offset):
            parts = [p for slot in slots for p in parts_of(op.place, slot)]
            return self._plain([self.of[r] for r, _, _ in parts])
        if space in ("local", ""):
            return None
        shape = self.operand(at.operands[1], op)
        return shape if shape is self._unknown or shape == SAME else None

    def operand(self, operand: Operand, op: Op | Copy) -> Shape | object:
        """The shape of an operand."""
        if isinstance(operand, Reg):
            return self.of[op.place.register(operand)]
        if isinstance(operand, Not):
            return self.of[op.place.register(operand.reg)]
        if isinstance(operand, Addr):
            return SAME if operand.base is None else self.operand(operand.base, op)
        if isinstance(operand, Vec):
            return self._plain([self.operand(item, op) for item in operand.items])
        if isinstance(operand, Sym):
            return special_shape(operand.name, self.threads)
        return SAME


def _signed(operand: Operand, kind: str) -> int | None:
    if not isinstance(operand, Imm) or kind == "pred":
        return None
    value = int(immediate(operand, kind)[0])
    bits = WIDTHS[kind]
    return value - (1 << bits) if value >> (bits - 1) else value
