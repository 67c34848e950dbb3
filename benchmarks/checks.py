"""What the checks of a launch cost: processor time with them over that without.

    python benchmarks/checks.py

Launches of half a million threads or so, counting included, one core; the least of 7 runs.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

from emulator import job as product

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated

SOURCE = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void saxpy(const float* x, float* y, int n) { if (I < n) y[I] += 2 * x[I]; }
extern "C" __global__ void stencil(const float* x, float* y, int n) {
  if (I > 0 && I < n - 1) y[I] = (x[I - 1] + x[I] + x[I + 1]) / 3;
}
extern "C" __global__ void gather(const unsigned* of, const float* x, float* y, int n) {
  if (I < n) y[I] = x[of[I]];
}
extern "C" __global__ void histogram(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = I; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] % 256], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
extern "C" __global__ void reduction(const float* in, float* out, int n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  part[t] = in[I];
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
"""
COUNT = 1 << 19
BUFFERS = {
    "saxpy": ("f32[{n}]=rand", "f32[{n}]=rand"),
    "stencil": ("f32[{n}]=rand", "f32[{n}]=zeros"),
    "gather": ("u32[{n}]=shuffle", "f32[{n}]=rand", "f32[{n}]=zeros"),
    "histogram": ("u32[{n}]=rand", "u32[256]=zeros"),
    "reduction": ("f32[{n}]=rand", "f32[{n}]=zeros"),
}
CHECKS = ((), ("memory", "init", "sync"), ("race",), ("memory", "race", "init", "sync"))


def jobs() -> dict[str, Job]:
    """What is launched."""
    program, found = compile_cuda(SOURCE), {"product 256 x 256": product(256)}
    for name, buffers in BUFFERS.items():
        specs = (*(text.format(n=COUNT) for text in buffers), f"i32={COUNT}")
        blocks = 64 if name == "histogram" else COUNT // 256
        found[name] = Job(program, name, (blocks, 1, 1), (256, 1, 1), tuple(map(parse, specs)))
    return found


def seconds(job: Job, checks: tuple[str, ...]) -> float:
    """Processor time of a launch."""
    start = time.process_time()
    emulated.run(job, architecture("sm_90"), options=Options(checks=checks, engine="numpy"))
    return time.process_time() - start


def main() -> None:
    """Print the table of docs/sanitizers.md."""
    for name, one in jobs().items():
        seconds(one, ())
        plain, *checked = (min(seconds(one, checks) for _ in range(7)) for checks in CHECKS)
        cells = " | ".join(f"{time_ / plain:.2f}" for time_ in checked)
        print(f"| {name} ({plain * 1000:.0f} ms without) | {cells} |")


if __name__ == "__main__":
    main()
