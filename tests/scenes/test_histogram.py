from functools import cache

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.errors import InputError
from gpuviz.scenes.histogram import LESSON, expected_sectors
from gpuviz.scenes.histogram_count import Counting, cost_of, counting_of
from gpuviz.scenes.perform import Performance
from tests.scenes import pictures
from tests.scenes.performed import performed

WAYS = ("global_atomics", "shared_atomics", "privatised")
CASES = {
    "global": {},
    "shared": {"way": "shared_atomics"},
    "copies": {"way": "privatised"},
    "one bin": {"used": 1},
    "one bin shared": {"way": "shared_atomics", "used": 1},
    "in order": {"values": "arange", "used": 16},
    "few copies": {"way": "privatised", "copies": 4, "bins": 128, "used": 128, "each": 32},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def values(case: str) -> dict[str, object]:
    return {**LESSON.defaults(), **CASES[case]}


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


@cache
def counting(case: str, arch: str = "sm_90") -> Counting:
    given = values(case)
    copies = int(given["copies"]) if given["way"] == "privatised" else 1
    run = played(case, arch).runs[str(given["way"])]
    return counting_of(run, architecture(arch), int(given["bins"]), copies)


@cases
def test_every_way_counts_every_value(case: str) -> None:
    given = values(case)
    for way, run in played(case).runs.items():
        wanted = np.bincount(run.outputs["values"] % given["used"], minlength=given["bins"])
        assert np.array_equal(run.outputs["bins"], wanted), way


@cases
def test_the_counters_of_the_block_are_its_values(case: str) -> None:
    given, found = values(case), counting(case)
    run = played(case).runs[str(given["way"])]
    mine = run.outputs["values"].reshape(-1, run.trace.launch.blocks, 128)[:, 0] % given["used"]
    wanted = np.bincount(mine.ravel(), minlength=given["bins"])
    assert np.array_equal(found.after[-1].reshape(found.copies, -1).sum(axis=0), wanted)
    assert np.array_equal(found.bin[0], mine[0, :32])
    assert np.array_equal(found.copy[0], np.arange(32) % found.copies)
    assert np.array_equal(found.partly(found.turns), found.after[1])


@cases
def test_costs_of_requests_add_up_to_the_counts(case: str) -> None:
    found, given = counting(case), values(case)
    run = played(case).runs[str(given["way"])]
    totals = run.counts.totals
    assert int(found.cost[0]) >= found.turns or found.shared
    rows = next(
        r
        for r in run.counts.rows
        if r.instruction.line == found.instruction.line and r.instruction.op == found.instruction.op
    )
    key = "shared_atomic_wavefronts" if found.shared else "global_reduction_sectors"
    assert 0 < found.cost.sum() < rows.counts[key] <= totals[key]


def test_one_bin_in_global_memory_takes_a_round_for_each_lane() -> None:
    found = counting("one bin")
    assert found.turns == 32 and (found.cost == 32).all()
    assert expected_sectors(values("one bin"), architecture("sm_90")) == 32
    assert played("one bin").story.expected == "closed form: 32 sectors a request"


@pytest.mark.parametrize("used", [1, 4, 16, 32, 64])
def test_values_in_order_take_the_closed_form(used: int) -> None:
    given = {**LESSON.defaults(), "values": "arange", "used": used}
    run = performed(LESSON, {"values": "arange", "used": used}).runs["global_atomics"]
    sectors = expected_sectors(given, architecture("sm_90"))
    assert sectors is not None
    assert cost_of(run).sectors == 128 * sectors
    assert expected_sectors(given, architecture("sm_13")) is None


def test_lanes_of_one_bin_are_counted_at_once_since_8_0() -> None:
    """Read from an H200; before 8.0 the assembler has no instruction for it."""
    assert counting("one bin shared").turns == 1
    assert counting("one bin shared", "sm_75").turns == 32
    assert "lanes meet" in played("one bin shared", "sm_75").story.title


def test_bins_that_meet_in_a_bank_take_turns() -> None:
    found = counting("shared")
    for lane in range(32):
        earlier = {int(b) for b in found.bin[0, :lane] if b % 32 == found.bin[0, lane] % 32}
        assert found.turn[lane] == 0 or earlier - {int(found.bin[0, lane])}
    assert counting("copies").cost.max() == 1


@cases
def test_additions_in_global_memory_are_as_expected(case: str) -> None:
    given, performance = values(case), played(case)
    for way in WAYS[1:]:
        assert cost_of(performance.runs[way]).sectors == 4 * int(given["bins"]) // 8
    if given["way"] != "global_atomics":
        assert f"{given['bins']} × 4 additions" in performance.story.expected


def test_before_5_0_locks_are_not_modelled_and_it_says_so() -> None:
    for way in WAYS:
        assert "not modelled" in performed(LESSON, {"way": way}, arch="sm_20").story.title


@cases
def test_steps_have_lines_of_their_kernel(case: str) -> None:
    performance = played(case)
    pictures.check_steps(performance.story)
    for step in performance.story.steps[:-1]:
        source = performance.runs[step.role].trace.source.splitlines()
        assert "atomicAdd" in source[step.line - 1]


def test_bars_grow_to_the_histogram() -> None:
    performance = played("shared")
    shown = pictures.frame(performance.story, 1.0, "full")
    bars = [m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == 64][-2:]
    high = sum(m.rect[:, 3] for m in bars)
    total = performance.runs["shared_atomics"].outputs["bins"].astype(float)
    assert np.allclose(high / high.max(), total / total.max(), atol=0.01)


def test_hover_tells_lane_and_bin() -> None:
    story, found = played("global").story, counting("global")
    shown = story.frame(1.0, pictures.STAGES["full"])
    lanes = next(m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == 32)
    x, y, width, height = lanes.rect[3].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    assert tip == f"lane 3 of warp 0 counts in bin {found.bin[0, 3]}\nround {found.turn[3] + 1}"


def test_bad_values_are_explained() -> None:
    assert LESSON.problem(LESSON.defaults()) == ""
    assert "there are 32" in LESSON.problem({**LESSON.defaults(), "bins": 32})
    with pytest.raises(InputError, match="spread over 128"):
        performed(LESSON, {"used": 128})
