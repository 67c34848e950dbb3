"""Checking a module before a run says just what a run would say."""

import pytest

from gpuviz.base.errors import UnsupportedError
from gpuviz.ptx.decode.decoder import Decoder, Problem, unsupported
from gpuviz.ptx.simt.global_memory import GlobalMemory
from gpuviz.ptx.simt.program import parameter_bytes, place, reachable
from gpuviz.ptx.text.parser import parse
from tests.ptx.launching import KERNELS, compiled

ONE = (1, 1, 1)
HEAD = """.version 8.0
.target sm_80
.address_size 64
.global .texref image;
.func (.param .b32 r) helper(.param .b32 a) {
  .reg .b32 %r<3>;
  .loc 1 5 1
  ld.param.b32 %r1, [a];
  frobnicate.u32 %r1, %r1;
  st.param.b32 [r], %r1;
  ret;
}
"""
USES = """.visible .entry uses() {
  .reg .b32 %r<9>; .reg .f32 %f<9>;
  .loc 1 12 1
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5, %f6}];
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;
    call (q), helper, (p); ld.param.b32 %r2, [q]; }
  atom.global.add.s8 %r1, [%r2], %r3;
  ret;
}
.visible .entry innocent() { .reg .b32 %r<2>; add.u32 %r1, %r1, 1; ret; }
.visible .entry foreign() { call cudaGetErrorName; ret; }
"""


def decoded(module, kernel):
    """What decoding for a run complains of first, or None."""
    function = module.by_name[kernel]
    program = place(module, function, ONE, ONE, 0, GlobalMemory(), bytes(parameter_bytes(function)))
    try:
        decoder = Decoder(program)
        for callee in reachable(module, function):
            decoder.code(callee)
    except UnsupportedError as error:
        return str(error)
    return None


def test_problems_of_each_kernel():
    module = parse(HEAD + USES)
    found = unsupported(module)
    assert list(found) == ["uses", "innocent", "foreign"] and found["innocent"] == ()
    line = HEAD.count("\n") + 4
    assert [(p.opcode, p.ptx_line, p.line) for p in found["uses"]] == [
        ("frobnicate.u32", 9, 5),
        ("tex.2d.v4.f32.f32", line, 12),
        ("atom.global.add.s8", line + 3, 12),
    ]
    (problem,) = found["foreign"]
    assert isinstance(problem, Problem) and "cudaGetErrorName" in problem.why


@pytest.mark.parametrize("kernel", ["uses", "innocent", "foreign"])
def test_agrees_with_the_decoder(kernel):
    module = parse(HEAD + USES)
    problems, error = unsupported(module)[kernel], decoded(module, kernel)
    assert (error is None) == (problems == ())
    assert error is None or any(p.opcode in error and p.why in error for p in problems)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("file", ["bits", "dense", "language", "parallel", "sorting", "warps"])
def test_all_kernels_of_the_tests_are_supported(file, arch):
    assert (KERNELS / f"{file}.cu").is_file()
    assert {k: v for k, v in unsupported(compiled(file, arch)).items() if v} == {}
