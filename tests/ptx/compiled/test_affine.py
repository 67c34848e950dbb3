"""Integers that are a scalar plus a step a lane, through opcodes, beside edges of their types."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from gpuviz.ptx.text.parser import parse
from tests.ptx.compiled.engines import same

HEAD = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b64 %x; .reg .b32 %y; .reg .pred %p;
ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 8; add.s64 %rd2, %rd1, %rd3;
add.u32 %r2, %r1, -20; sub.u32 %r3, 5, %r1; shl.b32 %r4, %r1, 20; mov.u32 %r5, %ctaid.x;
add.u32 %r6, %r1, 0x7FFFFFF0; cvt.u64.u32 %rd4, %r1; cvt.s64.s32 %rd5, %r2; neg.s64 %rd6, %rd4;
shl.b64 %rd7, %rd4, 40; setp.lt.u32 %p, %r1, 7;
"""
EDGES = {
    32: ("0", "1", "-1", "-7", "31", "32", "0x7FFFFFFF", "0x80000000", "0xFFFFFFFF"),
    64: ("1", "-1", "63", "64", "0xFFFFFFFF", "0x8000000000000000", "0xFFFFFFFFFFFFFFFF"),
}
LANES = {32: ("%r1", "%r2", "%r3", "%r4", "%r5", "%r6"), 64: ("%rd4", "%rd5", "%rd6", "%rd7")}
BOTH = (32, 64)
SIGNS = [f"{sign}{bits}" for sign in "su" for bits in BOTH]
TWO = [
    *(f"{name}.{kind}" for name in ("add", "sub", "min", "max", "shr") for kind in SIGNS),
    *(f"mul.{part}.{kind}" for part in ("lo", "hi") for kind in SIGNS),
    *(f"{name}.b{bits}" for name in ("and", "or", "xor", "shl") for bits in BOTH),
    *("mul.wide.u32", "mul.wide.s32", "mul24.lo.u32", "mul24.hi.s32", "add.sat.s32"),
    *("div.u32", "div.s32", "rem.u32", "rem.s32"),
]
ONE = [f"{name}.s{bits}" for name in ("neg", "abs") for bits in BOTH]
ONE += [f"{name}.b{bits}" for name in ("not", "popc", "clz", "brev") for bits in BOTH]
ONE += [f"cvt.{to}.{of}" for to, of in product((*SIGNS, "u8", "s16"), SIGNS)]
THREE = ["mad.lo.u32", "mad.hi.s32", "mad.wide.u32", "mad.wide.s32", "mad.lo.s64"]
THREE += ["bfe.u32", "bfe.s64", "sad.u32"]
OPCODES = [
    pytest.param(one, marks=[] if one == "mul.wide.u32" else pytest.mark.slow)
    for one in (*ONE, *TWO, *THREE)
]


def bits_of(opcode: str) -> int:
    return int(opcode[-2:])


def result_of(opcode: str) -> int:
    name, *mods = opcode.split(".")
    if name in ("popc", "clz"):
        return 32
    if name == "cvt":
        return 64 if mods[0].endswith("64") else 32
    return 64 if "wide" in mods else bits_of(opcode)


def operands(opcode: str) -> list[tuple[str, ...]]:
    """Lanes with lanes, lanes with an edge, and the other way round."""
    bits = bits_of(opcode)
    lanes, edges = LANES[bits], EDGES[bits]
    if "wide" in opcode:  # those of which no lane wraps: the others are left to NumPy
        lanes = ("%r1", "%r5") if opcode.endswith("u32") else ("%r1", "%r2", "%r3", "%r5")
    counts = (*EDGES[32], "%r1", "%r2")
    if opcode in ONE:
        return [(one,) for one in lanes]
    if opcode.startswith(("shl", "shr")):
        return list(product(lanes, counts))
    pairs = [*product(lanes, edges), *product(edges[:3], lanes), *pairwise(lanes)]
    if opcode in TWO:
        return [pair for pair in pairs if not (opcode[:3] in ("div", "rem") and pair[1] == "0")]
    if opcode.startswith("bfe"):
        return [(one, *two) for one, two in product(lanes, product(counts, ("1", "-1", "%r1")))]
    wide = LANES[64][0] if "wide" in opcode else lanes[-1]
    return [(*pair, third) for pair in pairs for third in (wide, "3")]


def lines(opcode: str, given: tuple[str, ...], row: int) -> str:
    bits = result_of(opcode)
    to = "%x" if bits == 64 else "%y"
    wider = "" if bits == 64 else "cvt.u64.u32 %x, %y; "
    return f"{opcode} {to}, {', '.join(given)}; {wider}st.global.u64 [%rd2+{row * 512}], %x;"


@pytest.mark.parametrize("opcode", OPCODES)
def test_opcodes(opcode: str) -> None:
    """A factor of -1 that is unsigned, and widened, is a large one."""
    given = operands(opcode)
    body = "\n".join(lines(opcode, one, row) for row, one in enumerate(given))
    module = parse(HEAD + body + "\nret;\n}")
    same(module, "k", (1, 1, 1), (64, 1, 1), [np.zeros(64 * len(given), np.uint64)])
