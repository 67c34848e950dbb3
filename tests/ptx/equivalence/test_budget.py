"""A launch takes no longer than its time: all of it, else classes of blocks, else a sample."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse as spec
from gpuviz.base.errors import Cancelled, KernelFault
from gpuviz.base.waiting import TimeLeft, remaining
from gpuviz.cli import main
from gpuviz.compile import compile_cuda
from gpuviz.course import lesson
from gpuviz.launch.job import Job
from gpuviz.memory.counts import Count
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.options import Limits, OutOfTime
from gpuviz.run import emulated
from gpuviz.run.verification import compare_run
from gpuviz.story.perform import job_of
from tests.ptx.launching import launch

SLOW = """
extern "C" __global__ void k(float *a, const int *turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i];
  for (int j = 0; j < turns[blockIdx.x & 1]; ++j) x = x * 0.5f + 1.0f;
  a[i] = x;
}
"""
ENDLESS = """
extern "C" __global__ void k(volatile int *a) {
  while (a[0] == 0) {}
  a[1] = 1;
}
"""
BLOCKS = 4000


def sampled(seconds: float = 60.0, how: str = "sample", blocks: int = BLOCKS):
    """A launch of which nothing can be proved: one block in two takes twice the turns."""
    given = np.zeros(blocks * 32, np.float32), np.array([400, 800], np.int32)
    options = Options(blocks=how, seconds=seconds, engine="numpy")
    return launch(SLOW, "k", blocks, 32, *given, options=options)


@pytest.mark.slow
def test_a_sample_says_so_and_stands_for_all_blocks():
    found = sampled()
    assert found.coverage.how == "sample" and not found.coverage.whole
    assert 8 <= found.coverage.run <= 66 and found.trace.blocks_emulated == BLOCKS
    assert "no number is exact" in found.trace.notes[0]
    each = {one.blocks for one in found.samples}
    assert each == {1}


def test_what_all_blocks_do_is_estimated_within_its_bounds():
    text = compile_cuda(SLOW)
    arguments = tuple(map(spec, (f"f32[{BLOCKS * 32}]=zeros", "i32[2]=arange")))
    job = Job(text, "k", (BLOCKS, 1, 1), (32, 1, 1), arguments)
    arch = architecture("sm_90")
    options = Options(record=(), blocks="sample")
    run = emulated.run(job, arch, level="ptx", options=options)
    whole = emulated.run(job, arch, level="ptx", options=Options(record=(), blocks="all"))
    assert run.sampled and run.about == "≈ " and not whole.sampled and not whole.bounds
    for key, (least, most) in run.bounds.items():
        assert least <= run.counts.totals[key] <= most
        assert least <= whole.counts.totals[key] <= most
    exact = whole.counts.totals[Count.GLOBAL_STORE_SECTORS]
    assert run.counts.totals[Count.GLOBAL_STORE_SECTORS] == exact
    (one,) = compare_run("a", run, {str(Count.GLOBAL_STORE_SECTORS): exact})
    assert one.difference == 0 and not one.equal and one.note == "sampled"


def test_a_launch_that_would_take_too_long_is_sampled_within_its_time():
    found = sampled(0.6, "auto", 50 * BLOCKS)
    assert found.coverage.how == "sample" and "longer than 0.6 s" in found.coverage.why
    assert "depends on what memory holds" in found.coverage.why


LOOPS = """
extern "C" __global__ void k(float *a, int n) {
  float x = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < 8; ++l) x = x * 0.5f + (i ^ j) + l;
  a[threadIdx.x] = x;
}
"""


@pytest.mark.slow
def test_few_threads_in_loops_within_loops_go_to_the_compiled_engine_in_time(tmp_path, capsys):
    file = tmp_path / "loops.cu"
    file.write_text(LOOPS)
    small = ["count", str(file), "--grid", "1", "--block", "2", "--arg", "zeros", "--level", "ptx"]
    assert main([*small, "--arg", "n=1500", "--budget", "12"]) == 0
    said = capsys.readouterr().out
    assert "executed by the compiled engine" in said and "checked nothing" in said
    assert "global_store_requests           1" in said
    assert main([*small, "--arg", "n=4"]) == 0
    assert "executed by the compiled engine" not in capsys.readouterr().out


def test_all_blocks_are_all_blocks_or_an_error():
    with pytest.raises(OutOfTime, match=r"of the blocks done: it takes longer than 0\.5 seconds"):
        launch(
            "\n" + SLOW,
            "k",
            200_000,
            32,
            np.zeros(200_000 * 32, np.float32),
            np.array([40, 80], np.int32),
            options=Options(blocks="all", seconds=0.5, engine="numpy"),
        )


def test_an_endless_kernel_is_named_within_its_time():
    with pytest.raises(KernelFault, match="may never end"):
        launch(ENDLESS, "k", 8, 32, np.zeros(2, np.int32), options=Options(seconds=0.3))


@pytest.mark.parametrize(
    ("spent", "done", "patient", "late"),
    [
        (0.5, 0.9, True, False),
        (1.1, 0.9, True, True),
        (1.1, 1.0, True, False),
        (0.05, 0.001, False, False),
        (0.2, 0.1, False, True),
        (0.2, 0.3, False, False),
        (0.4, 0.0, False, False),
        (0.6, 0.0, False, True),
    ],
)
def test_it_is_late_when_time_is_up_or_plainly_will_not_do(spent, done, patient, late):
    told = {"patient": patient, "started": 100.0, "done": done, "clock": lambda: 100.0 + 10 * spent}
    limits = Limits(lambda: False, lambda f: None, 10.0, **told)
    assert limits.late is late


def test_cancelled_while_classes_are_looked_for():
    text = 'extern "C" __global__ void k(int *a) { a[blockIdx.x * 32 + threadIdx.x] = 1; }\n'
    with pytest.raises(Cancelled):
        launch(
            text,
            "k",
            9,
            32,
            np.zeros(288, np.int32),
            options=Options(blocks="classes", cancel=lambda: True),
        )


COUNT = ("--grid", "40", "--block", "32", "--arg", "f32[1280]=zeros", "--arg", "i32[2]=arange")


@pytest.mark.slow
def test_the_command_says_what_its_numbers_are(tmp_path, capsys):
    file = tmp_path / "slow.cu"
    file.write_text(SLOW)
    assert main(["count", str(file), *COUNT, "--blocks", "sample", "--level", "ptx"]) == 0
    said = capsys.readouterr().out
    assert "≈ 160  (sampled; blocks x their least and most: 160 to 160)" in said
    assert "no number is exact" in said
    assert main(["count", str(file), *COUNT, "--blocks", "sample", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["coverage"]["how"] == "sample" and found["bounds"]["global_store_sectors"]


def test_the_time_left_is_said_in_words():
    assert remaining(10.0, 0.5) == "10 s" and remaining(100.0, 0.1) == "15 min"


def test_the_time_left_is_said_once_it_can_be_told():
    now = [0.0]
    left = TimeLeft(lambda: now[0])
    assert left.at(0.0) == ""
    now[0] = 1.0
    assert left.at(0.1) == ""  # too soon
    now[0] = 2.0
    assert left.at(0.2) == "8 s"
    assert left.at(0.1) == ""  # it began anew
    now[0] = 4.0
    assert left.at(0.5) == "2 s" and left.at(1.0) == ""


@pytest.mark.slow
@pytest.mark.machine_code
@pytest.mark.parametrize("rung", [17, 18])
def test_a_sample_counts_bulk_copies_and_what_wgmma_reads(rung: int) -> None:
    """Two of the ladder's rungs, whose blocks all do the same."""
    one = lesson("ladder")
    plan = next(p for p in one.plan(one.defaults() | {"rung": rung}) if not p.companion_of)
    whole, some = (
        emulated.run(job_of(plan, "sm_90"), architecture("9.0"), options=Options(blocks=blocks))
        for blocks in ("all", "sample")
    )
    assert some.coverage is not None
    assert some.coverage.how == "sample"
    assert some.counts.totals[Count.SHARED_MATRIX_WAVEFRONTS] > 0
    assert some.counts.totals == whole.counts.totals
