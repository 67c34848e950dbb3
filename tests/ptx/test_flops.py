"""Floating-point operations against counts known from the algorithm."""

import numpy as np
import pytest

from gpuviz.compile import compile_cuda
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.text.parser import parse

KERNEL = """extern "C" __global__ void k(TYPE* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  TYPE v = x[i];
  for (int r = 0; r < n; ++r) v = v * TYPE(3) + x[i + 1];
  if (i < 40) v = v / TYPE(7);
  x[i] = v;
}"""


@pytest.mark.parametrize("kind, dtype", [("float", np.float32), ("double", np.float64)])
def test_multiply_adds_count_two_for_every_thread_that_runs_them(kind: str, dtype: type) -> None:
    program = compile_cuda(KERNEL, defines={"TYPE": kind})
    result = emulate(
        parse(program.ptx), "k", (2, 1, 1), (48, 1, 1), [np.ones(97, dtype), np.int32(5)]
    )
    assert result.trace.flops == 2 * 48 * 5 * 2 + 40


def test_integer_arithmetic_is_not_counted() -> None:
    program = compile_cuda(KERNEL, defines={"TYPE": "int"})
    result = emulate(
        parse(program.ptx), "k", (1, 1, 1), (32, 1, 1), [np.ones(33, np.int32), np.int32(4)]
    )
    assert result.trace.flops == 0
