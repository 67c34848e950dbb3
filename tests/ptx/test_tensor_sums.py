"""Tensor cores: fragments as the PTX ISA draws them, sums as the hardware rounds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from gpuviz.ptx.arithmetic.formats import FORMATS, numbers
from gpuviz.ptx.tensor import sums
from gpuviz.ptx.tensor.fragments import Fragment, left, right, total

Place = Callable[[int, int, int], tuple[int, int]]

# As the PTX ISA writes them, shape by shape: row and column of element i of a lane in group g,
# the t-th of it.
FIGURES: dict[str, tuple[Fragment, Place]] = {
    "A m16n8k16 f16": (
        left(16, 16, 16),
        lambda g, t, i: (
            g if i < 2 or 4 <= i < 6 else g + 8,
            t * 2 + (i & 1) + (8 if i >= 4 else 0),
        ),
    ),
    "B m16n8k16 f16": (right(16, 8, 16), lambda g, t, i: (t * 2 + (i & 1) + 8 * (i >= 2), g)),
    "A m16n8k4 tf32": (left(16, 4, 32), lambda g, t, i: (g if i == 0 else g + 8, t)),
    "A m16n8k8 tf32": (
        left(16, 8, 32),
        lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4),
    ),
    "B m16n8k8 tf32": (right(8, 8, 32), lambda g, t, i: (t if i == 0 else t + 4, g)),
    "A m8n8k4 f64": (left(8, 4, 64), lambda g, t, i: (g, t)),
    "A m16n8k16 f64": (
        left(16, 16, 64),
        lambda g, t, i: (g if i % 2 == 0 else g + 8, i * 2 - (i % 2) * 2 + t),
    ),
    "A m16n8k32 s8": (
        left(16, 32, 8),
        lambda g, t, i: (
            g if i < 4 or 8 <= i < 12 else g + 8,
            t * 4 + (i & 3) + (16 if i >= 8 else 0),
        ),
    ),
    "B m16n8k32 s8": (right(32, 8, 8), lambda g, t, i: (t * 4 + (i & 3) + 16 * (i >= 4), g)),
    "A m16n8k64 s4": (
        left(16, 64, 4),
        lambda g, t, i: (
            g if i < 8 or 16 <= i < 24 else g + 8,
            t * 8 + (i & 7) + (32 if i >= 16 else 0),
        ),
    ),
    "A m16n8k256 b1": (
        left(16, 256, 1),
        lambda g, t, i: (
            g if i < 32 or 64 <= i < 96 else g + 8,
            t * 32 + (i & 31) + (128 if i >= 64 else 0),
        ),
    ),
    "C m16n8 f32": (total(16, 32), lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1))),
    "C m16n8 f16": (total(16, 16), lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1))),
    "C m8n8 s32": (total(8, 32), lambda g, t, i: (g, t * 2 + i)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_fragments_are_those_of_the_isa(name: str) -> None:
    fragment, place = FIGURES[name]
    row, column = (x.reshape(32, -1).tolist() for x in (fragment.row, fragment.column))
    for lane in range(32):
        found = list(zip(row[lane], column[lane], strict=True))
        assert found == [place(lane // 4, lane % 4, i) for i in range(len(found))]


@pytest.mark.parametrize("name", FIGURES)
def test_registers_hold_a_matrix_and_give_it_back(name: str) -> None:
    fragment, random = FIGURES[name][0], np.random.default_rng(3)
    kind = np.uint64 if fragment.bits == 64 else np.uint32
    top = (1 << fragment.bits) - 1
    matrices = random.integers(0, top, (2, *fragment.shape), np.uint64, endpoint=True).astype(kind)
    held = fragment.hold(matrices)
    assert held.shape == (2, 32, fragment.registers)
    assert (fragment.matrix(held) == matrices).all()


LEAST = {"f16": -14, "bf16": -126, "tf32": -126, "f32": -126, "e4m3": -6, "e5m2": -14}


def split(value: float, least: int) -> tuple[float, int]:
    """Significand from 1 to 2, or below for subnormals, and exponent; zero has none to speak of."""
    fraction, exponent = math.frexp(value)
    fraction, exponent = fraction * 2, exponent - 1
    if exponent < least:
        fraction, exponent = fraction * 2.0 ** (exponent - least), least
    return (fraction, exponent) if fraction else (0.0, -400)


def summed(a: list[float], b: list[float], c: float, kind: str, result: str, kept: int) -> float:
    """One sum, number by number, in the arithmetic of Python."""
    terms = [split(c, LEAST[result])]
    for x, y in zip(a, b, strict=True):
        (sx, ex), (sy, ey) = split(x, LEAST[kind]), split(y, LEAST[kind])
        terms.append((sx * sy, ex + ey))
    top = max(exponent for _, exponent in terms)
    found = sum(math.trunc(s * 2.0 ** (kept + e - top)) for s, e in terms) * 2.0 ** (top - kept)
    if result == "f16":
        with np.errstate(over="ignore"):
            return float(np.float16(found))
    fraction, exponent = split(found, -126)
    return math.trunc(fraction * 2.0**23) * 2.0 ** (exponent - 23)


def values(random: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Bits of finite numbers, small and large, subnormal, zero, and some that cancel."""
    form = FORMATS[kind]
    bits = random.integers(0, 1 << form.bits, shape, dtype=np.uint64).astype(np.uint32)
    if form.exponent == 8:  # of one size, more or less, or nothing would be added
        at = form.fraction + form.dropped
        stored = random.integers(115, 139, shape, dtype=np.uint32)
        bits = bits & ~np.uint32(0xFF << at) | stored << np.uint32(at)
    bits[~np.isfinite(numbers(bits, form).value)] = 0
    bits[random.random(shape) < 0.05] = 0
    return bits


def kinds() -> Iterator[tuple[str, str, int, int]]:
    inner = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32}
    for kind, result, sm in product(inner, ("f32", "f16"), (80, 90)):
        if sm == 90 and kind[0] == "e":  # made of sums of halves there
            continue
        if result == "f32" or kind == "f16":
            yield kind, result, inner[kind], sm


@pytest.mark.parametrize(("kind", "result", "inner", "sm"), list(kinds()))
def test_sums_are_cut_off_as_published(kind: str, result: str, inner: int, sm: int) -> None:
    random = np.random.default_rng(5)
    a, b = values(random, kind, (2, 4, inner)), values(random, kind, (2, inner, 3))
    c = values(random, result, (2, 4, 3))
    adder = sums.adder_of(sm, kind, inner)
    assert adder.kept == (25 if sm == 90 else 24)
    assert adder.parts == (2 if sm == 80 and not kind.startswith("e") else 1)
    found = sums.floating(a, b, c, (kind, kind, result), adder)
    x, y = (numbers(bits, FORMATS[kind]).value for bits in (a, b))
    start = numbers(c, FORMATS[result]).value
    for n, i, j in product(range(2), range(4), range(3)):
        wanted = float(start[n, i, j])
        for part in np.split(np.arange(inner), adder.parts):
            row, column = x[n, i, part].tolist(), y[n, part, j].tolist()
            if math.isfinite(wanted):  # what the first part may be beyond
                wanted = summed(row, column, wanted, kind, result, adder.kept)
        one = np.array(wanted + 0.0)  # no sum is minus zero
        bits = one.astype("f2").view("u2") if result == "f16" else one.astype("f4").view("u4")
        assert found[n, i, j] == bits, (n, i, j)


def test_what_is_no_number_and_what_is_infinite() -> None:
    one, endless, none = 0x3C00, 0x7C00, 0x7E00
    a = np.full((4, 1, 8), one, np.uint32)
    b = np.full((4, 8, 1), one, np.uint32)
    a[0, 0, 0] = endless
    a[1, 0, 0], b[1, 0, 0] = endless, 0  # infinity times zero
    a[2, 0, 0], a[2, 0, 1] = endless, endless | 0x8000
    a[3, 0, 3] = none
    for result, inf, nan in (("f32", 0x7F800000, 0x7FFFFFFF), ("f16", 0x7C00, 0x7FFF)):
        c = np.zeros((4, 1, 1), np.uint32)
        found = sums.floating(a, b, c, ("f16", "f16", result), sums.Adder(25))
        assert found.reshape(-1).tolist() == [inf, nan, nan, nan]


def test_a_sum_is_cut_off_below_infinity_and_infinite_above() -> None:
    one, c = np.array([[[0x3F80]]], np.uint32), np.array([[[0x7F7FFFFF]]], np.uint32)
    for a, wanted in ((0x0080, 0x7F7FFFFF), (0x7F7F, 0x7F800000)):  # the least and the greatest
        factor = np.array([[[a]]], np.uint32)
        found = sums.floating(factor, one, c, ("bf16", "bf16", "f32"), sums.Adder(25))
        assert found.item() == wanted


def test_zeros_do_not_touch_a_sum() -> None:
    """A zero times a large number is no reason to cut off the rest; nothing is left as -0."""
    large, small = 0x7F00, 0x0080  # bf16: 2**127 and 2**-126
    a = np.array([[[0, 0x3F80]]], np.uint32)
    b = np.array([[[large], [0x3F80]]], np.uint32)
    c = np.array([[[0x00800001]]], np.uint32)
    kinds, adder = ("bf16", "bf16", "f32"), sums.adder_of(90, "bf16", 8)
    assert sums.floating(a, b, c, kinds, adder).item() == 0x3F800000
    b[0, 1] = small  # 2**-126 + (2**-126 + 2**-149)
    assert sums.floating(a, b, c, kinds, adder).item() == 0x01000000
    a[0, 0, 1], b[0, 1], c[:] = small | 0x8000, small, 0
    assert sums.floating(a, b, c, kinds, adder).item() == 0


def test_floats_of_eight_bits_are_two_sums_of_halves_on_hopper() -> None:
    adder = sums.adder_of(90, "e4m3", 16)
    assert [list(k) for k in adder.steps(8)] == [[0, 1, 4, 5], [2, 3, 6, 7]]
    one = np.full((1, 1, 16), 0x38, np.uint32)
    c = np.array([[[0x33000000]]], np.uint32)  # 2**-25, which a plain sum rounds away
    found = sums.floating(one, one.reshape(1, 16, 1), c, ("e4m3", "e4m3", "f32"), adder)
    assert found.view(np.float32).item() == 16.0


def test_an_infinite_sum_of_doubles_stays_infinite() -> None:
    large, infinite = np.array([[[1e300]]]).view(np.uint64), np.array([[[np.inf]]]).view(np.uint64)
    sign = np.uint64(1 << 63)
    assert sums.doubles(large ^ sign, large, infinite).item() == infinite.item()
    nan = np.array([[[0x7FF8000000000003]]], np.uint64)
    assert sums.doubles(nan, nan | np.uint64(4), nan).item() == 0x7FF8000000000007  # B's counts


def test_ada_loses_more_of_eight_bit_floats() -> None:
    assert sums.adder_of(89, "e4m3", 16) == sums.Adder(13, 1, 10)
    one, c = np.full((1, 1, 32), 0x38, np.uint32), np.array([[[0x3F800001]]], np.uint32)
    adder = sums.adder_of(89, "e4m3", 32)
    found = sums.floating(one, one.reshape(1, 32, 1), c, ("e4m3", "e4m3", "f32"), adder)
    assert found.view(np.float32).item() == 33.0
