"""What needs an NVIDIA GPU: results, counters, times, places, and surviving what kernels do."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import Cancelled, KernelFault, LaunchError
from gpuviz.compile import compile_cuda
from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu, GpuLaunch, launch_of
from gpuviz.gpu.counters import LIVE_FORMS, NOT_COMPARED
from gpuviz.gpu.faults import TimeLimit, WorkerLost
from gpuviz.gpu.live import MeasureOptions
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.recordings.recording import Entry, LaunchKey, Recording, read, write
from gpuviz.recordings.stall_reasons import ALL, waits
from gpuviz.run import emulated, verification

pytestmark = pytest.mark.gpu

ADD = """extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] * 2.0f;
}"""
TILE = """extern "C" __global__ void turn(const float* in, float* out, int n) {
  __shared__ float s[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  s[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x]
      = s[threadIdx.x][threadIdx.y];
}"""
HERE = "int i = blockIdx.x * blockDim.x + threadIdx.x; "
PASSED = {
    "struct P { int n; float scale; const float* in; float* out; };"
    f'extern "C" __global__ void k(P p) {{ {HERE} if (i < p.n) p.out[i] = p.scale * p.in[i]; }}': (
        "{24; n@0 i32=4096; scale@4 f32=0.5; in@8 f32[4096]=rand; out@16 f32[4096]=zeros}",
    ),
    f'extern "C" __global__ void k(const float* in, int* b, float* out) {{ {HERE}'
    "out[i] = in[i - 3] + in[i + 3] + b[i]; }": (
        "f32[4102]+3=rand",
        "i32[4096]=arange",
        "f32[4096]=zeros",
    ),
    'extern "C" __constant__ float w[8]; extern "C" __device__ int bias;'
    f'extern "C" __global__ void k(float* out) {{ {HERE} out[i] = w[i & 7] + bias; }}': (
        "f32[4096]=zeros",
        "w:=f32*8=[1,2,3,4,5,6,7,8]",
        "bias:=i32=40",
    ),
    f'extern "C" __global__ void k(cudaTextureObject_t t, float4* out) {{ {HERE}'
    "out[i] = tex2D<float4>(t, (i % 64) / 64.0f * 1.7f - 0.3f, (i / 64) / 64.0f); }": (
        "image u8*4[32,16] wrap linear normalized float=rand",
        "f32[16384]=zeros",
    ),
}
TENSOR_COPIES = (Path(__file__).parents[1] / "ptx/kernels/tensor_copies.cu").read_text()
FAULTS = {
    "illegal address": "x[(1ull << 44) + threadIdx.x] = 1;",
    "not aligned": "*(int*)((char*)x + 1) = 1;",
    "illegal instruction|failed while it ran": "__trap();",
}


@pytest.fixture(scope="module")
def gpu() -> Iterator[Gpu]:
    with Gpu(limit=15) as one:
        yield one


def job(
    gpu: Gpu,
    source: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    *arguments: str,
    dynamic_shared: int = 0,
) -> Job:
    program = compile_cuda(source, arch=gpu.facts().sm)
    return Job(
        program,
        program.kernels[0],
        grid,
        block,
        tuple(map(parse, arguments)),
        dynamic_shared,
        "named",
    )


def adding(gpu: Gpu, n: int = 4096) -> Job:
    return job(
        gpu,
        ADD,
        (-(-n // 256), 1, 1),
        (256, 1, 1),
        f"f32[{n}]=rand",
        f"f32[{n}]=rand",
        f"f32[{n}]=zeros",
        f"i32={n}",
    )


def faulty(gpu: Gpu, body: str, *arguments: str) -> GpuLaunch:
    source = f'extern "C" __global__ void f(int* x, int n) {{ {body} }}'
    return launch_of(job(gpu, source, (1, 1, 1), (32, 1, 1), "i32[64]=zeros", "i32=1"))


def works(gpu: Gpu) -> bool:
    one = adding(gpu)
    expected = emulated.run(one, architecture(gpu.facts().capability)).outputs
    return np.array_equal(gpu.run(launch_of(one))[2], list(expected.values())[2])


def test_boxes_of_tensors(gpu: Gpu) -> None:
    """The driver encodes the maps: boxes beyond the edges, swizzled, and a product of wgmma."""
    sm = gpu.facts().sm
    if sm < "sm_90":
        pytest.skip(f"{sm} has no bulk copies of tensors")
    program = compile_cuda(TENSOR_COPIES, arch="sm_90a")
    boxes = "tensormap(f16[32,64]=rand, box=16x64, swizzle=128)", *["i32=2", "i32=-8", "i32=24"]
    maps = ["tensormap(f16[128,128]=rand, box=64x64, swizzle=128)" for _ in range(2)]
    launches = {
        "box": ((2, 1, 1), (32, 1, 1), (*boxes, "i32=0", "i32=2048", "u32[512]=zeros"), 4096),
        "product": (
            (2, 2, 1),
            (160, 1, 1),
            (*maps, "f32[16384]=zeros", "i32=128", "i32=128", "u64=0", "u64=0"),
            49152,
        ),
    }
    for name, (grid, block, arguments, shared) in launches.items():
        one = Job(program, name, grid, block, tuple(map(parse, arguments)), shared, "named")
        wanted = emulated.run(one, architecture("sm_90")).outputs.values()
        found = gpu.run(launch_of(one))
        assert len(found) == len(wanted)
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True)), name


def test_facts(gpu: Gpu) -> None:
    facts = gpu.facts()
    assert facts.name and facts.multiprocessors > 0 and facts.memory > 1 << 30 and facts.driver
    assert facts.limits["maxThreadsPerBlock"] == 1024


@pytest.mark.parametrize(
    "source, grid, block, arguments",
    [
        (
            ADD,
            (16, 1, 1),
            (256, 1, 1),
            ("f32[4096]=rand", "f32[4096]=rand", "f32[4096]=zeros", "i32=4000"),
        ),
        (TILE, (4, 4, 1), (32, 32, 1), ("f32[16384]=rand", "f32[16384]=zeros", "i32=128")),
        *((source, (32, 1, 1), (128, 1, 1), given) for source, given in PASSED.items()),
    ],
)
def test_results_and_counters_are_as_predicted(
    gpu: Gpu,
    source: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: tuple[str, ...],
) -> None:
    one = job(gpu, source, grid, block, *arguments)
    run = emulated.run(one, architecture(gpu.facts().capability), options=Options(record=()))
    found = live.measure(gpu, one, MeasureOptions(repeats=10), expected=run.outputs)
    assert found.differences and set(found.differences.values()) == {0.0}
    if gpu.facts().counters:
        pytest.skip(gpu.facts().counters)
    compared = verification.compare_run("", run, found.values())
    assert len(compared) > 20
    assert [c for c in compared if not c.equal] == []


def test_live_counters_agree_with_all_counters(gpu: Gpu) -> None:
    if gpu.facts().counters:
        pytest.skip(gpu.facts().counters)
    launch = launch_of(
        job(gpu, TILE, (8, 8, 1), (32, 32, 1), "f32[65536]=rand", "f32[65536]=zeros", "i32=256")
    )
    everything, quick = gpu.count(launch), gpu.count(launch, "panel")
    assert quick.keys() > LIVE_FORMS.keys() and not quick.keys() & NOT_COMPARED
    assert {k: r.value for k, r in quick.items()} == {k: everything[k].value for k in quick}
    assert gpu.count(launch, "live") == {k: quick[k] for k in LIVE_FORMS}
    assert quick["shared_load_wavefronts"].value == 32 * 64 * 32
    assert quick["global_store_requests"].value == 64 * 32
    assert waits({k: r.value for k, r in everything.items() if r.value is not None})[ALL] > 1


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_is_told_and_survived(gpu: Gpu, message: str) -> None:
    with pytest.raises(KernelFault, match=message):
        gpu.run(faulty(gpu, FAULTS[message]))
    assert works(gpu)


def test_a_kernel_that_never_ends_is_stopped() -> None:
    with Gpu(limit=15) as gpu:
        launch = faulty(gpu, "while (((volatile int*)x)[n] == 0) {}")
        gpu._limit = 3  # the first answer needs longer than this
        with pytest.raises(TimeLimit, match="3 s"):
            gpu.run(launch)
        gpu._limit = 15
        assert works(gpu)


def test_cancelling_stops_a_long_kernel_soon(gpu: Gpu) -> None:
    launch = faulty(gpu, "while (((volatile int*)x)[n] == 0) {}")
    start = time.monotonic()
    with pytest.raises(Cancelled):
        gpu.run(launch, cancel=lambda: time.monotonic() > start + 1)
    assert works(gpu)


def test_a_worker_killed_in_mid_run_is_replaced(gpu: Gpu) -> None:
    launch = faulty(gpu, "while (((volatile int*)x)[n] == 0) {}")
    assert works(gpu) and gpu._process is not None
    victim = gpu._process.pid
    threading.Timer(1.0, os.kill, (victim, signal.SIGKILL)).start()
    with pytest.raises(WorkerLost, match="SIGKILL"):
        gpu.run(launch)
    assert works(gpu)


def test_a_launch_beyond_the_device_is_refused(gpu: Gpu) -> None:
    launch = launch_of(adding(gpu))
    with pytest.raises(LaunchError):
        gpu.run(
            GpuLaunch(
                launch.form,
                launch.code,
                launch.ptx,
                launch.entry,
                (1, 1, 1),
                (2048, 1, 1),
                0,
                launch.arguments,
                launch.permit,
            )
        )
    assert works(gpu)


def test_what_a_kernel_prints_is_kept(gpu: Gpu) -> None:
    source = """#include <cstdio>
    extern "C" __global__ void f(int* x) { if (threadIdx.x == 3) printf("lane %d\\n", x[3]); }"""
    gpu.run(launch_of(job(gpu, source, (1, 1, 1), (32, 1, 1), "i32[32]=arange")))
    for _ in range(50):
        if "lane 3" in gpu.printed:
            break
        time.sleep(0.05)
    assert "lane 3" in gpu.printed


@pytest.mark.parametrize("mode", ["warm", "flushed", "rotated"])
def test_twice_the_work_takes_longer(gpu: Gpu, mode: str) -> None:
    small, large = (
        gpu.time(launch_of(adding(gpu, n)), 40, mode=mode)  # type: ignore[arg-type]
        for n in (1 << 22, 1 << 24)
    )
    assert len(small.microseconds) == 40 and (small.microseconds > 0).all()
    assert large.median > 1.5 * small.median
    assert small.clocks


def test_dynamic_shared_memory_beyond_the_default(gpu: Gpu) -> None:
    source = """extern "C" __global__ void f(int* x) {
      extern __shared__ int s[];
      s[threadIdx.x * 300] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[0] + 1; }"""
    one = job(gpu, source, (1, 1, 1), (32, 1, 1), "i32[32]=arange", dynamic_shared=60_000)
    assert gpu.run(launch_of(one))[0].tolist() == [1] * 32


def test_every_block_is_placed_once(gpu: Gpu) -> None:
    n = 256 * 3000
    placed = gpu.place(launch_of(adding(gpu, n)))
    facts = gpu.facts()
    assert placed.block.tolist() == list(range(3000))
    assert set(placed.sm.tolist()) == set(range(facts.multiprocessors))
    assert (placed.end_ns >= placed.start_ns).all() and placed.start_ns.min() == 0
    assert placed.end_ns.max() > placed.start_ns.max() > 0


def test_early_returns_are_placed_too(gpu: Gpu) -> None:
    source = """extern "C" __global__ void f(int* x, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i % 3 == 0) return;
      if (blockIdx.x == 2) { for (int k = 0; k < 20000; ++k) x[i] += k * x[(i + k) % 320]; }
      if (i % 3 == 1) return;
      x[i] = i; }"""
    placed = gpu.place(launch_of(job(gpu, source, (5, 2, 1), (32, 2, 1), "i32[320]=ones", "i32=5")))
    lasted = placed.end_ns - placed.start_ns
    assert len(placed.block) == 10 and set(np.argsort(lasted)[-2:]) == {2, 7}


def test_a_measurement_can_be_recorded(gpu: Gpu, tmp_path: Path) -> None:
    one = adding(gpu)
    found = live.measure(gpu, one, MeasureOptions(repeats=5, places=True, peaks=gpu.peaks()))
    key = LaunchKey("add.cu", "0", "add", one.grid, one.block, ())
    write(tmp_path / "a.gpurec", Recording(found.device, (Entry("l", "", {}, key, found),)))
    back = read(tmp_path / "a.gpurec").entries[0].measurement
    assert back.values() == found.values() and back.device == found.device
    assert found.timing is not None and back.timing is not None
    assert np.allclose(back.timing.microseconds, found.timing.microseconds)
    assert found.placement is not None and back.placement is not None
    assert np.array_equal(back.placement.sm, found.placement.sm)
    assert found.peaks is not None and found.peaks.bytes_per_second > 1e11
