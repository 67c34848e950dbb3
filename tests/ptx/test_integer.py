"""Integer operations against Python's unbounded integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpuviz.ptx.arithmetic.kinds import WIDTHS, is_signed
from tests.ptx.checks import check, interesting, op, run

LOWEST, HIGHEST, ONES = -(2**31), 2**31 - 1, 2**32 - 1


def test_one_line_each() -> None:
    check("add.u16", 65535, 2, 1)
    check("add.s64", -1, 3, 2)
    check("add.sat.s32", HIGHEST, 1, HIGHEST)
    check("add.sat.s32", LOWEST, -1, LOWEST)
    check("sub.sat.s32", LOWEST, 1, LOWEST)
    check("sub.u32", 1, 2, ONES)
    check("mul.lo.s32", -3, 5, -15)
    check("mul.hi.u32", ONES, ONES, ONES - 1)
    check("mul.hi.s64", -1, 1, -1)
    check("mul.wide.s16", -300, 300, -90000)
    check("mul.wide.u32", ONES, ONES, ONES * ONES)
    check("mad.lo.s32", 2, 3, -7, -1)
    check("mad.wide.s32", -2, 3, 10, 4)
    check("mad.hi.sat.s32", HIGHEST, HIGHEST, HIGHEST, HIGHEST)
    check("mul24.lo.u32", 0xFF000003, 5, 15)
    check("mul24.hi.s32", 0x00FFFFFF, 0x00010000, -1)
    check("mad24.lo.s32", -2, 3, 1, -5)
    check("add.cc.u32", ONES, 1, (0, True))
    check("addc.u32", 1, 2, True, 4)
    check("addc.cc.u32", ONES, 0, True, (0, True))
    check("sub.cc.u32", 1, 2, (ONES, True))
    check("subc.u32", 5, 2, True, 2)
    check("subc.cc.u32", 0, 0, True, (ONES, True))
    check("mad.lo.cc.u32", 2, 3, ONES, (5, True))
    check("madc.hi.u32", 1 << 31, 2, 4, True, 6)
    check("div.u32", 7, 2, 3)
    check("div.s32", -7, 2, -3)
    check("div.s32", LOWEST, -1, LOWEST)
    check("div.u32", 7, 0, ONES)
    check("rem.s32", -7, 2, -1)
    check("rem.u64", 7, 0, 2**64 - 1)
    check("abs.s32", LOWEST, LOWEST)
    check("neg.s64", 5, -5)
    check("min.s16", -1, 1, -1)
    check("max.u16", 65535, 1, 65535)
    check("max.relu.s32", -5, -4, 0)
    check("min.s16x2", 0x0001FFFF, 0xFFFF0001, 0xFFFFFFFF)
    check("add.u16x2", 0xFFFFFFFF, 0x00010001, 0)
    check("sad.s32", -3, 4, 10, 17)
    check("dp4a.u32.u32", 0x01020304, 0x01010101, 100, 110)
    check("dp4a.s32.s32", 0xFF, 0x02, 0, -2)
    check("dp2a.lo.s32.s32", 0xFFFF0002, 0x05FF, 0, -2 - 5)
    check("dp2a.hi.u32.u32", 0x00010002, 0x05030000, 1, 12)
    check("vabsdiff4.u32.u32.u32.add", 0x10203040, 0x20103040, 1, 33)
    check("vadd4.u32.u32.u32.sat", 0xFF000001, 0x01000002, 0, 0xFF000003)


REFERENCES: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "mul.wide": lambda a, b: a * b,
    "mad.lo": lambda a, b, c: a * b + c,
    "mad.wide": lambda a, b, c: a * b + c,
    "min": min,
    "max": max,
    "sad": lambda a, b, c: c + abs(a - b),
    "div": lambda a, b: _truncated(a, b) if b else -1,
    "rem": lambda a, b: a - _truncated(a, b) * b if b else -1,
}


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _number(bits: int, kind: str) -> int:
    return bits - (1 << WIDTHS[kind]) if is_signed(kind) and bits >> WIDTHS[kind] - 1 else bits


def _lanes(text: str, seed: int, count: int = 200) -> tuple[list[list[int]], list[int]]:
    """The operands as numbers, one list a lane, and the result's bits."""
    found = op(text)
    operands = [interesting(kind, count, seed + i) for i, kind in enumerate(found.sources)]
    numbers = [
        [_number(int(x), kind) for x in lane]
        for lane, kind in zip(operands, found.sources, strict=True)
    ]
    return list(map(list, zip(*numbers, strict=True))), found.function(*operands).tolist()


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("name", REFERENCES)
def test_like_python(name: str, kind: str) -> None:
    if "wide" in name and kind.endswith("64"):
        kind = "u32"
    mask = (1 << WIDTHS[op(f"{name}.{kind}").results[0]]) - 1
    lanes, results = _lanes(f"{name}.{kind}", seed=1)
    for operands, result in zip(lanes, results, strict=True):
        assert result == REFERENCES[name](*operands) & mask, operands


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_high_products(kind: str) -> None:
    lanes, results = _lanes(f"mul.hi.{kind}", seed=2)
    for (a, b), result in zip(lanes, results, strict=True):
        assert result == (a * b >> WIDTHS[kind]) & ((1 << WIDTHS[kind]) - 1)


@pytest.mark.parametrize("kind", ["u32", "u64"])
def test_carries_chain_to_wide_sums(kind: str) -> None:
    width = WIDTHS[kind]
    rng = np.random.default_rng(3)
    for low_a, high_a, low_b, high_b in rng.integers(0, 4, (50, 4)).tolist():
        low_a, low_b = (low_a << width - 1) % 2**width - 1, (low_b << width - 1) % 2**width
        a, b = (high_a << width) + low_a, (high_b << width) + low_b
        for first, second, exact in (("add", "addc", a + b), ("sub", "subc", a - b)):
            low, carry = run(f"{first}.cc.{kind}", low_a, low_b)
            (high,) = run(f"{second}.{kind}", a >> width, b >> width, bool(carry))
            assert (high << width) + low == exact % 2 ** (2 * width)
