"""`with gpuviz.trace()`: launches as libraries make them, without a GPU and with a made-up one."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import gpuviz
from gpuviz.api import tracing
from gpuviz.base.errors import KernelFault

numba_programs = pytest.importorskip("tests.integrations.numba_programs", exc_type=ImportError)
triton_programs = pytest.importorskip("tests.integrations.triton_programs", exc_type=ImportError)
from numba import cuda  # noqa: E402
from numba.cuda.dispatcher import CUDADispatcher  # noqa: E402
from triton.runtime.autotuner import Autotuner  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION", "ignore:.*Grid size"),
]


def hooks() -> tuple[object, ...]:
    return (CUDADispatcher.call, JITFunction.run, Autotuner.run, Autotuner._bench)


def test_launches_run_on_the_emulator_and_fill_their_arrays() -> None:
    before = hooks()
    x, out = np.arange(1000, dtype="f4"), np.zeros(1000, "f4")
    with gpuviz.trace() as runs:
        numba_programs.add[4, 256](x, x, out, 2.0)
        assert (out == 3 * x).all()
        triton_programs.add[(4,)](x, out, out, 1000, BLOCK=256)
        triton_programs.scale[lambda meta: (1000 // meta["BLOCK"] + 1,)](out, 0.5, 1000)
    assert (out == 2 * x).all()
    assert [(run.kernel, run.grid[0], run.block[0]) for run in runs] == [
        ("add", 4, 256),
        ("add", 4, 128),
        ("scale", 4, 64),
    ]
    assert runs[0].trace.source != runs[1].trace.source and len(runs[1:]) == 2
    assert len(runs.left_out) == 0 and hooks() == before


def test_what_is_left_out_is_said_and_runs_all_the_same() -> None:
    x, out = np.ones(256, "f4"), np.zeros(256, "f4")
    with gpuviz.trace(max_launches=2, match="ad") as runs:
        for _ in range(4):
            numba_programs.add[1, 256](x, out, out, 1.0)
        numba_programs.histogram[1, 64](np.zeros(64, "i4"), np.zeros(64, "i4"))
    assert (out == 4).all() and len(runs) == 2
    assert [row["launches"] for row in runs.left_out] == [2, 1]
    assert "max_launches=2 were kept" in repr(runs) and "its name has no 'ad'" in repr(runs)
    assert "<table>" in runs._repr_html_()


def test_all_is_as_before_after_an_exception() -> None:
    before = hooks()
    with pytest.raises(KernelFault), gpuviz.trace(faults="raise"):  # threads without an element
        numba_programs.transpose[(1, 1), (32, 32)](np.zeros((8, 8), "f4"), np.zeros((8, 8), "f4"))
    assert hooks() == before
    with pytest.raises(ZeroDivisionError), gpuviz.trace():
        _ = 1 // 0
    assert hooks() == before


@pytest.fixture
def made_up_gpu(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Numba's launches go nowhere, and are noted."""
    made: list[str] = []
    device = SimpleNamespace(compute_capability=(8, 0))
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "get_current_device", lambda: device)
    monkeypatch.setattr(CUDADispatcher, "call", lambda self, args, config: made.append("launch"))
    return made


def test_on_a_gpu_each_launch_is_made_once(made_up_gpu: list[str]) -> None:
    x, out = np.ones(256, "f4"), np.zeros(256, "f4")
    with gpuviz.trace(max_launches=1) as runs:
        numba_programs.add[1, 256](x, x, out, 1.0)
        numba_programs.add[1, 256](x, x, out, 1.0)
        numba_programs.add[1, 256](x, x, out, (1.0, 2.0))
    assert len(made_up_gpu) == 3 and not out.any()  # the arrays are the GPU's to fill
    assert runs[0].arch == "sm_80" and (runs[0].arrays["out"] == 2).all()
    with gpuviz.trace() as runs:
        numba_programs.add[1, 256](x, x, out, (1.0, 2.0))
    assert len(made_up_gpu) == 4 and len(runs) == 0
    assert runs.left_out.rows[0][2].endswith("arrays and numbers can be traced")


def test_what_fails_here_never_fails_the_program(
    made_up_gpu: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.ones(256, "f4")
    monkeypatch.setattr(tracing, "of_asked", lambda *_: 1 // 0)
    with gpuviz.trace() as runs:
        numba_programs.add[1, 256](x, x, x, 1.0)
    assert len(made_up_gpu) == 1 and not runs
    assert runs.left_out.rows[0][2].startswith("ZeroDivisionError")


def test_a_launch_that_is_filtered_out_costs_little(made_up_gpu: list[str]) -> None:
    x = np.ones(32, "f4")
    config = numba_programs.add[1, 32]

    def microseconds() -> float:
        times = []
        for _ in range(300):
            began = time.perf_counter_ns()
            config(x, x, x, 1.0)
            times.append(time.perf_counter_ns() - began)
        return sorted(times)[150] / 1000

    plain = microseconds()
    with gpuviz.trace(match="nothing"):
        watched = microseconds()
    print(f"{watched - plain:.2f} us")
    assert watched - plain < 20
