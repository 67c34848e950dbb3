from functools import cache

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.together.histogram.count import CountRequests, cost_of, counting_of
from gpuviz.course.together.histogram.lesson import LESSON, expected_sectors
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

WAYS = ("global_atomics", "shared_atomics", "privatised")
CASES = {
    "global": {"each": 8, "blocks": 4},
    "shared": {"way": "shared_atomics", "each": 8, "blocks": 4},
    "copies": {"way": "privatised", "each": 8, "blocks": 4},
    "one bin": {"used": 1, "each": 8, "blocks": 4},
    "one bin shared": {"way": "shared_atomics", "used": 1, "each": 8, "blocks": 4},
    "in order": {"values": "arange", "used": 16, "each": 8, "blocks": 4},
    "few copies": {"way": "privatised", "copies": 4, "bins": 128, "used": 128, "blocks": 4},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def values(case: str) -> dict[str, object]:
    return {**LESSON.defaults(), **CASES[case]}


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


@cache
def counting(case: str, arch: str = "sm_90") -> CountRequests:
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
    assert sorted(map(tuple, found.bin)) == sorted(map(tuple, mine.reshape(-1, 32)))
    assert (found.copy == np.arange(32) % found.copies).all()
    assert np.array_equal(found.partly(found.turns), found.after[1])


@cases
def test_the_request_told_is_one_whose_lanes_wait_longest(case: str) -> None:
    found = counting(case)
    assert found.turn[0].max() == found.turn.max()
    assert found.turns == found.turn.max() + 1


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
    assert played("one bin").story.expected == "by arithmetic: 32 sectors a request"


@pytest.mark.parametrize("used", [1, 4, 16, 32, 64])
def test_values_in_order_take_the_closed_form(used: int) -> None:
    given = {**LESSON.defaults(), "values": "arange", "used": used}
    small = {"values": "arange", "used": used, "each": 8, "blocks": 4}
    run = performed(LESSON, small).runs["global_atomics"]
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
        assert found.turn[0, lane] == 0 or earlier - {int(found.bin[0, lane])}
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
        assert (
            "not modelled"
            in performed(LESSON, {"way": way, "each": 8, "blocks": 4}, arch="sm_20").story.title
        )


@cases
def test_steps_have_lines_of_their_kernel(case: str) -> None:
    performance = played(case)
    pictures.check_steps(performance.story)
    for step in performance.story.steps[:-1]:
        source = performance.runs[step.role].trace.source.splitlines()
        assert "atomicAdd" in source[step.line - 1]


def boxes(case: str, share: float, count: int) -> list[Boxes]:
    shown = pictures.frame(played(case).story, share, "full")
    return [m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == count]


def test_bars_grow_to_the_histogram() -> None:
    story = played("shared").story
    whole = pictures.before_the_end(story) / story.duration
    high = sum(m.rect[:, 3] for m in boxes("shared", whole, 64)[-2:])
    total = played("shared").runs["shared_atomics"].outputs["bins"].astype(float)
    assert np.allclose(high / high.max(), total / total.max(), atol=0.01)


def test_tokens_of_one_bin_stack_up_and_fall_one_a_round() -> None:
    story, found = played("one bin").story, counting("one bin")
    load = story.steps[0].end
    tower = boxes("one bin", (load - 1e-6) / story.duration, 32)[-1].rect
    assert (np.diff(np.sort(tower[:, 1])) > 0).all() and np.ptp(tower[:, 0]) < 1
    middle = (load + story.steps[8].end) / 2 / story.duration
    tokens = boxes("one bin", middle, 32)[-1].rect
    order = np.argsort(-found.turn[0])
    assert (np.diff(tokens[order, 1]) > 0).all()  # who is served first lies lowest


def test_lanes_of_different_bins_queue_beside_each_other() -> None:
    story, found = played("global").story, counting("global")
    tokens = boxes("global", (story.steps[0].end - 1e-6) / story.duration, 32)[-1].rect
    assert (
        np.argsort(tokens[:, 0], kind="stable") == np.argsort(found.bin[0], kind="stable")
    ).all()
    level = np.rint((tokens[:, 1].max() - tokens[:, 1]) / (tokens[0, 3] + 1))
    assert np.array_equal(level, found.turn[0])


def test_times_are_of_a_companion_that_says_its_size() -> None:
    plans = LESSON.plan(LESSON.defaults())
    assert [p.companion_of for p in plans] == ["", "", "", *WAYS]
    sizes = {p.size_words.replace("\u202f", " ") for p in plans}
    assert sizes == {"540 672 values", "17 301 504 values"}


def test_hover_tells_lane_and_bin() -> None:
    story, found = played("global").story, counting("global")
    shown = story.frame(1.0, pictures.STAGES["full"])
    lanes = next(m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == 32)
    x, y, width, height = lanes.rect[3].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    where = f"lane 3 of warp {found.warp[0]} counts in bin {found.bin[0, 3]}"
    assert tip == f"{where}\nround {found.turn[0, 3] + 1}"


def test_bad_values_are_explained() -> None:
    assert LESSON.problem(LESSON.defaults()) == ""
    assert "there are 32" in LESSON.problem({**LESSON.defaults(), "bins": 32})
    with pytest.raises(InputError, match="spread over 128"):
        performed(LESSON, {"used": 128})
