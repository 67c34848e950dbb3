"""Code for loads and stores of whole warps whose addresses are a scalar and a pattern.

They are checked and counted through the scalar, once for all that differ in a constant offset, and
their lanes are one load and a shuffle.
"""

from collections.abc import Sequence
from dataclasses import replace

from gpuviz.ptx.compiled.accesses import Access
from gpuviz.ptx.compiled.emitter import Emitter
from gpuviz.ptx.compiled.graph import Copy, Op, written
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.memory_map import ACCESS, ACCESS_SIZE, FAULT, PERIODS, SECTOR, WORKER
from gpuviz.ptx.compiled.routines import ask
from gpuviz.ptx.compiled.writer import SAME, Pattern, PatternCount, Value, Writer
from gpuviz.ptx.text.ir import Reg
from gpuviz.traces.trace import LANES

MOST_RUNS = 4  # loads that a warp's lanes may be taken from


def follows(e: Emitter, op: Op, address: Value) -> bool:
    """Whether this is the way for an instruction."""
    pattern, (access, *others) = address.pattern, e.kernel.accesses.of[op]
    return (
        e.patterned
        and e.lanes_on == "-1"
        and not others
        and access.space in ("global", "shared", "const")
        and pattern is not None
        and (access.space != "global" or bool(access.origin))
        and all(p % access.width == 0 for p in pattern)
        and (access.how == "store" or len(_runs(pattern, access)) <= MOST_RUNS)
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
            kind = access.space, access.how, access.unit, access.count, access.origin
            key: tuple[object, ...] = (base, *kind)
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


# --- checks and counts ---------------------------------------------------------------------------


def check(e: Emitter, access: Access, address: Value) -> None:
    """Bounds, alignment and the count of a request whose scalar says everything."""
    pattern, own = address.pattern, access.number
    assert pattern is not None
    first, least, most = e.checked.get(own, (own, 0, 0))
    start = e.kernel.accesses.all[first].address.offset
    offset = access.address.offset
    e.counted[own] = PatternCount(pattern, first, offset - start)
    if first == own:
        reach = (least - offset, most - offset) if own in e.checked else (0, 0)
        _check_bounds(e, access, address, reach)
        _count_phase(e, access, address)


def _record(e: Emitter, access: Access, name: str) -> str:
    """A field of the record of an access that a launch does not change."""
    w = e.w
    table = w.let(f"getelementptr i8, ptr %c, i64 {WORKER['accesses']}")
    start = w.let(f"load ptr, ptr {table}, !invariant.load !0")
    at = w.let(f"getelementptr i8, ptr {start}, i64 {access.number * ACCESS_SIZE + ACCESS[name]}")
    return w.let(f"load i64, ptr {at}, !invariant.load !0")


def _check_bounds(e: Emitter, access: Access, address: Value, reach: tuple[int, int]) -> None:
    w, pattern = e.w, address.pattern
    assert pattern is not None
    base, wrong = replace(address, pattern=SAME), []
    if access.width > 1:
        low = w.op("and", base, w.number(access.width - 1, 64))
        wrong.append(w.compare("ne", low, w.number(0, 64)))
    start, span = (w.scalar(_record(e, access, n), 64) for n in ("low", "span"))
    for end in sorted({min(pattern) + reach[0], max(pattern) + reach[1]}):
        at = w.op("sub", w.op("add", base, w.number(end, 64)), start)
        wrong.append(w.compare("ugt", at, span))
    e.refuse(w.ops("or", *wrong), FAULT, access.number)


def _count_phase(e: Emitter, access: Access, address: Value) -> None:
    w, base = e.w, replace(address, pattern=SAME)
    shift = access.width.bit_length() - 1
    phase = w.op("and", base, w.number(PERIODS[access.space] - 1, 64))
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
    marks = w.let(f"inttoptr i64 {_record(e, access, 'marks')} to ptr")
    if any(b - a > SECTOR for a, b in zip(starts, starts[1:], strict=False)):
        ask(w, "mark", f"ptr {marks}", f"<32 x i64> {w.wide(address)}", "i32 -1")
        return
    base = replace(address, pattern=SAME)
    first = w.op("lshr", w.op("add", base, w.number(starts[0], 64)), w.number(5, 64))
    at = w.let(f"getelementptr i8, ptr {marks}, i64 {first.name}")
    extent = starts[-1] - starts[0]
    sure = extent // SECTOR  # sectors that every start touches, beside the last
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


# --- loads and stores ----------------------------------------------------------------------------


def _pointer(e: Emitter, access: Access, address: Value, offset: int) -> str:
    w = e.w
    base = w.op("add", replace(address, pattern=SAME), e.host(access))
    at = w.let(f"inttoptr i64 {base.name} to ptr")
    return w.let(f"getelementptr i8, ptr {at}, i64 {offset}") if offset else at


def load(e: Emitter, access: Access, address: Value) -> list[Value]:
    """What each lane loads, by unit."""
    w, pattern, bits = e.w, address.pattern, 8 * access.unit
    assert pattern is not None
    check(e, access, address)
    if access.space == "global":
        _mark(e, access, address)
    loaded: list[tuple[str, int, int]] = []
    for start, count in _runs(pattern, access):
        at = _pointer(e, access, address, start)
        kind = f"<{count} x i{bits}>"
        loaded.append((w.let(f"load {kind}, ptr {at}, align {access.unit}"), start, count))
    if pattern == SAME:
        name, _, count = loaded[0]
        kind = f"<{count} x i{bits}>"
        names = (w.let(f"extractelement {kind} {name}, i64 {i}") for i in range(access.count))
        return [w.scalar(one, bits) for one in names]
    return [_shuffled(w, access, pattern, loaded, i) for i in range(access.count)]


def _shuffled(
    w: Writer, access: Access, pattern: Pattern, loaded: list[tuple[str, int, int]], unit: int
) -> Value:
    """One unit of each lane, out of the runs."""
    bits, result = 8 * access.unit, ""
    many = f"<32 x i{bits}>"
    for name, start, count in loaded:
        inside = [start <= p < start + count * access.unit for p in pattern]
        places = [
            str((p - start) // access.unit + unit) if here else "poison"
            for p, here in zip(pattern, inside, strict=True)
        ]
        kind = f"<{count} x i{bits}>"
        mask = "<" + ", ".join(f"i32 {p}" for p in places) + ">"
        part = w.let(f"shufflevector {kind} {name}, {kind} poison, <32 x i32> {mask}")
        chosen = "<" + ", ".join(f"i1 {str(here).lower()}" for here in inside) + ">"
        text = f"select <32 x i1> {chosen}, {many} {part}, {many} {result}"
        result = w.let(text) if result else part
    return w.vector(result, bits)


def store(e: Emitter, access: Access, address: Value, values: list[str]) -> None:
    """Store what the lanes have, by unit, where they fill one run."""
    assert address.pattern is not None
    order = filled(address.pattern, access)
    assert order is not None
    at = _pointer(e, access, address, min(address.pattern))
    _store_run(e.w, values, order, 8 * access.unit, at)


def filled(pattern: Pattern, access: Access) -> list[tuple[int, int]] | None:
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
