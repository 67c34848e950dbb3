"""Batches of blocks: results do not depend on them, memory stays bounded, large grids end."""

import tracemalloc

import numpy as np
import pytest

from gpuviz.ptx import interpreter
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.simt import machine
from tests.ptx.launching import launch

LAUNCHES = [
    ("warps", "poll_by_atomics", 40, 32, (1, 40, 1280)),
    ("warps", "grid_steps", 5, 64, (300, 300), 300, 6),
    ("parallel", "histogram_shared", 9, 96, (5000, 256), 5000),
    ("language", "recursion", 3, 40, (240,)),
    ("dense", "transpose", (3, 2), (32, 8), (3500, 3500), 70, 50),
]


def run(source, kernel, grid, block, sizes, *scalars, options=None):
    buffers = [np.arange(size, dtype=np.int32) % 7 * (k + 1) for k, size in enumerate(sizes)]
    if kernel == "poll_by_atomics":
        buffers = [np.zeros_like(b) for b in buffers]
    if kernel == "histogram_shared":
        buffers[0] = buffers[0].astype(np.uint8)
    return launch(source, kernel, grid, block, *buffers, *scalars, options=options)


@pytest.mark.slow
@pytest.mark.parametrize("part, size, batch", [(2, 1, 1), (1, 1, 200), (10**9, 1, 10**6)])
@pytest.mark.parametrize("case", LAUNCHES, ids=lambda case: case[1])
def test_results_do_not_depend_on_batches(monkeypatch, case, part, size, batch):
    wanted = run(*case).outputs
    monkeypatch.setattr(machine, "SPARSE_PART", part)
    monkeypatch.setattr(machine, "SPARSE_SIZE", size)
    monkeypatch.setattr(interpreter, "BATCH_THREADS", batch)
    found = run(*case).outputs
    assert all((found[name] == wanted[name]).all() for name in wanted)


@pytest.mark.slow
def test_a_million_blocks():
    result = launch("dense", "indices", 10**6, 1, np.zeros(10**6, np.int32))
    assert (result.outputs["arg0"] == np.arange(10**6)).all()
    assert result.trace.blocks_emulated == 10**6


def peak(limit):
    """Most bytes in use during a launch whose blocks should all run in step, as they poll."""
    values = np.ones(1 << 19, np.float32)
    tracemalloc.start()
    launch(
        "parallel",
        "last_block_sums",
        8192,
        64,
        values,
        values,
        values,
        1 << 19,
        options=Options(memory=limit, record=()),
    )
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.slow
def test_memory_follows_the_option():
    assert peak(8 << 20) < 80 << 20 < peak(1 << 30)  # buffers and results come on top: 50 MiB


def test_some_blocks_stand_for_all_and_it_says_so():
    result = launch(
        "dense", "indices", 1000, 32, np.zeros(32000, np.int32), options=Options(max_blocks=10)
    )
    assert result.trace.blocks_emulated == 10
    assert any("10 of 1000 blocks" in note for note in result.trace.notes)
