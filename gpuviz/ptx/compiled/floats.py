"""Floating-point arithmetic and comparisons as LLVM IR; semantics as in `arithmetic`.

To nearest, f32 and f64 run in their own precision, halves in f32, which rounds them innocuously.
Other rounding modes are left to the NumPy engine. Functions such as the sine are NumPy's own inner
loops, called through their address.
"""

from dataclasses import replace

from gpuviz.ptx.arithmetic.compare import COMBINATIONS
from gpuviz.ptx.arithmetic.compare import relation as integer_relation
from gpuviz.ptx.arithmetic.kinds import CONTAINERS, Variant, is_float
from gpuviz.ptx.arithmetic.rounding import CANONICAL_NAN, EXPONENT, SIGN
from gpuviz.ptx.compiled.integers import Emit, apply, halves, joined, pairs
from gpuviz.ptx.compiled.routines import ask
from gpuviz.ptx.compiled.writer import Bailout, Value, Writer

_ONE = {16: 0x3C00, 32: 0x3F800000, 64: 0x3FF << 52}
LOOPS = ("sin", "cos", "exp2", "log2", "tanh")  # called through their address


def is_nan(w: Writer, a: Value) -> Value:
    """Whether f32 or f64 bits are NaN."""
    return w.real_compare("uno", a, a)


def canonical(w: Writer, a: Value, kind: str = "f32") -> Value:
    """f32 bits whose NaN is the canonical one."""
    return w.select(is_nan(w, a), w.number(CANONICAL_NAN[kind], a.bits), a)


def settled(w: Writer, a: Value) -> Value:
    """The value with the NaN that the hardware gives, where any NaN stood for it."""
    return replace(canonical(w, a), loose=False) if a.loose else a


def flushed(w: Writer, a: Value, kind: str) -> Value:
    """Subnormal numbers made zeros of their sign."""
    exponent = w.op("and", a, w.number(EXPONENT[kind], a.bits))
    small = w.compare("eq", exponent, w.number(0, a.bits))
    return w.select(small, w.op("and", a, w.number(SIGN[kind], a.bits)), a)


def widened(w: Writer, a: Value, kind: str, bits: int) -> Value:
    """The bits of the same value as f32 or f64 (exact; NaN stays some NaN)."""
    if kind == "bf16":
        a = w.op("shl", w.cast("zext", a, 32), w.number(16, 32))
    return a if a.bits == bits else w.real_cast("fpext", a, bits)


def as_read(w: Writer, v: Variant, *x: Value, kind: str = "") -> tuple[Value, ...]:
    """Operands as .ftz has them read, of the variant's type where no other is named."""
    flush = v.has("ftz")
    return tuple(flushed(w, a, kind or v.kind) if flush and not a.flat else a for a in x)


def operands(w: Writer, v: Variant, bits: int, *x: Value) -> tuple[Value, ...]:
    """Operands as .ftz has them read, as f32 or f64."""
    return tuple(widened(w, a, v.kind, bits) for a in as_read(w, v, *x))


def narrowed(w: Writer, a: Value, kind: str) -> Value:
    """f32 or f64 bits rounded to nearest; NaN becomes the canonical one."""
    if kind == "f64":
        return a
    if kind == "f32":
        return canonical(w, a if a.bits == 32 else w.real_cast("fptrunc", a, 32))
    nan = is_nan(w, a)
    if a.bits == 64:
        a = _odd_single(w, a)
    if kind == "f16":
        found = w.real_cast("fptrunc", a, 16)
    else:
        last = w.op("and", w.op("lshr", a, w.number(16, 32)), w.number(1, 32))
        rounded = w.ops("add", a, w.number(0x7FFF, 32), last)
        found = w.cast("trunc", w.op("lshr", rounded, w.number(16, 32)), 16)
    return w.select(nan, w.number(CANONICAL_NAN[kind], 16), found)


def _odd_single(w: Writer, a: Value) -> Value:
    """f64 bits as f32, inexact results rounded to the neighbour whose last bit is 1."""
    near = w.real_cast("fptrunc", a, 32)
    back = w.real_cast("fpext", near, 64)
    inexact = w.real_compare("one", back, a)
    magnitude = (w.op("and", x, w.number((1 << 63) - 1, 64)) for x in (back, a))
    beyond = w.op("and", w.compare("ugt", *magnitude), inexact)
    cut = w.op("sub", near, w.cast("zext", beyond, 32))
    return w.op("or", cut, w.cast("zext", inexact, 32))


def saturated(w: Writer, a: Value) -> Value:
    """Clamped to 0..1; NaN and -0 become +0."""
    one = w.number(_ONE[a.bits], a.bits)
    positive = w.real_compare("ogt", a, w.number(0, a.bits))
    least = w.select(w.real_compare("olt", a, one), a, one)
    return w.select(positive, least, w.number(0, a.bits))


def rectified(w: Writer, a: Value) -> Value:
    """Negative values, and -0, made +0; NaN stays."""
    keep = w.real_compare("ugt", a, w.number(0, a.bits))
    return w.select(keep, a, w.number(0, a.bits))


def bounded(w: Writer, v: Variant, a: Value) -> Value:
    """What .sat and .relu do before a value is narrowed."""
    if v.has("sat"):
        return saturated(w, a)
    return rectified(w, a) if v.has("relu") else a


def _core(name: str, w: Writer, *x: Value) -> Value:
    if name == "fma":
        return w.real_intrinsic("fma", *x)
    if name == "rcp":
        return w.real("fdiv", w.number(_ONE[x[0].bits], x[0].bits), *x)
    if name == "sqrt":
        return w.real_intrinsic("sqrt", *x)
    found = w.real(f"f{name}", *x)
    return _of_first_nan(w, x[0], found) if x[0].bits == 64 else found


def _of_first_nan(w: Writer, a: Value, found: Value) -> Value:
    """LLVM may swap operands, and of two NaN the first is handed on."""
    return w.select(is_nan(w, a), w.op("or", a, w.number(1 << 51, 64)), found)


def _fused_double(w: Writer, a: Value, b: Value, c: Value) -> Value:
    """With an infinite factor or NaN the plain sum, whose NaN the NumPy engine gives."""
    found = w.real_intrinsic("fma", a, b, c)
    product = _of_first_nan(w, a, w.real("fmul", a, b))
    plain = _of_first_nan(w, product, w.real("fadd", product, c))
    infinity, fused = w.number(EXPONENT["f64"], 64), w.real_compare("ord", c, c)
    for x in (a, b):
        finite = w.real_compare("olt", w.real_intrinsic("fabs", x), infinity)
        fused = w.op("and", fused, finite)
    return w.select(fused, found, plain)


def rounding(name: str) -> Emit:
    """add, sub, mul, div, rcp, sqrt, fma to nearest."""

    def emit(w: Writer, v: Variant, *x: Value) -> tuple[Value, ...]:
        kind = v.kind
        if v.mode != "rn":
            raise Bailout(f"rounding .{v.mode}")
        if v.mods[0] == "approx" or len(v.kinds) > 1:
            raise Bailout("this form")
        wide = 64 if kind == "f64" or (name == "fma" and kind in ("f16", "bf16")) else 32
        values = operands(w, v, wide, *x)
        if name == "fma" and kind == "f64":
            found = _fused_double(w, *values)
        elif name == "fma" and kind == "bf16":
            raise Bailout("fma of bf16")
        elif name == "fma" and kind == "f16":
            found = w.real("fadd", w.real("fmul", *values[:2]), values[2])
        else:
            found = _core(name, w, *values)
        return (_finished(w, v, bounded(w, v, found)),)

    return emit


def _finished(w: Writer, v: Variant, found: Value) -> Value:
    """Narrowed, flushed; the NaN of an f32 is left as it is (see `Value.loose`)."""
    kind, flush = v.kind, v.has("ftz")
    if kind == "f32" and found.bits == 32:
        found = flushed(w, found, kind) if flush else found
        return replace(found, loose=not v.has("sat"), flat=flush)
    found = narrowed(w, found, kind)
    return replace(flushed(w, found, kind) if flush else found, flat=flush)


def _approximate(name: str) -> Emit:
    def emit(w: Writer, v: Variant, *x: Value) -> tuple[Value, ...]:
        if v.kind not in ("f32", "f16", "bf16"):
            raise Bailout("an approximation of f64")
        return (_finished(w, v, _FUNCTIONS[name](w, *operands(w, v, 64, *x))),)

    return emit


def _loop(name: str):  # type: ignore[no-untyped-def]
    def emit(w: Writer, a: Value) -> Value:
        number = LOOPS.index(name)
        found = ask(w, "numpy_loop", "ptr %c", f"i32 {number}", f"<32 x i64> {w.wide(a)}")
        return w.vector(found, 64)

    return emit


def _reciprocal(w: Writer, a: Value) -> Value:
    return w.real("fdiv", w.number(_ONE[64], 64), a)


def _root(w: Writer, a: Value) -> Value:
    return w.real_intrinsic("sqrt", a)


def _divide_in_range(w: Writer, a: Value, b: Value) -> Value:
    sign = w.op("and", b, w.number(1 << 63, 64))
    far = w.real_compare("ogt", w.real_intrinsic("fabs", b), w.number((1023 + 126) << 52, 64))
    return w.select(far, w.real("fmul", a, sign), w.real("fdiv", a, b))


_FUNCTIONS = {
    "rcp": _reciprocal,
    "sqrt": _root,
    "rsqrt": lambda w, a: _reciprocal(w, _root(w, a)),
    "div": _divide_in_range,
    "sin": _loop("sin"),
    "cos": _loop("cos"),
    "ex2": _loop("exp2"),
    "lg2": _loop("log2"),
    "tanh": _loop("tanh"),
}


def _either(name: str) -> Emit:
    exact, coarse = rounding(name), _approximate(name)

    def emit(w: Writer, v: Variant, *x: Value) -> tuple[Value, ...]:
        if v.has("full"):
            return exact(w, Variant(tuple(m for m in v.mods if m != "full")), *x)
        return (coarse if v.has("approx") else exact)(w, v, *x)

    return emit


def _of_sign(toggle: bool) -> Emit:
    def emit(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
        kind = v.kind
        (a,) = as_read(w, v, a)
        sign = w.number(SIGN[kind], a.bits)
        found = w.op("xor", a, sign) if toggle else w.op("and", a, w.number(SIGN[kind] - 1, a.bits))
        if kind == "f32":
            return (replace(found, loose=True, flat=v.has("ftz") or a.flat),)
        if kind == "f64":
            return (w.select(is_nan(w, a), w.op("or", a, w.number(1 << 51, 64)), found),)
        nan = _nan_of(w, a, kind)
        return (w.select(nan, w.number(CANONICAL_NAN[kind], 16), found),)

    return emit


def _nan_of(w: Writer, a: Value, kind: str) -> Value:
    magnitude = w.op("and", a, w.number(SIGN[kind] - 1, a.bits))
    return w.compare("ugt", magnitude, w.number(EXPONENT[kind], a.bits))


def _extremum(larger: bool) -> Emit:
    """The number beats NaN, unless .NaN; -0 is less than +0."""

    def emit(w: Writer, v: Variant, a: Value, b: Value) -> tuple[Value, ...]:
        kind = v.kind
        if v.has("xorsign"):
            raise Bailout(".xorsign")
        a, b = as_read(w, v, a, b)
        x, y = (widened(w, z, kind, 64 if kind == "f64" else 32) for z in (a, b))
        x_nan, y_nan = is_nan(w, x), is_nan(w, y)
        first = w.op("or", w.real_compare("ogt" if larger else "olt", x, y), y_nan)
        tied = w.op("and" if larger else "or", a, b)
        found = w.select(w.real_compare("oeq", x, y), tied, w.select(first, a, b))
        if kind == "f64" and not v.has("NaN"):
            return (found,)
        bad = w.op("or" if v.has("NaN") else "and", x_nan, y_nan)
        if kind != "f64":
            found = w.select(bad, w.number(CANONICAL_NAN[kind], a.bits), found)
        return (replace(found, flat=v.has("ftz")),)

    return emit


# --- comparisons -----------------------------------------------------------------------------

_FLOAT = {
    **{"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"},
    **{"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge"},
    **{"num": "ord", "nan": "uno"},
}


def relation(w: Writer, v: Variant, a: Value, b: Value) -> Value:
    """The comparison a variant names first."""
    if is_float(v.kind):
        wide = operands(w, v, 64 if v.kind == "f64" else 32, a, b)
        return w.real_compare(_FLOAT[v.mods[0]], *wide)
    return apply(w, integer_relation(v), a, b)[0]


def _combined(w: Writer, v: Variant, found: Value, third: tuple[Value, ...]) -> Value:
    name = next((mod for mod in v.mods if mod in COMBINATIONS), "")
    return w.op(name, found, third[0]) if third else found


def _set_predicate(w: Writer, v: Variant, a: Value, b: Value, *third: Value) -> tuple[Value, ...]:
    if v.kind.endswith("x2"):
        one = v.of(v.kind[:-2])
        found = (relation(w, one, x, y) for x, y in zip(halves(w, a), halves(w, b), strict=True))
        low, high = (_combined(w, v, x, third) for x in found)
        return low, high
    found_one = relation(w, v, a, b)
    other = w.op("xor", found_one, w.number(1, 1))
    return _combined(w, v, found_one, third), _combined(w, v, other, third)


_TRUE = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}


def _set_value(w: Writer, v: Variant, a: Value, b: Value, *third: Value) -> tuple[Value, ...]:
    to = v.kinds[0]
    if v.kind.endswith("x2"):
        if not to.endswith("x2"):
            raise Bailout("set of pairs into an integer")
        true = w.number(_TRUE[to[:-2]], 16)
        low, high = _set_predicate(w, v, a, b, *third)
        return (joined(w, *(w.select(p, true, w.number(0, 16)) for p in (low, high))),)
    bits = CONTAINERS[to].itemsize * 8
    holds = _combined(w, v, relation(w, v, a, b), third)
    return (w.select(holds, w.number(_TRUE.get(to, -1), bits), w.number(0, bits)),)


def _select(w: Writer, v: Variant, a: Value, b: Value, p: Value) -> tuple[Value, ...]:
    loose = a.loose and b.loose
    if not loose:  # one side's NaN is any, the other's bits count: only the first is settled
        a, b = settled(w, a), settled(w, b)
    found = w.select(p, a, b)
    return (replace(found, loose=loose, flat=a.flat and b.flat),)


def _select_by_sign(w: Writer, v: Variant, a: Value, b: Value, c: Value) -> tuple[Value, ...]:
    at_least = Variant(("ge", *v.mods[:-2], v.kind))
    return (w.select(relation(w, at_least, c, w.number(0, c.bits)), a, b),)


TABLE: dict[str, Emit] = {
    **{name: pairs(rounding(name)) for name in ("add", "sub", "mul", "fma")},
    "mad": rounding("fma"),
    **{name: _either(name) for name in ("div", "rcp", "sqrt")},
    **{name: pairs(_approximate(name)) for name in ("rsqrt", "sin", "cos", "ex2", "lg2", "tanh")},
    "abs": pairs(_of_sign(False)),
    "neg": pairs(_of_sign(True)),
    "min": pairs(_extremum(False)),
    "max": pairs(_extremum(True)),
}
CHOICES: dict[str, Emit] = {
    "setp": _set_predicate,
    "set": _set_value,
    "selp": _select,
    "slct": _select_by_sign,
    "mov": lambda w, v, a: (a,),
}


def holds_floats(kind: str) -> bool:
    """Whether a type is a floating-point type or a pair of them."""
    return is_float(kind.removesuffix("x2"))
