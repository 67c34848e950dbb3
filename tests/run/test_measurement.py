"""Statistics of timings, differences of results, rates."""

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.gpu.faults import in_words, is_fatal, name_of
from gpuviz.launch.job import Job
from gpuviz.recordings.measurement import Peaks, Timing, largest_difference, without_maps
from gpuviz.run import emulated
from gpuviz.run.throughput import throughput, work_of


def test_statistics_of_a_timing() -> None:
    timing = Timing(np.array([4.0, 1.0, 2.0, 3.0, 100.0]), clocks=(1980.0, 1950.0))
    assert (timing.median, timing.minimum, timing.spread) == (3.0, 1.0, 2.0)
    assert timing.clock_note == ""
    assert "between 1500 and 1980 MHz" in Timing(np.ones(1), clocks=(1980.0, 1500.0)).clock_note
    assert Timing(np.ones(1)).clock_note == ""


@pytest.mark.parametrize(
    "got, want, apart",
    [
        (np.float32([1, 2]), np.float32([1, 2.5]), 0.5),
        (np.float32([np.nan, np.inf]), np.float32([np.nan, np.inf]), 0.0),
        (np.float32([np.nan]), np.float32([1]), np.inf),
        (np.uint8([0, 255]), np.uint8([255, 255]), 255.0),
        (np.int64([2**62]), np.int64([2**62]), 0.0),
        (np.float16([]), np.float16([]), 0.0),
    ],
)
def test_largest_difference(got: np.ndarray, want: np.ndarray, apart: float) -> None:
    assert largest_difference(got, want) == apart


def test_work_and_rates_of_a_launch() -> None:
    source = """extern "C" __global__ void f(const float* a, float* b) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      b[i] = a[2 * i] * 3.0f + 1.0f; }"""
    program = compile_cuda(source)
    job = Job(
        program, "f", (4, 1, 1), (64, 1, 1), (parse("f32[512]=rand"), parse("f32[256]=zeros"))
    )
    work = work_of(emulated.run(job, architecture("9.0")))
    assert (work.asked, work.moved, work.flops) == (2048, 2048 + 1024, 512)
    rates = throughput(work, 2.0)
    assert rates.asked == pytest.approx(2048 / 2e-6)
    assert rates.of_peak(Peaks(2048e6, 512e6)) == pytest.approx((0.5, 0.5))


def test_what_is_copied_into_shared_memory_is_asked_for_once() -> None:
    source = """#include <cuda_pipeline.h>
    extern "C" __global__ void f(const float* a, float* b) {
      __shared__ float tile[64];
      __pipeline_memcpy_async(&tile[threadIdx.x], &a[threadIdx.x], 4);
      __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
      b[threadIdx.x] = tile[63 - threadIdx.x]; }"""
    given = parse("f32[64]=rand"), parse("f32[64]=zeros")
    job = Job(compile_cuda(source), "f", (1, 1, 1), (64, 1, 1), given)
    run = emulated.run(job, architecture("9.0"))
    assert run.counts.totals["global_copy_bytes"] == 256
    assert work_of(run).asked == 256 + 256


@pytest.mark.parametrize(
    "text, fatal, words",
    [
        (
            "cudaErrorIllegalAddress: an illegal memory access was encountered",
            True,
            "illegal address",
        ),
        ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access", True, "illegal address"),
        ("CUDA_ERROR_MISALIGNED_ADDRESS: misaligned address", True, "not aligned"),
        ("cudaErrorLaunchFailure: unspecified launch failure", True, "failed while it ran"),
        ("CUDA_ERROR_LAUNCH_TIMEOUT: the launch timed out", True, "ran too long"),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources", False, "more registers"),
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION: newer PTX", False, "update the driver"),
        ("cudaErrorInsufficientDriver: driver version is insufficient", False, "driver is missing"),
    ],
)
def test_errors_of_cuda_in_words(text: str, fatal: bool, words: str) -> None:
    error = RuntimeError(text)
    assert (
        is_fatal(error) is fatal and words in str(in_words(error)) and text in str(in_words(error))
    )


def test_other_errors_stay_as_they_are() -> None:
    error = ValueError("x")
    assert in_words(error) is error and name_of(error) == "" and not is_fatal(error)


def test_maps_that_a_kernel_makes_are_not_compared() -> None:
    """The emulator's begin with letters of its own."""
    expected = np.arange(512, dtype=np.uint8)
    expected[128:132] = np.frombuffer(b"gTMA", np.uint8)
    got = expected.copy()
    got[128:256] = 7
    assert largest_difference(got, without_maps(expected, got)) == 0
    got[300] += 1
    assert largest_difference(got, without_maps(expected, got)) == 1
    wide = expected.view(np.float32)
    assert without_maps(wide, wide) is wide
