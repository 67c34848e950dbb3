"""What lanes tell each other, against one lane at a time."""

from __future__ import annotations

import numpy as np
import pytest

from gpuviz.ptx.simt import warp_ops

LANES = np.arange(32, dtype=np.uint32)[None, :]
ALL = np.ones((1, 32), np.bool_)
RNG = np.random.default_rng(1)
VALUES = RNG.integers(0, 5, (4, 32)).astype(np.uint32)
SOME = RNG.random((4, 32)) < 0.6


def _shfl(mode: str, amount: int, c: int) -> tuple[list[int], list[bool]]:
    b, c_array = np.full((1, 1), amount, np.uint32), np.full((1, 1), c, np.uint32)
    result, inside = warp_ops.shfl(mode, LANES, b, c_array, ALL)
    return result[0].tolist(), inside[0].tolist()


def test_whole_warp_shuffles() -> None:
    assert _shfl("down", 16, 31)[0] == [*range(16, 32), *range(16, 32)]
    assert _shfl("down", 16, 31)[1] == [True] * 16 + [False] * 16
    assert _shfl("up", 1, 0)[0] == [0, *range(31)]
    assert _shfl("up", 1, 0)[1] == [False] + [True] * 31
    assert _shfl("bfly", 1, 31)[0] == [lane ^ 1 for lane in range(32)]
    assert _shfl("idx", 7, 31) == ([7] * 32, [True] * 32)


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("amount", [0, 1, 3, 9, 31, 40])
def test_segments_like_cuda(width: int, amount: int) -> None:
    """As __shfl_*_sync(v, amount, width) compiles: c = (32 - width) << 8 | clamp."""
    segment, step = (32 - width) << 8, amount % 32
    for lane in range(32):
        base = lane // width * width
        down = lane + step if lane + step < base + width else lane
        assert _shfl("down", amount, segment | 31)[0][lane] == down
        up = lane - step if lane - step >= base else lane
        assert _shfl("up", amount, segment)[0][lane] == up
        assert _shfl("idx", amount, segment | 31)[0][lane] == base + step % width
        other = lane ^ step
        assert _shfl("bfly", amount, segment | 31)[0][lane] == (
            other if other < base + width else lane
        )


def test_votes() -> None:
    yes = VALUES > 1
    for warp in range(4):
        seen = yes[warp][SOME[warp]]
        for mode, wanted in (("all", seen.all()), ("any", seen.any())):
            assert warp_ops.vote(mode, yes, SOME)[warp, 0] == wanted
        assert warp_ops.vote("uni", yes, SOME)[warp, 0] == (seen.all() or not seen.any())
        mask = sum(1 << lane for lane in range(32) if yes[warp, lane] and SOME[warp, lane])
        assert warp_ops.vote("ballot", yes, SOME)[warp, 0] == mask
    assert warp_ops.activemask(ALL).tolist() == [[0xFFFFFFFF]]


def test_matches() -> None:
    masks = warp_ops.match_any(VALUES, SOME)
    for warp, lane in np.argwhere(SOME):
        equal = (VALUES[warp] == VALUES[warp, lane]) & SOME[warp]
        assert masks[warp, lane] == sum(1 << int(i) for i in np.flatnonzero(equal))
    mask, agree = warp_ops.match_all(np.where(SOME, 7, VALUES), SOME)
    assert agree.all() and np.array_equal(mask, warp_ops.mask_of(SOME))
    mask, agree = warp_ops.match_all(VALUES, SOME)
    assert not agree.any() and not mask.any()


@pytest.mark.parametrize(
    "op, kind, wanted",
    [
        ("add", "s32", lambda x: sum(x) % 2**32),
        ("min", "u32", min),
        ("max", "u32", max),
        ("and", "b32", np.bitwise_and.reduce),
        ("or", "b32", np.bitwise_or.reduce),
        ("xor", "b32", np.bitwise_xor.reduce),
    ],
)
def test_reductions(op: str, kind: str, wanted: object) -> None:
    values = RNG.integers(0, 2**32, (4, 32), np.uint64).astype(np.uint32)
    result = warp_ops.redux(op, kind, values, SOME)
    for warp in range(4):
        assert result[warp, 0] == wanted(values[warp][SOME[warp]].tolist())  # type: ignore[operator]


def test_signed_and_float_reductions() -> None:
    values = np.arange(-16, 16, dtype=np.int32).view(np.uint32)[None, :]
    assert warp_ops.redux("min", "s32", values, ALL).view(np.int32)[0, 0] == -16
    floats = np.linspace(-4, 3, 32, dtype=np.float32)[None, :].copy()
    floats[0, 5] = np.nan
    bits = floats.view(np.uint32)
    assert warp_ops.redux("max", "f32", bits, ALL).view(np.float32)[0, 0] == 3
    assert warp_ops.redux("max", "f32", bits, ALL, ("abs",)).view(np.float32)[0, 0] == 4
    assert warp_ops.redux("min", "f32", bits, ALL, ("NaN",))[0, 0] == 0x7FFFFFFF


def test_the_lowest_active_lane_is_elected() -> None:
    leader, chosen = warp_ops.elect(SOME)
    for warp in range(4):
        first = int(np.flatnonzero(SOME[warp])[0])
        assert leader[warp, 0] == first
        assert np.flatnonzero(chosen[warp]).tolist() == [first]
