"""PTX programs for Hypothesis: loops, lanes that part, barriers, shuffles, atomics, calls.

A program is a tree of statements, so that what fails shrinks to the few that matter: a statement is
the text of some instructions, `If` or `Loop`. Integers are in %v0 to %v3, a float is in %f0; %t is
the thread in its block, %n how many there are. All lanes of a block do what needs all of them
(barriers, shuffles, votes) together: outside of `If`, and of loops whose turns differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

HEAD = """.version 7.8
.target sm_80
.address_size 64
.func (.param .b32 back) twist(.param .b32 one, .param .b32 other)
{
.reg .b32 %a<4>; .reg .pred %p;
ld.param.b32 %a0, [one]; ld.param.b32 %a1, [other];
and.b32 %a2, %a0, 1; setp.ne.s32 %p, %a2, 0;
@%p bra ODD;
sub.s32 %a3, %a1, %a0; bra DONE;
ODD: mad.lo.s32 %a3, %a0, 3, %a1;
DONE: st.param.b32 [back], %a3; ret;
}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 bins)
{
.reg .b32 %v<4>; .reg .b32 %x<4>; .reg .b32 %c<99>; .reg .f32 %f<2>; .reg .b64 %d<9>;
.reg .b32 %t; .reg .b32 %n; .reg .b32 %i; .reg .pred %p<3>;
.shared .align 4 .b32 s[256];
ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; ld.param.u64 %d2, [bins];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, %n, %t;
mul.wide.u32 %d3, %i, 4; add.u64 %d4, %d0, %d3; add.u64 %d5, %d1, %d3;
ld.global.b32 %v0, [%d4]; mul.lo.s32 %v1, %t, 7; mov.b32 %v2, %i; mov.b32 %v3, 5;
cvt.rn.f32.s32 %f0, %v0;
"""
TAIL = """
xor.b32 %v0, %v0, %v1; add.s32 %v0, %v0, %v2; sub.s32 %v0, %v0, %v3; mov.b32 %x0, %f0;
xor.b32 %v0, %v0, %x0; st.global.b32 [%d5], %v0; ret;
}
"""


@dataclass(frozen=True)
class If:
    """Lanes of which `test` (a comparison and its operands) holds do `then`, the others `other`."""

    test: str
    then: list[Statement]
    other: list[Statement]


@dataclass(frozen=True)
class Loop:
    """`turns` is a number, or a register whose lowest two bits each lane counts to."""

    turns: int | str
    body: list[Statement]


Statement = str | If | Loop

register = st.sampled_from(["%v0", "%v1", "%v2", "%v3"])
number = st.one_of(st.integers(-5, 70), st.sampled_from([-(2**31), 2**31 - 1, 2**20]))
operand = st.one_of(register, st.just("%t"), number.map(str))
TWO = "add.s32 sub.s32 mul.lo.s32 mul.hi.s32 min.s32 max.u32 xor.b32 and.b32 or.b32 shl.b32 shr.s32"
ONE = "neg.s32 abs.s32 not.b32 popc.b32 clz.b32 brev.b32"
FLOAT = "add.f32 sub.f32 mul.f32 min.f32 max.f32 div.rn.f32 add.ftz.f32"

computes = st.one_of(
    st.builds("{} {}, {}, {};".format, st.sampled_from(TWO.split()), register, register, operand),
    st.builds("{} {}, {};".format, st.sampled_from(ONE.split()), register, register),
    st.builds("mad.lo.s32 {}, {}, {}, {};".format, register, register, operand, register),
    st.builds(
        "cvt.rn.f32.s32 %f1, {}; {} %f0, %f0, %f1;".format, register, st.sampled_from(FLOAT.split())
    ),
    st.builds(
        "mov.b32 %f1, 0f{:08X}; fma.rn.f32 %f0, %f0, %f1, %f1;".format,
        st.sampled_from([0x3FC00000, 0x00000001, 0xBF800000, 0x7F7FFFFF]),
    ),
    st.builds("cvt.rzi.s32.f32 {}, %f0;".format, register),
    st.builds(
        "setp.lt.s32 %p1, {}, {}; selp.b32 {}, {}, {}, %p1;".format,
        register,
        operand,
        register,
        register,
        operand,
    ),
)
loads = st.builds(
    "and.b32 %x0, {}, 63; mul.wide.u32 %d6, %x0, 4; add.u64 %d6, %d0, %d6;"
    " ld.global.b32 {}, [%d6];".format,
    register,
    register,
)
atomics = st.builds(
    "and.b32 %x0, {}, 7; mul.wide.u32 %d6, %x0, 4; add.u64 %d6, %d2, %d6;"
    " red.global.add.u32 [%d6], {};".format,
    register,
    operand,
)
calls = st.builds(
    "{{ .param .b32 p0; .param .b32 p1; .param .b32 p2; st.param.b32 [p0], {};"
    " st.param.b32 [p1], {}; call.uni (p2), twist, (p0, p1); ld.param.b32 {}, [p2]; }}".format,
    register,
    register,
    register,
)
shuffles = st.one_of(
    st.builds(
        "shfl.sync.bfly.b32 {}, {}, {}, 31, -1;".format,
        register,
        register,
        st.sampled_from([1, 8, 31]),
    ),
    st.builds("shfl.sync.idx.b32 {}, {}, {}, 31, -1;".format, register, register, register),
    st.builds("shfl.sync.down.b32 {}|%p1, {}, 3, 4127, -1;".format, register, register),
)
votes = st.builds(
    "setp.gt.s32 %p1, {}, {}; vote.sync.ballot.b32 {}, %p1, -1;".format, register, operand, register
)
exchanges = st.builds(
    "bar.sync 0; mov.u32 %x0, s; mad.lo.u32 %x1, %t, 4, %x0; st.shared.b32 [%x1], {};"
    " bar.sync 0; add.u32 %x2, %t, {}; rem.u32 %x2, %x2, %n; mad.lo.u32 %x1, %x2, 4, %x0;"
    " ld.shared.b32 {}, [%x1];".format,
    register,
    st.sampled_from([1, 17, 32]),
    register,
)
tests = st.builds(
    "{} {}, {}".format,
    st.sampled_from(["lt.s32", "eq.s32", "gt.u32", "ne.s32"]),
    st.one_of(register, st.just("%t")),
    operand,
)


def blocks(depth: int, together: bool, least: int = 1) -> SearchStrategy[list[Statement]]:
    """Some statements; `together`: all lanes of the block do them."""
    kinds: list[SearchStrategy[Statement]] = [computes, computes, loads, atomics, calls]
    if together:
        kinds += [shuffles, votes, exchanges]
    if depth:
        apart, inner = blocks(depth - 1, False), blocks(depth - 1, together)
        kinds += [
            st.builds(If, tests, apart, blocks(depth - 1, False, 0)),
            st.builds(Loop, st.integers(0, 3), inner),
            st.builds(Loop, register, apart),
        ]
    return st.lists(st.one_of(kinds), min_size=least, max_size=4)


programs = blocks(3, True).map(lambda made: HEAD + "\n".join(_lines(made, count(1))) + TAIL)


def _lines(statements: list[Statement], numbers: Iterator[int]) -> Iterator[str]:
    for one in statements:
        match one:
            case str():
                yield one
            case If(test, then, other):
                at = next(numbers)
                yield f"setp.{test.replace(' ', ' %p0, ', 1)}; @!%p0 bra ELSE{at};"
                yield from _lines(then, numbers)
                yield f"bra AFTER{at};\nELSE{at}:"
                yield from _lines(other, numbers)
                yield f"AFTER{at}:"
            case Loop(turns, body):
                at = next(numbers)
                left = f"%c{at % 99}"
                yield f"mov.b32 {left}, {turns}; and.b32 {left}, {left}, 3;"
                yield f"AGAIN{at}: setp.eq.s32 %p0, {left}, 0; @%p0 bra OUT{at};"
                yield from _lines(body, numbers)
                yield f"sub.s32 {left}, {left}, 1; bra AGAIN{at};\nOUT{at}:"
