"""Makes what is known of a kernel over all block shapes: by emulation, or timed on a GPU.

python -m gpuviz.runners.sweep block-shape -o times.json        times, on this machine's GPU
python -m gpuviz.runners.sweep block-shape --model -o model.json  sectors, without a GPU
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.arrays import F64
from gpuviz.compile import entry_name, gallery
from gpuviz.errors import Cancelled, Error, KernelFault
from gpuviz.files import check_place
from gpuviz.memory.counts import Count
from gpuviz.ptx.emulator import Options
from gpuviz.runners import emulated
from gpuviz.runners.base import Cancel, Progress, go_on
from gpuviz.runners.gpu.client import Gpu, GpuLaunch, launch_of
from gpuviz.runners.job import Job, Triple
from gpuviz.runners.measurement import largest_difference
from gpuviz.runners.sweep_file import ENTRY, INNER, KERNEL, MOST, SIZE, Predictions, Times, write
from gpuviz.terminal import err, out, passed, passing

_LAUNCHES, _WARMUP_MS, _FIRST_WARMUP_MS = 7, 5.0, 1000.0
_WRONG = 1e-2  # a difference that no order of additions explains, of sums of 1024 products


def shapes() -> Iterator[tuple[int, int]]:
    """BX and BY of every shape, row by row."""
    return ((x, y) for y in range(1, MOST + 1) for x in range(1, MOST + 1))


def grid_of(x: int, y: int) -> Triple:
    """Blocks that cover the matrix, those at its edges reaching beyond it."""
    return -(-SIZE // x), -(-SIZE // y), 1


def job(arch: str, x: int, y: int, inner: int, fill: str) -> Job:
    """The launch of one shape."""
    program = gallery(KERNEL, {}, arch)
    specs = (
        f"f32[{SIZE * inner}]={fill}",
        f"f32[{inner * SIZE}]={fill}",
        f"f32[{SIZE * SIZE}]=zeros",
        f"i32={SIZE}",
        f"i32={inner}",
        f"i32={SIZE}",
    )
    return Job(
        program,
        entry_name(program.kernels, ENTRY),
        grid_of(x, y),
        (x, y, 1),
        tuple(map(parse, specs)),
        whose="course",
    )


def predict(
    arch: str = "sm_90", *, progress: Progress = lambda fraction: None, cancel: Cancel = go_on
) -> Predictions:
    """Emulate every shape; minutes.

    Raises
    ------
    Cancelled : the caller asked to stop; and as `emulated.run`
    """
    found = []
    for number, (x, y) in enumerate(shapes()):
        found.append(predicted(arch, x, y, cancel))
        progress((number + 1) / MOST**2)
    requests, sectors = np.array(found, np.int64).reshape(MOST, MOST, 2).transpose(2, 0, 1)
    return Predictions(requests, sectors, arch)


def predicted(arch: str, x: int, y: int, cancel: Cancel = go_on) -> tuple[int, int]:
    """Requests and sectors of the loads of one shape."""
    options = Options(record=(), cancel=cancel)
    run = emulated.run(
        job(arch, x, y, INNER, "zeros"), architecture(arch), level="ptx", options=options
    )
    totals = run.counts.totals
    return totals[Count.GLOBAL_LOAD_REQUESTS], totals[Count.GLOBAL_LOAD_SECTORS]


def measure(
    gpu: Gpu,
    *,
    launches: int = _LAUNCHES,
    progress: Progress = lambda fraction: None,
    cancel: Cancel = go_on,
) -> Times:
    """Time every shape; shapes with BX = BY are checked against a product in double precision.

    Raises
    ------
    KernelFault : a result is wrong; Cancelled, and as `Gpu.time`
    """
    facts = gpu.facts()
    first = launch_of(job(facts.sm, 1, 1, SIZE, "rand"))
    wanted = _product(first)
    medians: list[float] = []
    clocks: list[float] = []
    worst = 0.0
    for number, (x, y) in enumerate(shapes()):
        if cancel():
            raise Cancelled("stopped")
        launch = replace(first, grid=grid_of(x, y), block=(x, y, 1))
        timing = gpu.time(
            launch, launches, cancel=cancel, warmup_ms=_WARMUP_MS if number else _FIRST_WARMUP_MS
        )
        medians.append(timing.median / 1000)
        clocks += timing.clocks
        if x == y:
            worst = max(worst, _difference(gpu, launch, wanted))
        progress((number + 1) / MOST**2)
    return Times(
        np.array(medians).reshape(MOST, MOST),
        facts.name,
        facts.capability,
        facts.driver,
        facts.cuda,
        (min(clocks, default=0.0), max(clocks, default=0.0)),
        datetime.now(UTC).date().isoformat(),
        launches,
        worst,
    )


def _product(launch: GpuLaunch) -> F64:
    """M N in double precision, row by row."""
    m, n = (a.reshape(SIZE, SIZE).astype(np.float64) for a in launch.arguments[:2])
    return np.asarray((m @ n).ravel())


def _difference(gpu: Gpu, launch: GpuLaunch, wanted: F64) -> float:
    found = largest_difference(gpu.run(launch)[2], wanted)
    if not found < _WRONG:
        x, y, _ = launch.block
        raise KernelFault(
            f"blocks of {x} x {y} give results that are {found:g} off: the times "
            "would be of a wrong product"
        )
    return found


def _show(fraction: float) -> None:
    passing(f"{fraction:4.0%}")


def main(arguments: list[str]) -> int:
    """Sweep and write; 2, and a message, when it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m gpuviz.runners.sweep",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sweep", choices=("block-shape",))
    parser.add_argument("--model", action="store_true", help="emulate instead of timing")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--launches", type=int, default=_LAUNCHES, help="to time, of each shape")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.json")
    given = parser.parse_args(arguments)
    try:
        check_place(given.output)
        if given.model:
            write(given.output, predict(progress=_show))
        else:
            with Gpu(given.device) as gpu:
                write(given.output, measure(gpu, launches=given.launches, progress=_show))
    except Error as error:
        passed()
        err(str(error))
        return 2
    passed()
    out(f"{MOST**2} shapes: {given.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
