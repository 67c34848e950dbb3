"""Model the times of block shapes anew, which the lesson `block-shape` shows beside measured ones.

python benchmarks/shape_times.py: those of all shapes of the map that ships. Some seconds a shape;
what is done is kept when stopped.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gpuviz.arch import architecture
from gpuviz.base import resources
from gpuviz.course.together.block_shape.lesson import plan
from gpuviz.files import checksums
from gpuviz.ptx.options import Options
from gpuviz.run.predicted import launched
from gpuviz.story.perform import job_of
from gpuviz.timing.device import H200
from gpuviz.timing.prediction import predict

Shape = tuple[int, int]
FILE = resources.path("recordings") / "block-shape-sm_90.jsonl.gz"
_SIZE, _SM = 1024, "sm_90"


def modelled(shape: Shape) -> float:
    """Microseconds of the launch, its data in memory."""
    job = job_of(plan({"x": shape[0], "y": shape[1], "n": _SIZE})[0], _SM)
    known = launched(job, architecture(_SM), H200, Options(blocks="classes"))
    return round(predict(known, H200).microseconds, 3)


def shipped(file: Path = FILE) -> Iterator[tuple[Shape, dict[str, Any]]]:
    """The shapes of the map, and what was found of each."""
    for row in map(json.loads, gzip.decompress(file.read_bytes()).decode().splitlines()):
        if "cell" in row:
            yield (int(row["cell"]["x"]), int(row["cell"]["y"])), row["found"][0]


def write(times: Mapping[Shape, float], file: Path = FILE) -> None:
    """Put times into the map; others that were modelled before go."""
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
    for row in rows:
        if "cell" in row:
            found = row["found"][0]
            found.pop("modelled", None)
            shape = int(row["cell"]["x"]), int(row["cell"]["y"])
            if shape in times:
                found["modelled"] = times[shape]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    checksums.seal(file.parent)


def main() -> None:
    """Model and write, 16 shapes at a time."""
    every = dict(shipped())
    times = {shape: found["modelled"] for shape, found in every.items() if "modelled" in found}
    for number, shape in enumerate(every, 1):
        times[shape] = modelled(shape)
        print(f"{number} of {len(every)}: {shape[0]} x {shape[1]}: {times[shape]:,.0f} us")
        if number % 16 == 0 or number == len(every):
            write(times)


if __name__ == "__main__":
    main()
