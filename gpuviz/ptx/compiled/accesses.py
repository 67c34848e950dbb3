"""The memory instructions of a graph: what each may touch, and which of them need a check of order.

The NumPy engine runs warps in step, the compiled one runs one after the other. Both leave the same
in memory unless one warp writes what another reads or writes with no barrier in between. Where the
code alone does not rule that out, the accesses ask and leave the epoch of their warp in every cell
they touch; when two warps clash, the launch is left to the NumPy engine.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from gpuviz.ptx.compiled.graph import Copy, Graph, Op, parts_of, written
from gpuviz.ptx.compiled.writer import Bailout
from gpuviz.ptx.decode.atomics import _form, stays_atomic
from gpuviz.ptx.decode.locate import REACHED, describe, space_named
from gpuviz.ptx.decode.matrices import capability_of
from gpuviz.ptx.decode.memory import unused_bytes
from gpuviz.ptx.decode.outline import param_accesses
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.tensor.wmma import moved_matrix, moves_of
from gpuviz.ptx.text.ir import Addr, Imm, Operand, Reg, Sym, Vec
from gpuviz.ptx.text.isa import (
    ACCESSES,
    ATOMICS,
    MATRIX_ROWS,
    addresses,
    kind_of,
    targets,
    value_of,
)
from gpuviz.ptx.text.stream import type_bytes
from gpuviz.traces.trace import MATRICES, MemoryInstruction
from gpuviz.traces.trace import Op as Kind

_COMMUTING = ("add", "and", "or", "xor", "min", "max", "inc", "dec")
_OPERATIONS = (*_COMMUTING, "exch", "cas")
_WHOLE = (*MATRIX_ROWS, "wmma")  # all that is loaded is used
_WAITS = ("commit_group", "wait_group", "wait_all")


@dataclass(eq=False)
class Access:
    """One memory instruction: `count` units of `unit` bytes in each lane.

    `origin` is the argument or variable whose buffer a global address is in ("" unknown);
    `form` the operation of an atomic. The last five say what is to be asked of the cells.
    """

    number: int
    op: Op
    space: str
    unit: int
    count: int
    how: Kind
    origin: str
    form: str = ""
    used: bool = False
    once: bool = False  # leaves a bit, which must not be there yet
    claims: bool = False  # leaves its epoch, and asks who wrote
    asks_readers: bool = False
    asks_writers: bool = False
    leaves_read: bool = False

    @property
    def width(self) -> int:
        """Bytes of a lane."""
        return self.unit * self.count

    @property
    def copies_into(self) -> bool:
        """The side of a copy that writes."""
        return self.how == "copy" and self.space == "shared"

    @property
    def loads(self) -> bool:
        """Whether it leaves cells as they are."""
        return self.how == "load" or (self.how == "copy" and self.space == "global")

    @property
    def watched(self) -> bool:
        """Whether it asks the cells it touches, or leaves something there."""
        return self.once or self.claims or self.asks_writers

    @property
    def instruction(self) -> MemoryInstruction:
        """The record that sinks are told."""
        at, function = self.op.at, self.op.place.code.name
        form = ""
        if self.form:
            form = _form(self.form, at.opcode.mods[-1], self.used, value_of(at))
        elif at.opcode.name == MATRICES:
            form = MATRICES
        return describe(at, function, self.space, self.how, self.width, form, self._unused)

    @property
    def _unused(self) -> int:
        """The bytes of a vector load that nobody uses."""
        target = self.op.at.operands[0]
        name = self.op.at.opcode.name
        if self.how != "load" or not isinstance(target, Vec) or name in _WHOLE:
            return 0
        return unused_bytes(self.op.at, self.op.place.code.function, target, self.width)

    @property
    def address(self) -> Addr:
        """The address operand."""
        found = [o for o in self.op.at.operands if isinstance(o, Addr)]
        return found[self.how == "copy" and not self.copies_into]

    @property
    def commutes(self) -> bool:
        """An atomic whose order among warps makes no difference."""
        floating = self.op.at.opcode.mods[-1][0] == "f" or "bf16" in self.op.at.opcode.mods[-1]
        return bool(self.form) and not self.used and self.form in _COMMUTING and not floating


class Accesses:
    """All memory instructions of a graph, by the op that makes them.

    `epochs`: buffers are not expected to be written but once in each cell.
    """

    def __init__(
        self, graph: Graph, program: Program, pointers: dict[int, str], epochs: bool
    ) -> None:
        self.graph = graph
        self.program = program
        self._sm = capability_of(program.module)
        self._epochs = epochs
        self._origins = _Origins(graph, program, pointers)
        self.all: list[Access] = []
        self.of: dict[Op, list[Access]] = {}  # of a generic address one for each space
        self._block: dict[Access, int] = {}
        for block in graph.blocks:
            for op in block.ops:
                if isinstance(op, Op):
                    self._add(op, block.number)
        shared = [a.unit for a in self.all if a.space == "shared"]
        others = [a.unit for a in self.all if a.space == "global"]
        self.cell = {"shared": min(shared, default=4), "global": min(others, default=4)}
        self._ask_global()
        self._ask_shared()

    def _add(self, op: Op, block: int) -> None:
        at, name = op.at, op.at.opcode.name
        if kind_of(at) not in ACCESSES and name != "wmma":
            return
        mods = at.opcode.mods
        if name == "cp":
            self._add_copy(op, block)
            return
        if name == "wmma":
            self._add_pieces(op, block)
            return
        space = space_named(mods)
        address, value = addresses(at)[0], value_of(at)
        if not isinstance(address, Addr):
            raise Bailout("this address")
        if space == "param" and not isinstance(address.base, Reg):
            return
        kind, form, used = mods[-1], "", False
        how: Kind = "load"
        if kind_of(at) in ATOMICS:
            form = next((m for m in mods if m in _OPERATIONS), "")
            used = stays_atomic(at, op.place.code.function)
            how = "atomic" if used else "reduction"
            if isinstance(value, Vec) or type_bytes(kind) > 8:
                raise Bailout("an atomic of a vector")
        elif kind_of(at) == "store":
            how = "store"
        count = len(value.items) if isinstance(value, Vec) and not form else 1
        unit = type_bytes(kind)
        if kind == "b128":
            unit, count = 8, 2 * count
        if name in MATRIX_ROWS:  # a row of 16 bytes for each lane
            unit, count = 8, 2
        for one in (space,) if space else REACHED[how]:
            self._append(op, block, one, unit, count, how, address, form, used)

    def _add_pieces(self, op: Op, block: int) -> None:
        """A matrix that is loaded or stored as a whole: an access for each of its pieces."""
        at, space = op.at, space_named(op.at.opcode.mods)
        if at.opcode.mods[0] not in ("load", "store"):
            return
        stores = at.opcode.mods[0] == "store"
        address = at.operands[0 if stores else 1]
        if not isinstance(address, Addr):
            raise Bailout("this address")
        try:
            moves = moves_of(moved_matrix(at.opcode.mods, self._sm), space)
        except ValueError as reason:
            raise Bailout(str(reason)) from None
        how: Kind = "store" if stores else "load"
        for one in ((space,) if space else REACHED[how]) * len(moves.places):
            self._append(op, block, one, moves.unit, moves.count, how, address)

    def _add_copy(self, op: Op, block: int) -> None:
        """cp.async: what it reads, then what it writes."""
        mods, operands = op.at.opcode.mods, op.at.operands
        if mods[0] != "async" or "bulk" in mods or "mbarrier" in mods:
            raise Bailout(op.at.opcode.text)
        if mods[1] in _WAITS:
            return
        source, size = operands[1], operands[2]
        if len(operands) != 3 or not isinstance(size, Imm) or size.value not in (4, 8, 16):
            raise Bailout("a copy of so many bytes")
        unit = min(size.value, 8)
        for space in ("global", "shared"):
            self._append(op, block, space, unit, size.value // unit, "copy", source)

    def _append(
        self,
        op: Op,
        block: int,
        space: str,
        unit: int,
        count: int,
        how: Kind,
        address: Operand,
        form: str = "",
        used: bool = False,
    ) -> None:
        origin = self._origins.operand(address, op) if space == "global" else ""
        access = Access(len(self.all), op, space, unit, count, how, origin, form, used)
        self.all.append(access)
        self.of.setdefault(op, []).append(access)
        self._block[access] = block

    def _ask_global(self) -> None:
        """Blocks have no order at all: by origin, over the whole kernel."""
        everything = [a for a in self.all if a.space == "global"]
        unknown = any(not a.origin for a in everything)
        groups: dict[str, list[Access]] = {}
        for access in everything:
            groups.setdefault("" if unknown else access.origin, []).append(access)
        for group in groups.values():
            if not self._epochs and all(a.how == "store" for a in group):
                for access in group:
                    access.once = True
            else:
                self._ask(group)

    @property
    def adds_up(self) -> bool:
        """Whether blocks change the same words of global memory by atomics."""
        return any(a.space == "global" and a.commutes and not a.claims for a in self.all)

    @property
    def written(self) -> set[str]:
        """The buffers that may be written; "" when one is not known."""
        return {a.origin for a in self.all if a.space == "global" and not a.loads}

    def _ask_shared(self) -> None:
        """By region: what may run between two barriers."""
        for region in regions(self.graph).values():
            self._ask([a for a in self.all if a.space == "shared" and self._block[a] in region])

    def _ask(self, group: list[Access]) -> None:
        writers = [a for a in group if not a.loads]
        readers = [a for a in group if a.loads]
        if not writers:
            return
        forms = {(a.form, a.op.at.opcode.mods[-1]) for a in writers}
        if not readers and len(forms) == 1 and all(a.commutes for a in writers):
            return
        for access in writers:
            access.claims = True
            access.asks_readers |= bool(readers)
        for access in readers:
            access.asks_writers = access.leaves_read = True

    @property
    def tracked(self) -> dict[str, bool]:
        """Whether cells of a space need to remember who wrote, and who read."""
        found = {}
        for space in ("shared", "global"):
            own = [a for a in self.all if a.space == space]
            found[space] = any(a.claims for a in own)
            found[space + " readers"] = any(a.leaves_read for a in own)
        return found


def regions(graph: Graph) -> dict[int, frozenset[int]]:
    """Blocks that may run before the next barrier, by the block where a region starts."""
    starts = [0, *(b.end.to[0] for b in graph.blocks if b.end.how == "barrier" and b.end.to)]
    return {start: _reach(graph, start) for start in dict.fromkeys(starts)}


def _reach(graph: Graph, start: int) -> frozenset[int]:
    seen, left = {start}, [start]
    while left:
        block = graph.blocks[left.pop()]
        for follower in () if block.end.how == "barrier" else block.end.to:
            if follower not in seen:
                seen.add(follower)
                left.append(follower)
    return frozenset(seen)


_NUMBER, _MIXED = "#number", ""


class _Origins:
    """Which buffer an address comes from, by register: an argument, a variable, or unknown."""

    def __init__(self, graph: Graph, program: Program, pointers: dict[int, str]) -> None:
        self._program = program
        self._pointers = pointers
        self._of: dict[int, str] = {}
        ops = [op for block in graph.blocks for op in block.ops]
        changed = True
        while changed:
            changed = False
            for op in ops:
                found = self._result(op)
                if found is None:
                    continue
                for register in written(op):
                    old = self._of.get(register)
                    new = found if old in (None, found) else _MIXED
                    if new != old:
                        self._of[register] = new
                        changed = True

    def _result(self, op: Op | Copy) -> str | None:
        if isinstance(op, Copy):
            if isinstance(op.source, tuple):
                return self._joined([self._of.get(r) for r, _, _ in op.source])
            return self.operand_or_none(op.source, op)
        at, name = op.at, op.at.opcode.name
        if name in ("ld", "ldu"):
            address = at.operands[1]
            if space_named(at.opcode.mods) == "param" and isinstance(address, Addr):
                if isinstance(address.base, Sym) and op.place.code.function.entry:
                    offset = self._program.parameter_offset.get(address.base.name)
                    if offset is None:
                        return self._slots(op)
                    return self._pointers.get(offset + address.offset, _NUMBER)
                if isinstance(address.base, Sym):
                    return self._slots(op)
            wide = at.opcode.mods[-1][1:] == "64"
            return _MIXED if wide else _NUMBER
        if name == "st":
            return self.operand_or_none(at.operands[1], op)
        if name in ("atom", "shfl"):
            return _MIXED if at.opcode.mods[-1][1:] == "64" else _NUMBER
        sources = [self.operand_or_none(o, op) for o in at.operands[1:]]
        if not targets(at):
            return None
        found = self._joined(sources)
        if found in (None, _NUMBER, _MIXED):
            return found
        pointers = sum(s not in (None, _NUMBER) for s in sources)
        passes = name in ("mov", "cvta", "selp") or (
            name in ("add", "mad", "sub") and pointers == 1
        )
        return found if passes else _MIXED

    def _slots(self, op: Op) -> str | None:
        parts = [p for slot in param_accesses(op.at) for p in parts_of(op.place, slot)]
        return self._joined([self._of.get(r) for r, _, _ in parts])

    def _joined(self, sources: Iterable[str | None]) -> str | None:
        found = {s for s in sources if s is not None}
        if not found:
            return None
        real = found - {_NUMBER}
        if not real:
            return _NUMBER
        return next(iter(real)) if len(real) == 1 else _MIXED

    def operand(self, operand: Operand, op: Op | Copy) -> str:
        """The origin of an address; "" when it is not known."""
        found = self.operand_or_none(operand, op)
        return "" if found in (None, _NUMBER) else str(found)

    def operand_or_none(self, operand: Operand, op: Op | Copy) -> str | None:
        """None: nothing is known yet."""
        if isinstance(operand, Reg):
            return self._of.get(op.place.register(operand))
        if isinstance(operand, Addr):
            return _NUMBER if operand.base is None else self.operand_or_none(operand.base, op)
        if isinstance(operand, Vec):
            return self._joined([self.operand_or_none(i, op) for i in operand.items])
        if isinstance(operand, Sym) and self._program.spaces.get(operand.name) == "global":
            return operand.name
        return _NUMBER
