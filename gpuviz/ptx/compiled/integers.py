"""Integers, logic, shifts and bit fields as LLVM IR; semantics as in `arithmetic`."""

from __future__ import annotations

from collections.abc import Callable

from gpuviz.ptx.arithmetic.bits import PERMUTATIONS
from gpuviz.ptx.arithmetic.kinds import Variant, is_signed
from gpuviz.ptx.compiled.writer import Bailout, Value, Writer

Emit = Callable[..., tuple[Value, ...]]  # writer, variant, operands


def halves(w: Writer, word: Value) -> tuple[Value, Value]:
    """The lower and the upper half of a word."""
    half = word.bits // 2
    upper = w.op("lshr", word, w.number(half, word.bits))
    return w.cast("trunc", word, half), w.cast("trunc", upper, half)


def joined(w: Writer, low: Value, high: Value) -> Value:
    """Two halves as a word."""
    bits = 2 * low.bits
    upper = w.op("shl", w.cast("zext", high, bits), w.number(low.bits, bits))
    return w.op("or", upper, w.cast("zext", low, bits))


def pairs(emit: Emit) -> Emit:
    """For kinds that end in x2: both halves, each by itself."""

    def of_pairs(w: Writer, v: Variant, *operands: Value) -> tuple[Value, ...]:
        if not v.kind.endswith("x2"):
            return emit(w, v, *operands)
        one = v.of(v.kind[:-2])
        low, high = zip(*(halves(w, x) for x in operands), strict=True)
        return (joined(w, emit(w, one, *low)[0], emit(w, one, *high)[0]),)

    return of_pairs


def _plain(name: str) -> Emit:
    return lambda w, v, a, b: (w.op(name, a, b),)


def _sum(name: str, saturated: str) -> Emit:
    def emit(w: Writer, v: Variant, a: Value, b: Value) -> tuple[Value, ...]:
        return (w.intrinsic(saturated, a, b) if v.has("sat") else w.op(name, a, b),)

    return emit


def _extend(v: Variant) -> str:
    return "sext" if is_signed(v.kind) else "zext"


def _product(w: Writer, v: Variant, a: Value, b: Value) -> Value:
    if v.has("wide"):
        wide, how = 2 * a.bits, _extend(v)
        return w.op("mul", w.cast(how, a, wide), w.cast(how, b, wide))
    return _high(w, v, a, b) if v.has("hi") else w.op("mul", a, b)


def _high(w: Writer, v: Variant, a: Value, b: Value) -> Value:
    bits = a.bits
    if bits < 64:
        wide, how = 2 * bits, _extend(v)
        whole = w.op("mul", w.cast(how, a, wide), w.cast(how, b, wide))
        return w.cast("trunc", w.op("lshr", whole, w.number(bits, wide)), bits)
    low, half = w.number(0xFFFFFFFF, 64), w.number(32, 64)
    a_low, a_high = w.op("and", a, low), w.op("lshr", a, half)
    b_low, b_high = w.op("and", b, low), w.op("lshr", b, half)
    middle = w.op("add", w.op("mul", a_high, b_low), w.op("lshr", w.op("mul", a_low, b_low), half))
    cross = w.op("add", w.op("mul", a_low, b_high), w.op("and", middle, low))
    high = w.ops(
        "add", w.op("mul", a_high, b_high), w.op("lshr", middle, half), w.op("lshr", cross, half)
    )
    if not is_signed(v.kind):
        return high
    sign = w.number(63, 64)
    for x, y in ((a, b), (b, a)):
        high = w.op("sub", high, w.op("and", w.op("ashr", x, sign), y))
    return high


def _multiply(w: Writer, v: Variant, a: Value, b: Value) -> tuple[Value, ...]:
    return (_product(w, v, a, b),)


def _carry_out(w: Writer, a: Value, b: Value, carry: Value | None) -> tuple[Value, Value]:
    part = w.op("add", a, b)
    out = w.compare("ult", part, a)
    if carry is None:
        return part, out
    total = w.op("add", part, w.cast("zext", carry, a.bits))
    return total, w.op("or", out, w.compare("ult", total, part))


def _add(w: Writer, v: Variant, a: Value, b: Value, *carry: Value) -> tuple[Value, ...]:
    if v.has("cc") or carry:
        total, out = _carry_out(w, a, b, carry[0] if carry else None)
        return (total, out) if v.has("cc") else (total,)
    return _sum("add", "sadd.sat")(w, v, a, b)


def _subtract(w: Writer, v: Variant, a: Value, b: Value, *borrow: Value) -> tuple[Value, ...]:
    if not v.has("cc") and not borrow:
        return _sum("sub", "ssub.sat")(w, v, a, b)
    part, out = w.op("sub", a, b), w.compare("ult", a, b)
    if borrow:
        total = w.op("sub", part, w.cast("zext", borrow[0], a.bits))
        part, out = total, w.op("or", out, w.compare("ult", part, total))
    return (part, out) if v.has("cc") else (part,)


def _multiply_add(
    w: Writer, v: Variant, a: Value, b: Value, c: Value, *carry: Value
) -> tuple[Value, ...]:
    return _add(w, v, _product(w, v, a, b), c, *carry)


def _multiply_24(w: Writer, v: Variant, a: Value, b: Value) -> tuple[Value, ...]:
    eight, down = w.number(8, 32), "ashr" if is_signed(v.kind) else "lshr"
    x, y = (w.op(down, w.op("shl", z, eight), eight) for z in (a, b))
    whole = w.op("mul", w.cast(_extend(v), x, 64), w.cast(_extend(v), y, 64))
    return (w.cast("trunc", w.op("lshr", whole, w.number(16, 64)) if v.has("hi") else whole, 32),)


def _multiply_add_24(w: Writer, v: Variant, a: Value, b: Value, c: Value) -> tuple[Value, ...]:
    return (w.op("add", _multiply_24(w, v, a, b)[0], c),)


def _unsigned_quotient(w: Writer, a: Value, b: Value) -> Value:
    """a / b, all ones where b is 0; up to 32 bits through doubles, which hold the floor exactly."""
    zero = w.compare("eq", b, w.number(0, b.bits))
    safe = w.select(zero, w.number(1, b.bits), b)
    if a.bits <= 32 and not (a.same and b.same):
        found = w.real("fdiv", *(w.from_integer("uitofp", x, 64) for x in (a, safe)))
        quotient = w.cast("trunc", w.to_integer("fptoui", found, 64), a.bits)
    else:
        quotient = w.op("udiv", a, safe)
    return w.select(zero, w.number(-1, a.bits), quotient)


def _quotient(w: Writer, v: Variant, a: Value, b: Value) -> Value:
    if not is_signed(v.kind):
        return _unsigned_quotient(w, a, b)
    x, y = (w.intrinsic("abs", z, more="i1 false") for z in (a, b))
    found, nothing = _unsigned_quotient(w, x, y), w.number(0, a.bits)
    negative = w.compare("slt", w.op("xor", a, b), nothing)
    found = w.select(negative, w.op("sub", nothing, found), found)
    return w.select(w.compare("eq", b, nothing), w.number(-1, a.bits), found)


def _divide(w: Writer, v: Variant, a: Value, b: Value) -> tuple[Value, ...]:
    return (_quotient(w, v, a, b),)


def _remainder(w: Writer, v: Variant, a: Value, b: Value) -> tuple[Value, ...]:
    rest = w.op("sub", a, w.op("mul", _quotient(w, v, a, b), b))
    return (w.select(w.compare("eq", b, w.number(0, b.bits)), w.number(-1, b.bits), rest),)


def _extremum(larger: bool) -> Emit:
    def emit(w: Writer, v: Variant, a: Value, b: Value) -> tuple[Value, ...]:
        name = ("s" if is_signed(v.kind) else "u") + ("max" if larger else "min")
        found = w.intrinsic(name, a, b)
        if v.has("relu") and is_signed(v.kind):
            found = w.intrinsic("smax", found, w.number(0, a.bits))
        return (found,)

    return emit


def _differences(w: Writer, v: Variant, a: Value, b: Value, c: Value) -> tuple[Value, ...]:
    letter = "s" if is_signed(v.kind) else "u"
    apart = w.op("sub", w.intrinsic(letter + "max", a, b), w.intrinsic(letter + "min", a, b))
    return (w.op("add", c, apart),)


def _byte(w: Writer, a: Value, index: int, kind: str) -> Value:
    part = w.cast("trunc", w.op("lshr", a, w.number(8 * index, 32)), 8)
    return w.cast("sext" if is_signed(kind) else "zext", part, 32)


def _dot4(w: Writer, v: Variant, a: Value, b: Value, c: Value) -> tuple[Value, ...]:
    one, two = v.kinds
    for i in range(4):
        c = w.op("add", c, w.op("mul", _byte(w, a, i, one), _byte(w, b, i, two)))
    return (c,)


def _dot2(w: Writer, v: Variant, a: Value, b: Value, c: Value) -> tuple[Value, ...]:
    one, two = v.kinds
    for i in range(2):
        part = w.cast("trunc", w.op("lshr", a, w.number(16 * i, 32)), 16)
        half = w.cast("sext" if is_signed(one) else "zext", part, 32)
        c = w.op("add", c, w.op("mul", half, _byte(w, b, i + 2 * v.has("hi"), two)))
    return (c,)


# --- logic, shifts, fields ------------------------------------------------------------------


def _not(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (w.op("xor", a, w.number(-1, a.bits)),)


def _is_zero(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (w.cast("zext", w.compare("eq", a, w.number(0, a.bits)), a.bits),)


def _amount(w: Writer, a: Value, amount: Value) -> tuple[Value, Value]:
    """A shift amount below the width, and whether it was."""
    limit = w.number(a.bits - 1, 32)
    inside = w.compare("ule", amount, limit)
    return w.cast("zext" if a.bits > 32 else "trunc", amount, a.bits), inside


def shift(w: Writer, name: str, a: Value, amount: Value) -> Value:
    """shl or lshr: 0 from the width on; ashr: the sign. The amount has 32 bits."""
    if amount.constant is not None:
        count = amount.constant
        if count >= a.bits:
            return (
                w.op("ashr", a, w.number(a.bits - 1, a.bits))
                if name == "ashr"
                else w.number(0, a.bits)
            )
        return w.op(name, a, w.number(count, a.bits))
    if name == "ashr":
        least = w.intrinsic("umin", amount, w.number(a.bits - 1, 32))
        return w.op(name, a, w.cast("zext" if a.bits > 32 else "trunc", least, a.bits))
    count_value, inside = _amount(w, a, amount)
    return w.select(inside, w.op(name, a, count_value), w.number(0, a.bits))


def _shift_left(w: Writer, v: Variant, a: Value, n: Value) -> tuple[Value, ...]:
    return (shift(w, "shl", a, n),)


def _shift_right(w: Writer, v: Variant, a: Value, n: Value) -> tuple[Value, ...]:
    return (shift(w, "ashr" if is_signed(v.kind) else "lshr", a, n),)


def _limited(w: Writer, v: Variant, n: Value) -> Value:
    if v.has("wrap"):
        return w.op("and", n, w.number(31, 32))
    return w.intrinsic("umin", n, w.number(32, 32))


def _funnel(w: Writer, v: Variant, low: Value, high: Value, n: Value) -> tuple[Value, ...]:
    both, count = joined(w, low, high), w.cast("zext", _limited(w, v, n), 64)
    if v.has("l"):
        return (w.cast("trunc", w.op("lshr", w.op("shl", both, count), w.number(32, 64)), 32),)
    return (w.cast("trunc", w.op("lshr", both, count), 32),)


def _logic_value(w: Writer, a: Value, b: Value, c: Value, table: Value) -> Value:
    if table.constant is None:
        raise Bailout("lop3 with a table that is not a constant")
    ones, found = w.number(-1, 32), w.number(0, 32)
    inverse = [w.op("xor", x, ones) for x in (a, b, c)]
    for row in range(8):
        if table.constant >> row & 1:
            parts = [
                x if row & bit else y
                for x, y, bit in zip((a, b, c), inverse, (4, 2, 1), strict=True)
            ]
            found = w.op("or", found, w.ops("and", *parts))
    return found


def _logic(
    w: Writer, v: Variant, a: Value, b: Value, c: Value, table: Value, *q: Value
) -> tuple[Value, ...]:
    found = _logic_value(w, a, b, c, table)
    if not q:
        return (found,)
    some = w.compare("ne", found, w.number(0, 32))
    return found, w.op("and" if v.has("and") else "or", some, q[0])


def _ones_below(w: Writer, length: Value, bits: int) -> Value:
    """2^length - 1; all ones from the width on. `length` has 32 bits."""
    return w.op("sub", shift(w, "shl", w.number(1, bits), length), w.number(1, bits))


def _place(w: Writer, a: Value, number: Value) -> Value:
    """A position or length as the hardware reads it."""
    if a.bits == 64:
        return w.intrinsic("umin", number, w.number(255, 32))
    return w.op("and", number, w.number(255, 32))


def _extract(w: Writer, v: Variant, a: Value, position: Value, length: Value) -> tuple[Value, ...]:
    first, count = _place(w, a, position), _place(w, a, length)
    mask = _ones_below(w, count, a.bits)
    if not is_signed(v.kind):
        return (w.op("and", shift(w, "lshr", a, first), mask),)
    one, nothing = w.number(1, 32), w.number(0, a.bits)
    end = w.op("sub", w.op("add", first, count), one)
    last = w.intrinsic("umin", end, w.number(a.bits - 1, 32))
    top = w.op("and", shift(w, "lshr", a, last), w.number(1, a.bits))
    some = w.compare("ne", count, w.number(0, 32))
    negative = w.op("and", w.compare("ne", top, nothing), some)
    above = w.select(negative, w.op("xor", mask, w.number(-1, a.bits)), nothing)
    return (w.op("or", w.op("and", shift(w, "ashr", a, first), mask), above),)


def _insert(
    w: Writer, v: Variant, a: Value, b: Value, position: Value, length: Value
) -> tuple[Value, ...]:
    first = _place(w, a, position)
    mask = shift(w, "shl", _ones_below(w, _place(w, a, length), a.bits), first)
    rest = w.op("and", b, w.op("xor", mask, w.number(-1, a.bits)))
    return (w.op("or", w.op("and", shift(w, "shl", a, first), mask), rest),)


def _reverse(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (w.intrinsic("bitreverse", a),)


def _population(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (w.cast("trunc", w.intrinsic("ctpop", a), 32),)


def _leading(w: Writer, a: Value) -> Value:
    return w.cast("trunc", w.intrinsic("ctlz", a, more="i1 false"), 32)


def _leading_zeros(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (_leading(w, a),)


def _highest(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    if is_signed(v.kind):
        a = w.op("xor", a, w.op("ashr", a, w.number(a.bits - 1, a.bits)))
    zeros = _leading(w, a)
    place = zeros if v.has("shiftamt") else w.op("sub", w.number(a.bits - 1, 32), zeros)
    return (w.select(w.compare("eq", a, w.number(0, a.bits)), w.number(-1, 32), place),)


def _mask(w: Writer, v: Variant, position: Value, length: Value) -> tuple[Value, ...]:
    ones = _ones_below(w, _limited(w, v, length), 32)
    return (shift(w, "shl", ones, _limited(w, v, position)),)


def _extend_field(w: Writer, v: Variant, a: Value, length: Value) -> tuple[Value, ...]:
    count = _limited(w, v, length)
    if not is_signed(v.kind):
        return (w.op("and", a, _ones_below(w, count, 32)),)
    unused = w.op("sub", w.number(32, 32), count)
    found = shift(w, "ashr", shift(w, "shl", a, unused), unused)
    return (w.select(w.compare("eq", count, w.number(0, 32)), w.number(0, 32), found),)


def _permute(w: Writer, v: Variant, a: Value, b: Value, selector: Value) -> tuple[Value, ...]:
    mode = next((mod for mod in v.mods if mod in PERMUTATIONS), None)
    if mode:
        which, chosen = w.op("and", selector, w.number(3, 32)), w.number(0, 32)
        for number, digits in enumerate(PERMUTATIONS[mode]):
            here = w.compare("eq", which, w.number(number, 32))
            chosen = w.select(here, w.number(digits, 32), chosen)
        selector = chosen
    pool, found = joined(w, a, b), w.number(0, 32)
    for place in range(4):
        if selector.constant is not None:
            digit = w.number(selector.constant >> (4 * place), 32)
            far = w.number((selector.constant >> (4 * place) & 7) * 8, 64)
        else:
            digit = w.op("lshr", selector, w.number(4 * place, 32))
            eighth = w.op("shl", w.op("and", digit, w.number(7, 32)), w.number(3, 32))
            far = w.cast("zext", eighth, 64)
        byte = w.op("and", w.cast("trunc", w.op("lshr", pool, far), 32), w.number(255, 32))
        sign = w.op("mul", w.op("lshr", byte, w.number(7, 32)), w.number(255, 32))
        signed = w.compare("ne", w.op("and", digit, w.number(8, 32)), w.number(0, 32))
        byte = w.select(signed, sign, byte)
        found = w.op("or", found, w.op("shl", byte, w.number(8 * place, 32)))
    return (found,)


_INT = frozenset({f"{letter}{bits}" for letter in "us" for bits in (16, 32, 64)})


def of_integers(v: Variant) -> bool:
    """Whether the last type is an integer or a pair of them."""
    return v.kind in _INT or v.kind in ("u16x2", "s16x2")


TABLE: dict[str, Emit] = {
    "add": pairs(_add),
    "addc": _add,
    "sub": pairs(_subtract),
    "subc": _subtract,
    "mul": _multiply,
    "mad": _multiply_add,
    "madc": _multiply_add,
    "mul24": _multiply_24,
    "mad24": _multiply_add_24,
    "div": _divide,
    "rem": _remainder,
    "abs": lambda w, v, a: (w.intrinsic("abs", a, more="i1 false"),),
    "neg": lambda w, v, a: (w.op("sub", w.number(0, a.bits), a),),
    "min": pairs(_extremum(False)),
    "max": pairs(_extremum(True)),
    "sad": _differences,
}
BITS: dict[str, Emit] = {
    "dp4a": _dot4,
    "dp2a": _dot2,
    "and": _plain("and"),
    "or": _plain("or"),
    "xor": _plain("xor"),
    "not": _not,
    "cnot": _is_zero,
    "shl": _shift_left,
    "shr": _shift_right,
    "shf": _funnel,
    "lop3": _logic,
    "bfe": _extract,
    "bfi": _insert,
    "brev": _reverse,
    "popc": _population,
    "clz": _leading_zeros,
    "bfind": _highest,
    "bmsk": _mask,
    "szext": _extend_field,
    "prmt": _permute,
}
