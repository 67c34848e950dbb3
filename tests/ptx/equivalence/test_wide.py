"""Classes hold against whole launches: kernels written at random, and all those measured."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz.ptx.emulator import Options
from gpuviz.ptx.equivalence import some_blocks
from gpuviz.run import emulated, verification
from tests.ptx.equivalence.random_kernels import SIZE, Writer
from tests.ptx.equivalence.test_classes import both

pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[2] / "data"
BLOCKS = ((32, 1), (64, 1), (16, 4), (8, 8), (33, 1), (5, 3))
GRIDS = ((16, 1), (40, 1), (8, 8), (5, 7), (3, 20))


@pytest.mark.parametrize("seed", range(120))
def test_kernels_written_at_random(seed, monkeypatch):
    monkeypatch.setattr("gpuviz.ptx.emulator.estimated_seconds", lambda launched: 600.0)
    pick = random.Random(seed).choice
    sizes = pick((7, 16, 32, 64, 100)), pick((0, 100, 1000, 4096, 5000))
    data = np.zeros(SIZE, np.float32)
    found = both(Writer(seed).kernel(), pick(GRIDS), pick(BLOCKS), data, data, *sizes, seconds=600)
    assert found.coverage.how == "classes"


# Of these so many have to be run whole: what memory holds decides where they go.
FILES = {"h200_more_launches": 6, "h200_sass_launches": 9, "h200_families": 2}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("level", ["sass", "ptx"])
@pytest.mark.parametrize("file", FILES)
def test_launches_of_all_kinds(file, level, monkeypatch):
    monkeypatch.setattr(some_blocks, "_FEW", 0)
    measured, unproved = verification.load(DATA / f"{file}.json"), []
    for launch in measured.launches:
        job = verification.job_of(measured, launch)
        options = Options(record=(), blocks="classes")
        one = emulated.run(job, measured.arch, level=level, options=options)
        if one.coverage.how != "classes":
            unproved.append(launch.name)
            continue
        options = replace(options, blocks="all")
        two = emulated.run(job, measured.arch, level=level, options=options)
        assert one.counts == two.counts, launch.name
        assert one.level_note == two.level_note, launch.name
        for field in ("thread_instructions", "warp_instructions", "branches", "flops"):
            assert getattr(one.trace, field) == getattr(two.trace, field), launch.name
    assert len(unproved) <= FILES[file], unproved
