"""CuPy's kernels; without a GPU its classes can be made, and its generated code be asked for."""

import numpy as np
import pytest

import gpuviz
from gpuviz.errors import InputError, UnsupportedError

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.slow

SAXPY = """extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[STRIDE * i];
}"""


def test_a_raw_kernel_with_its_options() -> None:
    kernel = cupy.RawKernel(SAXPY, "saxpy", options=("-DSTRIDE=2", "-use_fast_math"))
    x, y = np.arange(2000, dtype="f4"), np.ones(1000, "f4")
    run = gpuviz.trace(kernel, 4, 256, (y, x, 2.0, 1000))
    assert (run.arrays["y"] == 1 + 2 * x[::2]).all() and (y == 1).all()
    assert run.counts["global_load_sectors"] == 250 + 125 and run.level == "sass"


def test_a_template_of_a_module() -> None:
    text = "template<class T> __global__ void one(T *x) { x[threadIdx.x] = 1; }"
    module = cupy.RawModule(code=text, name_expressions=["one<double>"])
    run = gpuviz.trace(module, 1, 32, (np.zeros(32),), name="one<double>")
    assert (run.arrays["x"] == 1).all()


@pytest.mark.parametrize("factor", [3.0, np.full(2000, 3, "f4")])
def test_an_elementwise_kernel_as_cupy_writes_it(factor: object) -> None:
    kernel = cupy.ElementwiseKernel("float32 x, T a", "T z", "z = x * a", "scaled")
    x, z = np.arange(2000, dtype="f4"), np.zeros(2000, "f4")
    run = gpuviz.trace(kernel, args=(x, factor, z), inplace=True)
    assert (z == 3 * x).all() and run.grid == (16, 1, 1) and run.block == (128, 1, 1)
    loads = 250 * (1 if isinstance(factor, float) else 2)
    assert run.counts["global_load_sectors"] == loads
    assert [row["code"] for row in run.lines if row["line"]] == ["z = x * a;"]


def test_raw_kernels_made_in_a_block_are_watched() -> None:
    before = cupy.RawKernel
    x, y = np.ones(1000, "f4"), np.zeros(1000, "f4")
    with gpuviz.trace() as runs:
        kernel = cupy.RawKernel(SAXPY, "saxpy", options=("-DSTRIDE=1",))
        kernel((4,), (256,), (y, x, np.float32(2), np.int32(1000)))
    assert (y == 2).all() and [run.kernel for run in runs] == ["saxpy"]
    assert cupy.RawKernel is before and isinstance(kernel, before)


def test_what_cannot_be_traced_is_told() -> None:
    total = cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    with pytest.raises(UnsupportedError, match="ReductionKernel has no text"):
        gpuviz.trace(total, 1, 32, (np.ones(32), np.ones(1)))
    kernel = cupy.ElementwiseKernel("T x", "T z", "z = x", "same")
    with pytest.raises(InputError, match=r"takes 2 arguments \(x, z\), its outputs among them"):
        gpuviz.trace(kernel, args=(np.ones(3),))
    with pytest.raises(UnsupportedError, match="arrays of one shape"):
        gpuviz.trace(kernel, args=(np.ones(3), np.ones(4)))
