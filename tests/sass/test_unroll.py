"""Loops rewritten in the shape of the machine code compute the same as before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuviz.arch import architecture
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.text.ir import Module
from gpuviz.ptx.text.parser import parse
from gpuviz.run.emulated import run
from gpuviz.sass.unroll import Chunk, Rewriter, counted_loops
from tests.sass.kernels import job

SLOW = pytest.mark.slow
MORE = ("if_in_loop", "warp_hist", "tri_shared_rev", "step_loop", "csr", "mm_rect")
LOOP = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 out, .param .u32 start)
{{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [start];
  mov.u32 %r2, %tid.x;
  add.s32 %r1, %r1, %r2;
  mov.u32 %r3, 0;
$L:
  mad.lo.s32 %r3, %r3, 3, %r1;
  and.b32 %r4, %r3, 4;
  setp.eq.s32 %p2, %r4, 0;
  @%p2 bra $M;
  add.s32 %r3, %r3, 7;
$M:
  add.s32 %r1, %r1, {step};
  setp.{test} %p1, %r1, {bound};
  @%p1 bra $L;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}}
"""


def _run(module: Module, start: int) -> np.ndarray:
    out = emulate(module, "f", (1, 1, 1), (64, 1, 1), [np.zeros(64, np.uint32), np.int32(start)])
    return next(iter(out.outputs.values()))


@given(
    form=st.sampled_from(
        [
            (1, "lt.s32", 70),
            (3, "lt.s32", 90),
            (2, "le.u32", 66),
            (-1, "gt.s32", -5),
            (1, "ne.s32", 65),
            (-2, "ge.s32", 0),
        ]
    ),
    shape=st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=3),
    start=st.integers(0, 1),
)
@settings(max_examples=30)
def test_same_results_whatever_the_shape(
    form: tuple[int, str, int], shape: list[tuple[int, bool]], start: int
) -> None:
    step, test, bound = form
    module = parse(LOOP.format(step=step, test=test, bound=bound))
    function = module.functions[0]
    (loop,) = counted_loops(function)
    chunks = tuple(Chunk(n, again, i) for i, (n, again) in enumerate(shape))
    rewriter = Rewriter(function, 1000)
    unrolled = rewriter.unrolled([(loop, chunks)])
    new = Module(module.version, module.target, (unrolled,), module.variables, module.text)
    np.testing.assert_array_equal(_run(new, start), _run(module, start))
    assert len(rewriter.chunk_of) >= 5 * sum(n for n, _ in shape)


@pytest.mark.machine_code
@pytest.mark.parametrize("name", ["nested_div", *(pytest.param(n, marks=SLOW) for n in MORE)])
def test_unrolled_kernels_compute_the_same(name: str) -> None:
    ptx, sass = (run(job(name), architecture("sm_90"), level=level) for level in ("ptx", "sass"))
    assert sass.level == "sass"
    for key, value in ptx.outputs.items():
        np.testing.assert_array_equal(sass.outputs[key], value)
    assert {i.pc for i in sass.trace.instructions} == {i.pc for i in ptx.trace.instructions}


@pytest.mark.machine_code
def test_the_trace_speaks_of_the_ptx_as_written() -> None:
    options = Options(path=True)
    ptx, sass = (
        run(job("nested_div"), architecture("sm_90"), level=level, options=options).trace
        for level in ("ptx", "sass")
    )
    assert {b.pc for b in sass.branches} <= {b.pc for b in ptx.branches}
    assert {line for s in sass.stretches for line in s.lines} == {
        line for s in ptx.stretches for line in s.lines
    }
    assert max(s.pc for s in sass.stretches) <= max(s.pc for s in ptx.stretches)
    assert sass.ptx == ptx.ptx
