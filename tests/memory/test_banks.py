"""Wavefronts against an H200's counters, slow obvious counts, and rules for any request."""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import InputError
from gpuviz.memory.banks import conflict, schedule, wavefronts
from gpuviz.memory.other_spaces import constant_passes

MEASURED = json.loads(
    (Path(__file__).parents[1] / "data" / "h200_shared_wavefronts.json").read_text()
)["cases"]
FAMILIES = [architecture(v) for v in ("1.0", "2.0", "3.5", "5.2", "9.0")]
WIDTHS = (1, 2, 4, 8, 16)
LANE = np.arange(32)
archs = st.sampled_from(FAMILIES)


@st.composite
def requests(draw: st.DrawFn, rows: int = 1) -> tuple[np.ndarray, np.ndarray, int]:
    """Aligned addresses: scattered, clustered, strided or equal between neighbours; any mask."""
    width = draw(st.sampled_from(WIDTHS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    element = rng.integers(0, draw(st.sampled_from((6, 70, 2000))), (rows, 32))
    shape = draw(st.sampled_from(("scattered", "strided", "paired", "crossed")))
    if shape == "strided":
        element = np.broadcast_to(LANE * draw(st.integers(0, 40)), (rows, 32))
    elif shape == "paired":
        element = element[:, LANE & ~1]
    elif shape == "crossed":
        element = element[:, LANE & ~2]
    active = rng.random((rows, 32)) < draw(st.sampled_from((0.0, 0.1, 0.3, 0.9, 1.0)))
    return (element * width).astype(np.uint64), active, width


def one(address: object, active: object = None) -> tuple[np.ndarray, np.ndarray]:
    mask = np.ones(32, bool) if active is None else np.asarray(active, bool)
    return np.asarray(address).astype(np.uint64)[None], mask[None]


def count(version: str, address: object, width: int = 4, op: str = "load", mode: int = 4) -> int:
    return int(wavefronts(architecture(version), *one(address), width, op, mode).count[0])


@pytest.mark.parametrize("op", ["load", "store", "atomic"])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_equals_the_counters_of_an_h200(op: str, width: int) -> None:
    cases = [c for c in MEASURED if (c["op"], c["width_bytes"]) == (op, width)]
    assert cases or (op, width) in (("atomic", 8), ("atomic", 16))
    for case in cases:
        index = np.array(case["index"])
        request = one(np.maximum(index, 0) * width, index >= 0)
        got = wavefronts(architecture("9.0"), *request, width, op)
        assert got.count[0] == case["wavefronts"], case["pattern"]


def words_by_bank(addresses: list[int], width: int) -> int:
    """Most distinct words of a bank, every word of a wide access counted."""
    wanted = defaultdict(set)
    for a in addresses:
        for word in range(a // 4, (a + width - 1) // 4 + 1):
            wanted[word % 32].add(word)
    return max(map(len, wanted.values()), default=0)


def slow_merges(address: np.ndarray, active: np.ndarray) -> bool:
    pairs = [[(n, n ^ step) for n in range(32)] for step in (1, 2)]
    return any(
        all(address[a] == address[b] for a, b in way if active[a] and active[b]) for way in pairs
    )


def slow_modern(address: np.ndarray, active: np.ndarray, width: int, op: str) -> int:
    lanes = min(32, 128 // max(width, 4))
    if width >= 8 and op == "load" and slow_merges(address, active):
        lanes *= 2
    groups = [
        [int(address[k]) for k in range(g, g + lanes) if active[k]] for g in range(0, 32, lanes)
    ]
    return sum(words_by_bank(g, width) for g in groups)


@given(requests(rows=4), st.sampled_from(("load", "store", "atomic")))
def test_counts_equal_the_slow_ones_from_5_0_on(request: tuple, op: str) -> None:
    address, active, width = request
    got = wavefronts(architecture("9.0"), address, active, width, op)
    slow = [slow_modern(a, m, width, op) for a, m in zip(address, active, strict=True)]
    assert got.count.tolist() == slow and (got.ideal <= got.count).all()


def slow_tesla(address: np.ndarray, active: np.ndarray, width: int, op: str) -> int:
    """The guide's steps one by one: 16 banks, half warps, a broadcast for loads."""
    steps = 0
    for half in (range(16), range(16, 32)):
        for part in range(0, max(width, 4), 4):
            left = [int(address[k]) + part for k in half if active[k]]
            while left:
                steps += 1
                left = after_a_step(left, op)
    return steps


def after_a_step(left: list[int], op: str) -> list[int]:
    bank = [a // 4 % 16 for a in left]
    if op == "load":
        best = max(
            range(len(left)),
            key=lambda i: (bank.count(bank[i]), sum(a // 4 == left[i] // 4 for a in left), -i),
        )
        served = {i for i, a in enumerate(left) if a // 4 == left[best] // 4}
        others = [i for i in range(len(left)) if bank[i] != bank[best]]
        served |= {i for i in others if bank.index(bank[i]) == i}
    else:
        leaders = {left[i] for i in range(len(left)) if bank.index(bank[i]) == i}
        served = {i for i, a in enumerate(left) if a in leaders}
    return [a for i, a in enumerate(left) if i not in served]


@given(requests(rows=3), st.sampled_from(("load", "store")))
def test_counts_equal_the_slow_ones_on_1_x(request: tuple, op: str) -> None:
    address, active, width = request
    got = wavefronts(architecture("1.0"), address, active, width, op)
    slow = [slow_tesla(a, m, width, op) for a, m in zip(address, active, strict=True)]
    assert got.count.tolist() == slow


@given(requests(rows=3), st.sampled_from((4, 8)))
def test_counts_equal_the_slow_ones_on_3_x(request: tuple, mode: int) -> None:
    address, active, width = request
    got = wavefronts(architecture("3.5"), address, active, width, "load", mode)
    for row in range(3):
        total = 0
        for lanes in [LANE[:16], LANE[16:]] if width == 16 else [LANE]:
            wanted = defaultdict(set)
            for a in address[row, lanes[active[row, lanes]]].tolist():
                for w in range(a, a + width, mode) if width > mode else [a]:
                    # 4-byte mode: words i and i + 32 of a 256-byte segment are one cell
                    wanted[w // mode % 32].add(w // 256 if mode == 4 else w // 8)
            total += max(map(len, wanted.values()), default=0)
        assert got.count[row] == total


@given(archs, requests(), st.sampled_from(("load", "store")), st.sampled_from((4, 8)))
def test_the_schedule_is_what_was_counted(
    arch: Architecture, request: tuple, op: str, mode: int
) -> None:
    address, active, width = request
    passes = schedule(arch, address[0], active[0], width, op, mode)
    assert len(passes) == wavefronts(arch, address, active, width, op, mode).count[0]
    times = max(1, width // 4) if arch.cc < (2, 0) else 1
    served = sorted(int(k) for lanes in passes for k in lanes)
    assert served == sorted(np.flatnonzero(active[0]).tolist() * times)


@given(requests(), st.sampled_from(("load", "store")))
def test_conflict_names_the_worst_bank(request: tuple, op: str) -> None:
    address, active, width = request
    found = conflict(architecture("9.0"), address[0], active[0], width, op)
    served = wavefronts(architecture("9.0"), address, active, width, op)
    extra = served.count[0] - served.ideal[0]
    assert (found is None) == (extra == 0)
    if found is not None:
        assert extra >= found.degree - 1
        assert (
            address[0, found.lanes] // 4 % 32 // max(1, width // 4)
            == found.bank // max(1, width // 4)
        ).all()
        assert len(np.unique(address[0, found.lanes] // max(4, width))) == found.degree


@given(archs, requests(), st.integers(1, 1000), st.sampled_from((4, 8)))
def test_moving_by_256_bytes_changes_nothing(
    arch: Architecture, request: tuple, by: int, mode: int
) -> None:
    address, active, width = request
    moved = address + np.uint64(256 * by)
    here = wavefronts(arch, address, active, width, "load", mode)
    assert here.count == wavefronts(arch, moved, active, width, "load", mode).count


@given(requests(), st.integers(0, 2**32))
def test_order_within_a_group_is_free_for_stores(request: tuple, seed: int) -> None:
    address, active, width = request
    rng = np.random.default_rng(seed)
    order = np.concatenate([g + rng.permutation(8) for g in range(0, 32, 8)])
    here = wavefronts(architecture("9.0"), address, active, width, "store")
    there = wavefronts(architecture("9.0"), address[:, order], active[:, order], width, "store")
    assert here.count == there.count


@pytest.mark.parametrize("arch", FAMILIES, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_active_lane_takes_no_wavefront(arch: Architecture, width: int) -> None:
    address, nobody = one(LANE * width, np.zeros(32))
    got = wavefronts(arch, address, nobody, width)
    assert (got.count[0], got.ideal[0]) == (0, 0)
    assert schedule(arch, address[0], nobody[0], width) == ()
    assert conflict(arch, address[0], nobody[0], width) is None


# Lecture on the G80 and CUDA C Programming Guide 5.5, G.3.3: per half warp.
@pytest.mark.parametrize("stride", range(1, 17))
def test_conflict_free_exactly_for_odd_strides_on_16_banks(stride: int) -> None:
    assert count("1.0", LANE * stride * 4) == 2 * np.gcd(stride, 16)


@pytest.mark.parametrize("stride", range(1, 34))
def test_strides_on_32_banks(stride: int) -> None:
    for version in ("2.0", "5.2", "9.0"):
        assert count(version, LANE * stride * 4) == np.gcd(stride, 32)


# CUDA C Programming Guide 5.5, G.3.3.2 and G.3.3.3: passes of both half warps.
def test_narrow_and_wide_accesses_of_1_x() -> None:
    assert count("1.0", LANE, width=1) == 2 * 4
    assert count("1.0", LANE * 4, width=1) == 2
    assert count("1.0", LANE * 8, width=8) == 2 * 2 * 2
    assert count("1.0", LANE * 16, width=16) == 2 * 4 * 4
    assert count("1.0", LANE // 8 % 2 * 4) == 2 * 2  # two words, each wanted by eight lanes
    assert count("1.0", LANE * 0, op="store") == 2


# CUDA C Programming Guide 5.5, G.4.3 and G.5.3; nvprof on a K80 (float, float2, float4: 1, 1, 2).
def test_wide_accesses_of_2_x_and_3_x() -> None:
    assert [count("2.0", LANE * 8, 8), count("2.0", LANE * 16, 16)] == [2, 8]
    for mode in (4, 8):
        assert [count("3.7", LANE * w, w, "load", mode) for w in (4, 8, 16)] == [1, 1, 2]
    assert [count("3.5", LANE * 128, mode=m) for m in (4, 8)] == [16, 16]
    assert count("3.5", LANE % 2 * 128) == 1  # words 0 and 32 are one cell in 4-byte mode
    assert count("2.0", LANE % 2 * 128) == 2


def test_a_half_that_pairs_by_itself_is_not_merged() -> None:
    paired = np.where(LANE < 16, LANE // 2, LANE)
    assert count("9.0", paired * 16, 16) == 4
    assert count("9.0", LANE // 2 * 16, 16) == 2
    assert count("9.0", LANE // 2 * 16, 16, "store") == 4


def test_conflict_in_words() -> None:
    found = conflict(architecture("9.0"), (LANE * 8).astype(np.uint64), np.ones(32, bool), 4)
    assert found is not None
    assert (found.degree, found.bank, found.lanes.tolist()) == (2, 0, [0, 16])


def test_unknown_width_is_refused() -> None:
    with pytest.raises(InputError, match="cannot access 32 bytes here"):
        wavefronts(architecture("10.0"), *one(LANE * 32), 32)


@pytest.mark.parametrize(
    ("version", "address", "width", "passes"),
    [
        ("9.0", LANE * 0, 4, 1),
        ("9.0", LANE * 4, 4, 32),
        ("9.0", LANE // 4 * 4, 4, 8),
        ("9.0", LANE, 1, 8),
        ("1.1", LANE * 0, 4, 2),
        ("1.1", LANE % 16 * 4, 4, 32),
        ("9.0", LANE % 2 * 8, 8, 2),
    ],
)
def test_constant_passes(version: str, address: object, width: int, passes: int) -> None:
    assert constant_passes(architecture(version), *one(address), width)[0] == passes
