"""How long a sweep over all block shapes takes: processor time of a seeded sample of its cells.

    python benchmarks/sweeps.py [CELLS] [N]

Each cell is counted whole, as `gpuviz sweep --scene block-shape` does it. Processor time is told:
other work on the machine changes it less than the clock's. All 1,024 cells are estimated from the
mean of the sample, with its standard error.
"""

from __future__ import annotations

import sys
import time
from random import Random
from statistics import mean, stdev

from gpuviz.course import lesson
from gpuviz.story.swept import of_lesson
from gpuviz.sweeps.cell import outcome
from gpuviz.sweeps.sweep import Sweep


def main(count: int = 40, size: str = "1024") -> None:
    """Print a line a cell, and the estimate."""
    shapes = lesson("block-shape")
    sweep = Sweep(of_lesson(shapes, {"n": size}, "sm_90", shapes.swept), shapes.swept)
    cells = Random(1).sample(sweep.cells, count)
    outcome(sweep.task({"x": "32", "y": "8"}))  # what every process loads and compiles once
    took = []
    for cell in cells:
        task, began = sweep.task(cell), time.process_time()
        made = outcome(task)
        took.append(time.process_time() - began)
        print(f"{cell['x']:>2} x {cell['y']:>2}  {took[-1]:6.2f} s  {made.error}")
    all_of_it, error = mean(took) * len(sweep.cells), stdev(took) / count**0.5 * len(sweep.cells)
    print(
        f"{len(sweep.cells):,} shapes at N = {size}: {all_of_it:,.0f} ± {error:,.0f} s of processor"
        f" time, {all_of_it / 120:.1f} minutes by two processes on two cores of their own"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
