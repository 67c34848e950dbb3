"""Transactions against slow, obvious counts of sets, and rules that must hold for any request."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import InputError
from gpuviz.memory.coalescing import segments, transactions
from gpuviz.memory.other_spaces import interleaved, local_transactions

FAMILIES = [architecture(v) for v in ("1.0", "1.3", "2.0", "3.0", "3.5", "5.2", "9.0", "12.1")]
WIDTHS = (1, 2, 4, 8, 16)
archs, widths = st.sampled_from(FAMILIES), st.sampled_from(WIDTHS)


@st.composite
def requests(draw: st.DrawFn, rows: int = 1) -> tuple[np.ndarray, np.ndarray, int]:
    """Aligned addresses that are scattered, clustered or nearly in order, under any mask."""
    width = draw(widths)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from((8, 40, 4000)))
    element = rng.integers(0, spread, (rows, 32))
    if draw(st.booleans()):
        element = np.arange(32) * draw(st.integers(0, 3)) + draw(st.integers(0, 40))
        element = np.broadcast_to(element, (rows, 32)).copy()
        element[:, rng.integers(0, 32)] += draw(st.integers(0, 1))
    active = rng.random((rows, 32)) < draw(st.sampled_from((0.0, 0.1, 0.5, 0.9, 1.0)))
    return (element * width).astype(np.uint64), active, width


def halves(address: np.ndarray, active: np.ndarray, size: int) -> list[list[tuple[int, int]]]:
    """(lane in its group, address) of the active lanes of each group of `size` lanes."""
    return [
        [(k, int(address[g + k])) for k in range(size) if active[g + k]] for g in range(0, 32, size)
    ]


def slow_ordered(address: np.ndarray, active: np.ndarray, width: int, op: str) -> int:
    total = 0
    for half in halves(address, active, 16):
        starts = {a - k * width for k, a in half}
        aligned = {4: 64, 8: 128, 16: 128}.get(width)
        fits = aligned is not None and len(starts) == 1 and next(iter(starts)) % aligned == 0
        total += (2 if width == 16 else 1) if fits else len(half)
    return total


def slow_halves(address: np.ndarray, active: np.ndarray, width: int, op: str) -> int:
    segment = {1: 32, 2: 64}.get(width, 128)
    return sum(len({a // segment for _, a in half}) for half in halves(address, active, 16))


def slow_blocks(size: int, split: bool) -> object:
    def count(address: np.ndarray, active: np.ndarray, width: int, op: str) -> int:
        block = size if op == "load" else 32
        lanes = 32 // max(1, width // 4) if split else 32
        return sum(len({a // block for _, a in g}) for g in halves(address, active, lanes))

    return count


def slow_rounds(address: list[int], size: int) -> int:
    """Atomics: the k-th lane that wants an address goes in round k."""
    rounds: dict[int, set[int]] = {}
    seen: dict[int, int] = {}
    for one in address:
        seen[one] = seen.get(one, -1) + 1
        rounds.setdefault(seen[one], set()).add(one // size)
    return sum(map(len, rounds.values()))


SLOW = {
    "ordered": slow_ordered,
    "halves": slow_halves,
    "lines": slow_blocks(128, True),
    "segments": slow_blocks(32, True),
    "sectors": slow_blocks(32, False),
}


@given(archs, requests(rows=5), st.sampled_from(("load", "store", "atomic")))
def test_counts_equal_the_slow_ones(arch: Architecture, request: tuple, op: str) -> None:
    address, active, width = request
    got = transactions(arch, address, active, width, op)
    slow = [SLOW[arch.coalescing](a, m, width, op) for a, m in zip(address, active, strict=True)]
    lines = [len({int(x) // 128 for x in a[m]}) for a, m in zip(address, active, strict=True)]
    if arch.has_sectors and op == "atomic":
        slow, lines = (
            [slow_rounds(a[m].tolist(), size) for a, m in zip(address, active, strict=True)]
            for size in (32, 128)
        )
    assert got.count.tolist() == slow and got.lines.tolist() == lines
    if arch.has_sectors:
        assert got.ideal.tolist() == [-(-int(m.sum()) * width // 32) for m in active]


@given(archs, requests(), st.sampled_from(("load", "store")))
def test_segments_are_what_was_counted(arch: Architecture, request: tuple, op: str) -> None:
    address, active, width = request
    found = segments(arch, address[0], active[0], width, op)
    counted = transactions(arch, address, active, width, op)
    assert len(found) == counted.count[0]
    assert sum(s.size for s in found) == counted.moved[0]
    assert sorted(k for s in found for k in s.lanes) == np.flatnonzero(active[0]).tolist()
    for s in found:
        assert s.base % s.size == 0
        first = address[0][s.lanes]
        assert ((first >= s.base) & (first + width <= s.base + s.size)).all()


@given(archs, requests(), st.integers(1, 10**6))
def test_moving_by_whole_lines_changes_nothing(arch: Architecture, request: tuple, by: int) -> None:
    address, active, width = request
    here = transactions(arch, address, active, width)
    there = transactions(arch, address + np.uint64(128 * by), active, width)
    for quantity in ("count", "lines", "ideal", "moved"):
        assert getattr(here, quantity) == getattr(there, quantity)


@given(st.sampled_from(FAMILIES[1:]), requests(), st.integers(0, 2**32))
def test_order_within_a_group_is_free(arch: Architecture, request: tuple, seed: int) -> None:
    address, active, width = request
    rng = np.random.default_rng(seed)
    size = 8 if arch.cc < (5, 0) else 32  # the smallest group any of them forms
    order = np.concatenate([g + rng.permutation(size) for g in range(0, 32, size)])
    here = transactions(arch, address, active, width)
    there = transactions(arch, address[:, order], active[:, order], width)
    assert here.count == there.count and here.moved == there.moved


@given(archs, widths)
def test_consecutive_aligned_lanes_are_ideal(arch: Architecture, width: int) -> None:
    address = (np.arange(32) * width)[None].astype(np.uint64)
    got = transactions(arch, address, np.ones((1, 32), bool), width)
    assert got.count == got.ideal


@pytest.mark.parametrize("arch", FAMILIES, ids=str)
def test_no_active_lane_costs_nothing(arch: Architecture) -> None:
    address, nobody = np.zeros((1, 32), np.uint64), np.zeros((1, 32), bool)
    for count in (transactions, local_transactions):
        got = count(arch, address, nobody, 4)
        assert [got.count[0], got.lines[0], got.ideal[0], got.moved[0]] == [0, 0, 0, 0]
    assert segments(arch, address[0], nobody[0], 4) == ()


# CUDA C Programming Guide 5.5, G.3.2.2 and the Best Practices Guide 4.2 (GTX 280).
@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        (range(16), [64]),
        (range(1, 17), [128]),
        (range(17, 33), [64, 32]),
        ([5] * 16, [32]),
        (range(0, 512, 32), [32] * 16),
        (range(0, 32, 2), [128]),
    ],
)
def test_gt200_shrinks_segments(words: range, sizes: list[int]) -> None:
    address = np.zeros(32, np.uint64)
    address[:16] = np.array(list(words)) * 4
    found = segments(architecture("1.3"), address, np.arange(32) < 16, 4)
    assert sorted(s.size for s in found) == sorted(sizes)


# Lecture on the 8600 GTS: lanes may be off, but not swapped or shifted.
def test_g80_wants_every_lane_at_its_word() -> None:
    half = np.arange(32) < 16
    address = np.arange(32, dtype=np.uint64) * 4
    swapped, gaps = address.copy(), half & (np.arange(32) % 3 > 0)
    swapped[[3, 4]] = swapped[[4, 3]]
    counted = [
        transactions(architecture("1.1"), a[None], m[None], 4).count[0]
        for a, m in ((address, half), (address, gaps), (swapped, half), (address + 4, half))
    ]
    assert counted == [1, 1, 16, 16]


# Nsight Compute guide 2.3 and 2.10.2; double3 from NVIDIA's sample report.
@pytest.mark.parametrize(
    ("stride", "width", "sectors", "lines"),
    [
        (1, 1, 1, 1),
        (2, 2, 2, 1),
        (4, 4, 4, 1),
        (8, 8, 8, 2),
        (16, 16, 16, 4),
        (8, 4, 8, 2),
        (32, 4, 32, 8),
        (128, 4, 32, 32),
        (0, 4, 1, 1),
        (24, 8, 24, 6),
        (32, 32, 32, 8),
    ],
)
def test_sectors_of_strides(stride: int, width: int, sectors: int, lines: int) -> None:
    address = (np.arange(32) * stride)[None].astype(np.uint64)
    got = transactions(architecture("10.0"), address, np.ones((1, 32), bool), width)
    assert (got.count[0], got.lines[0]) == (sectors, lines)


def test_fermi_loads_lines_unless_told_otherwise() -> None:
    address, all_lanes = np.arange(32, dtype=np.uint64)[None] * 4 + 4, np.ones((1, 32), bool)

    def count(version: str, **options: str) -> int:
        return int(transactions(architecture(version), address, all_lanes, 4, **options).count[0])

    assert [count("2.0"), count("2.0", cache="cg"), count("2.0", op="store")] == [2, 5, 5]
    assert [count("3.5"), count("3.5", cache="ca"), count("3.0", cache="ca")] == [5, 2, 5]
    assert count("3.5", cache="ca", path="nc") == 5


def test_unknown_width_is_refused() -> None:
    with pytest.raises(InputError, match="cannot access 3 bytes"):
        transactions(architecture("9.0"), np.zeros((1, 32), np.uint64), np.ones((1, 32), bool), 3)


@pytest.mark.parametrize(("width", "sectors", "lines"), [(4, 4, 1), (8, 8, 2), (16, 16, 4)])
def test_equal_local_offsets_lie_side_by_side(width: int, sectors: int, lines: int) -> None:
    offset = np.full((1, 32), 3 * width, np.uint64)
    got = local_transactions(architecture("9.0"), offset, np.ones((1, 32), bool), width)
    assert (got.count[0], got.lines[0], got.ideal[0]) == (sectors, lines, sectors)


def test_different_local_offsets_are_32_lines() -> None:
    offset = (np.arange(32) * 4)[None].astype(np.uint64)
    got = local_transactions(architecture("9.0"), offset, np.ones((1, 32), bool), 4)
    assert (got.count[0], got.lines[0]) == (32, 32)


@given(requests(rows=3))
def test_local_sectors_equal_the_slow_ones(request: tuple) -> None:
    offset, active, width = request
    got = local_transactions(architecture("9.0"), offset, active, width)
    for row in range(3):
        touched = {
            int(b // 4 * 128 + lane * 4 + b % 4) // 32
            for lane in np.flatnonzero(active[row])
            for b in range(int(offset[row, lane]), int(offset[row, lane]) + width)
        }
        assert got.count[row] == len(touched)


def test_interleaving_keeps_bytes_apart() -> None:
    offsets = np.repeat(np.arange(8, dtype=np.uint64)[:, None], 32, axis=1)
    assert len(np.unique(interleaved(offsets, 1))) == offsets.size
