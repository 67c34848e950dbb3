"""The counter adds up what the rules say of each request, however it saves itself the work."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arch import architecture
from gpuviz.memory import counting
from gpuviz.memory.counting import Counter, Footprint
from gpuviz.memory.counts import Count, counts_of, kind_of
from gpuviz.memory.request_counts import measure
from gpuviz.memory.units import UNITS
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import MemoryInstruction

ARCHS = [architecture(v) for v in ("1.0", "1.3", "2.0", "3.5", "9.0")]
LANE = np.arange(32, dtype=np.uint64)
KINDS = [
    ("global", "load"),
    ("global", "store"),
    ("global", "atomic"),
    ("global", "reduction"),
    ("global", "copy"),
    ("shared", "load"),
    ("shared", "store"),
    ("shared", "atomic"),
    ("shared", "reduction"),
    ("shared", "copy"),
    ("local", "load"),
    ("local", "store"),
    ("constant", "load"),
]


def instruction(
    space: str = "global", op: str = "load", width: int = 4, path: str = "", pc: int = 0
) -> MemoryInstruction:
    return MemoryInstruction(pc, 1, 1, f"{op}.{space}", op, space, width, path=path)


@st.composite
def accesses(draw: st.DrawFn) -> Access:
    """Rows that are alike, alike in a few ways, or all different; full, equal or any masks."""
    space, op = draw(st.sampled_from(KINDS))
    width = draw(st.sampled_from((1, 2, 4, 8, 16)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.integers(1, 90))
    kinds = rng.integers(0, 60, (draw(st.sampled_from((1, 3, 90))), 32))
    element = kinds[rng.integers(0, len(kinds), rows)] + rng.integers(0, 99, rows)[:, None] * draw(
        st.sampled_from((0, 1, 7, 128))
    )
    address = ((element + draw(st.sampled_from((0, 2**40)))) * width).astype(np.uint64)
    active = rng.random((rows, 32)) < draw(st.sampled_from((0.05, 0.5, 1.0)))
    active[~active.any(axis=1), 5] = True
    mask = draw(st.sampled_from((None, active, np.broadcast_to(active[:1], active.shape).copy())))
    return Access(instruction(space, op, width), address, mask, draw(st.integers(1, 5)))


@pytest.mark.slow
@given(st.sampled_from(ARCHS), st.lists(accesses(), min_size=1, max_size=3))
def test_equals_the_sum_over_all_requests(arch: object, given_: list[Access]) -> None:
    counter = Counter(arch)
    for access in given_ + given_:  # twice: remembered counts must be the same
        counter.access(access)
    slow: dict[MemoryInstruction, dict[str, int]] = {}
    for a in given_:
        active = np.ones(a.address.shape, bool) if a.active is None else a.active
        sums = slow.setdefault(a.instruction, {})
        for key, each in measure(arch, a.instruction, a.address, active).items():
            sums[key] = sums.get(key, 0) + int(each.sum()) * a.repeat * 2
    for row in counter.result().rows:
        sums = slow[row.instruction]
        assert row.counts == {key: sums[key] for key in row.counts}
        assert row.counts.keys() >= set(counts_of(kind_of(row.instruction)))


def test_a_hash_collision_costs_time_only(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    address = rng.integers(0, 500, (40, 32)).astype(np.uint64) * 4
    honest, deceived = Counter(ARCHS[-1]), Counter(ARCHS[-1])
    honest.access(Access(instruction(), address, None))
    monkeypatch.setattr(counting, "_MIX", np.zeros_like(counting._MIX))
    deceived.access(Access(instruction(), address, None))
    assert honest.result() == deceived.result()


def test_forgetting_patterns_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting.Patterns, "entries", 1)
    counter = Counter(ARCHS[-1])
    for stride in (4, 8, 4):
        counter.access(Access(instruction(), (LANE * np.uint64(stride))[None], None))
    assert counter.result().totals["global_load_sectors"] == 4 + 8 + 4


def test_totals_have_every_key_and_true_zeros() -> None:
    assert Counter(ARCHS[-1]).result().totals == dict.fromkeys(Count, 0)
    assert {
        "global_load_bytes",
        "texture_load_sectors",
        "shared_atomic_wavefronts_ideal",
        "global_reduction_lines",
        "constant_load_wavefronts",
    } <= set(Count)


def test_one_request_under_its_keys() -> None:
    counter = Counter(ARCHS[-1])
    counter.access(Access(instruction(), (LANE * 8)[None], None, repeat=3))
    (row,) = counter.result().rows
    assert row.counts == {
        "global_load_requests": 3,
        "global_load_sectors": 24,
        "global_load_lines": 6,
        "global_load_sectors_ideal": 12,
        "global_load_bytes": 384,
    }


def test_the_read_only_path_counts_twice() -> None:
    counter = Counter(ARCHS[-1])
    counter.access(Access(instruction(path="nc"), LANE[None] * 4, None))
    totals = counter.result().totals
    assert totals["texture_load_sectors"] == totals["global_load_sectors"] == 4


def test_a_shared_reduction_is_an_atomic() -> None:
    counter = Counter(ARCHS[-1])
    counter.access(Access(instruction("shared", "reduction"), LANE[None] * 16, None))
    assert counter.result().totals["shared_atomic_wavefronts"] == 4


def test_rows_in_program_order_and_only_those_kept() -> None:
    counter = Counter(ARCHS[-1], keep=lambda i: i.op == "load")
    for pc, op in ((7, "load"), (3, "load"), (5, "store")):
        counter.access(Access(instruction(op=op, pc=pc), LANE[None] * 4, None))
    assert [r.instruction.pc for r in counter.result().rows] == [3, 7]


def test_an_access_of_no_rows_counts_nothing() -> None:
    counter = Counter(ARCHS[-1])
    counter.access(Access(instruction(), np.empty((0, 32), np.uint64), None))
    assert counter.result().rows == ()


def test_every_quantity_has_a_unit_or_is_a_bound_or_an_ideal_beside_one() -> None:
    """One without has no row in the window: a new one is not left out by mistake."""
    silent = {count.quantity for count in Count if count.quantity not in UNITS}
    assert silent == {"bytes", "sectors_ideal", "sectors_least", "sectors_most", "wavefronts_ideal"}


def test_addresses_that_are_astray_take_no_memory() -> None:
    """Each lane reads 32 MiB beyond the last, as a run that goes on after faults may."""
    footprint = Footprint()
    tracemalloc.start()
    try:
        for first in range(0, 1 << 16, 1 << 10):
            address = np.arange(first, first + (1 << 10), dtype=np.uint64) << np.uint64(25)
            footprint.mark(Access(instruction(), address.reshape(-1, 32), None))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 2 << 30 and 0 < footprint.sectors <= 1 << 16
