"""CuPy's kernels; without a GPU its classes can be made, and its generated code be asked for."""

import numpy as np
import pytest

import gpuviz
from gpuviz.base.errors import InputError, UnsupportedError

cupy = pytest.importorskip("cupy")
jit_programs = pytest.importorskip("tests.integrations.cupy_programs", exc_type=ImportError)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning")]

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


def total() -> object:
    return cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


@pytest.mark.parametrize(
    "axis, shape, grid",
    [(None, (), 1), (0, (300,), 300 // 32 + 1), (1, (64,), 64), ((0, 1), (), 1)],
)
def test_a_reduction_as_cupy_writes_it(axis: object, shape: tuple, grid: int) -> None:
    x = np.random.default_rng(5).integers(0, 9, (64, 300)).astype("f4")
    out = np.zeros(shape, "f4")
    run = gpuviz.trace(total(), args=(x, out), kwargs={"axis": axis}, inplace=True)
    assert (out == x.sum(axis)).all() and (run.grid, run.block) == ((grid, 1, 1), (512, 1, 1))
    assert any("without CUB" in note for note in run.notes)
    assert run.counts["global_load_bytes"] >= x.nbytes and not run.findings


def test_arrays_that_repeat_or_have_gaps_are_those_that_they_are() -> None:
    kernel = cupy.ElementwiseKernel("T x, T y", "T z", "z = x + y", "added")
    x, row = np.arange(1280, dtype="f4").reshape(20, 64), np.arange(32, dtype="f4")
    z = np.zeros((20, 32), "f4")
    run = gpuviz.trace(kernel, args=(x[:, ::2], row, z), inplace=True)
    assert (z == x[:, ::2] + row).all() and run.grid == (5, 1, 1)


def test_a_function_of_cupyx_jit() -> None:
    kernel = jit_programs.twice
    x, y = np.arange(2000, dtype="f4"), np.zeros((20, 100), "f4")
    run = gpuviz.trace(kernel, (1, 20), 128, (x, y, np.uint32(100)))
    assert (run.arrays["y.data"] == 2 * x.reshape(20, 100)).all() and run.kernel == "twice"
    with pytest.raises(InputError, match="cupyx.jit does not compile twice"):
        gpuviz.trace(kernel, (1, 20), 128, (x, y, "n"))


def test_what_cupy_writes_is_watched_and_makes_its_outputs() -> None:
    before = cupy.ElementwiseKernel, cupy.ReductionKernel, type(jit_programs.twice).__call__
    x = np.arange(200, dtype="f4")
    with gpuviz.trace() as runs:
        kernel = cupy.ElementwiseKernel("T x", "T z, int32 n", "z = 2 * x; n = x", "both")
        z, n = kernel(x)
        whole = cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
        rows, kept = np.zeros(10, "f4"), whole(x.reshape(10, 20), axis=1, keepdims=True)
        whole(x.reshape(10, 20), out=rows, axis=1)
        y = np.zeros((2, 100), "f4")
        jit_programs.twice((1, 2), (128,), (x, y, np.uint32(100)))
    assert (z == 2 * x).all() and (n == x).all() and n.dtype == "i4" and (y.ravel() == z).all()
    assert (rows == x.reshape(10, 20).sum(1)).all() and (kept == rows[:, None]).all()
    assert [run.kernel for run in runs] == ["both", "total", "total", "twice"]
    after = cupy.ElementwiseKernel, cupy.ReductionKernel, type(jit_programs.twice).__call__
    assert after == before


def test_what_cannot_be_traced_is_told() -> None:
    with pytest.raises(InputError, match=r"total leaves \(64,\): its output is \(3,\)"):
        gpuviz.trace(total(), args=(np.ones((64, 3)), np.ones(3)), kwargs={"axis": 1})
    with pytest.raises(InputError, match="total takes axis and keepdims by name, not order"):
        gpuviz.trace(total(), args=(np.ones(3), np.ones(1)), kwargs={"order": 1})
    kernel = cupy.ElementwiseKernel("T x", "T z", "z = x", "same")
    with pytest.raises(InputError, match=r"takes 2 arguments \(x, z\), its outputs among them"):
        gpuviz.trace(kernel, args=(np.ones(3),))
    with pytest.raises(InputError, match=r"shapes \(3,\), \(4,\) do not go together"):
        gpuviz.trace(kernel, args=(np.ones(3), np.ones(4)))
    with pytest.raises(UnsupportedError, match="ufunc has no text to compile"):
        gpuviz.trace(cupy.add, 1, 32, (np.ones(3), np.ones(3)))
