"""cvt as LLVM IR; semantics as in `arithmetic.convert`."""

import struct

import numpy as np

from gpuviz.ptx.arithmetic.formats import FORMATS
from gpuviz.ptx.arithmetic.kinds import WIDTHS, Bits, Variant, dtype_of, is_float, is_signed
from gpuviz.ptx.compiled.floats import as_read, bounded, flushed, is_nan, narrowed, widened
from gpuviz.ptx.compiled.integers import apply, halves, joined
from gpuviz.ptx.compiled.writer import Bailout, Value, Writer

_INTEGRAL = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def convert(w: Writer, v: Variant, a: Value, *rest: Value) -> tuple[Value, ...]:
    """Any cvt from or to floats but those to tf32."""
    if any(mod.startswith(("e4m3", "e5m2")) for mod in v.mods):
        return (_of_pairs(w, v, a, *rest),)
    if v.has("tf32") or len(v.kinds) != 2:
        raise Bailout("this conversion")
    to, source = v.kinds
    if to.endswith("x2"):
        one = Variant(tuple(to[:-2] if mod == to else mod for mod in v.mods))
        return (joined(w, _float_to_float(w, one, rest[0]), _float_to_float(w, one, a)),)
    if not is_float(source):
        return (_integer_to_float(w, v, a),)
    return ((_float_to_float if is_float(to) else _float_to_integer)(w, v, a),)


def _integer_to_float(w: Writer, v: Variant, a: Value) -> Value:
    to, source = v.kinds
    if v.mode != "rn":
        raise Bailout(f"rounding .{v.mode}")
    how = "sitofp" if is_signed(source) else "uitofp"
    if to in ("f32", "f64"):
        found = w.from_integer(how, a, WIDTHS[to])
    elif a.bits > 32:
        raise Bailout("64-bit integers to halves")
    else:
        found = w.from_integer(how, a, 64)
    return narrowed(w, bounded(w, v, found), to)


def _float_to_integer(w: Writer, v: Variant, a: Value) -> Value:
    to, source = v.kinds
    bits = WIDTHS[to]
    (a,) = as_read(w, v, a, kind=source)
    wide = 64 if source == "f64" or bits >= 32 else 32
    name = next(_INTEGRAL[mod] for mod in v.mods if mod in _INTEGRAL)
    x = w.real_intrinsic(name, widened(w, a, source, wide))
    low, high = np.iinfo(dtype_of(to)).min, np.iinfo(dtype_of(to)).max
    over = w.real_compare("oge", x, _real(w, high, wide))
    under = w.real_compare("ole", x, _real(w, low, wide))
    nan = is_nan(w, x)
    outside = w.ops("or", over, under, nan)
    safe = w.select(outside, w.number(0, wide), x)
    found = w.to_integer("fptosi" if is_signed(to) else "fptoui", safe, max(bits, 32))
    found = w.cast("trunc", found, bits)
    found = w.select(over, w.number(high, bits), found)
    found = w.select(under, w.number(low, bits), found)
    of_nan = 1 << (bits - 1) if source == "f64" or bits == 64 else 0
    return w.select(nan, w.number(of_nan, bits), found)


def _real(w: Writer, value: int, bits: int) -> Value:
    """An integer as NumPy's float() has it, as bits of f32 (small limits only) or f64."""
    packed = struct.pack("<f" if bits == 32 else "<d", float(value))
    return w.number(int.from_bytes(packed, "little"), bits)


def _float_to_float(w: Writer, v: Variant, a: Value) -> Value:
    to, source = v.kinds
    integral = next((_INTEGRAL[mod] for mod in v.mods if mod in _INTEGRAL), None)
    if v.mode != "rn" and not integral:
        raise Bailout(f"rounding .{v.mode}")
    if source == "f32" and to != "f16":
        (a,) = as_read(w, v, a)
    x = widened(w, a, source, 64 if "f64" in (to, source) else 32)
    if integral:
        x = w.real_intrinsic(integral, x)
    x = bounded(w, v, x)
    if source == "f64" and to != "f64":
        return _from_double(w, v, x, to)
    found = narrowed(w, x, to)
    return flushed(w, found, to) if v.has("ftz") and to == "f32" else found


def _payload(x: Bits) -> Bits:
    sign, cut = (x >> 32).astype(np.uint32) & (1 << 31), (x >> 29).astype(np.uint32) & 0x7FFFFF
    return sign | cut | 0x7FC00000


def _from_double(w: Writer, v: Variant, x: Value, to: str) -> Value:
    """NaN keeps its sign and the upper part of its payload, made quiet."""
    if to != "f32":
        raise Bailout("f64 to halves")
    (kept,) = apply(w, _payload, x)
    found = w.select(is_nan(w, x), kept, w.real_cast("fptrunc", x, 32))
    return flushed(w, found, to) if v.has("ftz") else found


# --- floats of eight bits; semantics as in `arithmetic.convert` ---------------------------------

_MOST = {"e4m3": 0x7E, "e5m2": 0x7B}  # the largest number


def _of_pairs(w: Writer, v: Variant, a: Value, *rest: Value) -> Value:
    """cvt from or to a pair of floats of eight bits."""
    kind = next(mod for mod in v.mods if mod.startswith(("e4m3", "e5m2")))[:-2]
    relu = v.has("relu")
    if v.mods[-1].startswith("e"):
        low, high = (_half(w, w.cast("zext", x, 32), kind, relu) for x in halves(w, a))
        return joined(w, low, high)
    if v.mods[-1] == "f32":
        low, high = rest[0], a
    else:
        low, high = (widened(w, x, "f16", 32) for x in halves(w, a))
    return joined(w, *(_encoded(w, x, kind, relu) for x in (low, high)))


def as_half(w: Writer, bits: Value, kind: str) -> Value:
    """The bits of f16 of the same number (both in 32 bits); NaN is 0x7fff."""
    size = w.op("and", bits, w.number(0x7F, 32))
    sign = w.op("shl", w.op("and", bits, w.number(0x80, 32)), w.number(8, 32))
    if kind == "e5m2":
        value = w.op("shl", size, w.number(8, 32))
        none = w.compare("ugt", size, w.number(0x7C, 32))
    else:  # another bias: 2**8 times as small as the same bits of f16 say
        small = w.cast("trunc", w.op("shl", size, w.number(7, 32)), 16)
        single = w.real("fmul", w.real_cast("fpext", small, 32), w.number(0x43800000, 32))
        value = w.cast("zext", w.real_cast("fptrunc", single, 16), 32)
        none = w.compare("eq", size, w.number(0x7F, 32))
    return w.select(none, w.number(0x7FFF, 32), w.op("or", sign, value))


def _half(w: Writer, bits: Value, kind: str, relu: bool) -> Value:
    found = w.cast("trunc", as_half(w, bits, kind), 16)
    negative = w.compare("slt", found, w.number(0, 16))
    return w.select(negative, w.number(0, 16), found) if relu else found


def _encoded(w: Writer, a: Value, kind: str, relu: bool) -> Value:
    """f32 bits to the nearest, the even one of two; the largest number for what is beyond it."""
    form = FORMATS[kind]
    low, bias = 23 - form.fraction, form.bias
    size = w.op("and", a, w.number((1 << 31) - 1, 32))
    last = w.op("and", w.op("lshr", size, w.number(low, 32)), w.number(1, 32))
    rounded = w.ops("add", size, w.number((1 << low - 1) - 1, 32), last)
    rebiased = w.number(127 - bias << form.fraction, 32)
    normal = w.op("sub", w.op("lshr", rounded, w.number(low, 32)), rebiased)
    power = w.number(127 + bias - 1 + form.fraction << 23, 32)
    small = w.compare("ult", size, w.number(128 - bias << 23, 32))
    some = w.select(small, size, w.number(0, 32))
    units = w.real_intrinsic("rint", w.real("fmul", some, power))
    found = w.select(small, w.to_integer("fptosi", units, 32), normal)
    found = w.intrinsic("umin", found, w.number(_MOST[kind], 32))
    sign = w.op("and", w.op("lshr", a, w.number(24, 32)), w.number(0x80, 32))
    if relu:
        found = w.select(w.compare("ne", sign, w.number(0, 32)), w.number(0, 32), found)
    else:
        found = w.op("or", found, sign)
    found = w.select(is_nan(w, a), w.number(0x7F, 32), found)
    return w.cast("trunc", found, 8)
