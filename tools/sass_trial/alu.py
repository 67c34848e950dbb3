"""What each arithmetic opcode of sm_90 does: one row an opcode.

A row says the kind of its result and of its sources (i, l: 32, 64 bits; f, d: floats; p: predicate,
h: halves), which modifiers it may have, and a function of (modifiers, sources, predicates). It
gives the result, or a tuple of the result (None where there is none) and predicates. Floating
point is the arithmetic of the PTX instruction that says the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuviz.ptx.arithmetic import bits, integer
from gpuviz.ptx.arithmetic.ops import operation
from gpuviz.ptx.text.ir import Opcode

Values = np.ndarray[Any, Any]
Mods = tuple[str, ...]
U64, U32, I64 = np.uint64, np.uint32, np.int64


@dataclass(frozen=True)
class Row:
    """One opcode: kinds of result and sources, the modifiers known, what it does."""

    result: str
    sources: str
    mods: str
    function: Callable[..., Any]


def _wide(x: Values) -> Values:
    return x.astype(U64)


def _low(x: Values) -> Values:
    return x.astype(U32)


def _signed(x: Values) -> Values:
    return x.view(np.int32) if x.dtype == U32 else x.view(I64)


# --- integers ------------------------------------------------------------------------------------


def add3(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """a + b + c and carries in, each of 33 bits: -x is ~x + 1, whose carry counts."""
    total = s[0] + s[1] + s[2]
    for one in p if "X" in mods else ():
        total = total + one
    return _low(total), total >> U64(32) != 0, total >> U64(32) > 1


def multiply_add(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """The low word of a * b + c, and a carry in."""
    total = s[0] * s[1] + s[2]
    return total + p[0].astype(U32) if "X" in mods else total


def _product(mods: Mods, a: Values, b: Values) -> Values:
    if "U32" in mods:
        return _wide(a) * _wide(b)
    return (_signed(a).astype(I64) * _signed(b).astype(I64)).view(U64)


def multiply_wide(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """a * b + c of 64 bits, carry in and out."""
    product = _product(mods, s[0], s[1])
    total = product + s[2]
    out = total < product
    if "X" in mods:
        more = total + p[0].astype(U64)
        out, total = out | (more < total), more
    return total, out


def multiply_high(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """The high word of a * b + c, c of 64 bits."""
    total, out = multiply_wide(mods, s, p)
    return _low(total >> U64(32)), out


def lea(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """(a << shift) + b, its high word with HI (a sign extended with SX32, or c above it)."""
    a, b, shift = s[0], s[1], _wide(s[-1])
    if "HI" not in mods:
        total = _wide(a << s[-1]) + _wide(b)
        return _low(total), total >> U64(32) != 0
    above = np.where(_signed(a) < 0, ~U64(0), U64(0)) if "SX32" in mods else _wide(s[2])
    word = _wide(a) | (above << U64(32))
    total = ((word << shift) >> U64(32)) + _wide(b)
    if "X" in mods:
        total = total + p[0]
    return _low(total), total >> U64(32) != 0


def shift(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """A word of high:low shifted; W wraps the distance, else it stops at the width."""
    wide = "U64" in mods or "S64" in mods
    most = 63 if wide else 31
    by = _wide(s[1] & U32(most)) if "W" in mods else np.minimum(_wide(s[1]), U64(most + 1))
    value = _wide(s[0]) | (_wide(s[2]) << U64(32))
    if "L" in mods:
        out = np.where(by > 63, U64(0), value << np.minimum(by, U64(63)))
    elif "S32" in mods or "S64" in mods:
        out = (value.view(I64) >> np.minimum(by, U64(63)).view(I64)).view(U64)
    else:
        out = np.where(by > 63, U64(0), value >> np.minimum(by, U64(63)))
    return _low(out >> U64(32)) if "HI" in mods else _low(out)


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}
_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "AND": np.logical_and,
    "OR": np.logical_or,
    "XOR": np.logical_xor,
}


def _named(mods: Mods, table: Mapping[str, Any]) -> Any:
    return next(table[mod] for mod in mods if mod in table)


def compare(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """Compare, combined with a predicate; EX goes on from the comparison of the low words."""
    a, b = s if "U32" in mods else [_signed(x) for x in s]
    name = next(mod for mod in mods if mod in _COMPARE)
    found = _COMPARE[name](a, b)
    if "EX" in mods:
        strict = {"LE": np.less, "GE": np.greater}.get(name, _COMPARE[name])
        found = found | p[1] if name == "NE" else np.where(a == b, p[1], strict(a, b))
    combine = _named(mods, _COMBINE)
    return None, combine(found, p[0]), combine(~found, p[0])


def logic(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """Any function of three bits, by its table; the predicate says whether a bit is left."""
    a, b, c = np.broadcast_arrays(*s[:3])
    out = bits.logic(a, b, c, np.broadcast_to(s[3], a.shape))
    return out, (out != 0) | p[0]


def minmax(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """The smaller with a true predicate, else the larger."""
    a, b = s if "U32" in mods else [_signed(x) for x in s]
    return np.where(p[0], np.minimum(a, b), np.maximum(a, b)).view(U32)


def minmax3(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """The smallest of three with true predicates, else the largest."""
    return minmax(mods, [minmax(mods, s[:2], p[:1]), s[2]], p[-1:])


def add_minmax(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """min or max of a + b and c."""
    return minmax(mods, [s[0] + s[1], s[2]], p)


def find_high(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """The place of the highest bit that is set (of a negative number, not set), -1 for none."""
    a = s[0] if "U32" in mods else np.where(_signed(s[0]) < 0, ~s[0], s[0])
    return bits.highest(np.ascontiguousarray(a), "SH" in mods)


def difference(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """|a - b| + c."""
    a, b = s[:2] if "U32" in mods else [_signed(x) for x in s[:2]]
    return np.abs(a.astype(I64) - b.astype(I64)).astype(U32) + s[2]


def _bytes(x: Values, signed: bool) -> Values:
    whole = np.ascontiguousarray(x)
    return whole.view(np.int8 if signed else np.uint8).reshape(*x.shape, 4).astype(I64)


def difference4(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """|a - b| of each byte, plus c; with ACC their sum."""
    a, b = (_bytes(x, "S8" in mods) for x in np.broadcast_arrays(*s[:2]))
    found = np.abs(a - b)
    if "ACC" in mods:
        out: Values = found.sum(-1).astype(U32)
    else:
        out = np.ascontiguousarray(found.astype(np.uint8)).view(U32)[..., 0]
    return out + s[2]


def dot4(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """The sum of four products of bytes, plus c."""
    kinds = [mod == "S8" for mod in mods if mod in ("S8", "U8")]
    a, b = (_bytes(x, k) for x, k in zip(np.broadcast_arrays(*s[:2]), kinds, strict=True))
    out: Values = (a * b).sum(-1).astype(U32)
    return out + s[2]


def permute(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """Bytes of b:a chosen by nibbles."""
    a, selector, b = (np.ascontiguousarray(x) for x in np.broadcast_arrays(*s))
    return bits.permute(a, b, selector)


def select(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """a where the predicate holds, else b."""
    return np.where(p[0], s[0], s[1])


def logic_of_predicates(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """PLOP3: two tables of three predicates."""
    index = (p[0].astype(U32) << U32(2)) | (p[1].astype(U32) << U32(1)) | p[2].astype(U32)
    found = [(table >> index) & U32(1) != 0 for table in s]
    return None, found[0], found[1]


# --- floating point ------------------------------------------------------------------------------

_ROUND = {"RN": "rn", "RZ": "rz", "RM": "rm", "RP": "rp"}
_RELATION = {
    **{name: name.lower() for name in ("LT", "LE", "GT", "GE", "EQ", "NE")},
    **{"LTU": "ltu", "LEU": "leu", "GTU": "gtu", "GEU": "geu", "EQU": "equ", "NEU": "neu"},
    "NUM": "num",
    "NAN": "nan",
}


def ptx(text: str, *sources: Values) -> Values:
    """What the PTX instruction `text` makes of containers."""
    found = operation(Opcode.parse(text))
    if found is None:
        raise NotImplementedError(text)
    made: Values = found.function(*map(np.ascontiguousarray, np.broadcast_arrays(*sources)))
    return made


def _mode(mods: Mods, *more: str) -> str:
    parts = [next((_ROUND[m] for m in mods if m in _ROUND), "rn")]
    parts += [m.lower() for m in mods if m in ("FTZ", "SAT")]
    return ".".join((*parts, *more))


def floating(name: str, kind: str) -> Callable[..., Any]:
    """An operation of PTX with the modifiers of the machine instruction."""
    return lambda mods, s, p: ptx(f"{name}.{_mode(mods, kind)}", *s)


def compare_floats(kind: str) -> Callable[..., Any]:
    """FSETP and DSETP; MIN is the pair that a minimum of f64 begins with."""

    def function(mods: Mods, s: list[Values], p: list[Values]) -> Any:
        combine = _named(mods, _COMBINE)
        if "MIN" in mods or "MAX" in mods:
            first = ptx(f"setp.{'lt' if 'MIN' in mods else 'gt'}.{kind}", *s)
            a, b = (ptx(f"setp.nan.{kind}", x, x) for x in s)
            return None, combine(first | b, p[0]), a & b
        ftz = "ftz." if "FTZ" in mods else ""
        found = ptx(f"setp.{_named(mods, _RELATION)}.{ftz}{kind}", *s)
        return None, combine(found, p[0]), combine(~found, p[0])

    return function


def float_minmax(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """FMNMX: the smaller with a true predicate, else the larger."""
    ftz = "ftz." if "FTZ" in mods else ""
    return np.where(p[0], ptx(f"min.{ftz}f32", *s), ptx(f"max.{ftz}f32", *s))


_APPROXIMATE = {"RCP": "rcp", "RSQ": "rsqrt", "SQRT": "sqrt", "EX2": "ex2", "LG2": "lg2"}


def special(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """MUFU; the forms of 64 bits see and give the high word."""
    if mods[0] in ("RCP64H", "RSQ64H"):
        wide = _wide(s[0]) << U64(32)
        name = {"RCP64H": "rcp", "RSQ64H": "rsqrt"}[mods[0]]
        return _low(ptx(f"{name}.approx.ftz.f64", wide) >> U64(32))
    return ptx(f"{_APPROXIMATE[mods[0]]}.approx.f32", *s)


_KINDS = {"U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64"}


def to_float(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """I2F and I2FP."""
    kind = next((m.lower() for m in mods if m in _KINDS), "s32")
    to = "f64" if "F64" in mods else "f32"
    value = s[0] if kind[1:] != "16" else s[0].astype(np.uint16)
    value = value.astype(np.uint8) if kind[1:] == "8" else value
    return ptx(f"cvt.{_mode(mods)}.{to}.{kind}", value)


_INTEGRAL = {"TRUNC": "rzi", "FLOOR": "rmi", "CEIL": "rpi"}


def to_integer(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """F2I."""
    kind = next((m.lower() for m in mods if m in _KINDS), "s32")
    mode = next((_INTEGRAL[m] for m in mods if m in _INTEGRAL), "rni")
    source = "f64" if "F64" in mods else "f32"
    ftz = "ftz." if "FTZ" in mods else ""
    return ptx(f"cvt.{mode}.{ftz}{kind}.{source}", s[0])


def integral(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """FRND."""
    mode = next((_INTEGRAL[m] for m in mods if m in _INTEGRAL), "rni")
    kind = "f64" if "F64" in mods else "f32"
    ftz = "ftz." if "FTZ" in mods else ""
    return ptx(f"cvt.{mode}.{ftz}{kind}.{kind}", s[0])


def to_other_float(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """F2F: the first of its types is that of the result."""
    to, source = (m.lower() for m in mods if m in ("F64", "F32", "F16", "BF16"))
    mode = "rn." if (to, source) in (("f32", "f64"), ("f16", "f32"), ("bf16", "f32")) else ""
    mode = next((_ROUND[m] + "." for m in mods if m in _ROUND), mode)
    ftz = "ftz." if "FTZ" in mods and "f64" not in (to, source) else ""
    value = s[0].astype(np.uint16) if source in ("f16", "bf16") else s[0]
    out = ptx(f"cvt.{mode}{ftz}{to}.{source}", value)
    return out.astype(U32) if out.dtype == np.uint16 else out


def packed_halves(mods: Mods, s: list[Values], p: list[Values]) -> Values:
    """F2FP: two floats as halves, the second the lower one."""
    kind = "bf16" if "BF16" in mods else "f16"
    mode = _mode(tuple(m for m in mods if m in _ROUND))
    high, low = (ptx(f"cvt.{mode}.{kind}.f32", x) for x in s)
    return (high.astype(U32) << U32(16)) | low


def halves(name: str) -> Callable[..., Any]:
    """HADD2, HMUL2, HFMA2: on both halves."""

    def function(mods: Mods, s: list[Values], p: list[Values]) -> Values:
        if "F32" in mods:  # the lower halves, in single precision
            return ptx(f"{name}.rn.f32", *(ptx("cvt.f32.f16", x.astype(np.uint16)) for x in s))
        kind = "bf16x2" if "BF16_V2" in mods or "BF16" in mods else "f16x2"
        return ptx(f"{name}.rn.{kind}", *s)

    return function


def needs_slow_division(mods: Mods, s: list[Values], p: list[Values]) -> Any:
    """FCHK: whether a / b may leave the range in which the short way is right."""
    a, b = ((x >> U32(23)) & U32(255) for x in s)
    a, b = a.astype(I64), b.astype(I64)
    far = (a - b > 124) | (a - b < -124) | (b > 252) | (b < 2) | (a > 253) | (a < 25)
    return None, np.broadcast_arrays(far, s[0])[0].copy()


_FLOATS = "FTZ SAT RN RZ RM RP"
_CMP = "LT LE GT GE EQ NE AND OR XOR"
_FCMP = _CMP + " LTU LEU GTU GEU EQU NEU NUM NAN FTZ MIN MAX"
_HALF = "F32 MMA BF16_V2 BF16 FTZ"

ROWS: dict[str, Row] = {
    "IADD3": Row("i", "ccc", "X", add3),
    "MOV": Row("i", "i", "U32", lambda m, s, p: s[0]),
    "IMAD": Row("i", "iii", "X MOV U32 SHL IADD", multiply_add),
    "IMAD.WIDE": Row("l", "iil", "U32 X", multiply_wide),
    "IMAD.HI": Row("i", "iil", "U32 X", multiply_high),
    "VIADD": Row("i", "ii", "", lambda m, s, p: s[0] + s[1]),
    "LEA": Row("i", "iiii", "HI X SX32", lea),
    "SHF": Row("i", "iii", "L R W HI U32 S32 U64 S64", shift),
    "ISETP": Row("", "ii", _CMP + " U32 EX", compare),
    "LOP3": Row("i", "iiii", "LUT", logic),
    "PLOP3": Row("", "ii", "LUT", logic_of_predicates),
    "SEL": Row("i", "ii", "", select),
    "FSEL": Row("i", "ff", "FTZ", select),
    "PRMT": Row("i", "iii", "", permute),
    "IABS": Row("i", "i", "", lambda m, s, p: integer.magnitude(np.ascontiguousarray(s[0]))),
    "VIMNMX": Row("i", "ii", "U32", minmax),
    "VIMNMX3": Row("i", "iii", "U32", minmax3),
    "VIADDMNMX": Row("i", "iii", "U32", add_minmax),
    "VABSDIFF": Row("i", "iii", "U32", difference),
    "VABSDIFF4": Row("i", "iii", "U8 S8 ACC", difference4),
    "IDP": Row("i", "iii", "4A S8 U8", dot4),
    "BREV": Row("i", "i", "", lambda m, s, p: bits.reverse(np.ascontiguousarray(s[0]))),
    "POPC": Row("i", "i", "", lambda m, s, p: bits.population(np.ascontiguousarray(s[0]))),
    "FLO": Row("i", "i", "U32 SH", find_high),
    "FADD": Row("i", "ff", _FLOATS, floating("add", "f32")),
    "FMUL": Row("i", "ff", _FLOATS, floating("mul", "f32")),
    "FFMA": Row("i", "fff", _FLOATS, floating("fma", "f32")),
    "DADD": Row("l", "dd", _FLOATS, floating("add", "f64")),
    "DMUL": Row("l", "dd", _FLOATS, floating("mul", "f64")),
    "DFMA": Row("l", "ddd", _FLOATS, floating("fma", "f64")),
    "FSETP": Row("", "ff", _FCMP, compare_floats("f32")),
    "DSETP": Row("", "dd", _FCMP, compare_floats("f64")),
    "FMNMX": Row("i", "ff", "FTZ", float_minmax),
    "FCHK": Row("", "ff", "DIVIDE", needs_slow_division),
    "MUFU": Row("i", "f", "RCP RSQ SQRT EX2 LG2 RCP64H RSQ64H", special),
    "I2F": Row("?", "?", "F64 RP RZ RM RN U8 S8 U16 S16 U32 S32 U64 S64", to_float),
    "I2FP": Row("i", "i", "F32 RP RZ RM RN U32 S32", to_float),
    "F2I": Row("?", "?", "FTZ NTZ TRUNC FLOOR CEIL F64 U32 S32 U64 S64", to_integer),
    "FRND": Row("?", "?", "FTZ TRUNC FLOOR CEIL F64", integral),
    "F2F": Row("?", "?", "FTZ F64 F32 F16 BF16 RP RZ RM RN", to_other_float),
    "F2FP": Row("i", "ff", "F16 BF16 F32 PACK_AB RZ", packed_halves),
    "HADD2": Row("i", "hh", _HALF, halves("add")),
    "HMUL2": Row("i", "hh", _HALF, halves("mul")),
    "HFMA2": Row("i", "hhh", _HALF, halves("fma")),
}
# Of the uniform datapath: the same on registers that are one for a warp.
UNIFORM = {
    **{
        f"U{name}": ROWS[name]
        for name in ("MOV", "IADD3", "IMAD", "LEA", "LOP3", "PLOP3", "SEL", "PRMT")
    },
    **{"UISETP": ROWS["ISETP"], "USHF": ROWS["SHF"], "UBREV": ROWS["BREV"]},
    **{"UPOPC": ROWS["POPC"], "UFLO": ROWS["FLO"], "UIMAD.WIDE": ROWS["IMAD.WIDE"]},
    **{"UIMAD.HI": ROWS["IMAD.HI"]},
}
