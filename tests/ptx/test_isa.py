"""What instructions write and read, by the table of opcodes."""

from __future__ import annotations

import pytest

from gpuviz.ptx.decode.atomics import stays_atomic
from gpuviz.ptx.text.ir import Function
from gpuviz.ptx.text.isa import addresses, kind_of, registers_read, registers_written, value_of
from gpuviz.ptx.text.parser import parse

TEXT = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry one(.param .u64 in)
{{
	.reg .pred %p<4>;
	.reg .f32 %f<8>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	{line}
	atom.shared.add.u32 %r1, [%r2], %r3;
	ret;
}}
"""

M16 = "m16n16k16"
PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"


def _function(line: str) -> Function:
    return parse(TEXT.format(line=line)).functions[0]


@pytest.mark.parametrize(
    ("line", "written", "read"),
    [
        ("add.s32 %r4, %r1, %r5;", "r4", "r1 r5"),
        ("ld.global.v2.f32 {%f0, %f1}, [%rd1];", "f0 f1", "rd1"),
        ("@!%p1 st.shared.u32 [%r1], %r4;", "", "p1 r1 r4"),
        ("red.global.add.u32 [%rd1], %r1;", "", "rd1 r1"),
        ("atom.global.cas.b32 %r4, [%rd1], %r1, %r5;", "r4", "rd1 r1 r5"),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r4};", "", "r1 r4"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r1];", "r4", "r1"),
        ("mbarrier.init.shared.b64 [%r1], 32;", "", "r1"),
        ("mbarrier.arrive.shared.b64 %rd2, [%r1];", "rd2", "r1"),
        (f"wmma.store.d.sync.aligned.row.{M16}.global.f32 [%rd1], {{%f0}}, %r1;", "", "rd1 f0 r1"),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4;", "", "r1 rd1"),
        ("sust.b.2d.b32.trap [%rd1, {%r1, %r4}], {%r5};", "", "rd1 r1 r4 r5"),
        ("shfl.sync.bfly.b32 %r4|%p1, %r1, 1, 31, -1;", "r4 p1", "r1"),
        ("bar.warp.sync %r1;", "", "r1"),
        ("barrier.cta.red.popc.aligned.u32 %r4, 0, %p1;", "r4", "p1"),
        ("nanosleep.u32 %r1;", "", "r1"),
        ("call (%r4), one, (%r1);", "r4", "r1"),
        (f"{PRODUCT} {{%f0, %f1}}, %rd1, %rd2, 1, 1, 1, 0, 0;", "f0 f1", "f0 f1 rd1 rd2"),
    ],
)
def test_what_is_written_and_what_is_read(line: str, written: str, read: str) -> None:
    at = _function(line).body[0]
    assert [r.name for r in registers_written(at)] == [f"%{name}" for name in written.split()]
    assert [r.name for r in registers_read(at)] == [f"%{name}" for name in read.split()]


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("mov.u32 %r4, %r5;", False),
        ("mov.u32 %r1, %r5;", False),
        ("mbarrier.init.shared.b64 [%r1], 32;", True),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r4};", True),
        ("nanosleep.u32 %r1;", True),
    ],
)
def test_an_atomic_whose_result_is_an_address_is_no_reduction(line: str, needed: bool) -> None:
    function = _function(line)
    at = function.body[1]
    assert stays_atomic(at, function) == needed


@pytest.mark.parametrize(
    ("line", "kind", "address", "value"),
    [
        ("ld.global.f32 %f0, [%rd1];", "load", (1,), 0),
        ("st.shared.u32 [%r1], %r4;", "store", (0,), 1),
        ("atom.shared.add.u32 %r4, [%r1], %r5;", "atomic", (1,), 2),
        ("red.global.add.u32 [%rd1], %r1;", "reduction", (0,), 1),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4;", "copy", (0, 1), None),
        ("bar.sync 0;", "barrier", (), None),
    ],
)
def test_where_address_and_value_stand(
    line: str, kind: str, address: tuple[int, ...], value: int | None
) -> None:
    at = _function(line).body[0]
    assert kind_of(at) == kind
    assert addresses(at) == tuple(at.operands[n] for n in address)
    if value is not None:
        assert value_of(at) is at.operands[value]
