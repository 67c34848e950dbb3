from functools import cache

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import BufferSpec, materialise
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.global_memory.square_array import trials as square_array_trials
from gpuviz.course.global_memory.square_array.lesson import LESSON, Walk, walk_of
from gpuviz.course.global_memory.square_array.trials import PUBLISHED, Trial, trial_of
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.panels.time_bars import TimeBars
from gpuviz.story.measured import LaunchTime
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed, real

CASES = {
    "small": {},
    "offset": {"offset": 1},
    "groups": {"stride": 2, "offset": 1, "group": 4},
    "alone": {"stride": 1},
    "trials": {"show": "trials", "stride": 32},
    "own trial": {"show": "trials", "stride": 2, "offset": 1, "group": 1},
}
WALKS = ("small", "offset", "groups", "alone")
# Segments of a warp's 32 loads under 1.1: 1 for a half warp in order, else one an active lane;
# two paths ask twice when both have lanes in the half warp.
THEN = {
    (32, 0, 512): 2,
    (16, 0, 512): 2,
    (8, 0, 512): 32,
    (32, 1, 512): 32,
    (32, 0, 16): 2,
    (32, 0, 8): 4,
    (8, 1, 8): 32,
}

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
cases = pytest.mark.parametrize("case", CASES)


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def walk(case: str) -> Walk:
    return walk_of(played(case).runs["small"].trace, architecture("sm_90"))


@cache
def trials(arch: str = "sm_90") -> dict[tuple[int, int, int], Trial]:
    runs = played("trials", arch).runs
    return {triple: trial_of(triple, runs["({}, {}, {})".format(*triple)]) for triple in PUBLISHED}


def reference(threads: int, each: int, stride: int, offset: int) -> np.ndarray:
    """(each, threads): the document's mapping."""
    t, i = np.arange(threads), np.arange(each)[:, None]
    return t // stride * stride * each + (t + offset) % stride + i * stride


def test_the_documents_table() -> None:
    """512 elements, 8 threads, stride 4, offset 0 and 1."""
    first = {"small": [0, 1, 2, 3, 256, 257, 258, 259], "offset": [1, 2, 3, 0, 257, 258, 259, 256]}
    for case, row in first.items():
        table = walk(case).element
        assert table.shape == (64, 8)
        assert table[0].tolist() == row
        assert table[1].tolist() == [n + 4 for n in row]
        assert table[63].tolist() == [n + 252 for n in row]


@pytest.mark.parametrize("case", WALKS)
def test_the_closed_form_is_the_first_row(case: str) -> None:
    row = " ".join(map(str, walk(case).element[0].tolist()))
    assert played(case).story.expected.endswith(f"elements {row}")


@pytest.mark.parametrize("case", WALKS)
def test_the_walk_is_what_the_kernel_did(case: str) -> None:
    values, made = {**LESSON.defaults(), **CASES[case]}, walk(case)
    stride, offset, group = (int(values[k]) for k in ("stride", "offset", "group"))
    assert np.array_equal(made.element, reference(8, 64, stride, offset))
    assert np.array_equal(np.unique(made.element), np.arange(512))
    assert made.path.tolist() == [t // group % 2 for t in range(8)]
    assert np.array_equal(made.element[made.turn, made.owner], np.arange(512))


@pytest.mark.parametrize("triple", PUBLISHED)
def test_elements_are_squared_or_doubled(triple: tuple[int, int, int]) -> None:
    run = played("trials").runs["({}, {}, {})".format(*triple)]
    stride, offset, group = triple
    got = np.asarray(run.outputs["a"], np.float64)
    before = np.asarray(materialise(BufferSpec("f32", len(got), "rand"), 0), np.float64)
    wanted = before**2
    element = reference(512, 8, stride, offset)
    double = element[:, np.arange(512) // group % 2 == 1].ravel()
    wanted[double] = 2 * before[double]
    assert np.abs(got - wanted).max() < 1e-6


def test_transactions_under_the_published_cards_rules() -> None:
    assert {t: trial.then for t, trial in trials().items()} == THEN
    assert {trial.now for trial in trials().values()} == {4}
    run = played("trials", "sm_11").runs["(8, 1, 8)"]
    assert run.counts.totals["global_load_sectors"] == 32 * 4096 // 32


def test_published_times_follow_the_bytes() -> None:
    """The order of the published times, up to 2 ms and 10 %, is that of the bytes predicted."""
    found = list(trials().values())
    for a in found:
        for b in found:
            if a.bytes_then < b.bytes_then:
                assert (a.published or 0) < (b.published or 0)
            if a.bytes_then == b.bytes_then:
                assert a.published == pytest.approx(b.published, rel=0.1)


def test_more_elements_cost_the_same() -> None:
    large = performed(LESSON, {"show": "trials", "stride": 32, "elements": 65536})
    for triple, trial in trials().items():
        other = trial_of(triple, large.runs["({}, {}, {})".format(*triple)])
        assert (other.then, other.now, other.requests) == (trial.then, trial.now, trial.requests)
        totals = large.runs["({}, {}, {})".format(*triple)].counts.totals
        assert totals["global_load_sectors"] == trial.now * 65536 / 32


@pytest.mark.parametrize(
    ("arch", "text"),
    [("sm_90", "the same 4 sectors"), ("sm_12", "differ less"), ("sm_30", "the same 4 segments")],
)
def test_the_verdict_is_of_the_architecture(arch: str, text: str) -> None:
    assert text in played("trials", arch).story.sentence


def test_all_trials_stand_on_one_axis_in_the_end() -> None:
    story = played("trials").story
    assert story.at is not None
    shown = story.at(story.duration).body
    assert isinstance(shown, TimeBars)
    assert [bar.names[-1] for bar in shown.bars][: len(PUBLISHED)] == [str(t) for t in PUBLISHED]
    assert all(bar.note[-1] == "4 sectors" for bar in shown.bars)
    assert "14.5" in story.expected


def test_the_trials_are_as_large_as_published_and_the_small_example_has_one_beside_it() -> None:
    ships = real(LESSON)
    trials = ships.plan(ships.defaults() | {"show": "trials", "stride": 32})
    assert {plan.grid[0] * plan.block[0] * 8 for plan in trials} == {1 << 25}
    drawn, timed = ships.plan(ships.defaults())
    assert drawn.size == "512 elements, 64 a thread" and timed.companion_of == drawn.role
    assert timed.size == "33\u202f554\u202f432 elements, 8 a thread"
    assert timed.arguments[0] == "f32[33554432]=rand" and timed.block == (512, 1, 1)


@pictures.stages
def test_times_have_their_bars(stage: str, monkeypatch: pytest.MonkeyPatch, qapp: object) -> None:
    timed = LaunchTime(1234.0, "recorded", "NVIDIA H200")
    monkeypatch.setattr(square_array_trials, "time_of", lambda run: timed)
    values = LESSON.defaults() | CASES["trials"]
    story = LESSON.narrate(values, played("trials").runs)
    pictures.check_text(story, stage)
    shown = pictures.words(pictures.frame(story, 1.0, stage))
    assert shown.count("1.23\u202fms") == 7
    assert "H200" in " ".join(shown)  # beside the times of another card


def test_hover_tells_thread_and_iteration() -> None:
    shown = pictures.frame(played("small").story, 1.0)
    cells = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 512)
    x, y, width, height = cells.rect[258].tolist()
    assert tip_at(shown, x + width / 2, y + height / 2) == (
        "a[258] · thread 6 in iteration 0 · squares its elements"
    )


@cases
@pytest.mark.parametrize("arch", ["sm_90", "sm_11", "sm_20"])
@pictures.stages
def test_words_are_legible(case: str, arch: str, stage: str, qapp: object) -> None:
    pictures.check_text(played(case, arch).story, stage)


def test_rows_longer_than_the_small_block_are_explained() -> None:
    with pytest.raises(InputError, match="rows of 16 need more"):
        performed(LESSON, {"stride": 16})
