"""The way of warps through a program, as it is recorded."""

import numpy as np
import pytest

from gpuviz.ptx.emulator import Options
from gpuviz.traces.trace import Trace, lane_mask
from tests.ptx.launching import launch

KERNEL = """
extern "C" __global__ void two_ways(int* out, int group, int often)
{
    int x = threadIdx.x;
    if (x / group % 2)
        for (int k = 0; k < often; ++k) x += out[x & 31] + k;
    else
        for (int k = 0; k < 2 * often; ++k) x ^= out[x & 31] - k;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""


def trace(block: int, group: int, path: bool = True, blocks: int = 3, record=(1,)) -> Trace:
    out = np.zeros(blocks * block + 32, np.int32)
    return launch(
        KERNEL, "two_ways", blocks, block, out, group, 3, options=Options(record=record, path=path)
    ).trace


def test_no_path_unless_asked_for() -> None:
    kept = trace(64, 16, path=False)
    assert kept.path is None and kept.stretches == ()


@pytest.mark.parametrize("block", [1, 32, 40, 96, 1024])
@pytest.mark.parametrize("group", [1, 16, 32])
def test_the_path_holds_every_instruction_of_the_recorded_blocks(block: int, group: int) -> None:
    kept = trace(block, group, blocks=1, record=(0,))
    assert kept.path is not None
    count = np.array([s.count for s in kept.stretches])[kept.path.stretch]
    lanes = lane_mask(kept.path.active).sum(axis=1)
    assert (count * lanes).sum() == kept.thread_instructions
    assert count.sum() == kept.warp_instructions
    assert set(kept.path.warp.tolist()) == set(range(-(-block // 32)))


def test_lanes_that_went_apart_take_turns_and_meet_again() -> None:
    kept = trace(64, 16)
    assert kept.path is not None and set(kept.path.block.tolist()) == {1}
    mine = kept.path.of(1, 0)
    masks = list(dict.fromkeys(mine.active.tolist()))
    assert sorted(masks) == [0xFFFF, 0xFFFF0000, 0xFFFFFFFF]
    assert mine.active[0] == mine.active[-1] == 0xFFFFFFFF
    whole = kept.path.of(1, 1)
    assert len(whole.active) == len(mine.active)


def test_groups_of_a_whole_warp_do_not_part() -> None:
    kept = trace(64, 32)
    assert kept.path is not None
    assert (kept.path.active == 0xFFFFFFFF).all()
    ways = [tuple(kept.path.of(1, w).stretch.tolist()) for w in (0, 1)]
    assert ways[0] != ways[1]


def test_stretches_know_their_lines() -> None:
    kept = trace(32, 16)
    lines = {line for s in kept.stretches for line in s.lines}
    assert {5, 6, 8, 9} <= lines
    assert all(s.function == "two_ways" and s.count > 0 for s in kept.stretches)


def test_blocks_far_apart_are_recorded_in_step_as_they_are_one_by_one() -> None:
    record = (1, 5, 6, 40)

    def recorded(path: bool) -> Trace:
        options = Options(record=record, path=path, engine="compiled")
        out = np.zeros(48 * 64 + 32, np.int32)
        return launch(KERNEL, "two_ways", 48, 64, out, 16, 3, options=options).trace

    together, alone = recorded(True), recorded(False)
    assert together.path is not None and together.recorded == record
    assert set(together.path.block.tolist()) == set(record)
    for block in record:
        a, b = (t.requests.select(t.requests.block == block) for t in (together, alone))
        orders = [np.argsort(one.warp, kind="stable") for one in (a, b)]
        for name in ("warp", "phase", "active", "address"):
            assert (getattr(a, name)[orders[0]] == getattr(b, name)[orders[1]]).all()
