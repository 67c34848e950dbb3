"""Code for one instruction, whether the lanes of its warp are together or have parted."""

from abc import ABC, abstractmethod
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from gpuviz.ptx.arithmetic.kinds import WIDTHS, Function, Variant, bits_of, is_signed
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.compiled import conversions, floats, integers
from gpuviz.ptx.compiled.accesses import Access
from gpuviz.ptx.compiled.graph import Copy, Instance, Op, parts_of, slot_registers
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import FRAME, STOP, WORKER, WRAPPED
from gpuviz.ptx.compiled.routines import Routine, ask
from gpuviz.ptx.compiled.uniformity import widens
from gpuviz.ptx.compiled.writer import SAME, Bailout, Pattern, PatternCount, Value, Writer, lanes
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.outline import param_accesses
from gpuviz.ptx.simt.spaces import BASES
from gpuviz.ptx.simt.special import special_register
from gpuviz.ptx.simt.values import immediate
from gpuviz.ptx.text.ir import Addr, Imm, Not, Operand, Reg, Sym, Vec, items
from gpuviz.ptx.text.isa import kind_of, targets
from gpuviz.traces.trace import LANES

_MEMORIES = {"global": "arena", "shared": "shared", "const": "consts", "param": "params"}
# All that special registers look at which are not the same in all lanes.
_OF_A_WARP = SimpleNamespace(layout=SimpleNamespace(column=np.arange(LANES)))
_TIMES = ("%clock", "%globaltimer", "%pm")


class Emitter(ABC):
    """Writes code into one function; `w` is its writer."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.w = Writer()
        self.private: dict[str, Routine] = {}  # routines of this module alone
        self.counted: dict[int, PatternCount] = {}
        self.checked: dict[int, tuple[int, int, int]] = {}  # first access, and its reach

    # --- what differs --------------------------------------------------------------------------

    @abstractmethod
    def get(self, register: int) -> Value:
        """The value of a register."""

    @abstractmethod
    def put(self, register: int, value: Value, predicate: Value | None) -> None:
        """Write a register, for the lanes where the predicate holds."""

    @abstractmethod
    def shape(self, op: Op | Copy) -> Pattern | None:
        """The pattern of what an op computes, where patterns are made use of."""

    @property
    @abstractmethod
    def lanes_on(self) -> str:
        """The lanes that execute this, as the bits of an i32."""

    @abstractmethod
    def thread_index(self, axis: str) -> Value:
        """%tid, 32 bits."""

    # --- operands ------------------------------------------------------------------------------

    def constant_field(self, name: str, bits: int) -> Value:
        """A field of the worker that a launch does not change."""
        w = self.w
        at = w.let(f"getelementptr i8, ptr %c, i64 {WORKER[name]}")
        return w.scalar(w.let(f"load i{bits}, ptr {at}, !invariant.load !0"), bits)

    def host(self, access: Access) -> Value:
        """What to add to an address to have one of this machine (local: of lane 0)."""
        if access.space == "local":
            return self.field("local", 64)
        return self.constant_field(_MEMORIES[access.space], 64)

    def field(self, name: str, bits: int) -> Value:
        """A field of the worker."""
        at = self.w.let(f"getelementptr i8, ptr %c, i64 {WORKER[name]}")
        return self.w.scalar(self.w.let(f"load i{bits}, ptr {at}"), bits)

    def read(self, operand: Operand, kind: str, place: Instance) -> Value:
        """An operand as the bits of a type."""
        w = self.w
        if isinstance(operand, Reg):
            return self._adapted(self.get(place.register(operand)), operand.type, kind)
        if isinstance(operand, Not):
            return w.op("xor", self.get(place.register(operand.reg)), w.number(1, 1))
        if isinstance(operand, Imm):
            return w.number(int(immediate(operand, kind)[0]), bits_of(kind))
        if isinstance(operand, Sym):
            return self._symbol(operand, bits_of(kind), place)
        raise Bailout(f"the operand {operand}")

    def _adapted(self, value: Value, source: str, to: str) -> Value:
        have, want = bits_of(source), bits_of(to)
        if have == want:
            return value
        if 1 in (have, want):
            raise Bailout("a predicate as a number")
        value = self.strict(value)
        how = "trunc" if want < have else "sext" if source[0] == "s" else "zext"
        if value.pattern not in (None, SAME):
            value = self.w.spread(value)
        return self.w.cast(how, value, want)

    def strict(self, value: Value) -> Value:
        """The value with the NaN that the hardware gives."""
        return floats.settled(self.w, value)

    def _symbol(self, sym: Sym, bits: int, place: Instance) -> Value:
        w, name = self.w, sym.name
        if name in place.code.local_offset:
            return w.number(place.local + place.code.local_offset[name] + sym.offset, bits)
        special = self._special(name, bits)
        if special is not None:
            return special
        if self.kernel.program.address_of(name) is None:
            raise Bailout(f"the name {name}")
        if self.kernel.program.spaces.get(name) in ("shared", "const"):
            address = self.kernel.program.address_of(name) or 0
            return w.number(address + sym.offset, bits)
        number = self.kernel.symbols.get(name)
        if number is None:  # of a parameter, in another space
            raise Bailout(f"the name {name}")
        table = self.constant_field("symbols", 64)
        at = w.let(f"inttoptr i64 {table.name} to ptr")
        at = w.let(f"getelementptr i64, ptr {at}, i64 {number}")
        value = w.scalar(w.let(f"load i64, ptr {at}, !invariant.load !0"), 64)
        value = w.op("add", value, w.number(sym.offset, 64)) if sym.offset else value
        return w.cast("trunc", value, bits)

    def _special(self, name: str, bits: int) -> Value | None:
        w = self.w
        base, _, axis = name.partition(".")
        if base == "%tid" and axis:
            value = self.thread_index(axis)
            if bits == 32:
                return value
            scalar = w.cast("trunc" if bits < 32 else "zext", replace(value, pattern=SAME), bits)
            if value.pattern is None:
                return w.cast("trunc" if bits < 32 else "zext", value, bits)
            return replace(scalar, pattern=value.pattern, constant=None)
        same = {"%clusterid": "%ctaid", "%nclusterid": "%nctaid"}.get(base, base)
        if same == "%ctaid" and axis:
            return w.cast("trunc", self.field(f"{same[1:]}.{axis}", 64), bits)
        if same in ("%ntid", "%nctaid") and axis:
            return w.cast("trunc", self.constant_field(f"{same[1:]}.{axis}", 64), bits)
        if same in ("%cluster_ctaid", "%cluster_nctaid") and axis:
            return w.number(same == "%cluster_nctaid", bits)
        if name == "%laneid" and self.patterned:
            return Value("0", bits, tuple(range(LANES)))
        if name == "%warpid":
            at = w.let(f"getelementptr i8, ptr %f, i64 {FRAME['warp']}")
            value = w.scalar(w.let(f"load i32, ptr {at}"), 32)
            return w.cast("trunc" if bits < 32 else "zext", value, bits)
        if name.startswith(_TIMES):
            raise Bailout(name)
        reader = special_register(self.kernel.program, name)
        if reader is None:
            return None
        values = reader(_OF_A_WARP, f"b{bits}").reshape(-1).tolist()  # type: ignore[arg-type]
        if len(values) == 1:
            return w.number(values[0], bits)
        return w.vector(lanes(values, bits), bits)

    patterned = True

    def predicate(self, op: Op | Copy) -> Value | None:
        """The guard of an op."""
        guard = op.guard if isinstance(op, Copy) else op.at.guard
        return None if guard is None else self.read(guard, "pred", op.place)

    def write(
        self, operand: Operand, value: Value, kind: str, op: Op, predicate: Value | None
    ) -> None:
        """Put bits of a type into a destination."""
        if isinstance(operand, Sym) and operand.name == "_":
            return
        if not isinstance(operand, Reg):
            raise Bailout(f"the destination {operand}")
        register = op.place.register(operand)
        have, want = bits_of(kind), bits_of(operand.type)
        if have != want:
            value = self._adapted(value, kind, operand.type)
        self.put(register, value, predicate)

    # --- instructions ----------------------------------------------------------------------------

    def op(self, op: Op | Copy) -> None:
        """The code of one op."""
        if isinstance(op, Copy):
            self._copy(op)
            return
        name = op.at.opcode.name
        if kind_of(op.at) in ("hint", "barrier"):
            return
        if name in ("ld", "ldu", "st"):
            slots = param_accesses(op.at)
            if slots and not self._of_kernel(op):
                self._parameters(op)
                return
            if slots:
                self._kernel_parameter(op)
                return
        if name in _OTHERS:
            _OTHERS[name](self, op)
        else:
            self._arithmetic(op)

    def _of_kernel(self, op: Op) -> bool:
        address = next(o for o in op.at.operands if isinstance(o, Addr))
        base = address.base
        return (
            op.place.code.function.entry
            and isinstance(base, Sym)
            and base.name in self.kernel.program.parameter_offset
        )

    def _kernel_parameter(self, op: Op) -> None:
        w, at = self.w, op.at
        address = at.operands[1]
        if not (isinstance(address, Addr) and isinstance(address.base, Sym)):
            raise Bailout(at.opcode.text)
        kind = at.opcode.mods[-1]
        bits = bits_of(kind)
        start = self.kernel.program.parameter_offset[address.base.name] + address.offset
        table = w.let(f"inttoptr i64 {self.constant_field('params', 64).name} to ptr")
        guard = self.predicate(op)
        for i, target in enumerate(targets(at)):
            place = w.let(f"getelementptr i8, ptr {table}, i64 {start + i * bits // 8}")
            found = w.let(f"load i{bits}, ptr {place}, align 1, !invariant.load !0")
            self.write(target, w.scalar(found, bits), kind, op, guard)

    def _parts(self, parts: tuple[tuple[int, int, int], ...], size: int) -> Value:
        """The value of a part of a parameter, put together."""
        w = self.w
        if len(parts) == 1 and parts[0][1] == 0 and parts[0][2] == size:
            return self.strict(self.get(parts[0][0]))
        value = w.number(0, 64)
        for register, byte, _ in parts:
            part = w.cast("zext", self.strict(self.get(register)), 64)
            amount = w.number(8 * abs(byte), 64)
            value = w.op("or", value, w.op("shl" if byte >= 0 else "lshr", part, amount))
        return w.cast("trunc", value, 8 * size)

    def _parameters(self, op: Op) -> None:
        """Loads and stores of the parameters of device functions, which are registers."""
        w, at = self.w, op.at
        slots, kind, guard = param_accesses(at), at.opcode.mods[-1], self.predicate(op)
        if at.opcode.name != "st":
            values = [self._parts(parts_of(op.place, slot), slot[2]) for slot in slots]
            for target, value in zip(targets(at), values, strict=True):
                self.write(target, value, kind, op, guard)
            return
        for item, slot in zip(items(at.operands[1]), slots, strict=True):
            value = self.strict(self.read(item, kind, op.place))
            for register, byte, size in slot_registers(op.place, slot):
                part = value
                if size != slot[2]:
                    if value.pattern not in (None, SAME):
                        value = w.spread(value)
                    part = w.cast("trunc", w.op("lshr", value, w.number(8 * byte, value.bits)), 8)
                self.put(register, part, guard)

    def _copy(self, op: Copy) -> None:
        bits, guard = self.kernel.bits(op.target), self.predicate(op)
        if isinstance(op.source, tuple):
            value = self._parts(op.source, op.size)
        else:
            value = self.strict(self.read(op.source, f"b{8 * op.size}", op.place))
        if value.bits != bits:
            if value.pattern not in (None, SAME):
                value = self.w.spread(value)
            value = self.w.cast("trunc" if bits < value.bits else "zext", value, bits)
        self.put(op.target, value, guard)

    def _arithmetic(self, op: Op) -> None:
        at, name = op.at, op.at.opcode.name
        into = list(targets(at))
        found = operation(at.opcode, len(into))
        if found is None:
            raise Bailout(at.opcode.text)
        v = Variant(at.opcode.mods)
        emit = emission(name, v, found.function)
        shape = self.shape(op)
        values = [
            self._operand(o, k, op, name)
            for o, k in zip(at.operands[1:], found.sources, strict=False)
        ]
        if name in ("addc", "subc", "madc"):
            values.append(self.get(op.place.carry))
        if len(values) != len(found.sources):
            raise Bailout(at.opcode.text)
        try:
            if shape is not None and shape != SAME:
                results: tuple[Value, ...] = (self._patterned(op, v, shape, values, emit),)
            else:
                if shape is None and any(x.pattern not in (None, SAME) for x in values):
                    values = [x if x.same else self.w.spread(x) for x in values]
                results = emit(self.w, v, *values)
            if shape == SAME:
                results = tuple(x if x.same else self.w.one_of(x) for x in results)
        except Bailout as reason:
            raise Bailout(f"{at.opcode.text} ({reason})") from None
        guard = self.predicate(op)
        for target, value, kind in zip(into, results, found.results, strict=False):
            self.write(target, value, kind, op, guard)
        if "cc" in at.opcode.mods:
            self.put(op.place.carry, results[-1], guard)

    def _operand(self, operand: Operand, kind: str, op: Op, name: str) -> Value:
        value = self.read(operand, kind, op.place)
        keeps = kind == "f32" or name in ("mov", "selp")
        return value if keeps else self.strict(value)

    def _patterned(
        self, op: Op, v: Variant, shape: Pattern, values: list[Value], emit: integers.Emit
    ) -> Value:
        """The scalar of a result that follows a pattern; checks that widening does not wrap."""
        if widens(op.at.opcode.name, v):
            for value in values[: 1 if op.at.opcode.name == "cvt" else 2]:
                if value.pattern is not None and value.pattern != SAME:
                    self._fits(value, is_signed(v.kinds[-1]), op)
        bases = [replace(x, pattern=SAME) for x in values]
        (result,) = emit(self.w, v, *bases)
        return replace(result, pattern=shape, constant=None)

    def _fits(self, value: Value, signed: bool, op: Op) -> None:
        w, bits = self.w, value.bits
        assert value.pattern is not None
        low, high = min(value.pattern), max(value.pattern)
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        base, letter = replace(value, pattern=SAME), "s" if signed else "u"
        wrong = []
        if high:
            wrong.append(w.compare(letter + "gt", base, w.number(most - high, bits)))
        if low:
            wrong.append(w.compare(letter + "lt", base, w.number(least - low, bits)))
        self.refuse(w.ops("or", *wrong), WRAPPED, op.at.pc)

    def refuse(self, wrong: Value, why: int, at: int) -> None:
        """Stop the launch where a condition (the same for all lanes) holds."""
        w = self.w
        bad, fine = w.label("bad"), w.label("fine")
        w.line(f"br i1 {wrong.name}, label %{bad}, label %{fine}, !prof !1")
        w.at(bad)
        ask(w, "stop", "ptr %c", f"i32 {why}", f"i32 {at}")
        w.line(f"ret i32 {STOP}")
        w.at(fine)


def emission(name: str, v: Variant, function: Function) -> integers.Emit:
    """Who writes the code of an arithmetic opcode; its own function, where it is of integers."""
    if name == "cvt" and v.mode != "rna" and any(map(floats.holds_floats, v.kinds)):
        return conversions.convert
    own = floats.TABLE if floats.holds_floats(v.kind) else {}
    for table in (floats.CHOICES, integers.TABLE, own):
        if name in table:
            return table[name]
    return integers.traced(function)


def _cvta(e: Emitter, op: Op) -> None:
    target, source = op.at.operands[:2]
    kind, mods = op.at.opcode.mods[-1], op.at.opcode.mods
    base, value = BASES[space_named(mods)], e.read(source, kind, op.place)
    pattern = value.pattern
    if base:
        how, number = "sub" if "to" in mods else "add", e.w.number(base, value.bits)
        if pattern is not None:
            value = replace(e.w.op(how, replace(value, pattern=SAME), number), pattern=pattern)
        else:
            value = e.w.op(how, value, number)
    e.write(target, value, kind, op, e.predicate(op))


def _move(e: Emitter, op: Op) -> None:
    target, source = op.at.operands
    kind, w, guard = op.at.opcode.mods[-1], e.w, e.predicate(op)
    if not isinstance(target, Vec) and not isinstance(source, Vec):
        e._arithmetic(op)
        return
    if kind == "b128" or (isinstance(target, Vec) and isinstance(source, Vec)):
        raise Bailout("mov between lists")
    if isinstance(target, Vec):
        bits = WIDTHS[kind] // len(target.items)
        value = e.strict(e.read(source, kind, op.place))
        if value.pattern not in (None, SAME):
            value = w.spread(value)
        for i, item in enumerate(target.items):
            part = w.cast("trunc", w.op("lshr", value, w.number(i * bits, value.bits)), bits)
            e.write(item, part, f"b{bits}", op, guard)
        return
    assert isinstance(source, Vec)
    bits = WIDTHS[kind] // len(source.items)
    value = w.number(0, WIDTHS[kind])
    for i, item in enumerate(source.items):
        part = e.strict(e.read(item, f"b{bits}", op.place))
        if part.pattern not in (None, SAME):
            part = w.spread(part)
        wide = w.cast("zext", part, WIDTHS[kind])
        value = (
            w.op("or", value, w.op("shl", wide, w.number(i * bits, WIDTHS[kind]))) if i else wide
        )
    e.write(target, value, kind, op, guard)


_OTHERS = {"cvta": _cvta, "mov": _move}


def register(table: dict[str, object]) -> None:
    """Add instructions that have a file of their own."""
    _OTHERS.update(table)  # type: ignore[arg-type]
