"""Performances whose launches are emulated in another process."""

import sys
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import Cancelled, InputError
from gpuviz.course import lesson
from gpuviz.files.allowed_paths import Reach
from gpuviz.processes import calls
from gpuviz.run.session import Library
from gpuviz.story import perform as performing
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import perform

HUGE = """extern "C" __global__ void huge(signed char *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i << 10] = 1;
    b[threadIdx.x] = a[i + 1];
    if (threadIdx.x == 3) b[1 << 29] = 1;
}
"""
BOTH = 1 << 30  # bytes that the window's process and the emulation may come to


@pytest.fixture(autouse=True, scope="module")
def none_left():
    yield
    calls.close()


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performing, "_KEPT", {})


@pytest.mark.parametrize("id", ["banks", "occupancy", "matmul-naive"])
def test_a_lesson_is_the_same(id: str) -> None:
    ours = perform(lesson(id), {}, level="ptx")
    performing._KEPT.clear()
    theirs = perform(lesson(id), {}, level="ptx", call=calls.call)
    assert ours.runs.keys() == theirs.runs.keys()
    for role, run in ours.runs.items():
        assert run.counts.totals == theirs.runs[role].counts.totals
        assert run.trace.instructions == theirs.runs[role].trace.instructions
        for name, values in run.outputs.items():
            assert np.array_equal(values, theirs.runs[role].outputs[name])
    assert ours.story.duration == theirs.story.duration


def test_it_is_cancelled() -> None:
    told: list[float] = []
    how = {"progress": told.append, "cancel": lambda: bool(told)}
    with pytest.raises(Cancelled):
        perform(lesson("roofline"), {}, level="ptx", call=calls.call, **how)


def peak(process: str = "self") -> int:
    """Bytes that a process had in memory at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bound no memory")
@pytest.mark.parametrize(
    ("size", "blocks", "said"),
    [
        (1 << 23, 256, ""),  # all of it is touched
        (1 << 26, 64, ""),  # a little of it
        (1 << 27, 64, ""),  # and twice, one run after the other
        (1 << 26, 2048, "more than 1,024 MiB of memory"),
        (1 << 29, 1, "the arguments need"),
    ],
)
def test_a_strangers_kernel_takes_no_more_than_a_gigabyte(
    size: int, blocks: int, said: str, tmp_path: Path
) -> None:
    """It goes far beyond its buffers, and all that is checked has a shadow."""
    file = tmp_path / "huge.cu"
    file.write_text(HUGE)
    sizes = (blocks, 1, 1), (32, 1, 1)
    launch = KernelLaunch(file, "huge", "huge", *sizes, (f"i8[{size}]=zeros", "i32[64]=zeros"))
    how = {"level": "ptx", "library": Library(reach=Reach(tmp_path)), "call": calls.call}
    before = peak()
    values = {"goes_on": True}
    if said:
        with pytest.raises(InputError, match=said):
            perform(lesson_of(launch), values, checks=("race", "init"), **how)
    else:
        (run,) = perform(lesson_of(launch), values, checks=("race", "init"), **how).runs.values()
        assert "memory" in {one.check for one in run.trace.findings}
    (process,) = calls._idle
    assert peak() - before + peak(str(process.process.pid)) < BOTH
