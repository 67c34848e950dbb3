"""Floating-point operations against exact fractions, rounded in the slowest and plainest way."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, isqrt

import numpy as np
import pytest

from tests.ptx.checks import NAN, check, interesting, numbers, op

# Bits of the significand and the exponent of the smallest subnormal and of the first overflow.
FORMATS = {
    "f16": (11, -24, 16),
    "bf16": (8, -133, 128),
    "f32": (24, -149, 128),
    "f64": (53, -1074, 1024),
}


def test_one_line_each() -> None:
    check("add.f32", 1.5, 2.25, 3.75)
    check("add.f32", inf, -inf, NAN["f32"])
    check("add.f32", 0x7F800001, 1.0, NAN["f32"])
    check("add.sat.f32", 0.75, 0.75, 1.0)
    check("add.sat.f32", inf, -inf, 0.0)
    check("add.ftz.f32", 0x00000001, 0x00000001, 0.0)
    check("add.ftz.f32", 0x00C00000, 0x80800000, 0.0)
    check("add.rm.f32", 1.0, -1.0, -0.0)
    check("add.rp.f32", 1.0, 2.0**-40, 0x3F800001)
    check("add.rz.f32", 0x7F7FFFFF, 0x7F7FFFFF, 0x7F7FFFFF)
    check("sub.f64", 1.0, 0.25, 0.75)
    check("mul.rz.f32", 0x3F800001, 0x3F800001, 0x3F800002)
    check("mul.rp.f32", 0x3F800001, 0x3F800001, 0x3F800003)
    check("fma.rn.f32", 0x3F800001, 0x3F800001, -1.0, 0x34800000)
    check("fma.rn.f32", 1.0, 0x3F800001, 2.0**-24, 0x3F800002)
    check("fma.rn.f64", 1.0 + 2**-52, 1.0 + 2**-52, -1.0 - 2**-51, 2.0**-104)
    check("fma.rn.relu.f16", -1.0, 1.0, 0.5, 0.0)
    check("fma.rn.f16x2", 0x3C004000, 0x40003C00, 0x00000000, 0x40004000)
    check("fma.rn.bf16", 1.5, 2.0, 1.0, 4.0)
    check("div.rn.f32", 1.0, 3.0, 0x3EAAAAAB)
    check("div.rz.f32", 1.0, 3.0, 0x3EAAAAAA)
    check("div.rn.f32", 1.0, 0.0, inf)
    check("div.approx.f32", 1.0, 2.0**127, 0.0)
    check("div.full.f32", 6.0, 2.0**127, 6.0 / 2.0**127)
    check("rcp.rn.f64", 4.0, 0.25)
    check("sqrt.rn.f32", 2.0, 0x3FB504F3)
    check("sqrt.rp.f32", 2.0, 0x3FB504F4)
    check("sqrt.rn.f64", -1.0, 0xFFF8000000000000)
    check("rsqrt.approx.f32", 4.0, 0.5)
    check("ex2.approx.f32", 3.0, 8.0)
    check("ex2.approx.ftz.f32", -140.0, 0.0)
    check("lg2.approx.f32", 8.0, 3.0)
    check("sin.approx.f32", 0.0, 0.0)
    check("cos.approx.f32", 0.0, 1.0)
    check("tanh.approx.f16x2", 0, 0)
    check("rcp.approx.ftz.f64", 2.0, 0.5)
    check("add.f32.f16", 1.5, 2.0, 3.5)
    check("sub.f32.bf16", 1.0, 1e-3, 1.0 - 1e-3)
    check("add.rz.sat.f32.f16", 1.5, 2.0, 1.0)
    check("fma.rn.f32.bf16", 3.0, 0.5, -1.0, 0.5)
    check("abs.f32", -2.0, 2.0)
    check("neg.f16", 1.0, -1.0)
    check("neg.f32", 0xFF800001, NAN["f32"])
    check("neg.bf16x2", 0x3F80BF80, 0xBF803F80)
    check("min.f32", 0x7FC00000, 1.0, 1.0)
    check("min.f32", 0.0, -0.0, -0.0)
    check("max.f32", -0.0, 0.0, 0.0)
    check("max.NaN.f32", 0x7FC00000, 1.0, NAN["f32"])
    check("min.xorsign.abs.f32", -1.0, 2.0, -1.0)
    check("max.f16x2", 0x3C00C000, 0xBC004000, 0x3C004000)
    check("copysign.f32", -1.0, 2.0, -2.0)
    check("copysign.f64", 1.0, -2.0, 2.0)
    check("testp.finite.f32", inf, False)
    check("testp.infinite.f64", -inf, True)
    check("testp.notanumber.f32", NAN["f32"], True)
    check("testp.number.f32", NAN["f32"], False)
    check("testp.normal.f32", 0.0, True)
    check("testp.subnormal.f64", 5e-324, True)


def rounded(exact: Fraction, kind: str, mode: str) -> Fraction | float:
    """A non-zero fraction on the grid of `kind`; infinite beyond it."""
    precision, lowest, highest = FORMATS[kind]
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    grid = Fraction(2) ** max(exponent - precision + 1, lowest)
    steps, rest = divmod(exact / grid, 1)
    up = {"rm": False, "rp": rest > 0, "rz": rest > 0 and exact < 0}.get(mode)
    if up is None:
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and steps % 2 == 1)
    result = (steps + up) * grid
    if abs(result) < Fraction(2) ** highest:
        return result
    largest = Fraction(2) ** highest - Fraction(2) ** (highest - precision)
    if mode == "rz" or mode == ("rm" if exact > 0 else "rp"):
        return largest if exact > 0 else -largest
    return inf if exact > 0 else -inf


EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
    "rcp": lambda a: 1 / a,
}
CASES = [
    (name, mode, kind)
    for kind in ("f16", "bf16", "f32", "f64")
    for mode in ("rn", "rz", "rm", "rp")
    for name in EXACT
    if kind in ("f32", "f64") or (mode == "rn" and name not in ("div", "rcp"))
] + [
    (name, mode, f"f32.{narrow}")
    for narrow in ("f16", "bf16")
    for mode in ("rn", "rz", "rm", "rp")
    for name in ("add", "sub", "fma")
]


@pytest.mark.parametrize("name, mode, kind", CASES)
def test_rounds_once(name: str, mode: str, kind: str) -> None:
    found = op(f"{name}.{mode}.{kind}")
    bits = [interesting(source, 400, seed) for seed, source in enumerate(found.sources)]
    check_exactly(name, mode, kind, bits)


def check_exactly(name: str, mode: str, kind: str, bits: list[np.ndarray]) -> None:
    found = op(f"{name}.{mode}.{kind}")
    results = numbers(found.function(*bits), found.results[0])
    lanes = np.stack([numbers(x, k) for x, k in zip(bits, found.sources, strict=True)], axis=1)
    usable = np.isfinite(lanes).all(axis=1)
    if name in ("div", "rcp"):
        usable &= lanes[:, -1] != 0
    assert usable.sum() > 100
    for lane, result in zip(lanes[usable].tolist(), results[usable].tolist(), strict=True):
        exact = EXACT[name](*map(Fraction, lane))
        wanted = rounded(exact, found.results[0], mode) if exact else 0
        assert result == wanted, (lane, result, wanted)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_square_roots(kind: str, mode: str) -> None:
    bits = op(f"abs.{kind}").function(interesting(kind, 300, 9))
    results = numbers(op(f"sqrt.{mode}.{kind}").function(bits), kind)
    for value, result in zip(numbers(bits, kind).tolist(), results.tolist(), strict=True):
        if 0 < value < inf:
            assert result == rounded(_root(Fraction(value)), kind, mode), value


def _root(square: Fraction) -> Fraction:
    """The square root to 200 bits more than any format has, inexact ones a little off the grid."""
    scale = 1 << 1400
    whole = isqrt(square.numerator * scale * scale // square.denominator)
    exact = Fraction(whole, scale) ** 2 == square
    return Fraction(whole, scale) if exact else Fraction(2 * whole + 1, 2 * scale)


def near_ties(kind: str, count: int) -> list[np.ndarray]:
    """Operands whose product is the middle of two numbers, and an addend far below that decides."""
    rng = np.random.default_rng(11)
    precision, dtype = FORMATS[kind][0], np.float32 if kind == "f32" else np.float64
    half = precision // 2
    a = 1.0 + rng.integers(0, 8, count) * 2.0**-half
    b = 1.0 + rng.integers(0, 8, count) * 2.0 ** (half - precision)
    c = rng.integers(-2, 3, count) * 2.0 ** -rng.integers(precision - 2, precision + 60, count)
    scale = 2.0 ** rng.choice([0, FORMATS[kind][1] + precision - 1, 40], count)
    return [x.astype(dtype).view(f"u{dtype().itemsize}") for x in (a * scale, b, c * scale)]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma_near_ties(kind: str, mode: str) -> None:
    check_exactly("fma", mode, kind, near_ties(kind, 1500))


def test_fma_hides_a_tie_below_float64() -> None:
    """The middle of two floats plus a term that float64 loses, and that alone decides."""
    factor, even = 0x3F800800, 0x3F801000  # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24
    check("fma.rn.f32", factor, factor, 0.0, even)
    check("fma.rn.f32", factor, factor, -(2.0**-70), even)
    check("fma.rn.f32", factor, factor, 2.0**-70, even + 1)
    # (1 + 2^-23)(1 - 2^-23) 2^-150 is a little less than half of the smallest subnormal.
    less, more = (1 - 2**-23) * 2.0**-75, (1 + 2**-23) * 2.0**-75
    check("fma.rn.f32", less, more, 0x00400001, 0x00400001)
    check("fma.rn.f32", 2.0**-75, 2.0**-75, 0x00400001, 0x00400002)


def test_newton_steps_converge_from_the_coarse_reciprocals() -> None:
    values = np.random.default_rng(12).uniform(1, 2, 200)
    guess = op("rcp.approx.ftz.f64").function(values.view(np.uint64)).view(np.float64)
    for _ in range(3):
        guess = guess + guess * (1 - values * guess)
    assert np.allclose(guess, 1 / values, rtol=2**-51, atol=0)
    root = op("rsqrt.approx.ftz.f64").function(values.view(np.uint64)).view(np.float64)
    for _ in range(3):
        root = root + root * (0.5 - 0.5 * values * root * root)
    assert np.allclose(root, values**-0.5, rtol=2**-51, atol=0)
    assert not (op("rcp.approx.ftz.f64").function(values.view(np.uint64)) & 0xFFFFFFFF).any()
