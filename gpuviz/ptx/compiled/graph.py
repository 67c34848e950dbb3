"""A kernel laid out as one list of basic blocks, in the order in which parted lanes are run.

Calls of device functions are put in their place: the blocks of a callee follow the block that calls
it, just where the NumPy engine ranks them. All calls of a function share its registers, as there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpuviz.ptx.compiled.writer import Bailout
from gpuviz.ptx.decode.outline import is_synchronised, outline, param_accesses
from gpuviz.ptx.simt.builtins import BUILTINS
from gpuviz.ptx.simt.code import FunctionCode, Slot
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.text.flow import ends_block
from gpuviz.ptx.text.ir import Function, Imm, Instruction, Not, Operand, Reg, Sym, Vec
from gpuviz.ptx.text.isa import registers_in, sources, targets
from gpuviz.traces.trace import Stretch

MOST_BLOCKS = 3000


@dataclass(frozen=True, eq=False)
class Instance:
    """A function in its place: its `first` register, the bytes its callers use, its carry."""

    code: FunctionCode
    first: int
    local: int
    carry: int

    def register(self, reg: Reg) -> int:
        """The number of a register in the whole kernel."""
        return self.first + reg.index


Part = tuple[int, int, int]  # register, byte it starts at, bytes


@dataclass(frozen=True, eq=False)
class Copy:
    """A value handed into or out of a call: an operand of `place`, or parts of a parameter."""

    target: int
    place: Instance
    source: Operand | tuple[Part, ...]
    size: int
    guard: Reg | Not | None = None


@dataclass(frozen=True, eq=False)
class Op:
    """An instruction of an instance of its function."""

    at: Instruction
    place: Instance


@dataclass(frozen=True, eq=False)
class End:
    """How a block ends: go, branch, return, table, leave, barrier, trap or stop.

    `to` are the blocks that may follow: of a branch the one taken, then the one that is not.
    """

    how: str
    to: tuple[int, ...] = ()
    guard: Reg | Not | None = None
    at: Instruction | None = None


@dataclass(eq=False)
class Block:
    """A basic block; `number` is its place in the order, `synchronised` what lanes meet for."""

    number: int
    place: Instance
    ops: list[Op | Copy]
    end: End
    stretch: Stretch
    synchronised: Instruction | None = None


@dataclass(eq=False)
class Graph:
    """All blocks, the types of all registers, and what a thread's local memory takes."""

    blocks: list[Block] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)
    local_size: int = 0

    def followers(self, number: int) -> tuple[int, ...]:
        """The blocks that may follow one."""
        return self.blocks[number].end.to


Back = tuple[tuple[Copy, ...], int]  # what a return hands over, and where it goes on


class Layout:
    """Lays out a kernel; use `graph_of`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = Graph()
        self._first: dict[str, tuple[FunctionCode, int, int]] = {}
        self._calling: list[str] = []
        self.where: dict[Instance, dict[int, int]] = {}  # the blocks of each instance
        self.pending: list[tuple[int, Instance, int]] = []  # where calls go on, not yet known

    def function(self, function: Function, local: int) -> Instance:
        """An instance of a function whose callers use `local` bytes."""
        if function.name not in self._first:
            code, _ = outline(function, len(self._first))
            first = len(self.graph.registers)
            self.graph.registers += [*code.registers, "pred"]
            self._first[function.name] = code, first, first + len(code.registers)
        code, first, carry = self._first[function.name]
        return Instance(code, first, local, carry)

    def add(self, place: Instance, back: Back | None = None) -> dict[int, int]:
        """Add the blocks of an instance, with what a return does in the caller; their numbers."""
        code = place.code
        if code.name in self._calling:
            raise Bailout(f"the recursion of {code.name}")
        self._calling.append(code.name)
        self.graph.local_size = max(self.graph.local_size, place.local + code.local_size)
        _, spans = outline(code.function, 0)
        numbers: dict[int, int] = {}
        made: list[tuple[Block, int]] = []
        for index in sorted(range(len(spans)), key=lambda n: code.rank[n]):
            if len(self.graph.blocks) >= MOST_BLOCKS:
                raise Bailout(f"more than {MOST_BLOCKS} basic blocks")
            span = spans[index]
            body = code.function.body[span.start : span.end]
            lines = tuple(dict.fromkeys(i.line for i in body if i.line))
            stretch = Stretch(body[0].pc, len(body), lines, code.name)
            ended = ends_block(body[-1])
            block = Block(
                len(self.graph.blocks),
                place,
                [Op(i, place) for i in (body[:-1] if ended else body)],
                End("go", (index + 1,)),
                stretch,
                body[0] if is_synchronised(body[0]) else None,
            )
            numbers[index] = block.number
            self.graph.blocks.append(block)
            made.append((block, index))
            if ended:
                block.end = self._end(body[-1], place, index, block, back)
            elif index + 1 == len(spans):
                block.end = self._leave(None, block, back, index)
        for block, _ in made:
            end = block.end
            if not isinstance(end, _ResolvedEnd):
                to = tuple(t if t < 0 else numbers[t] for t in end.to if t < 0 or t in numbers)
                block.end = _ResolvedEnd(end.how, to, end.guard, end.at)
        self.where[place] = numbers
        self._calling.pop()
        return numbers

    def _end(
        self, at: Instruction, place: Instance, index: int, block: Block, back: Back | None
    ) -> End:
        name, code = at.opcode.name, place.code
        if name == "bra":
            target = at.operands[0]
            assert isinstance(target, Sym)
            to = code.label_block[target.name]
            return (
                End("go", (to,))
                if at.guard is None
                else End("branch", (to, index + 1), at.guard, at)
            )
        if name == "brx":
            table = at.operands[1]
            assert isinstance(table, Sym)
            targets = tuple(code.label_block[t] for t in code.function.tables[table.name])
            if at.guard is not None:
                raise Bailout("a guarded brx")
            return End("table", targets, None, at)
        if name == "exit" or name == "ret":
            return self._leave(at, block, back if name == "ret" else None, index)
        if name in ("trap", "brkpt"):
            return End("trap", (index + 1,) if at.guard is not None else (), at.guard, at)
        if name in ("bar", "barrier"):
            if at.guard is not None:
                raise Bailout("a guarded barrier")
            return End("go" if "cluster" in at.opcode.mods else "barrier", (index + 1,), None, at)
        return self._call(at, place, index, block)

    def _leave(self, at: Instruction | None, block: Block, back: Back | None, index: int) -> End:
        guard = at.guard if at is not None else None
        following = (index + 1,) if guard is not None else ()
        if back is None:
            return End("leave", following, guard, at)
        copies, slot = back
        for copy in copies:
            block.ops.append(Copy(copy.target, copy.place, copy.source, copy.size, guard))
        if guard is None:
            return End("go", (slot,))
        return End("return", (slot, index + 1), guard, at)

    def _call(self, at: Instruction, place: Instance, index: int, block: Block) -> End:
        first, *rest = at.operands
        results: tuple[Operand, ...] = ()
        if isinstance(first, Vec):
            results, (first, *rest) = first.items, rest
        given = rest[0].items if rest and isinstance(rest[0], Vec) else ()
        if at.guard is not None:
            raise Bailout("a guarded call")
        if not isinstance(first, Sym):
            raise Bailout("a call through a pointer")
        callee = self.program.module.by_name.get(first.name)
        if callee is None or not callee.defined:
            if first.name in BUILTINS:
                return End("stop", (), None, at)
            raise Bailout(f"a call of {first.name}")
        inner = self.function(callee, place.local + place.code.local_size)
        for parameter, argument in zip(callee.params, given, strict=False):
            for slot, register in inner.code.slots.items():
                if slot[0] == parameter.name:
                    source = _argument(argument, slot, place)
                    block.ops.append(Copy(inner.first + register, place, source, slot[2]))
        copies = tuple(self._results(results, callee, place, inner))
        marker = -1 - len(self.graph.blocks)
        numbers = self.add(inner, (copies, marker))
        self.pending.append((marker, place, index + 1))
        return _ResolvedEnd("go", (numbers[0],))

    def _results(
        self, results: tuple[Operand, ...], callee: Function, place: Instance, inner: Instance
    ) -> Iterator[Copy]:
        for result, returned in zip(results, callee.returns, strict=False):
            if isinstance(result, Reg):
                parts = parts_of(inner, (returned.name, 0, returned.size))
                yield Copy(place.register(result), inner, parts, returned.size)
                continue
            assert isinstance(result, Sym)
            for slot, register in place.code.slots.items():
                if slot[0] == result.name:
                    parts = parts_of(inner, (returned.name, slot[1], slot[2]))
                    yield Copy(place.first + register, inner, parts, slot[2])


class _ResolvedEnd(End):
    """An end whose `to` are numbers of blocks (negative: where a call goes on)."""


def _argument(argument: Operand, slot: Slot, place: Instance) -> Operand | tuple[Part, ...]:
    _, offset, size = slot
    return parts_of(place, (argument.name, offset, size)) if isinstance(argument, Sym) else argument


def parts_of(place: Instance, slot: Slot) -> tuple[Part, ...]:
    """The registers that hold a part of a parameter, and the bytes of it where each starts."""
    code = place.code
    if slot in code.slots:
        return ((place.first + code.slots[slot], 0, slot[2]),)
    name, offset, size = slot
    return tuple(
        (place.first + index, o - offset, n)
        for (variable, o, n), index in code.slots.items()
        if variable == name and o < offset + size and o + n > offset
    )


def graph_of(program: Program) -> Graph:
    """The blocks of the program's kernel with all it calls.

    Raises
    ------
    Bailout : recursion, a call through a pointer, or too many blocks
    """
    layout = Layout(program)
    layout.add(layout.function(program.kernel, 0))
    onward = {marker: layout.where[place].get(n, -1) for marker, place, n in layout.pending}
    for block in layout.graph.blocks:
        end = block.end
        to = tuple(onward[t] if t < 0 else t for t in end.to)
        block.end = End(end.how, to, end.guard, end.at)
    return layout.graph


def written(op: Op | Copy) -> list[int]:
    """The registers an op writes."""
    if isinstance(op, Copy):
        return [op.target]
    found = _registers(op.place, *targets(op.at))
    if op.at.opcode.name == "st":
        found += [r for slot in param_accesses(op.at) for r, _, _ in slot_registers(op.place, slot)]
    if "cc" in op.at.opcode.mods:
        found.append(op.place.carry)
    return found


def slot_registers(place: Instance, slot: Slot) -> list[Part]:
    """Where a stored parameter goes: its own register, or those of its bytes."""
    code = place.code
    if slot in code.slots:
        return [(place.first + code.slots[slot], 0, slot[2])]
    name, offset, size = slot
    return [(place.first + code.slots[name, offset + i, 1], i, 1) for i in range(size)]


def read(op: Op | Copy) -> list[int]:
    """The registers an op reads; a guarded one also keeps what it does not write."""
    if isinstance(op, Copy):
        own = [op.target] if op.guard is not None else []
        if isinstance(op.source, tuple):
            return own + [r for r, _, _ in op.source] + _registers(op.place, op.guard)
        return own + _registers(op.place, op.source, op.guard)
    at = op.at
    found = _registers(op.place, at.guard, *sources(at))
    if at.guard is not None:
        found += written(op)
    if at.opcode.name in ("ld", "ldu"):
        for slot in param_accesses(at):
            found += [r for r, _, _ in parts_of(op.place, slot)]
    if at.opcode.name in ("addc", "subc", "madc"):
        found.append(op.place.carry)
    return found


def _registers(place: Instance, *operands: Operand | None) -> list[int]:
    return [place.register(one) for one in registers_in(operands)]


def end_reads(block: Block) -> list[int]:
    """The registers that the end of a block reads."""
    end = block.end
    found = _registers(block.place, end.guard)
    if end.at is not None and end.how in ("table", "barrier"):
        found += _registers(block.place, *sources(end.at))
    if block.synchronised is not None:
        found += _registers(block.place, *block.synchronised.operands)
    return found


def live_in(graph: Graph) -> list[int]:
    """For each block the registers (a bit set) that it, or what follows, reads before writing."""
    uses, kills = [], []
    for block in graph.blocks:
        use = kill = 0
        for op in block.ops:
            for r in read(op):
                use |= (1 << r) & ~kill
            for r in written(op):
                kill |= 1 << r
        for r in end_reads(block):
            use |= (1 << r) & ~kill
        at = block.end.at
        if block.end.how == "barrier" and at is not None:
            for r in _registers(block.place, *targets(at)):
                kill |= 1 << r
        uses.append(use)
        kills.append(kill)
    live = [0] * len(graph.blocks)
    changed = True
    while changed:
        changed = False
        for n in range(len(graph.blocks) - 1, -1, -1):
            out = 0
            for follower in graph.followers(n):
                out |= live[follower]
            found = uses[n] | (out & ~kills[n])
            if found != live[n]:
                live[n], changed = found, True
    return live


def constant(operand: Operand | None) -> int | None:
    """The value of an integer literal."""
    return operand.value if isinstance(operand, Imm) and operand.form == "int" else None
