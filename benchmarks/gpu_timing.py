"""Event timings against the hardware's own duration counter, and readings a second.

python benchmarks/gpu_timing.py        on a machine with an NVIDIA GPU and CuPy
"""

import time

from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.gpu.client import Gpu, launch_of
from gpuviz.gpu.counters import SETS
from gpuviz.launch.job import Job

COPY = """extern "C" __global__ void copy(const float4* a, float4* b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    b[i] = a[i];
}"""
SPIN = """extern "C" __global__ void spin(float* a, int n) {
  float v = a[threadIdx.x];
  for (int i = 0; i < n; ++i) v = v * 0.999f + 1.0f;
  a[blockIdx.x * blockDim.x + threadIdx.x] = v;
}"""


def job(gpu: Gpu, source: str, blocks: int, *arguments: str) -> Job:
    program = compile_cuda(source, arch=gpu.facts().sm)
    return Job(
        program,
        program.kernels[0],
        (blocks, 1, 1),
        (256, 1, 1),
        tuple(map(parse, arguments)),
        whose="course",
    )


def jobs(gpu: Gpu) -> dict[str, Job]:
    found = {}
    for millions in (1, 4, 16, 64):
        n = millions << 20
        found[f"copy of {millions * 4} MiB"] = job(
            gpu, COPY, 1056, f"f32[{n}]=zeros", f"f32[{n}]=zeros", f"i32={n // 4}"
        )
    for thousands in (1, 10, 50, 200):
        found[f"{thousands}000 multiply-adds a thread"] = job(
            gpu, SPIN, 132, "f32[33792]=ones", f"i32={thousands * 1000}"
        )
    return found


def timings(gpu: Gpu) -> None:
    print(f"{'launch':34}{'events us':>12}{'counter us':>12}{'difference':>12}")
    for name, one in jobs(gpu).items():
        launch = launch_of(one)
        events = gpu.time(launch, 100).median
        found = sorted(gpu.count(launch)["duration_ns"].value or 0.0 for _ in range(5))[2] / 1000
        print(f"{name:34}{events:12.2f}{found:12.2f}{events / found - 1:12.1%}")


def rates(gpu: Gpu) -> None:
    launch = launch_of(job(gpu, COPY, 64, "f32[65536]=zeros", "f32[65536]=zeros", "i32=16384"))
    for which in SETS:
        gpu.count(launch, which)
        start, number = time.perf_counter(), 0
        while time.perf_counter() < start + 2:
            gpu.count(launch, which)
            number += 1
        print(f"{which} counters: {number / (time.perf_counter() - start):.1f} readings a second")


if __name__ == "__main__":
    with Gpu() as one:
        print(one.facts().name, one.peaks())
        timings(one)
    with Gpu() as one:  # afresh: CUPTI saves all memory there is, for each pass over a kernel
        rates(one)
