"""How fast the compiled engine is beside the NumPy engine: thread instructions a second.

    python benchmarks/engine.py                      tiled products of 256 and 1024
    python benchmarks/engine.py LAUNCHES.json        and every launch of a file of measurements
    python benchmarks/engine.py --threads 2 --only tile

Processor seconds of `emulate` with all counting, at the level of the PTX: buffers are made before.
`auto` is the engine that is chosen by itself, the making of its code included, unless that is on
disk (XDG_CACHE_HOME=$(mktemp -d) begins with nothing); `best` is the compiled one, of three, with
its code made. The geometric means are over launches of more than ten million thread instructions,
and so is the least gain of `auto`.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import msgspec
import numpy as np
from emulator import job as product

from gpuviz.arch import architecture
from gpuviz.arguments import materialise, parse
from gpuviz.compile import compile_cuda, entry_name
from gpuviz.launch.job import Job, triple
from gpuviz.memory.counting import Counter
from gpuviz.ptx.emulator import Options, Result, emulate
from gpuviz.ptx.text.parser import parse as read_ptx

LEAST = 10_000_000


def launches(file: Path | None) -> Iterator[tuple[str, Job]]:
    """The products, and the launches of a file."""
    for width in (256, 1024):
        yield f"tiled product, {width}", product(width)
    if file is None:
        return
    for one in msgspec.json.decode(file.read_bytes())["launches"]:
        folders = (file.parent, file.parent / "kernels")
        text = next(f / one["source"] for f in folders if (f / one["source"]).exists()).read_text()
        program = compile_cuda(text)
        yield (
            one["name"],
            Job(
                program,
                entry_name(program.kernels, one["entry"]),
                triple(tuple(one["grid"]), "grid"),
                triple(tuple(one["block"]), "block"),
                tuple(map(parse, one["args"])),
                one.get("dynamic_shared") or 0,
            ),
        )


def timed(job: Job, engine: str, threads: int) -> tuple[float, Result]:
    """Processor seconds of one run, and what came of it."""
    module = read_ptx(job.program.ptx)
    arguments = [np.asarray(materialise(spec, n)) for n, spec in enumerate(job.arguments)]
    options = Options(record=(), engine=engine, threads=threads, seconds=1e5, blocks="all")  # type: ignore[arg-type]
    start = time.process_time()
    result = emulate(
        module,
        job.entry,
        job.grid,
        job.block,
        arguments,
        dynamic_shared=job.dynamic_shared,
        sinks=[Counter(architecture("sm_90"))],
        options=options,
    )
    return time.process_time() - start, result


def mean(values: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / max(1, len(values)))


def main() -> None:
    """Print a line for each launch, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="a file of measured launches")
    parser.add_argument("--only", default="", help="launches with this in their name")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    rates, ratios, gains = [], [], {}
    print("launch                     million    numpy    auto    best    G/s  ratio   gain")
    for name, job in launches(given.file):
        if given.only not in name:
            continue
        auto, chosen = timed(job, "auto", given.threads)
        best, result = min(
            (timed(job, "compiled", given.threads) for _ in range(3)), key=lambda one: one[0]
        )
        numpy = timed(job, "numpy", 1)[0]
        count = result.trace.thread_instructions
        if count > LEAST:
            rates.append(count / best / 1e9)
            ratios.append(numpy / best)
            gains[name] = numpy / auto
        note = "" if result.engine == "compiled" else f"  {result.engine_note}"
        print(
            f"{name:24} {count / 1e6:9,.1f} {numpy:8.3f} {auto:7.3f} {best:7.3f} "
            f"{count / best / 1e9:6.2f} {numpy / best:6.1f} {numpy / auto:6.1f} "
            f"{chosen.engine}{note}"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    least = min(gains, key=gains.__getitem__)
    print(
        f"geometric means: {mean(rates):.2f} G/s, {mean(ratios):.1f} times the NumPy engine; "
        f"the least gain, by what is chosen: {gains[least]:.2f} ({least}); "
        f"at most {peak:,.0f} MB of memory"
    )


if __name__ == "__main__":
    main()
