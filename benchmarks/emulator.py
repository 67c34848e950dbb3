"""How fast the emulator is: thread instructions a second on tiled matrix multiplication.

    python benchmarks/emulator.py          256 x 256, tiles of 16, counting included, one core
    python benchmarks/emulator.py --numba  the same kernel in Numba's CUDA simulator, and the ratio

The ratio is by thread instructions of the PTX: the simulator is timed on a small size, and its time
is divided by the instructions our emulator executes for that size. Numba is no dependency of
gpuviz: pip install numba.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated

SOURCE = """
extern "C" __global__ void multiply(const float* m, const float* n, float* p, int width) {
  __shared__ float ms[16][16];
  __shared__ float ns[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int first = 0; first < width; first += 16) {
    ms[y][x] = m[row * width + first + x];
    ns[y][x] = n[(first + y) * width + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += ms[y][k] * ns[k][x];
    __syncthreads();
  }
  p[row * width + column] = sum;
}
"""


def job(width: int) -> Job:
    """The launch for square matrices of a width that is a multiple of 16."""
    count = width * width
    specs = (f"f32[{count}]=rand", f"f32[{count}]=rand", f"f32[{count}]=zeros", f"i32={width}")
    return Job(
        compile_cuda(SOURCE),
        "multiply",
        (width // 16, width // 16, 1),
        (16, 16, 1),
        tuple(map(parse, specs)),
    )


def emulate(width: int, level: str = "ptx") -> tuple[float, int]:
    """Processor seconds and thread instructions of one run, tracing and counting included."""
    one = job(width)
    start = time.process_time()
    run = emulated.run(one, architecture("sm_90"), level=level, options=Options(engine="numpy"))  # type: ignore[arg-type]
    return time.process_time() - start, run.trace.thread_instructions


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numba", action="store_true", help="time Numba's simulator as well")
    parser.add_argument("--repeat", type=int, default=7)
    arguments = parser.parse_args()
    emulate(64)
    rates = {}
    for level in ("ptx", "sass"):
        found = [emulate(256, level) for _ in range(arguments.repeat)]
        rates[level] = statistics.median(count / seconds for seconds, count in found)
        print(
            f"emulator, {level} level: {rates[level] / 1e6:,.0f} million thread instructions a "
            f"second (median of {arguments.repeat}, {found[0][1]:,} instructions)"
        )
    if arguments.numba:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when numba is imported
        from numba_simulator import simulate

        seconds, width = simulate(32), 32
        rate = emulate(width)[1] / seconds
        print(
            f"Numba's simulator, {width} x {width}: {rate / 1e6:.4f} million a second; the "
            f"emulator is {rates['ptx'] / rate:,.0f} times as fast"
        )


if __name__ == "__main__":
    main()
