"""What the rungs of the ladder take beside cuBLAS on this GPU, turn by turn.

    python benchmarks/ladder.py ladder.json        (needs CuPy and an H100 or H200)

Medians at 1024, 2048 and 4096; each rung's result is compared with float64 before. What is written
is what the lesson shows, resources/recordings/ladder.json; `checksums.seal_again` seals it.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
from cupy_backends.cuda.libs import cublas

from gpuviz.arguments import parse
from gpuviz.base import resources
from gpuviz.compile.compiler import load_program
from gpuviz.course.matrix_products.ladder.rungs import RUNGS, Rung
from gpuviz.gpu.kernel import encoded
from gpuviz.recordings.ladder_times import LadderTime, LadderTimes, source_of, write

SIZES = (1024, 2048, 4096)
FLOAT, HALF = 0, 2  # cuBLAS's names of types; of the arithmetic with sums of floats, and with tf32:
SUMS = {"fp32": 68, "tf32": 77, "fp16": 68}
BOUND = {"fp32": 2.0**-24, "tf32": 2.0**-10, "fp16": 2.0**-24}  # of errors; times n but for tf32
CUBLAS = "cuBLAS "  # its calls; a rung may be named as its numbers are
PEAK = (4096, 264)  # steps of the kernel that finds what mma.sync reaches, and its blocks
Call = Callable[[], None]


def module(path: Path) -> Any:
    """A file, compiled for wgmma."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(load_program(path, arch="sm_90a").cubin or b"")
        file.flush()
        loaded = cp.RawModule(path=file.name)
        loaded.compile()
    return loaded


def launch(rung: Rung, modules: dict[str, Any], m: Any, n: Any, p: Any, side: int) -> Call:
    """The launch of a rung; its arguments lie at fixed places."""
    function = modules[rung.kernel].get_function(rung.entry)
    function.max_dynamic_shared_size_bytes = rung.shared
    plan = rung.plan(rung.name, side)
    if rung.boxes:
        maps = zip(plan.arguments, (m, n), strict=False)
        given = [ctypes.create_string_buffer(encoded(parse(a).map_at(x.data.ptr)), 128)
                 for a, x in maps]  # type: ignore[union-attr]  # fmt: skip
    else:
        given = [ctypes.c_void_p(x.data.ptr) for x in (m, n)]
    given += [ctypes.c_void_p(p.data.ptr), ctypes.c_int(side)]
    places = (ctypes.c_void_p * 4)(*(ctypes.cast(ctypes.byref(g), ctypes.c_void_p) for g in given))
    shape, stream = (*plan.grid, *plan.block, rung.shared), cp.cuda.get_current_stream().ptr

    def call() -> None:
        at = ctypes.addressof(places)
        cp.cuda.driver.launchKernel(function.kernel.ptr, *shape, stream, at, 0)

    call.given = function, given, (m, n, p)  # type: ignore[attr-defined]
    return call


def library(numbers: str, m: Any, n: Any, p: Any, side: int) -> Call:
    """cuBLAS's product of the same numbers: by columns P' = N' M'."""
    handle, kind = cp.cuda.device.get_cublas_handle(), HALF if numbers == "fp16" else FLOAT
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    size, a, b = (side, side, side), (n.data.ptr, kind, side), (m.data.ptr, kind, side)
    return lambda: cublas.gemmEx(
        handle, 0, 0, *size, one.ctypes.data, *a, *b, zero.ctypes.data, p.data.ptr, FLOAT, side,
        SUMS[numbers], -1,
    )  # fmt: skip


def timed(calls: dict[str, Call], repeats: int) -> dict[str, float]:
    """Medians in microseconds, all once a turn, the longest first: what follows waits in the queue,
    so that no duration holds the host's time for its launch.
    """
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        events = {name: (cp.cuda.Event(), cp.cuda.Event()) for name in calls}
        for name, call in calls.items():
            events[name][0].record()
            call()
            events[name][1].record()
        cp.cuda.get_current_stream().synchronize()
        for name, (begin, end) in events.items():
            found[name].append(cp.cuda.get_elapsed_time(begin, end) * 1e3)
    return {name: statistics.median(times) for name, times in found.items()}


def at_size(side: int, modules: dict[str, Any], repeats: int) -> list[LadderTime]:
    """All rungs and cuBLAS at one size, their results compared with float64 first."""
    rng, p = cp.random.default_rng(1), cp.zeros((side, side), cp.float32)
    floats = [rng.random((side, side), dtype=cp.float32) - 0.5 for _ in range(2)]
    given = dict.fromkeys(("fp32", "tf32"), floats)
    given["fp16"] = [x.astype(cp.float16) for x in floats]
    calls: dict[str, Call] = {}
    for rung in RUNGS:
        m, n = given[rung.numbers]
        calls[rung.entry] = launch(rung, modules, m, n, p, side)
        p.fill(cp.nan)
        calls[rung.entry]()
        wide = [x.astype(cp.float64) for x in (m, n)]
        each = BOUND[rung.numbers] * (1 if rung.numbers == "tf32" else side)
        most = float((abs(p - wide[0] @ wide[1]) / (abs(wide[0]) @ abs(wide[1]))).max())
        print(f"{side} {rung.entry}: error {most:.1e} of the sum of sizes, bound {each:.1e}")
        if not most <= each:
            raise SystemExit(f"{rung.entry} multiplies wrongly at {side}")
    calls |= {CUBLAS + name: library(name, *given[name], p, side) for name in SUMS}
    us = timed(calls, repeats)
    beside = {rung.entry: us[CUBLAS + rung.numbers] for rung in RUNGS}
    for name, best in beside.items():
        print(f"{side} {name}: {us[name]:.1f} us, cuBLAS {best:.1f} us")
    return [
        LadderTime(r.kernel, r.entry, side, *(round(t[r.entry], 3) for t in (us, beside)), repeats)
        for r in RUNGS
    ]


def peak(repeats: int) -> float:
    """TFLOP/s that mma.sync reaches where nothing is loaded."""
    (steps, blocks), file = PEAK, Path(__file__).with_name("mma_peak.cu")
    function = module(file).get_function("peak")
    halves = cp.random.default_rng(2).random(24 * 512, dtype=cp.float32).astype(cp.float16)
    given, out = halves.view(cp.uint32), cp.zeros(blocks * 256, cp.float32)
    us = timed({"": lambda: function((blocks,), (256,), (given, out, np.int32(steps)))}, repeats)
    return blocks * 8 * steps * 16 * 2 * 16 * 8 * 16 / us[""] / 1e6


def main() -> None:
    """All sizes, and a file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--repeats", type=int, default=100)
    asked = parser.parse_args()
    sources = {rung.kernel: source_of(rung.kernel) for rung in RUNGS}
    modules = {file: module(resources.path(f"kernels/{file}")) for file in sources}
    times = [t for side in SIZES for t in at_size(side, modules, asked.repeats)]
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    reached = round(peak(20), 1)
    print(f"mma.sync from registers: {reached} TFLOP/s")
    day = date.today().isoformat()
    write(asked.file, LadderTimes(device, day, sources, tuple(times), reached))


if __name__ == "__main__":
    main()
