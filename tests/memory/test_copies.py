"""Copies whose lanes fill with zeros: what an H200 counted of the products that Triton writes."""

import numpy as np

from gpuviz.memory.other_spaces import copy_wavefronts, past_l1
from gpuviz.traces.observe import NOTHING

LANES = np.arange(32, dtype=np.uint64)
ON = np.ones((1, 32), bool)
NONE = np.full((1, 32), NOTHING, np.uint64)


def test_filling_with_zeros_keeps_only_shared_memory_busy() -> None:
    target = (8 * LANES)[None]
    apart = (8 * LANES + 192 * (LANES // 8))[None]  # 8 lanes of a row, rows of 256 bytes
    read, filled = (copy_wavefronts(target, source, ON, 8) for source in (apart, NONE))
    assert (read.count.tolist(), filled.count.tolist()) == ([4], [2])


def test_filling_with_zeros_reads_no_sector() -> None:
    target, source = (16 * LANES)[None], (16 * LANES)[None]
    assert [found.tolist() for found in past_l1(target, NONE, ON)] == [[0], [0]]
    half = np.where(LANES < 16, source, np.uint64(NOTHING))
    assert [found.tolist() for found in past_l1(target, half, ON)] == [[8], [2]]
