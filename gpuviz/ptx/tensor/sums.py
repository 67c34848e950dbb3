"""A row of A times a column of B plus an element of C, as tensor cores round it.

Products are exact. They and C are aligned to the greatest exponent among those that are not zero,
and cut off (towards zero) some bits below it; what is left is added exactly; the sum is cut off to
float32, or rounded to nearest for f16, and is never -0. How many bits stay, and that some
architectures sum the two halves of k one after the other, is of MMA-Sim (Xie et al., "MMA-Sim:
Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909), which compared it
with the hardware. For sm_90 all types of mma were compared bit by bit with an H200
(tests/data/h200_tensor.npz); there the zeros and the sign of 0 were found, and what becomes of
floats of eight bits: ptxas makes halves of them, two of every four along k in one product, the
other two in a second one, and adds C in the end.
"""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64, I64, Array
from gpuviz.ptx.arithmetic.formats import FORMATS, Numbers, halves, numbers

NO_NUMBER = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}
_MINUS = {"f32": 0x80000000, "f16": 0x8000}
_INFINITE, _QUIET = np.uint64(0x7FF << 53), np.uint64(1 << 51)  # without its sign, shifted
_ROOM = 1 << 15  # products at a time: what fits the cache of a core


@dataclass(frozen=True)
class Adder:
    """What decides a sum: `kept` fractional bits when aligned, `parts` of k one after the other,
    `cut` low bits of a float32 that are lost. `pairs` of every four along k are summed before the
    other pairs, and C is added in the end, rounded to nearest.
    """

    kept: int
    parts: int = 1
    cut: int = 0
    pairs: bool = False

    def steps(self, inner: int) -> list[I64]:
        """The places along k that are summed at once, one array after the other."""
        along = np.arange(inner)
        if self.pairs:
            return [along[along % 4 // 2 == n] for n in range(2)]
        return np.split(along, self.parts)


def adder_of(sm: int, kind: str, inner: int) -> Adder:
    """Of a compute capability (times ten), the type of A and the shape's k."""
    if sm == 89 and kind in ("e4m3", "e5m2"):
        return Adder(13, 2 if inner == 32 else 1, cut=10)
    if 90 <= sm < 100 and kind in ("e4m3", "e5m2"):
        return Adder(25, pairs=True)
    halves = 80 <= sm < 90 and inner == {"tf32": 8, "f16": 16, "bf16": 16}.get(kind)
    return Adder(23 if sm < 75 else 24 if sm < 90 else 25, 2 if halves else 1)


def floating(a: Array, b: Array, c: Array, kinds: tuple[str, str, str], adder: Adder) -> Array:
    """Bits of A (N, m, k), B (N, k, n) and C (N, m, n) to those of A B + C, of C's type.

    `kinds` are the types of A, B and of C.
    """
    step = max(1, _ROOM // (a.shape[1] * a.shape[2] * b.shape[2]))
    with np.errstate(all="ignore"):
        parts = [
            _some(a[at : at + step], b[at : at + step], c[at : at + step], kinds, adder)
            for at in range(0, len(a), step)
        ]
    return np.concatenate(parts) if parts else c


def _some(a: Array, b: Array, c: Array, kinds: tuple[str, str, str], adder: Adder) -> Array:
    total = np.zeros_like(c) if adder.pairs else c
    if adder.pairs:
        a, b = (halves(x, kind) for x, kind in zip((a, b), kinds, strict=False))
        kinds = "f16", "f16", kinds[2]
    for among in adder.steps(a.shape[2]):
        left, right = numbers(a[:, :, among], FORMATS[kinds[0]]), FORMATS[kinds[1]]
        total = _added(left, numbers(b[:, among], right), total, kinds[2], adder)
    return _plain_sum(total, c, kinds[2]) if adder.pairs else total


def _plain_sum(a: Array, b: Array, kind: str) -> Array:
    """As add.f16 and add.f32 have it."""
    real, whole = (np.float16, np.uint16) if kind == "f16" else (np.float32, np.uint32)
    found = a.astype(whole).view(real) + b.astype(whole).view(real)
    return np.where(np.isnan(found), NO_NUMBER[kind], found.view(whole).astype(np.uint32))


def _added(a: Numbers, b: Numbers, c: Array, kind: str, adder: Adder) -> Array:
    """Whole numbers of the last bit that is kept are added, below 2**53, which is exact."""
    start = numbers(c, FORMATS[kind])
    exponents = a.exponent[:, :, :, None] + b.exponent[:, None]
    top = np.maximum(exponents.max(axis=2), start.exponent).astype(np.int32)
    scale = np.ldexp(1.0, adder.kept - top)
    products = a.value[:, :, :, None] * b.value[:, None]
    products *= scale[:, :, None]
    np.trunc(products, out=products)
    total = products.sum(axis=2) + np.trunc(start.value * scale)
    found = total / scale
    made = _half(found) if kind == "f16" else _single(found, adder.cut)
    made[made == _MINUS[kind]] = 0
    if not (a.finite and b.finite and start.finite):
        _put_specials(made, np.matmul(a.value, b.value) + start.value, kind)
    return made


def _single(value: F64, cut: int) -> Array:
    """The bits of float32 of the same size or less; at 2**128 infinity."""
    near = value.astype(np.float32)
    more = (np.abs(near.astype(np.float64)) > np.abs(value)) & (np.abs(value) < 2.0**128)
    bits = np.where(more, np.nextafter(near, np.float32(0)), near).view(np.uint32)
    return bits >> np.uint32(cut) << np.uint32(cut) if cut else bits


def _half(value: F64) -> Array:
    return value.astype(np.float16).view(np.uint16).astype(np.uint32)


def _put_specials(made: Array, exact: F64, kind: str) -> None:
    """Where an operand was infinite or no number: infinity, or the one pattern of no number."""
    endless, none = np.isinf(exact), np.isnan(exact)
    signed = exact[endless].astype(np.float32)
    made[endless] = _half(signed.astype(np.float64)) if kind == "f16" else signed.view(np.uint32)
    made[none] = NO_NUMBER[kind]


def doubles(a: Array, b: Array, c: Array) -> Array:
    """Bits of f64: fused multiply-adds one after the other along k.

    Of several NaN that of B counts, then that of the sum so far.
    """
    from gpuviz.ptx.arithmetic.ops import operation
    from gpuviz.ptx.text.ir import Opcode

    fused = operation(Opcode.parse("fma.rn.f64"))
    assert fused is not None
    for at in range(a.shape[2]):
        factors = a[:, :, at, None], b[:, None, at]
        (found,) = _tuple(fused.function(*factors, c))
        for one in (factors[0], c, factors[1]):
            found = np.where(one << np.uint64(1) > _INFINITE, one | _QUIET, found)
        c = found
    return c


def _tuple(found: Array | tuple[Array, ...]) -> tuple[Array, ...]:
    return found if isinstance(found, tuple) else (found,)


def integers(
    a: Array, b: Array, c: Array, signed: tuple[bool, bool], bits: int, clamp: bool
) -> Array:
    """Elements of 8 or 4 bits; sums of 32 bits wrap, or are clamped."""
    left, right = (_extended(x, bits, s) for x, s in zip((a, b), signed, strict=True))
    total: Array = np.matmul(left, right) + c.view(np.int32).astype(np.int64)
    if clamp:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    return total.astype(np.uint32)


def _extended(elements: Array, bits: int, signed: bool) -> Array:
    wide = elements.astype(np.int64)
    return np.where(wide >> bits - 1 & 1, wide - (1 << bits), wide) if signed else wide


def single_bits(a: Array, b: Array, c: Array, both: bool) -> Array:
    """How many of k bits are 1 in `both`, or in one of the two alone, added to C."""
    left, right = a.astype(np.int64), b.astype(np.int64)
    meet = np.matmul(left, right)
    found: Array = meet if both else left.sum(2)[:, :, None] + right.sum(1)[:, None] - 2 * meet
    return (found + c).astype(np.uint32)
