"""Comparisons and selection."""

from __future__ import annotations

from math import inf, nan

import pytest

from tests.ptx.checks import check, run

ONES = 0xFFFFFFFF
NAN_BITS = 0x7FC00000


def test_one_line_each() -> None:
    check("setp.lt.s32", -1, 1, True)
    check("setp.lt.u32", -1, 1, False)
    check("setp.lo.u32", 1, 2, True)
    check("setp.hs.u64", 2**64 - 1, 1, True)
    check("setp.ne.b16", 1, 1, False)
    check("setp.eq.and.s32", 1, 1, False, False)
    check("setp.eq.xor.s32", 1, 1, True, False)
    check("setp.lt.f32", -0.0, 0.0, False)
    check("setp.eq.f32", -0.0, 0.0, True)
    check("setp.gt.ftz.f32", 0x00000001, 0.0, False)
    check("setp.gt.f32", 0x00000001, 0.0, True)
    check("setp.lt.f16", 1.0, 2.0, True)
    check("setp.ge.bf16", 1.0, 2.0, False)
    check("setp.lt.s32", 1, 2, (True, False), results=2)
    check("setp.lt.and.s32", 1, 2, False, (False, False), results=2)
    check("setp.lt.or.s32", 2, 1, True, (True, True), results=2)
    check("setp.lt.f16x2", 0x3C004000, 0x40003C00, (False, True), results=2)
    check("set.lt.u32.s32", -1, 1, ONES)
    check("set.lt.f32.s32", -1, 1, 1.0)
    check("set.ne.and.u32.f32", 1.0, 2.0, False, 0)
    check("selp.b32", 1, 2, True, 1)
    check("selp.f64", 1.0, 2.0, False, 2.0)
    check("selp.b16", 1, 2, False, 2)
    check("slct.f32.s32", 1.0, 2.0, 0, 1.0)
    check("slct.u64.s32", 1, 2, -1, 2)
    check("slct.u32.f32", 1, 2, NAN_BITS, 2)
    check("slct.ftz.u32.f32", 1, 2, 0x80000001, 1)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_nan_is_in_no_order_unless_unordered(name: str, kind: str) -> None:
    for a, b in ((nan, 1.0), (1.0, nan), (nan, nan), (nan, inf)):
        assert run(f"setp.{name}.{kind}", a, b) == (0,)
        assert run(f"setp.{name}u.{kind}", a, b) == (1,)
        assert run(f"setp.num.{kind}", a, b) == (0,)
        assert run(f"setp.nan.{kind}", a, b) == (1,)
    for a, b in ((1.0, 2.0), (2.0, 2.0), (inf, 1.0)):
        assert run(f"setp.{name}.{kind}", a, b) == run(f"setp.{name}u.{kind}", a, b)
        assert run(f"setp.num.{kind}", a, b) == (1,)
