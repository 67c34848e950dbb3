"""Floating-point idioms: the CUDA math library, simulations and halves, against float64."""

import math

import numpy as np
import pytest

from tests.ptx.launching import DIALECTS, outputs

rng = np.random.default_rng(5)
pytestmark = pytest.mark.parametrize("arch", DIALECTS)


def each(function, *values):
    return np.array([function(*map(float, v)) for v in zip(*values, strict=True)])


def half_away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def library(a, b):
    """What singles() and doubles() have in common, by name, in float64."""
    return {
        "exp": np.exp(a),
        "exp2": np.exp2(a),
        "expm1": np.expm1(a),
        "log": np.log(b),
        "log2": np.log2(b),
        "log10": np.log10(b),
        "log1p": np.log1p(b),
        "sin": np.sin(a),
        "cos": np.cos(a),
        "tan": np.tan(a),
        "asin": np.arcsin(a / 10),
        "acos": np.arccos(a / 10),
        "atan": np.arctan(a),
        "atan2": np.arctan2(a, b),
        "sinh": np.sinh(a),
        "cosh": np.cosh(a),
        "tanh": np.tanh(a),
        "pow": b**a,
        "sqrt": np.sqrt(b),
        "cbrt": np.cbrt(a),
        "rsqrt": b**-0.5,
        "erf": each(math.erf, a),
        "erfc": each(math.erfc, a),
        "lgamma": each(math.lgamma, b),
        "tgamma": each(math.gamma, b),
        "fmod": np.fmod(a, b),
        "remainder": each(math.remainder, a, b),
        "hypot": np.hypot(a, b),
        "floor": np.floor(a),
        "ceil": np.ceil(a),
        "trunc": np.trunc(a),
        "round": half_away(a),
        "rint": np.rint(a),
        "fabs": abs(a),
        "copysign": np.copysign(b, a),
        "fdim": np.maximum(a - b, 0),
        "divide": a / b,
        "reciprocal": 1 / b,
        "ldexp": a * 8,
        "normcdf": 0.5 * each(math.erfc, -a / 2**0.5),
        "fmax": np.maximum(a, b),
        "fmin": np.minimum(a, b),
    }


SINGLES = [
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "pow",
    "sqrt",
    "cbrt",
    "rsqrt",
    "erf",
    "erfc",
    "lgamma",
    "tgamma",
    "fmod",
    "remainder",
    "hypot",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "fabs",
    "copysign",
    "fdim",
    "divide",
    "reciprocal",
    "ldexp",
    "far_sin",
    "exp",
    "log",
    "sin",
    "cos",
    "pow",
    "divide",
    "rsqrt",
    "sqrt",
    "saturate",
    "normcdf",
    "sinpi",
    "fmax",
    "fmin",
]
DOUBLES = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "pow",
    "sqrt",
    "cbrt",
    "rsqrt",
    "erf",
    "erfc",
    "lgamma",
    "tgamma",
    "fmod",
    "remainder",
    "hypot",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "fabs",
    "copysign",
    "fdim",
    "divide",
    "reciprocal",
    "ldexp",
    "far_sin",
    "fma",
    "fmax",
    "j0",
    "normcdf",
]


def wrong(names, found, wanted, tolerance):
    return {
        f"{name} {k}": (found[k], wanted[name])
        for k, name in enumerate(names)
        if name in wanted and not np.allclose(found[k], wanted[name], tolerance, tolerance)
    }


@pytest.mark.slow
def test_math_library_in_single_precision(arch):
    a = rng.uniform(-6, 6, 32).astype(np.float32)
    b = rng.uniform(0.1, 8, 32).astype(np.float32)
    x, y = a.astype(float), b.astype(float)
    wanted = library(x, y) | {
        "exp10": 10**x,
        "far_sin": np.sin((a * np.float32(1e5)).astype(float)),
        "saturate": np.clip(x, 0, 1),
        "sinpi": np.sin(np.pi * x),
    }
    found = outputs(
        "numeric", "singles", 1, 32, a, b, np.zeros((len(SINGLES), 32), np.float32), 32, arch=arch
    )[2]
    assert wrong(SINGLES, found, wanted, 1e-5) == {}


@pytest.mark.slow
def test_math_library_in_double_precision(arch):
    a, b = rng.uniform(-6, 6, 32), rng.uniform(0.1, 8, 32)
    wanted = library(a, b) | {"far_sin": np.sin(a * 1e10), "fma": a * b + 1}
    found = outputs("numeric", "doubles", 1, 32, a, b, np.zeros((len(DOUBLES), 32)), 32, arch=arch)[
        2
    ]
    assert wrong(DOUBLES, found, wanted, 1e-12) == {}


def test_rounding_intrinsics(arch):
    a = rng.uniform(-6, 6, 32).astype(np.float32)
    b = rng.uniform(0.1, 8, 32).astype(np.float32)
    real, whole = outputs(
        "numeric",
        "rounded",
        1,
        32,
        a,
        b,
        np.zeros((15, 32), np.float32),
        np.zeros((15, 32), np.int32),
        32,
        arch=arch,
    )[2:]
    x, y = a.astype(float), b.astype(float)
    exact = [x + y, x * y, x * y + x, x / y]
    for k, value in enumerate(exact):
        zero, up, down = real[3 * k : 3 * k + 3].astype(float)
        step = np.spacing(np.abs(value).astype(np.float32)).astype(float)
        assert (down <= value).all() and (value <= up).all() and (up - down <= step * 1.01).all()
        assert (zero == np.where(value > 0, down, up)).all()
    assert (whole[0] == np.floor(x)).all() and (whole[1] == np.ceil(x)).all()
    assert (whole[2] == np.rint(x)).all() and (whole[3] == np.trunc(x)).all()
    large = np.clip(np.trunc((a * np.float32(1e12)).astype(float)), -(2**31), 2**31 - 1)
    assert (whole[4] == large).all()
    assert (whole[7] == a.view(np.int32)).all() and (whole[9] == np.floor(x)).all()
    assert (
        not whole[10].any()
        and (whole[11] == np.rint(x)).all()
        and (whole[12] == half_away(x)).all()
    )
    assert (whole[13] == (x < 0)).all() and (whole[14] == np.floor(np.log2(y))).all()


def brain(x):
    """float32 to bfloat16 and back."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32).astype(float)


def test_halves(arch):
    x, y = rng.uniform(-6, 6, 32).astype(np.float32), rng.uniform(0.1, 8, 32).astype(np.float32)
    out, h, w = outputs(
        "numeric",
        "halves",
        1,
        32,
        x,
        y,
        np.zeros((25, 32), np.float32),
        np.zeros(32, np.float16),
        np.zeros(32, np.uint16),
        32,
        arch=arch,
    )[2:]
    half = lambda v: np.asarray(v).astype(np.float16).astype(float)  # noqa: E731
    a, b, c, d = half(x), half(y), brain(x), brain(y)
    wanted = [
        half(a + b),
        half(a * b),
        half(a * b + a),
        half(a / b),
        half(np.sqrt(b)),
        half(np.exp(a)),
        np.maximum(a, b),
        a < b,
        a > b,
        -a,
        np.rint(a),
        np.arange(32),
        abs(a),
        half(a * b + a),
        half(b * b + b),
        half(a * b),
        (a > b) & (b > b),
        c,
        brain(c * d),
        brain(c + d),
        brain(c * d + c),
        c < d,
        np.maximum(c, d),
        brain(c + d),
        brain(d + d),
    ]
    bad = [
        k for k, v in enumerate(wanted) if not np.allclose(out[k], v, 1e-3 if k in (3, 5) else 0, 0)
    ]
    assert bad == []
    assert (h == x.astype(np.float16)).all()
    assert ((w.astype(np.uint32) << 16).view(np.float32) == d).all()


def test_nbody(arch):
    body = rng.random((128, 4), np.float32)
    force = outputs(
        "numeric",
        "nbody",
        2,
        64,
        body,
        np.zeros((128, 3), np.float32),
        128,
        0.01,
        arch=arch,
        shared=64 * 16,
    )[1]
    p, m = body[:, :3].astype(float), body[:, 3]
    away = p[None] - p[:, None]
    strength = m / ((away**2).sum(2) + 0.01) ** 1.5
    assert np.allclose(force, (away * strength[..., None]).sum(1), 1e-4, 1e-4)


def test_mandelbrot(arch):
    w, h, limit = 37, 21, 60
    out = outputs(
        "numeric",
        "mandelbrot",
        (2, 2),
        (20, 16),
        np.zeros((h, w), np.int32),
        w,
        h,
        limit,
        arch=arch,
    )[0]
    c = -2 + 3.0 * np.arange(w) / w + 1j * (-1.5 + 3.0 * np.arange(h) / h)[:, None]
    re, im, count = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), int)
    for _ in range(limit):
        going = re * re + im * im <= 4
        count += going
        re, im = (
            np.where(going, re * re - im * im + c.real, re),
            np.where(going, 2 * re * im + c.imag, im),
        )
    assert (
        out == count
    ).mean() > 0.99  # 3.0*x/w may be contracted: border points differ by one step
    assert abs(out - count).max() <= 2


def test_black_scholes(arch):
    n = 300
    price, strike = (
        rng.uniform(5, 30, n).astype(np.float32),
        rng.uniform(1, 100, n).astype(np.float32),
    )
    years = rng.uniform(0.25, 10, n).astype(np.float32)
    call, put = outputs(
        "numeric",
        "black_scholes",
        2,
        96,
        price,
        strike,
        years,
        np.zeros(n, np.float32),
        np.zeros(n, np.float32),
        0.02,
        0.3,
        n,
        arch=arch,
    )[3:]
    s, x, t = (v.astype(float) for v in (price, strike, years))
    d1 = (np.log(s / x) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    n1, n2 = (each(lambda v: 0.5 * math.erfc(-v / 2**0.5), d) for d in (d1, d1 - 0.3 * np.sqrt(t)))
    wanted = s * n1 - x * np.exp(-0.02 * t) * n2
    assert np.allclose(call, wanted, 1e-4, 1e-4)
    assert np.allclose(put, wanted - s + x * np.exp(-0.02 * t), 1e-4, 1e-4)


def xorwow(start, rounds):
    d, v, inside = start[0], list(start[1:]), 0
    for _ in range(rounds):
        pair = []
        for _ in range(2):
            t = v[0] ^ v[0] >> 2
            v = [*v[1:], (v[4] ^ v[4] << 4) ^ (t ^ t << 1)]
            v[4] &= 2**32 - 1
            d = d + 362437 & 2**32 - 1
            pair.append((v[4] + d & 2**32 - 1) >> 17)
        inside += pair[0] ** 2 + pair[1] ** 2 < 1 << 30
    return inside


def test_monte_carlo(arch):
    hits = outputs("numeric", "monte_carlo", 2, 40, np.zeros(80, np.uint32), 50, arch=arch)[0]
    seeds = [
        (6615241 + i, 123456789 ^ i, 362436069, 521288629, 88675123, 5783321) for i in range(80)
    ]
    assert list(hits) == [xorwow(seed, 50) for seed in seeds]


def test_kmeans(arch):
    n, k = 200, 5
    point, centre = rng.random((n, 2), np.float32), rng.random((k, 2), np.float32)
    label, total, count = outputs(
        "numeric",
        "kmeans",
        2,
        128,
        point,
        centre,
        np.zeros(n, np.int32),
        np.zeros((k, 2), np.float32),
        np.zeros(k, np.int32),
        n,
        k,
        arch=arch,
        shared=k * 8,
    )[2:]
    wanted = ((point[:, None] - centre) ** 2).sum(2).argmin(1)
    assert (label == wanted).all() and (count == np.bincount(wanted, minlength=k)).all()
    assert np.allclose(total, [point[wanted == c].sum(0) for c in range(k)], 1e-4)
