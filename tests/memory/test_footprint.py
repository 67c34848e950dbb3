"""Sectors that loads must fetch from L2: bounds that meet when nothing is loaded twice."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arch import architecture
from gpuviz.memory.counting import Counter, Footprint
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import MemoryInstruction

LOAD = MemoryInstruction(0, 1, 1, "ld.global.f32", "load", "global", 4)
BASE = 0x7F00_0000_0000


def rows(index: object) -> np.ndarray:
    return np.uint64(BASE) + np.asarray(index, np.uint64).reshape(-1, 32) * np.uint64(4)


@given(st.lists(st.integers(0, 5000), min_size=32, max_size=32), st.integers(0, 2**32 - 1))
def test_distinct_sectors_of_active_lanes(index: list[int], bits: int) -> None:
    active = np.array([[bool(bits >> lane & 1) for lane in range(32)]])
    found = Footprint()
    found.mark(Access(LOAD, rows(index), active))
    found.mark(Access(LOAD, rows(index), active))
    assert found.sectors == len({4 * i // 32 for i, on in zip(index, active[0], strict=True) if on})


def bounds(counter: Counter) -> tuple[int, int]:
    totals = counter.result().totals
    return totals["l2_load_sectors_least"], totals["l2_load_sectors_most"]


def test_a_stream_is_exact_and_reuse_is_bounded() -> None:
    stream, reuse = (Counter(architecture("sm_90")) for _ in range(2))
    stream.access(Access(LOAD, rows(np.arange(128)), None))
    reuse.access(Access(LOAD, rows(np.arange(32)), None, repeat=8))
    assert bounds(stream) == (16, 16)
    assert bounds(reuse) == (4, 32)
