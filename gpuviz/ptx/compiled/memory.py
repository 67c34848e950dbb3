"""Code for loads, stores and atomics.

An address that is a scalar plus a pattern is checked and counted through the scalar, and its lanes
are one load and a shuffle. Other addresses go through functions of `support`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpuviz.ptx.arithmetic.variant import Variant
from gpuviz.ptx.compiled import floats, integers
from gpuviz.ptx.compiled.accesses import Access
from gpuviz.ptx.compiled.emitting import Emitter
from gpuviz.ptx.compiled.graph import Copy, Op, targets, written
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import ACCESS, ACCESS_SIZE, FAULT, PERIODS, WORKER
from gpuviz.ptx.compiled.writing import SAME, Counted, NotTaken, Pattern, Value, Writer, lanes
from gpuviz.ptx.simt.windows import BASES, GLOBAL
from gpuviz.ptx.text.ir import Reg, Vec
from gpuviz.trace import LANES

_MEMORY = {
    "global": "arena",
    "shared": "shared",
    "const": "consts",
    "param": "params",
    "local": "local",
}


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


def _host(e: Emitter, access: Access) -> Value:
    """What to add to an address to have one of this machine."""
    return (
        e.field("local", 64)
        if access.space == "local"
        else e.constant_field(_MEMORY[access.space], 64)
    )


def load(e: Emitter, op: Op) -> None:
    """ld and ldu."""
    access, w = e.kernel.accesses.of[op][0], e.w
    guard, address = e.predicate(op), _address(e, access)
    into = targets(op.at)
    kind = op.at.opcode.mods[-1]
    kinds = ("b64",) * access.count if kind == "b128" else (kind,) * access.count
    bits = 8 * access.unit
    values: list[Value] = []
    if guard is None and _follows(e, op, address):
        values = _load_pattern(e, access, address)
    else:
        for part, host, on in _places(e, op, address, guard):
            found = []
            for i in range(part.count):
                at = w.op("add", host, w.number(i * part.unit, 64)) if i else host
                call = f"call <32 x i{bits}> @gather_{bits}(<32 x i64> {at.name}, i32 {on})"
                found.append(w.vector(w.let(call), bits))
            pairs = zip(values, found, strict=True)
            values = [w.op("or", a, b) for a, b in pairs] if values else found  # others are 0
    for target, value, one in zip(into, values, kinds, strict=True):
        e.write(target, value, one, op, guard)


def store(e: Emitter, op: Op) -> None:
    """st."""
    access, w = e.kernel.accesses.of[op][0], e.w
    guard, address = e.predicate(op), _address(e, access)
    source = op.at.operands[1]
    kind = op.at.opcode.mods[-1]
    items = source.items if isinstance(source, Vec) else (source,)
    values = [e.strict(e.read(o, "b64" if kind == "b128" else kind, op.place)) for o in items]
    bits = 8 * access.unit
    if guard is None and _follows(e, op, address):
        assert address.pattern is not None
        _check_pattern(e, access, address)
        _ask(e, access, address, "-1")
        order = _filled(address.pattern, access)
        if order is not None:
            at = _pointer(e, access, address, min(address.pattern))
            _store_run(w, [w.wide(v) for v in values], order, bits, at)
            return
        places = [(access, _host_lanes(e, access, w.spread(address)), "-1")]
    else:
        places = _places(e, op, address, guard)
    for part, host, on in places:
        for i, value in enumerate(values):
            place = w.op("add", host, w.number(i * part.unit, 64)) if i else host
            given = f"<32 x i{bits}> {w.wide(value)}, <32 x i64> {place.name}, i32 {on}"
            w.line(f"call void @scatter_{bits}({given})")


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
    name, many = f"atomic_{access.form}_{kind}", f"<32 x i{bits}>"
    e.kernel_atomics.add((access.form, kind))
    old: Value | None = None
    for _, host, on in _places(e, op, address, guard):
        given = f"<32 x i64> {host.name}, {many} {b}, {many} {c}, i32 {on}"
        found = w.vector(w.let(f"call {many} @{name}({given})"), bits)
        old = found if old is None else w.op("or", old, found)
    if target is not None and old is not None:
        e.write(target, old, kind, op, guard)


def atomic_function(form: str, kind: str) -> str:
    """The function of one atomic operation: lane after lane, the old values."""
    w = Writer()
    bits = {"u32": 32, "s32": 32, "b32": 32, "f32": 32}.get(kind, 64)
    if kind[-2:] not in ("32", "64"):
        raise NotTaken(f"atom.{form}.{kind}")
    one, many = f"i{bits}", f"<32 x i{bits}>"
    old, b, c = (w.scalar(name, bits) for name in ("%old", "%x", "%y"))
    new = _stepped(w, form, kind, old, b, c)
    body = "\n".join(w.lines)
    declared = "\n".join(w.declared.values())
    given = f"<32 x i64> %a, {many} %b, {many} %c2, i32 %m"
    return f"""
define internal {many} @atomic_{form}_{kind}({given}) noinline {{
start:
  %pa = alloca <32 x i64>, align 64
  %pb = alloca {many}, align 64
  %pc = alloca {many}, align 64
  %po = alloca {many}, align 64
  store <32 x i64> %a, ptr %pa, align 64
  store {many} %b, ptr %pb, align 64
  store {many} %c2, ptr %pc, align 64
  store {many} zeroinitializer, ptr %po, align 64
  br label %loop
loop:
  %left = phi i32 [%m, %start], [%rest, %one]
  %none = icmp eq i32 %left, 0
  br i1 %none, label %end, label %one
one:
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %l6 = zext i32 %l to i64
  %qa = getelementptr i64, ptr %pa, i64 %l6
  %host = load i64, ptr %qa
  %p = inttoptr i64 %host to ptr
  %old = load {one}, ptr %p
  %qb = getelementptr {one}, ptr %pb, i64 %l6
  %x = load {one}, ptr %qb
  %qc = getelementptr {one}, ptr %pc, i64 %l6
  %y = load {one}, ptr %qc
{body}
  store {one} {new.name}, ptr %p
  %qo = getelementptr {one}, ptr %po, i64 %l6
  store {one} %old, ptr %qo
  %less = sub i32 %left, 1
  %rest = and i32 %left, %less
  br label %loop
end:
  %r = load {many}, ptr %po, align 64
  ret {many} %r
}}
{declared}
"""


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
    v = Variant((kind,))
    if form in ("and", "or", "xor"):
        return w.op(form, old, b)
    table = integers.TABLE if integers.of_integers(v) else floats.TABLE
    found = table[form](w, v, old, b)[0]
    return floats.canonical(w, found) if found.loose else found


# --- any addresses -----------------------------------------------------------------------------


def _places(
    e: Emitter, op: Op, address: Value, guard: Value | None
) -> list[tuple[Access, Value, str]]:
    """For each space that is accessed: addresses of this machine, and lanes that may use them."""
    w, accesses = e.w, e.kernel.accesses.of[op]
    wide, on = w.spread(address), e.lanes_on
    if guard is not None:
        held = w.mask(guard)
        on = held if on == "-1" else w.let(f"and i32 {held}, {on}")
    if len(accesses) == 1:
        return [_checked(e, accesses[0], wide, on)]
    window = w.op("lshr", wide, w.number(32, 64))
    e.refuse(_some(w, w.compare("eq", window, w.number(BASES["param"] >> 32, 64)), on), FAULT, 0)
    found = []
    for access in accesses:
        if access.space == "global":
            below = w.compare("ult", window, w.number(BASES["shared"] >> 32, 64))
            inside = w.op("or", below, w.compare("ugt", window, w.number(BASES["param"] >> 32, 64)))
        else:
            inside = w.compare("eq", window, w.number(BASES[access.space] >> 32, 64))
        here = w.let(f"and i32 {w.mask(inside)}, {on}")
        found.append(
            _checked(e, access, w.op("sub", wide, w.number(BASES[access.space], 64)), here)
        )
    return found


def _some(w: Writer, predicate: Value, on: str) -> Value:
    hit = w.let(f"and i32 {w.mask(predicate)}, {on}")
    return w.scalar(w.let(f"icmp ne i32 {hit}, 0"), 1)


def _checked(e: Emitter, access: Access, wide: Value, on: str) -> tuple[Access, Value, str]:
    """Addresses that have been checked and counted; no lanes after a fault."""
    marked = access.space == "global" and access.how == "load"
    name = f"touch_{access.space}" + "_marked" * marked
    given = f"ptr %c, i32 {access.number}, <32 x i64> {wide.name}, i32 {on}"
    found = e.w.let(f"call i32 @{name}({given})")
    _ask(e, access, wide, found)
    return access, _host_lanes(e, access, wide), found


def _host_lanes(e: Emitter, access: Access, wide: Value) -> Value:
    w = e.w
    host = w.op("add", wide, w.spread(_host(e, access)))
    if access.space != "local":
        return host
    size = e.constant_field("local_size", 64)
    lane = w.vector(lanes(list(range(LANES)), 64), 64)
    return w.op("add", host, w.op("mul", lane, w.spread(size)))


def _ask(e: Emitter, access: Access, wide: Value, on: str) -> None:
    """Whatever is to be asked and left in the cells that an access touches."""
    w, space = e.w, access.space
    if space not in ("shared", "global"):
        return
    if not (access.once or access.claims or access.asks_writers):
        return
    cell = e.kernel.accesses.cell[space]
    if access.once and wide.pattern is not None and _filled(wide.pattern, access) is not None:
        base = w.op("add", replace(wide, pattern=SAME), w.number(min(wide.pattern) - GLOBAL, 64))
        first = w.op("lshr", base, w.number(cell.bit_length() - 1, 64))
        words = access.width // cell
        w.line(f"call void @once_run(ptr %c, i64 {first.name}, i64 {words})")
        return
    wide = w.spread(wide)
    start = w.op("sub", wide, w.number(GLOBAL, 64)) if space == "global" else wide
    first = w.op("lshr", start, w.number(cell.bit_length() - 1, 64))
    for i in range(max(1, access.width // cell)):
        at = w.op("add", first, w.number(i, 64)) if i else first
        if access.once:
            w.line(f"call void @once(ptr %c, <32 x i64> {at.name}, i32 {on})")
        for name, wanted in (
            ("unread", access.asks_readers),
            ("claim", access.claims),
            ("seen", access.asks_writers),
            ("reads", access.leaves_read),
        ):
            if wanted:
                w.line(f"call void @{name}_{space}(ptr %c, <32 x i64> {at.name}, i32 {on})")


# --- addresses that follow a pattern --------------------------------------------------------------


def _follows(e: Emitter, op: Op, address: Value) -> bool:
    pattern, (access, *others) = address.pattern, e.kernel.accesses.of[op]
    return (
        e.patterned
        and not others
        and access.space in ("global", "shared", "const")
        and pattern is not None
        and (access.space != "global" or bool(access.origin))
        and all(p % access.width == 0 for p in pattern)
        and (access.how == "store" or len(_runs(pattern, access)) <= 4)
    )


def _runs(pattern: Pattern, access: Access) -> list[tuple[int, int]]:
    """Stretches of units that the lanes touch: first byte, and number of units."""
    found: list[list[int]] = []
    for start in sorted(set(pattern)):
        if found and start <= found[-1][0] + found[-1][1] * access.unit:
            found[-1][1] = max(found[-1][1], (start - found[-1][0]) // access.unit + access.count)
        else:
            found.append([start, access.count])
    return [(a, n) for a, n in found]


def _record(e: Emitter, access: Access, name: str) -> str:
    w = e.w
    table = w.let(f"getelementptr i8, ptr %c, i64 {WORKER['accesses']}")
    start = w.let(f"load ptr, ptr {table}, !invariant.load !0")
    at = w.let(f"getelementptr i8, ptr {start}, i64 {access.number * ACCESS_SIZE + ACCESS[name]}")
    return w.let(f"load i64, ptr {at}, !invariant.load !0")


def together(kernel: Kernel, ops: Sequence[Op | Copy]) -> dict[int, tuple[int, int, int]]:
    """Accesses of a block that one check and one count serve, as they differ in a constant offset.

    By the number of each: that of the first, and the least and the greatest offset among them.
    """
    groups: list[list[Access]] = []
    open_groups: dict[tuple[object, ...], list[Access]] = {}
    for op in ops:
        plain = isinstance(op, Op) and not op.at.guard
        accesses = kernel.accesses.of.get(op, []) if plain and isinstance(op, Op) else []
        access = accesses[0] if len(accesses) == 1 else None
        if access is not None and isinstance(access.address.base, Reg):
            base = op.place.register(access.address.base)
            key: tuple[object, ...] = (
                base,
                access.space,
                access.how,
                access.unit,
                access.count,
                access.origin,
            )
            if key not in open_groups:
                open_groups[key] = []
                groups.append(open_groups[key])
            group = open_groups[key]
            if not group or (access.address.offset - group[0].address.offset) % access.width == 0:
                group.append(access)
        for register in written(op):
            for old in [key for key in open_groups if key[0] == register]:
                del open_groups[old]
    found = {}
    for group in groups:
        offsets = [access.address.offset for access in group]
        for access in group:
            found[access.number] = group[0].number, min(offsets), max(offsets)
    return found


def _check_pattern(e: Emitter, access: Access, address: Value) -> None:
    """Bounds, alignment and the count of a request whose scalar says everything."""
    pattern, own = address.pattern, access.number
    assert pattern is not None
    first, least, most = e.checked.get(own, (own, 0, 0))
    start = e.kernel.accesses.all[first].address.offset
    offset = access.address.offset
    e.counted[own] = Counted(pattern, first, offset - start)
    if first == own:
        reach = (least - offset, most - offset) if own in e.checked else (0, 0)
        _check_bounds(e, access, address, reach)
        _count_phase(e, access, address)


def _check_bounds(e: Emitter, access: Access, address: Value, reach: tuple[int, int]) -> None:
    w, pattern = e.w, address.pattern
    assert pattern is not None
    base = replace(address, pattern=SAME)
    wrong = []
    if access.width > 1:
        low = w.op("and", base, w.number(access.width - 1, 64))
        wrong.append(w.compare("ne", low, w.number(0, 64)))
    ends = sorted({min(pattern) + reach[0], max(pattern) + reach[1]})
    if access.space == "global":
        start, span = (w.scalar(_record(e, access, n), 64) for n in ("low", "span"))
        for end in ends:
            at = w.op("sub", w.op("add", base, w.number(end, 64)), start)
            wrong.append(w.compare("ugt", at, span))
    else:
        size = (
            e.constant_field("shared_size", 64)
            if access.space == "shared"
            else w.scalar(_record(e, access, "span"), 64)
        )
        room = w.op("sub", size, w.number(access.width, 64))
        wrong.append(w.compare("ult", size, w.number(access.width, 64)))
        for end in ends:
            wrong.append(w.compare("ugt", w.op("add", base, w.number(end, 64)), room))
    e.refuse(w.ops("or", *wrong), FAULT, access.number)


def _count_phase(e: Emitter, access: Access, address: Value) -> None:
    w, base = e.w, replace(address, pattern=SAME)
    period = PERIODS[{"const": "constant"}.get(access.space, access.space)]
    shift = access.width.bit_length() - 1
    phase = w.op("and", base, w.number(period - 1, 64))
    if shift > 3:
        offset = w.op("lshr", phase, w.number(shift - 3, 64))
    else:
        offset = w.op("shl", phase, w.number(3 - shift, 64))
    table = w.let(f"inttoptr i64 {_record(e, access, 'histogram')} to ptr")
    place = w.let(f"getelementptr i8, ptr {table}, i64 {offset.name}")
    old = w.let(f"load i64, ptr {place}")
    w.line(f"store i64 {w.let(f'add i64 {old}, 1')}, ptr {place}")


def _mark(e: Emitter, access: Access, address: Value) -> None:
    """Note the sectors of a global load."""
    w, pattern = e.w, address.pattern
    assert pattern is not None
    starts = sorted(set(pattern))
    if any(b - a > 32 for a, b in zip(starts, starts[1:], strict=False)):
        wide = w.wide(address)
        w.line(f"call void @mark(ptr %c, i32 {access.number}, <32 x i64> {wide}, i32 -1)")
        return
    base = replace(address, pattern=SAME)
    first = w.op("lshr", w.op("add", base, w.number(starts[0], 64)), w.number(5, 64))
    marks = w.let(f"inttoptr i64 {_record(e, access, 'marks')} to ptr")
    at = w.let(f"getelementptr i8, ptr {marks}, i64 {first.name}")
    extent = starts[-1] - starts[0]
    sure = extent // 32  # sectors that every start touches, beside the last
    if sure:
        ones = ", ".join(["i8 1"] * sure)
        w.line(f"store <{sure} x i8> <{ones}>, ptr {at}, align 1")
    last = w.op("lshr", w.op("add", base, w.number(starts[-1], 64)), w.number(5, 64))
    if extent and not sure:
        w.line(f"store i8 1, ptr {at}")
    end = w.let(f"getelementptr i8, ptr {marks}, i64 {last.name}")
    w.line(f"store i8 1, ptr {end}")
    if sure:
        before = w.let(f"getelementptr i8, ptr {end}, i64 -1")
        w.line(f"store i8 1, ptr {before}")


def _pointer(e: Emitter, access: Access, address: Value, offset: int) -> str:
    w = e.w
    base = w.op("add", replace(address, pattern=SAME), _host(e, access))
    at = w.let(f"inttoptr i64 {base.name} to ptr")
    return w.let(f"getelementptr i8, ptr {at}, i64 {offset}") if offset else at


def _load_pattern(e: Emitter, access: Access, address: Value) -> list[Value]:
    w, pattern, bits = e.w, address.pattern, 8 * access.unit
    assert pattern is not None
    _check_pattern(e, access, address)
    if access.space == "global":
        _mark(e, access, address)
    _ask(e, access, address, "-1")
    runs = _runs(pattern, access)
    loaded: list[tuple[str, int, int]] = []
    for start, count in runs:
        at = _pointer(e, access, address, start)
        kind = f"<{count} x i{bits}>"
        loaded.append((w.let(f"load {kind}, ptr {at}, align {access.unit}"), start, count))
    values = []
    for i in range(access.count):
        if pattern == SAME:
            name, _, count = loaded[0]
            values.append(
                w.scalar(w.let(f"extractelement <{count} x i{bits}> {name}, i64 {i}"), bits)
            )
            continue
        result = ""
        for name, start, count in loaded:
            inside = [start <= p < start + count * access.unit for p in pattern]
            places = [
                str((p - start) // access.unit + i) if here else "poison"
                for p, here in zip(pattern, inside, strict=True)
            ]
            kind = f"<{count} x i{bits}>"
            mask = "<" + ", ".join(f"i32 {p}" for p in places) + ">"
            part = w.let(f"shufflevector {kind} {name}, {kind} poison, <32 x i32> {mask}")
            chosen = "<" + ", ".join(f"i1 {str(here).lower()}" for here in inside) + ">"
            many = f"<32 x i{bits}>"
            result = (
                w.let(f"select <32 x i1> {chosen}, {many} {part}, {many} {result}")
                if result
                else part
            )
        values.append(w.vector(result, bits))
    return values


def _filled(pattern: Pattern, access: Access) -> list[tuple[int, int]] | None:
    """Which lane and unit lies at each place, when the lanes fill one run without overlap."""
    start = min(pattern)
    found: dict[int, tuple[int, int]] = {}
    for lane, offset in enumerate(pattern):
        for i in range(access.count):
            found[(offset - start) // access.unit + i] = lane, i
    if len(found) != LANES * access.count or max(found) != len(found) - 1:
        return None
    return [found[place] for place in range(len(found))]


def _store_run(
    w: Writer, values: list[str], order: list[tuple[int, int]], bits: int, at: str
) -> None:
    """Store the units of all lanes side by side."""
    size, joined = LANES, list(values)
    while len(joined) > 1:
        kind = f"<{size} x i{bits}>"
        every = ", ".join(f"i32 {i}" for i in range(2 * size))
        joined = [
            w.let(f"shufflevector {kind} {a}, {kind} {b}, <{2 * size} x i32> <{every}>")
            for a, b in zip(joined[::2], joined[1::2], strict=True)
        ]
        size *= 2
    kind = f"<{size} x i{bits}>"
    places = [i * LANES + lane for lane, i in order]
    value = joined[0]
    if places != list(range(size)):
        mask = ", ".join(f"i32 {p}" for p in places)
        value = w.let(f"shufflevector {kind} {value}, {kind} poison, <{size} x i32> <{mask}>")
    w.line(f"store {kind} {value}, ptr {at}, align {bits // 8}")


TABLE = {"ld": load, "ldu": load, "st": store, "atom": atomic, "red": atomic}
