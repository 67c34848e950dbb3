"""Faults of a real GPU's process, one after the other, before a window that goes on.

GPUVIZ_FAULTS says how many (100), GPUVIZ_FAULT_SECONDS how long at most (400).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

pytest.importorskip("pytestqt")
pytest.importorskip("PySide6")

from pytestqt.qtbot import QtBot

from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.gpu.client import Gpu
from gpuviz.launch.job import Job
from gpuviz.qt.window.window import Window
from gpuviz.run.session import Library
from gpuviz.story.lesson import Plan
from gpuviz.story.sources import Sources
from tests.qt.conftest import make, perform  # noqa: F401  the window over fake lessons
from tests.qt.fake_lesson import FakePerform
from tests.qt.fault_drill import Drill, Fault, check, only_threads_wait

pytestmark = pytest.mark.gpu
LIMIT = 3.0
LOST = "was lost (it ended by SIGKILL)"
KERNELS = {
    "": "int i = blockIdx.x * blockDim.x + threadIdx.x; out[i % 32] = in[i * stride % 64];",
    "illegal": "out[(1ull << 44) + threadIdx.x] = 1.0f;",
    "misaligned": "*(float*)((char*)out + 1) = in[0];",
    "trap": "if (in[1] == 1.0f) __trap();",
    "assert": "assert(in[1] == 0.0f);",
    "endless": "while (*(volatile float*)in == 0.0f) {}",
    "huge": "out[0] = big[(size_t)stride * threadIdx.x];",
}
FAULTS = (
    Fault("illegal address", "illegal address", "illegal"),
    Fault("killed", LOST, kill=signal.SIGKILL),
    Fault("not aligned", "not aligned", "misaligned"),
    Fault("endless", "the kernel may never end", "endless"),
    Fault("trap", "the kernel", "trap"),
    Fault("huge", "too little free memory", "huge"),
    Fault("stopped", "did not answer", kill=signal.SIGSTOP),
    Fault("assertion", "assertion", "assert"),
    Fault("no driver", "GPU", missing=("CUDA_VISIBLE_DEVICES", "")),
    # A kill that comes before the process of this launch is there ends nothing.
    Fault(
        "killed in an endless kernel",
        LOST,
        "endless",
        kill=signal.SIGKILL,
        or_said=("the kernel may never end",),
    ),
)


def source(kernel: str) -> str:
    """The kernel that is measured; one of them needs more memory than there is."""
    more = "__device__ unsigned char big[200ull << 30];\n" if kernel == "huge" else ""
    head = "#include <cassert>\n" if kernel == "assert" else ""
    return (
        f'{head}{more}extern "C" __global__ void pairs(const float* in, float* out, int stride) '
        f"{{ {KERNELS[kernel]} }}\n"
    )


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_faults_in_a_row(
    make: Callable[..., Window],  # noqa: F811
    perform: FakePerform,  # noqa: F811
    qtbot: QtBot,
) -> None:
    perform.planned = True
    kernel = ""

    def use(name: str) -> None:
        nonlocal kernel
        kernel = name

    def job(plan: Plan, arch: str, library: Library | None = None) -> Job:
        program = compile_cuda(source(kernel), arch=arch)
        arguments = tuple(map(parse, plan.arguments))
        return Job(program, "pairs", plan.grid, plan.block, arguments, whose="course")

    window = make(Sources(lambda number: Gpu(number, limit=LIMIT), job))
    qtbot.waitUntil(lambda: window.meter.state.device is not None, timeout=60_000)
    count = int(os.environ.get("GPUVIZ_FAULTS", "100"))
    drill = Drill(window, qtbot, use, 2 * LIMIT)
    try:
        with only_threads_wait():
            drill.go_through(FAULTS, count, float(os.environ.get("GPUVIZ_FAULT_SECONDS", "400")))
    finally:
        print(drill.found)
    assert drill.found.faults >= min(count, 2 * len(FAULTS))
    check(drill.found)
