"""Code for loads, stores and atomics.

Addresses that follow a pattern have a file of their own (`patterned.py`); others go through
routines (`requests.py`), lane by lane.
"""

from dataclasses import dataclass, replace

from gpuviz.ptx.arithmetic.kinds import Variant
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.compiled import floats, patterns
from gpuviz.ptx.compiled.accesses import Access
from gpuviz.ptx.compiled.emitter import Emitter, emission
from gpuviz.ptx.compiled.graph import Op
from gpuviz.ptx.compiled.memory_map import FAULT
from gpuviz.ptx.compiled.requests import WIDE, kept
from gpuviz.ptx.compiled.routines import Code, Routine, Term, ask, ask_private, vector
from gpuviz.ptx.compiled.writer import SAME, Bailout, Value, Writer, lanes
from gpuviz.ptx.simt.spaces import BASES, GLOBAL
from gpuviz.ptx.text.ir import Opcode, Reg, items
from gpuviz.ptx.text.isa import targets
from gpuviz.traces.trace import LANES


def load(e: Emitter, op: Op) -> None:
    """ld and ldu."""
    access = e.kernel.accesses.of[op][0]
    guard, address = e.predicate(op), _address(e, access)
    into = targets(op.at)
    kind = op.at.opcode.mods[-1]
    kinds = ("b64",) * access.count if kind == "b128" else (kind,) * access.count
    if guard is None and patterns.follows(e, op, address):
        values = patterns.load(e, access, address)
        _ask(e, access, address, "-1")
    else:
        values = []
        for request in _requests(e, op, address, guard):
            found = request.load()
            pairs = zip(values, found, strict=True)
            values = [e.w.op("or", a, b) for a, b in pairs] if values else found  # others are 0
            if e.shape(op) == SAME and (guard is None or guard.same):
                values = [_of_one(e.w, value, request.on) for value in values]
    for target, value, one in zip(into, values, kinds, strict=True):
        e.write(target, value, one, op, guard)


def store(e: Emitter, op: Op) -> None:
    """st."""
    access, w = e.kernel.accesses.of[op][0], e.w
    guard, address = e.predicate(op), _address(e, access)
    source = op.at.operands[1]
    kind = op.at.opcode.mods[-1]
    values = [
        e.strict(e.read(o, "b64" if kind == "b128" else kind, op.place)) for o in items(source)
    ]
    names = [w.wide(value) for value in values]
    if guard is None and patterns.follows(e, op, address):
        assert address.pattern is not None
        patterns.check(e, access, address)
        _ask(e, access, address, "-1")
        if patterns.filled(address.pattern, access) is not None:
            patterns.store(e, access, address, names)
        else:
            _Request(e, access, w.spread(address), "-1").scatter(names)
        return
    for request in _requests(e, op, address, guard):
        request.store(names)


def copy(e: Emitter, op: Op) -> None:
    """cp.async, done at once; the waits have nothing to wait for."""
    if op not in e.kernel.accesses.of:
        return
    outside, inside = e.kernel.accesses.of[op]
    w, on = e.w, _asking(e, e.predicate(op))
    source, target = (w.spread(_address(e, x)) for x in (outside, inside))
    values = _Request(e, outside, source, on).load()
    given = f"<32 x i64> {target.name}", f"<32 x i64> {source.name}", f"i32 {on}"
    able = ask(w, "copied", "ptr %c", f"i32 {inside.number}", *given)
    _ask(e, inside, target, able)
    _Request(e, inside, target, able).scatter([w.wide(value) for value in values])


def _address(e: Emitter, access: Access) -> Value:
    """The address in its space, 64 bits."""
    w, address, op = e.w, access.address, access.op
    if address.base is None:
        return w.number(address.offset, 64)
    if not isinstance(address.base, Reg):
        base = e.read(address.base, "u64", op.place)
        return w.op("add", base, w.number(address.offset, 64)) if address.offset else base
    base = e.strict(e.get(op.place.register(address.base)))
    if address.offset:
        pattern = base.pattern
        scalar = replace(base, pattern=SAME) if pattern is not None else base
        base = w.op("add", scalar, w.number(address.offset, base.bits))
        base = replace(base, pattern=pattern)
    if base.bits == 64:
        return base
    # Where a scalar of 32 bits and its pattern would wrap, 64 bits are out of bounds.
    pattern = base.pattern
    wide = w.cast("zext", replace(base, pattern=SAME) if pattern is not None else base, 64)
    return replace(wide, pattern=pattern)


def _of_one(w: Writer, value: Value, on: str) -> Value:
    """What all lanes have, as a scalar."""
    lane = w.call("i32", "llvm.cttz.i32", f"i32 {on}", "i1 false")
    return w.one_of(value, w.let(f"and i32 {lane}, {LANES - 1}"))


# --- any addresses -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Request:
    """Addresses of lanes in one space."""

    e: Emitter
    access: Access
    address: Value
    on: str

    def _unit(self, number: int) -> Value:
        w, offset = self.e.w, number * self.access.unit
        return w.op("add", self.address, w.number(offset, 64)) if offset else self.address

    def _own_host(self, number: int) -> Value:
        """Addresses of this machine."""
        w, access = self.e.w, self.access
        host = w.op("add", self._unit(number), w.spread(self.e.host(access)))
        if access.space != "local":
            return host
        size = self.e.constant_field("local_size", 64)
        lane = w.vector(lanes(list(range(LANES)), 64), 64)
        return w.op("add", host, w.op("mul", lane, w.spread(size)))

    def touch(self) -> tuple[str, str]:
        """Check and count: the entry, and the lanes that may go on."""
        e, w, access = self.e, self.e.w, self.access
        given = f"<32 x i64> {self.address.name}", f"i32 {self.on}"
        entry = ask(w, "touch", "ptr %c", f"i32 {access.number}", *given)
        none = w.let(f"icmp eq ptr {entry}, null")
        on = w.let(f"select i1 {none}, i32 0, i32 {self.on}")
        _ask(e, access, self.address, on, entry)
        return entry, on

    def load(self) -> list[Value]:
        """Each unit of the lanes, 0 for others."""
        e, w, access = self.e, self.e.w, self.access
        bits, host = 8 * access.unit, f"i64 {e.host(access).name}"
        if access.count == 1 and access.space != "local" and not access.watched:
            places = f"<32 x i64> {self.address.name}", f"i32 {self.on}"
            number = f"i32 {access.number}"
            return [w.vector(ask(w, f"take_{bits}", "ptr %c", number, *places, host), bits)]
        entry, on = self.touch()
        names = []
        for i in range(access.count):
            if access.space == "local":
                given = f"<32 x i64> {self._own_host(i).name}", f"i32 {on}"
                names.append(ask(w, f"gather_{bits}", *given))
            else:
                given = f"<32 x i64> {self._unit(i).name}", f"i32 {on}"
                names.append(ask(w, f"fetch_{bits}", f"ptr {entry}", *given, host))
        return [w.vector(name, bits) for name in names]

    def store(self, values: list[str]) -> None:
        """Store each unit; the highest lane wins."""
        entry, on = self.touch()
        bits, host = 8 * self.access.unit, f"i64 {self.e.host(self.access).name}"
        if self.access.space == "local":
            replace(self, on=on).scatter(values)
            return
        for i, value in enumerate(values):
            given = f"<32 x i64> {self._unit(i).name}", f"i32 {on}", host
            ask(self.e.w, f"put_{bits}", f"ptr {entry}", f"<32 x i{bits}> {value}", *given)

    def scatter(self, values: list[str]) -> None:
        """Store each unit, checked already."""
        bits = 8 * self.access.unit
        for i, value in enumerate(values):
            given = f"<32 x i64> {self._own_host(i).name}", f"i32 {self.on}"
            ask(self.e.w, f"scatter_{bits}", f"<32 x i{bits}> {value}", *given)

    @property
    def places(self) -> tuple[Value, str]:
        """Addresses of this machine, checked and counted, and the lanes that may use them."""
        _, on = self.touch()
        return self._own_host(0), on


def loaded(w: Writer, requests: list[_Request]) -> list[Value]:
    """The units of each lane; where they are of one address, only one of them has the lane."""
    values: list[Value] = []
    for request in requests:
        found = request.load()
        values = [w.op("or", a, b) for a, b in zip(values, found, strict=True)] if values else found
    return values


def requests_of(e: Emitter, op: Op, guard: Value | None, first: int) -> list[_Request]:
    """Those of the first lanes of a warp, which ask for all."""
    return _requests(e, op, _address(e, e.kernel.accesses.of[op][0]), guard, first)


def pieces_of(
    e: Emitter, op: Op, guard: Value | None, offsets: list[Value]
) -> list[list[_Request]]:
    """Those of an op with several accesses, each so many bytes from the address."""
    w, accesses, on = e.w, e.kernel.accesses.of[op], _asking(e, guard)
    start, each = w.spread(_address(e, accesses[0])), len(accesses) // len(offsets)
    return [
        _in_spaces(e, accesses[n * each : (n + 1) * each], w.op("add", start, offset), on)
        for n, offset in enumerate(offsets)
    ]


def _asking(e: Emitter, guard: Value | None) -> str:
    """The lanes that take part, as the bits of an i32."""
    if guard is None:
        return e.lanes_on
    held = e.w.mask(guard)
    return held if e.lanes_on == "-1" else e.w.let(f"and i32 {held}, {e.lanes_on}")


def _requests(
    e: Emitter, op: Op, address: Value, guard: Value | None, first: int = LANES
) -> list[_Request]:
    """One for each space that lanes may go to."""
    w, on = e.w, _asking(e, guard)
    if first < LANES:
        on = w.let(f"and i32 {on}, {(1 << first) - 1}")
    return _in_spaces(e, e.kernel.accesses.of[op], w.spread(address), on)


def _in_spaces(e: Emitter, accesses: list[Access], wide: Value, on: str) -> list[_Request]:
    """One for each access, those of a generic address for the lanes that go to its space."""
    w = e.w
    if len(accesses) == 1:
        return [_Request(e, accesses[0], wide, on)]
    window = w.op("lshr", wide, w.number(32, 64))
    for space in sorted(BASES.keys() - {access.space for access in accesses}):
        there = w.compare("eq", window, w.number(BASES[space] >> 32, 64))
        e.refuse(_some(w, there, on), FAULT, 0)
    found = []
    for access in accesses:
        if access.space == "global":
            below = w.compare("ult", window, w.number(BASES["shared"] >> 32, 64))
            inside = w.op("or", below, w.compare("ugt", window, w.number(BASES["param"] >> 32, 64)))
        else:
            inside = w.compare("eq", window, w.number(BASES[access.space] >> 32, 64))
        here = w.let(f"and i32 {w.mask(inside)}, {on}")
        own = w.op("sub", wide, w.number(BASES[access.space], 64))
        found.append(_Request(e, access, own, here))
    return found


def _some(w: Writer, predicate: Value, on: str) -> Value:
    hit = w.let(f"and i32 {w.mask(predicate)}, {on}")
    return w.scalar(w.let(f"icmp ne i32 {hit}, 0"), 1)


def _ask(e: Emitter, access: Access, address: Value, on: str, entry: str = "null") -> None:
    """Whatever is to be asked and left in the cells that an access touches."""
    if not access.watched:
        return
    w, space = e.w, access.space
    cell = e.kernel.accesses.cell[space]
    shift, words = cell.bit_length() - 1, max(1, access.width // cell)
    if access.once:
        if address.pattern is not None and patterns.filled(address.pattern, access) is not None:
            least = w.number(min(address.pattern) - GLOBAL, 64)
            base = w.op("add", replace(address, pattern=SAME), least)
            first = w.op("lshr", base, w.number(shift, 64))
            ask(w, "once_run", "ptr %c", f"i64 {first.name}", f"i64 {words}")
            return
        known = entry if access.width == cell else "null"
        wide = w.spread(address)
        for i in range(words):
            given = f"<32 x i64> {wide.name}", f"i32 {on}", f"i64 {shift}", f"i64 {i}"
            ask(w, "once", "ptr %c", f"ptr {known}", *given)
        return
    wide = w.spread(address)
    start = w.op("sub", wide, w.number(GLOBAL, 64)) if space == "global" else wide
    first = w.op("lshr", start, w.number(shift, 64))
    for i in range(words):
        at = w.op("add", first, w.number(i, 64)) if i else first
        for name, wanted in (
            ("unread", access.asks_readers),
            ("claim", access.claims),
            ("seen", access.asks_writers),
            ("reads", access.leaves_read),
        ):
            if wanted:
                ask(w, f"{name}_{space}", "ptr %c", f"<32 x i64> {at.name}", f"i32 {on}")


# --- atomics -------------------------------------------------------------------------------------


def atomic(e: Emitter, op: Op) -> None:
    """atom and red: lanes take their turn in lane order."""
    access, w = e.kernel.accesses.of[op][0], e.w
    guard, address = e.predicate(op), _address(e, access)
    operands = list(op.at.operands)
    target = operands.pop(0) if op.at.opcode.name == "atom" else None
    kind = op.at.opcode.mods[-1]
    bits = 8 * access.unit
    values = [e.strict(e.read(o, kind, op.place)) for o in operands[1:]]
    b, c = w.wide(values[0]), w.wide(values[1]) if len(values) > 1 else "zeroinitializer"
    many = f"<32 x i{bits}>"
    routine = atomic_routine(access.form, kind)
    old: Value | None = None
    for request in _requests(e, op, address, guard):
        host, on = request.places
        given = f"<32 x i64> {host.name}", f"{many} {b}", f"{many} {c}", f"i32 {on}"
        found = w.vector(ask_private(w, e.private, routine, *given), bits)
        old = found if old is None else w.op("or", old, found)
    if target is not None and old is not None:
        e.write(target, old, kind, op, guard)


def atomic_routine(form: str, kind: str) -> Routine:
    """The routine of one atomic operation: lane after lane, the old values."""
    if kind[-2:] not in ("32", "64"):
        raise Bailout(f"atom.{form}.{kind}")
    bits = int(kind[-2:])
    one, many = f"i{bits}", vector(bits)

    def write(w: Code, host: Term, b: Term, c: Term, m: Term) -> None:
        hosts, second, third = (kept(w, x) for x in (host, b, c))
        found = kept(w, w.term(0, many))
        with w.each(m) as lane:
            place = hosts.at(lane, "i64").load("i64").cast("inttoptr", "ptr")
            own = [place, second.at(lane, one), third.at(lane, one)]
            old, x, y = (w.scalar(at.load(one).name, bits) for at in own)
            found.at(lane, one).store(Term(w, one, old.name))
            place.store(Term(w, one, _stepped(w, form, kind, old, x, y).name))
        w.give(found.load(many, 64))

    return Routine(f"atomic_{form}_{kind}", many, (WIDE, many, many, "i32"), write)


def _stepped(w: Writer, form: str, kind: str, old: Value, b: Value, c: Value) -> Value:
    one = w.number(1, old.bits)
    if form == "exch":
        return b
    if form == "cas":
        return w.select(w.compare("eq", old, b), c, old)
    if form == "inc":
        return w.select(w.compare("uge", old, b), w.number(0, old.bits), w.op("add", old, one))
    if form == "dec":
        zero = w.compare("eq", old, w.number(0, old.bits))
        wraps = w.op("or", zero, w.compare("ugt", old, b))
        return w.select(wraps, b, w.op("sub", old, one))
    found = operation(Opcode(form, (kind,)))
    if found is None:
        raise Bailout(f"atom.{form}.{kind}")
    v = Variant((kind,))
    return floats.settled(w, emission(form, v, found.function)(w, v, old, b)[0])


TABLE = {"ld": load, "ldu": load, "st": store, "atom": atomic, "red": atomic, "cp": copy}
