"""What a kernel makes of its block's index: by how much each register shifts from block to block.

Read twice: before anything has run, to see whether there is hope and what to watch (`probes`); and
after a block has, with what was seen of it, to know which blocks do the very same (`alike`).

The reading is an induction over the steps of a warp. As long as all that steers it (branches,
guards of memory accesses, barriers) comes out the same in two blocks, both execute the same
instructions; each of them makes values that differ by the shift found for its register, whenever it
is executed. So one shift a register has to fit all instructions that write it: where they differ,
the blocks have to be such that they do not.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from gpuviz.ptx.arithmetic.kinds import CONTAINERS
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.compiled.graph import (
    Block,
    Copy,
    Graph,
    Instance,
    Op,
    live_in,
    parts_of,
    slot_registers,
    written,
)
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.outline import param_accesses
from gpuviz.ptx.equivalence.probes import Observation, Probe
from gpuviz.ptx.equivalence.rules import Case, is_whole, shifted
from gpuviz.ptx.equivalence.shift import (
    NONE,
    SAME,
    Condition,
    Known,
    NoProof,
    Shift,
    Value,
    along,
    nothing,
    same_in_all,
)
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import adapter, immediate
from gpuviz.ptx.text.ir import Addr, Imm, Instruction, Not, Operand, Reg, Sym, Vec, items
from gpuviz.ptx.text.isa import ACCESSES, ATOMICS, addresses, kind_of, targets

_AXES = {"%ctaid.x": 0, "%ctaid.y": 1, "%ctaid.z": 2}
_AXES |= {name.replace("%ctaid", "%clusterid"): axis for name, axis in _AXES.items()}
_SIZES = {"%ntid": "block", "%nctaid": "grid", "%nclusterid": "grid"}
_TIMES = ("%clock", "%clock64", "%globaltimer", "%globaltimer_lo")
_COPY = 3  # operands of an asynchronous copy, and then how much of it is copied


@dataclass(frozen=True)
class Site:
    """A memory instruction: how its addresses shift where `needs` hold.

    `source`: those that an asynchronous copy reads from.
    """

    address: Shift
    source: Shift
    needs: frozenset[Condition]


@dataclass(eq=False)
class BlockShifts:
    """What was found: what has to hold for warps to be steered alike, and the accesses by pc.

    `sites` of instructions in several places are those of each; None: an address may be anything.
    """

    needs: set[Condition] = field(default_factory=set)
    sites: dict[int, list[Site | None]] = field(default_factory=dict)


class ShiftAnalysis:
    """Reads the kernel of a launch.

    `seen` is what probes saw of a block, `ran` the pc of the basic blocks it executed; both None
    before anything has run. `asked` are the probes that are wanted.
    """

    def __init__(
        self,
        graph: Graph,
        program: Program,
        seen: Mapping[Probe, Observation] | None = None,
        ran: Collection[int] | None = None,
        watched: Collection[Probe] = (),
    ) -> None:
        self._graph, self._program = graph, program
        self._seen, self._watched = seen, watched
        self._blocks = [b for b in graph.blocks if ran is None or b.stretch.pc in ran]
        self._values: list[Known | _Unset] = [_UNSET] * len(graph.registers)
        self.asked: set[Probe] = set()
        start = live_in(graph)[0]
        for register in range(len(graph.registers)):
            if start >> register & 1:  # read before anybody writes it: 0
                self._values[register] = Value(known=0)

    def read(self) -> BlockShifts:
        """The whole kernel.

        Raises
        ------
        NoProof : something that steers warps, or an address, is not known to be alike anywhere
        """
        ops = [op for block in self._blocks for op in block.ops]
        changed = True
        while changed:
            changed = False
            for op in ops:
                for register, value in self._written(op):
                    changed |= self._join(register, value)
            for block in self._blocks:
                for register, value in self._met(block):
                    changed |= self._join(register, value)
        found = BlockShifts()
        for block in self._blocks:
            self._steering(block, found)
            for op in block.ops:
                if isinstance(op, Op):
                    self._accesses(op, found)
        return found

    def _join(self, register: int, value: Known) -> bool:
        """A register is written; whether that says anything new."""
        old = self._values[register]
        if old is None or old == value:
            return False
        if isinstance(old, _Unset) or value is None:
            self._values[register] = value
            return True
        needs = old.needs | value.needs
        shift = old.shift
        if value.shift != shift:
            if self._seen is None:
                shift = _named(f"register {register}")
            else:
                needs |= nothing(old.shift - value.shift)
        known = old.known if old.known == value.known else None
        joined = Value(shift, needs, known)
        self._values[register] = joined
        return joined != old

    # what instructions write

    def _written(self, op: Op | Copy) -> Iterator[tuple[int, Known]]:
        """Registers and what is put into them; nothing where it was never executed."""
        guard = op.guard if isinstance(op, Copy) else op.at.guard
        try:
            found = self._results(op)
            held = SAME if guard is None else self._operand(guard, "pred", op.place)
        except _NotYet:
            return
        if guard is not None:
            found = [held and value and value.needing(held.needs) for value in found]
        registers = written(op)
        if len(found) == 1:
            found = found * len(registers)
        yield from zip(registers, found, strict=True)

    def _met(self, block: Block) -> Iterator[tuple[int, Known]]:
        """What a barrier hands out that gathers predicates."""
        at = block.end.at
        if block.end.how == "barrier" and at is not None and targets(at):
            try:
                found = _all_or_none([self._operand(at.operands[-1], "pred", block.place)])
            except _NotYet:
                return
            regs = (t for t in targets(at) if isinstance(t, Reg))
            yield from ((block.place.register(reg), found) for reg in regs)

    def _results(self, op: Op | Copy) -> list[Known]:
        """What an op computes: one for all that it writes, or one each."""
        if isinstance(op, Copy):
            return self._copied(op)
        at, name = op.at, op.at.opcode.name
        if name in ("ld", "ldu"):
            return self._loaded(op)
        if name == "st":
            return self._stored(op)
        if kind_of(at) in ATOMICS:
            return [None]
        if name == "cvta":
            value = self._operand(at.operands[1], at.opcode.mods[-1], op.place)
            return [value and Value(value.shift, value.needs)]
        if name == "shfl":
            return self._shuffled(op)
        if name == "match":
            value = self._operand(at.operands[1], at.opcode.mods[-1], op.place)
            return [value and Value(NONE, value.needs)]
        if name == "mov" or operation(at.opcode, len(targets(at))) is None:
            if name == "mov" and not any(isinstance(o, Vec) for o in at.operands):
                return self._moved(op)
            return self._any_way(op)
        return self._computed(op)

    def _any_way(self, op: Op) -> list[Known]:
        """Whatever is computed: alike where all operands are."""
        sources = (self._operand(o, self._width(o), op.place) for o in op.at.operands[1:])
        return [_all_or_none(sources)]

    def _moved(self, op: Op) -> list[Known]:
        kind = op.at.opcode.mods[-1]
        value = self._operand(op.at.operands[1], kind, op.place)
        return [self._put(value, op.at.operands[0], kind)]

    def _computed(self, op: Op) -> list[Known]:
        """What the table of arithmetic has."""
        at, wanted = op.at, targets(op.at)
        found = operation(at.opcode, len(wanted))
        assert found is not None
        operands = at.operands[1:]
        pairs = zip(operands, found.sources, strict=False)
        sources = [self._operand(o, kind, op.place) for o, kind in pairs]
        if len(found.sources) == len(operands) + 1:
            sources.append(self._register(op.place.carry))
        if at.opcode.name == "selp":
            return self._selected(op, sources)
        values = [value for value in sources if isinstance(value, Value)]
        if len(values) < len(sources):
            return [None]
        if not any(value.shift or value.sign is not None for value in values):
            result = same_in_all(values)
            if len(wanted) == 1 and all(value.known is not None for value in values):
                result = Value(known=_number(found, values))
        else:
            missed: list[Probe] = []

            def look(probe: Probe) -> Observation | None:
                return self._look(probe, missed)

            made = shifted(Case(at, found, tuple(values), look))
            if made is None and missed and self._seen is not None:
                raise _NotYet  # watched, and no lane came by
            if made is None and self._seen is None and missed:
                made = Value(_named(f"the result of PTX line {at.ptx_line}"))
            result = made or same_in_all(values)
        put = [
            self._put(result, target, kind)
            for target, kind in zip(wanted, found.results, strict=False)
            if isinstance(target, Reg)
        ]
        return put + [result] * ("cc" in at.opcode.mods)

    def _look(self, probe: Probe, missed: list[Probe]) -> Observation | None:
        """What a probe saw; those that saw nothing though they were there are `missed`."""
        self.asked.add(probe)
        seen = None if self._seen is None else self._seen.get(probe)
        if seen is None and (self._seen is None or probe in self._watched):
            missed.append(probe)
        return seen

    def _selected(self, op: Op, sources: list[Known]) -> list[Known]:
        """selp: the side that all lanes choose, if they do."""
        a, b, chosen = sources
        kind = op.at.opcode.mods[-1]
        if chosen is None:
            return [None]
        if a == b or (a and b and not a.shift and not b.shift):
            value = a if a == b else same_in_all([v for v in (a, b) if v])
            return [value and self._put(value.needing(chosen.needs), op.at.operands[0], kind)]
        missed: list[Probe] = []
        seen = self._look(Probe(op.at.pc, "range", 2, ("pred",)), missed)
        if seen is None:
            if self._seen is None:
                return [Value(_named(f"the choice of PTX line {op.at.ptx_line}"))]
            if missed:
                raise _NotYet
            return [None]
        if seen.low == seen.high:
            value = a if seen.low[0] else b
            value = value and value.needing(chosen.needs)
        elif a is None or b is None:
            value = None
        else:
            value = a.needing(b.needs | chosen.needs | nothing(a.shift - b.shift))
        return [value and self._put(value, op.at.operands[0], kind)]

    def _shuffled(self, op: Op) -> list[Known]:
        """shfl: a value of another lane, and whether there is one."""
        operands = op.at.operands[1:]
        value, *others = [self._operand(o, "b32", op.place) for o in operands]
        who = _all_or_none(others)
        if who is None:
            return [None]
        moved = value and value.needing(who.needs)
        moved = moved and self._put(Value(moved.shift, moved.needs), targets(op.at)[0], "b32")
        return [moved, *[who] * (len(written(op)) - 1)]

    def _loaded(self, op: Op) -> list[Known]:
        """Parameters and constants are the same for all blocks; other memory is anybody's."""
        at, space = op.at, space_named(op.at.opcode.mods)
        slots = param_accesses(at)
        if slots and op.place.code.function.entry and slots[0][0] in self._program.parameter_offset:
            return self._parameters(op)
        if slots:
            pairs = zip(targets(at), slots, strict=True)
            parts = [slot for target, slot in pairs if isinstance(target, Reg)]
            return [self._slot(parts_of(op.place, slot), slot[2]) for slot in parts]
        if space not in ("param", "const"):
            return [None]
        return [_all_or_none([self._operand(at.operands[1], "u64", op.place)])]

    def _parameters(self, op: Op) -> list[Known]:
        content = self._program.parameters.cells.bytes.tobytes()
        kind = op.at.opcode.mods[-1]
        size = CONTAINERS[kind].itemsize
        start = self._program.parameter_offset[param_accesses(op.at)[0][0]]
        found: list[Known] = []
        for target, slot in zip(targets(op.at), param_accesses(op.at), strict=True):
            at = start + slot[1]
            number = int.from_bytes(content[at : at + size], "little")
            if isinstance(target, Reg):
                found.append(self._put(Value(known=number), target, kind))
        return found

    def _slot(self, parts: tuple[tuple[int, int, int], ...], size: int) -> Known:
        """A parameter of a device function, from the registers that hold it."""
        values = [self._register(register) for register, _, _ in parts]
        if len(parts) == 1 and parts[0][1:] == (0, size):
            return values[0] and Value(values[0].shift, values[0].needs)
        return _all_or_none(values)

    def _stored(self, op: Op) -> list[Known]:
        """Arguments of calls are registers; other memory holds no register."""
        slots = param_accesses(op.at)
        found: list[Known] = []
        for slot, item in zip(slots, items(op.at.operands[1]), strict=False):
            value = self._operand(item, op.at.opcode.mods[-1], op.place)
            registers = slot_registers(op.place, slot)
            whole = value if len(registers) == 1 else value and same_in_all([value])
            found += [whole] * len(registers)
        return found

    def _copied(self, op: Copy) -> list[Known]:
        if isinstance(op.source, tuple):
            return [self._slot(op.source, op.size)]
        return [self._operand(op.source, f"b{8 * op.size}", op.place)]

    # operands

    def _register(self, register: int) -> Known:
        value = self._values[register]
        if isinstance(value, _Unset):
            raise _NotYet
        return value

    def _operand(self, operand: Operand, kind: str, place: Instance) -> Known:
        """An operand read as a type.

        Raises
        ------
        _NotYet : nothing executed has written it so far
        """
        if isinstance(operand, Reg):
            value = self._register(place.register(operand))
            return value and _adapted(value, operand.type, kind)
        if isinstance(operand, Not):
            value = self._register(place.register(operand.reg))
            if value is not None and value.known is not None:
                return Value(known=1 - value.known)
            return value
        if isinstance(operand, Imm):
            return Value(known=int(immediate(operand, kind)[0]))
        if isinstance(operand, Addr):
            base = operand.base
            return SAME if base is None else self._operand(base, self._width(base), place)
        if isinstance(operand, Vec):
            return _all_or_none(self._operand(o, self._width(o), place) for o in operand.items)
        if isinstance(operand, Sym):
            return self._special(operand.name, kind)
        return None

    def _special(self, name: str, kind: str) -> Known:
        """Special registers; any other name is an address that all blocks share."""
        base, _, axis = name.partition(".")
        if name in _AXES:
            number = _AXES[name]
            return Value(known=0) if self._program.grid[number] == 1 else Value(along(number))
        if base in _SIZES and axis in ("x", "y", "z"):
            return Value(known=getattr(self._program, _SIZES[base])["xyz".index(axis)])
        return None if name in _TIMES else SAME

    @staticmethod
    def _width(operand: Operand) -> str:
        return operand.type if isinstance(operand, Reg) else "b32"

    @staticmethod
    def _put(value: Known, target: Operand, kind: str) -> Known:
        """A result of a type as it lies in a register."""
        if value is None or not isinstance(target, Reg):
            return value
        return _adapted(value, kind, target.type)

    # what has to be alike

    def _steering(self, block: Block, found: BlockShifts) -> None:
        """The end of a block, and whom its first instruction waits for."""
        end, at = block.end, block.end.at
        if end.how == "stop":
            raise NoProof(f"it calls printf, malloc or assert{_at(at)}")
        wanted: list[Operand] = [] if end.guard is None else [end.guard]
        if end.how == "table" and at is not None:
            wanted.append(at.operands[0])
        if end.how == "barrier" and at is not None:
            wanted += at.operands[1:-1] if targets(at) else at.operands
        for operand in wanted:
            found.needs |= self._alike(operand, block.place, "a branch or barrier", at)
        first = block.synchronised
        if first is not None:
            for operand in (*first.operands[-1:], *([first.guard] if first.guard else [])):
                found.needs |= self._alike(operand, block.place, "who takes part", first)

    def _alike(
        self, operand: Operand, place: Instance, what: str, at: Instruction | None
    ) -> frozenset[Condition]:
        """What has to hold for an operand to be the same; a register that nobody wrote is 0."""
        try:
            value = self._operand(operand, self._width(operand), place)
        except _NotYet:
            return frozenset()
        if value is None:
            raise NoProof(f"{what}{_at(at)} depends on what memory holds")
        return value.needs | nothing(value.shift)

    def _accesses(self, op: Op, found: BlockShifts) -> None:
        """The addresses of an access, and who makes it."""
        at, name = op.at, op.at.opcode.name
        if kind_of(at) not in ACCESSES or space_named(at.opcode.mods) == "param":
            return
        if name == "cp" and len(at.operands) < _COPY:
            return
        needs: frozenset[Condition] = frozenset()
        for operand in (*at.operands[_COPY:], *([at.guard] if at.guard else [])):
            if operand is at.guard or name == "cp":
                needs |= self._alike(operand, op.place, "whether memory is accessed", at)
        shifts: list[Shift] = []
        places = addresses(at)
        for operand in places:
            try:
                value = self._operand(operand, "u64", op.place)
            except _NotYet:
                continue
            if value is None and self._seen is None:
                raise NoProof(f"the address{_at(at)} depends on what memory holds")
            if value is not None:
                needs |= value.needs
                shifts.append(value.shift)
        whole = len(shifts) == len(places)
        site = Site(shifts[0], (*shifts, NONE)[1], needs) if whole else None
        found.sites.setdefault(at.pc, []).append(site)


class _Unset:
    """Of a register that nothing executed has written."""


_UNSET = _Unset()


class _NotYet(Exception):
    """Something was read that nothing executed has written."""


def _all_or_none(values: Iterable[Known]) -> Known:
    """What is computed of values in any way; None where one of them may be anything."""
    every = list(values)
    known = [value for value in every if value is not None]
    return same_in_all(known) if len(known) == len(every) else None


def _at(at: Instruction | None) -> str:
    return f" at {at.where}" if at else ""


def _named(name: str) -> Shift:
    """A shift that is not known yet."""
    return Shift.of({name: 1})


def _adapted(value: Value, source: str, target: str) -> Value:
    """A value of one type in a register, or operand, of another."""
    change = adapter(source, target)
    if change is None:
        return value
    known = value.known
    if known is not None:
        return Value(known=int(change(np.array([known], CONTAINERS[source]))[0]))
    if not value.shift:
        return Value(value.shift, value.needs)
    narrow, wide = CONTAINERS[target].itemsize, CONTAINERS[source].itemsize
    if narrow < wide and is_whole(source) and is_whole(target):
        return Value(value.shift.within(8 * narrow), value.needs)
    return same_in_all([value])


def _number(found: object, values: list[Value]) -> int:
    """What is computed of numbers that all threads share."""
    function, kinds = found.function, found.sources  # type: ignore[attr-defined]
    pairs = zip(values, kinds, strict=True)
    operands = [np.array([value.known], CONTAINERS[kind]) for value, kind in pairs]
    result = function(*operands)
    result = result[0] if isinstance(result, tuple) else result
    return int(np.asarray(result).reshape(-1)[0])
