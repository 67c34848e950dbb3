"""A hundred faults of the GPU's process in a row: told each time, and nothing is left of them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.gpu.client import Gpu
from gpuviz.launch.job import Job
from gpuviz.qt.window.window import Window
from gpuviz.run.session import Library
from gpuviz.story.lesson import Plan
from gpuviz.story.sources import Sources
from tests.qt import fake_gpu
from tests.qt.fake_lesson import FakePerform, job_of
from tests.qt.fault_drill import Drill, Fault, check, only_threads_wait

LIMIT = 0.7
LOST = "was lost (it ended by SIGKILL)"
FAULTS = (
    Fault("illegal address", "illegal address", "fault"),
    Fault("killed", LOST, kill=signal.SIGKILL),
    Fault("hangs", "did not answer within 0.7 s", "hang"),
    Fault("full", "too little free memory", "full"),
    Fault("dies", "was lost (it ended with exit status 7)", "die"),
    Fault("stopped", "did not answer", kill=signal.SIGSTOP),
    Fault("babbles", "not of this protocol", "babble"),
    Fault("no driver", "no NVIDIA driver", missing=("FAKE_GPU", "none")),
)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are stopped and looked up")
def test_a_hundred_faults_in_a_row(
    make: Callable[..., Window], perform: FakePerform, qtbot: QtBot
) -> None:
    perform.planned = True
    kernel = ""

    def use(name: str) -> None:
        nonlocal kernel
        kernel = name

    def job(plan: Plan, arch: str, library: Library | None = None) -> Job:
        made = job_of(plan, arch, library)
        return replace(made, entry=kernel or made.entry)

    def gpu(device: int) -> Gpu:
        return Gpu(device, limit=LIMIT, arguments=fake_gpu.arguments())

    window = make(Sources(gpu, job))
    qtbot.waitUntil(lambda: window.meter.state.device is not None, timeout=20_000)
    with only_threads_wait():
        found = Drill(window, qtbot, use, LIMIT).go_through(FAULTS, 100)
    print(found)
    check(found)
