"""Logic, shifts and bit fields against Python's integers and strings of bits."""

from __future__ import annotations

import pytest

from gpuviz.ptx.arithmetic.kinds import WIDTHS
from tests.ptx.checks import check, interesting, op

ONES = 0xFFFFFFFF


def test_one_line_each() -> None:
    check("and.b32", 0b1100, 0b1010, 0b1000)
    check("or.b16", 0b1100, 0b1010, 0b1110)
    check("xor.b64", 1 << 63, 1, (1 << 63) + 1)
    check("not.b32", 0, ONES)
    check("and.pred", True, False, False)
    check("not.pred", True, False)
    check("cnot.b32", 0, 1)
    check("cnot.b64", 7, 0)
    check("shl.b32", 1, 31, 1 << 31)
    check("shl.b32", 1, 32, 0)
    check("shl.b16", 1, 65536, 0)
    check("shl.b64", 1, 40, 1 << 40)
    check("shr.u32", ONES, ONES, 0)
    check("shr.s32", -8, 1, -4)
    check("shr.s32", -8, ONES, -1)
    check("shr.s16", -8, 65536, -1)
    check("shr.s64", -8, 200, -1)
    check("shf.l.wrap.b32", 0x80000000, 1, 33, 3)
    check("shf.l.clamp.b32", 5, 1, 40, 5)
    check("shf.r.wrap.b32", 0x80000000, 1, 33, 0xC0000000)
    check("shf.r.clamp.b32", 1, 7, 40, 7)
    check("lop3.b32", 0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x96, 0x96969696)
    check("lop3.or.b32", 0, 0, 0, 0xFE, False, (0, False))
    check("bfe.u32", 0xABCD, 4, 8, 0xBC)
    check("bfe.s32", 0xABCD, 4, 8, -68)
    check("bfe.s32", 0x80000000, 30, 8, -2)
    check("bfe.u32", ONES, 40, 8, 0)
    check("bfe.s64", 1 << 63, 60, 10, -8)
    check("bfi.b32", 0xFF, 0, 4, 4, 0xF0)
    check("bfi.b64", 0, 2**64 - 1, 0, 64, 0)
    check("brev.b32", 1, 1 << 31)
    check("brev.b64", 2, 1 << 62)
    check("popc.b64", 2**64 - 1, 64)
    check("clz.b32", 0, 32)
    check("clz.b64", 1, 63)
    check("bfind.u32", 0, ONES)
    check("bfind.u64", 1 << 40, 40)
    check("bfind.s32", -1, ONES)
    check("bfind.s32", -9, 3)
    check("bfind.shiftamt.u32", 1, 31)
    check("prmt.b32", 0x33221100, 0x77665544, 0x7531, 0x77553311)
    check("prmt.b32", 0x80, 0, 0x8888, ONES)
    check("prmt.b32.f4e", 0x33221100, 0x77665544, 1, 0x44332211)
    check("prmt.b32.b4e", 0x33221100, 0x77665544, 1, 0x66770011)
    check("prmt.b32.rc8", 0x33221100, 0, 2, 0x22222222)
    check("prmt.b32.ecl", 0x33221100, 0, 1, 0x33221111)
    check("prmt.b32.ecr", 0x33221100, 0, 1, 0x11111100)
    check("prmt.b32.rc16", 0x33221100, 0, 1, 0x33223322)
    check("bmsk.clamp.b32", 4, 8, 0xFF0)
    check("bmsk.wrap.b32", 36, 40, 0xFF0)
    check("bmsk.clamp.b32", 4, 40, 0xFFFFFFF0)
    check("szext.clamp.s32", 0x80, 8, -128)
    check("szext.wrap.u32", 0xFFFF, 40, 0xFF)
    check("fns.b32", 0b10110, 0, 2, 2)
    check("fns.b32", 0b10110, 4, -2, 2)
    check("fns.b32", 0b10110, 1, 0, 1)
    check("fns.b32", 0b10110, 0, 4, ONES)


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_counts_like_strings(kind: str) -> None:
    values = interesting(kind, 300, 5)
    texts = [format(int(x), f"0{WIDTHS[kind]}b") for x in values]
    counted = op(f"popc.{kind}").function(values).tolist()
    assert counted == [text.count("1") for text in texts]
    zeros = op(f"clz.{kind}").function(values).tolist()
    assert zeros == [len(text) - len(text.lstrip("0")) for text in texts]
    reversed_bits = op(f"brev.{kind}").function(values).tolist()
    assert reversed_bits == [int(text[::-1], 2) for text in texts]


@pytest.mark.parametrize("table", [0, 0xFF, 0x80, 0xE8, 0xCA, 0x1B])
def test_lop3_like_its_truth_table(table: int) -> None:
    a, b, c = (int(interesting("b32", 1, seed)[0]) for seed in (6, 7, 8))
    wanted = sum(
        (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32)
    )
    check("lop3.b32", a, b, c, table, wanted)
