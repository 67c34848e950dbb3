"""Files that the cells of a sweep are kept in, which the same command goes on with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.hostile import trees
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes

_VARIED = ("--scene", "coalescing", "--vary", "stride=1,2", "--level", "ptx")


@cache
def _ours() -> tuple[bytes, ...]:
    """The lines of a sweep that is done: its head, and two cells."""
    from gpuviz.course import lesson
    from gpuviz.story.swept import of_lesson
    from gpuviz.sweeps import axis
    from gpuviz.sweeps.cell import Found, Outcome
    from gpuviz.sweeps.record import kept
    from gpuviz.sweeps.sweep import Sweep

    axes = (axis.parse("stride=1,2"),)
    sweep = Sweep(of_lesson(lesson("coalescing"), {}, "sm_90", axes), axes, "emulator", "ptx", 20)
    found = Found("coalescing", {"global_load_sectors": 4.0})
    with TemporaryDirectory() as folder:
        file = Path(folder) / "x.jsonl"
        with kept(file, sweep.head()) as record:
            for cell in sweep.cells:
                record.add(cell, Outcome((found,)))
        return tuple(file.read_bytes().splitlines())


def make(random: Random) -> bytes:
    """A file with other lines, more often than not those of cells."""
    lines = list(_ours())
    at = random.choice((0, 1, 1, 2, 2))
    lines[at] = trees.as_json(random, json.loads(lines[at])).replace(b"\n", b" ")
    made = b"\n".join(lines) + b"\n"
    return changed_bytes(random, made) if random.random() < 0.2 else made


def goes_on(file: Path) -> Sequence[str]:
    """What is missing is done, by one process."""
    return "sweep", *_VARIED, "--workers", "1", "-o", str(file)


KIND = Kind("sweep", 40, ".jsonl", make, (goes_on,))
