"""Floats of eight bits as LLVM IR; semantics as in `arithmetic.eight_bits`."""

from __future__ import annotations

from gpuviz.ptx.arithmetic.variant import Variant
from gpuviz.ptx.compiled.floats import is_nan, widened
from gpuviz.ptx.compiled.integers import halves, joined
from gpuviz.ptx.compiled.writing import Value, Writer
from gpuviz.ptx.tensor.formats import FORMATS

_MOST = {"e4m3": 0x7E, "e5m2": 0x7B}  # the largest number


def convert(w: Writer, v: Variant, a: Value, *rest: Value) -> Value:
    """cvt from or to a pair of them."""
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
