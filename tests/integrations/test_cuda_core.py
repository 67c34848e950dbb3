"""cuda.core compiles to a cubin without a driver; loading and launching it needs one."""

import numpy as np
import pytest

import gpuviz
from gpuviz.errors import UnsupportedError

core = pytest.importorskip("cuda.core")
pytestmark = pytest.mark.slow

TEXT = """extern "C" __global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
extern "C" __global__ void one(float *x) { x[threadIdx.x] = 1; }"""


def compiled(lineinfo: bool):
    options = core.ProgramOptions(arch="sm_90", lineinfo=lineinfo)
    return core.Program(TEXT, "c++", options).compile("cubin")


def test_a_cubin_with_its_ptx() -> None:
    x = np.ones(1000, "f4")
    run = gpuviz.trace(compiled(True), 4, 256, (x, 1000), name="twice", inplace=True)
    assert (x == 2).all() and run.level == "sass" and run.counts["global_load_sectors"] == 125
    assert run._run.resources and run._run.resources.registers > 0


def test_ptx_of_an_object() -> None:
    ptx = gpuviz.trace(TEXT, 1, 32, ("f32[32]=ones",), name="one").trace.ptx
    run = gpuviz.trace(
        core.ObjectCode.from_ptx(ptx.encode()), 1, 32, (np.ones(32, "f4"),), name="one"
    )
    assert run.counts["global_store_sectors"] == 4


def test_a_cubin_without_ptx_is_told() -> None:
    with pytest.raises(UnsupportedError, match="holds no PTX: compile it with ProgramOptions"):
        gpuviz.trace(compiled(False), 4, 256, (np.ones(4, "f4"), 4), name="twice")
