"""cuda.core compiles to a cubin without a driver; loading and launching it needs one."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import gpuviz
from gpuviz.base.errors import UnsupportedError
from gpuviz.integrations import cuda_core_kernels

core = pytest.importorskip("cuda.core")
driver = pytest.importorskip("cuda.bindings.driver")
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


@pytest.fixture
def made_up_gpu(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """Launches go nowhere and are noted; memory lies at addresses of its own; one known kernel."""
    made: list[tuple] = []
    memory = {0x7F0000000000: np.ones(1000, "f4").view("u1")}
    values = SimpleNamespace(CUDA_SUCCESS=0)

    def found(address: int) -> tuple:
        return (0, address, memory[address].nbytes) if address in memory else (1, 0, 0)

    def copied(to: int, address: int, size: int) -> tuple:
        ctypes.memmove(to, memory[address].ctypes.data, size)
        return (values.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuMemGetAddressRange", found)
    monkeypatch.setattr(driver, "cuMemcpyDtoH", copied)
    monkeypatch.setattr(driver, "cuKernelGetName", lambda handle: (0, b"twice"))
    code = compiled(True)
    monkeypatch.setattr(cuda_core_kernels, "_code", lambda kernel: code)
    monkeypatch.setattr(core, "launch", lambda *args: made.append(args))
    return made


def test_launches_are_seen_under_the_name_that_a_program_has_for_them(made_up_gpu: list) -> None:
    program = ModuleType("program")
    program.go = plain = core.launch  # from cuda.core import launch as go
    sys.modules["program"] = program
    waited: list[bool] = []
    stream = SimpleNamespace(sync=lambda: waited.append(True))
    config = core.LaunchConfig(grid=4, block=256)
    buffer = SimpleNamespace(handle=0x7F0000000000, size=4000)
    kernel = SimpleNamespace(handle=1)
    try:
        with gpuviz.trace(max_launches=2) as runs:
            program.go(stream, config, kernel, 0x7F0000000000, np.int32(1000))
            core.launch(stream, config, kernel, buffer, 900)
            core.launch(stream, config, kernel, buffer, 1000)
    finally:
        del sys.modules["program"]
    assert len(made_up_gpu) == 3 and len(runs) == len(waited) == 2
    assert core.launch is plain is program.go
    assert (runs[0].arrays["arg0"].view("f4") == 2).all() and runs[0].kernel == "twice"
    assert (runs[1].arrays["arg0"].view("f4")[900:] == 1).all()
    assert runs.left_out.rows == (("twice", 1, "max_launches=2 were kept"),)
