from functools import cache

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.together.reduction.lesson import LESSON, expected_wavefronts
from gpuviz.course.together.reduction.reduction_rounds import Rounds, rounds_of
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

WAYS = ("interleaved", "packed", "sequential", "shuffled")
CASES = {way: {"way": way, "blocks": 4} for way in WAYS} | {
    "64 threads": {"way": "shuffled", "threads": 64, "blocks": 4},
    "256 threads": {"way": "packed", "threads": 256, "blocks": 4},
}
cases = pytest.mark.parametrize("case", CASES)
ways = pytest.mark.parametrize("way", WAYS)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str) -> Performance:
    return performed(LESSON, CASES[case])


@cache
def rounds(way: str, case: str = "interleaved") -> Rounds:
    return rounds_of(played(case).runs[way], architecture("sm_90"))


@cases
def test_every_way_sums(case: str) -> None:
    for way, run in played(case).runs.items():
        threads = run.trace.launch.threads_per_block
        wanted = run.outputs["in"].astype(np.float64).reshape(-1, threads).sum(axis=1)
        assert np.abs(run.outputs["out"] - wanted).max() < 1e-3, way


@ways
def test_the_rounds_add_every_element_once(way: str) -> None:
    found = rounds(way)
    assert len(found.steps) == 7
    assert sum(r.lanes for r in found.steps) == 127
    assert found.elements[-1, 0] == 128
    assert (np.concatenate([r.target[r.useful] for r in found.rounds]) < 128).all()


@ways
def test_places_hold_the_sums_that_the_kernel_would_have(way: str) -> None:
    """Replayed over the rounds, the elements give the kernel's own result."""
    run, found = played("interleaved").runs[way], rounds(way)
    given = run.outputs["in"][:128].astype(np.float32)
    place = np.zeros(128, np.float32)
    for one in found.rounds:
        before = place.copy()
        if one.kind == "load":
            place = given.copy()
        elif one.kind == "move":
            place[one.target] = before[one.source]
        else:
            place[one.target] = before[one.target] + before[one.source]
    assert place[0] == run.outputs["out"][0]


@pytest.mark.parametrize("case", ["interleaved", "64 threads", "256 threads"])
@ways
def test_wavefronts_are_the_closed_form(way: str, case: str) -> None:
    run = played(case).runs[way]
    totals = run.counts.totals
    count = totals["shared_load_wavefronts"] + totals["shared_store_wavefronts"]
    wanted = expected_wavefronts(way, run.trace.launch.threads_per_block)
    assert count == 4 * wanted
    chart = sum(r.wavefronts for r in rounds(way, case).rounds)
    assert chart == wanted - (way != "shuffled")  # the load of the finished sum


def test_only_whole_warps_far_apart_collide() -> None:
    assert [r.wavefronts - r.ideal for r in rounds("packed").steps] == [6, 9, 9, 9, 9, 3, 0]
    for way in ("interleaved", "sequential", "shuffled"):
        assert all(r.wavefronts == r.ideal for r in rounds(way).rounds)


def test_lanes_drop_out_of_warps_that_stay() -> None:
    assert [(r.lanes, r.issued) for r in rounds("interleaved").steps] == [
        (64, 128),
        (32, 128),
        (16, 128),
        (8, 128),
        (4, 128),
        (2, 64),
        (1, 32),
    ]
    assert [(r.lanes, r.issued) for r in rounds("sequential").steps] == [
        (64, 64),
        (32, 32),
        (16, 32),
        (8, 32),
        (4, 32),
        (2, 32),
        (1, 32),
    ]
    assert [r.apart for r in rounds("shuffled").steps] == [16, 8, 4, 2, 1, 2, 1]


@cases
def test_what_is_expected_is_what_is_counted(case: str) -> None:
    story = played(case).story
    given = {**LESSON.defaults(), **CASES[case]}
    count = expected_wavefronts(str(given["way"]), int(given["threads"]))
    assert f"{count} wavefronts a block" in story.expected
    shown = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
    assert f"{count} wavefronts a block" in shown


@cases
def test_the_heading_and_the_figures_below_come_to_the_same_wavefronts(case: str) -> None:
    story = played(case).story
    shown = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
    said = story.sentence.partition(" wavefronts")[0].split()[-1]
    assert f" {said} wavefronts" in shown.replace(story.sentence, "")


def test_times_are_of_sixteen_million_elements() -> None:
    plans = LESSON.plan(LESSON.defaults())
    assert [p.companion_of for p in plans] == ["", "", "", "", *WAYS]
    assert {p.size_words.replace("\u202f", " ") for p in plans[4:]} == {"16 777 216 elements"}


def test_other_banks_have_no_closed_form() -> None:
    story = performed(LESSON, {"blocks": 4}, arch="sm_30").story
    assert "wavefronts" not in story.expected


@cases
def test_steps_have_lines_of_their_kernel(case: str) -> None:
    performance = played(case)
    pictures.check_steps(performance.story)
    for step in performance.story.steps:
        source = performance.runs[step.role].trace.source.splitlines()
        wanted = {"load": "in[", "result": "out[", "compute": "__shfl_down_sync"}
        assert wanted.get(step.kind, "part[") in source[step.line - 1]


def tip_of(way: str, box: int, share: float = 1.0) -> str:
    """Hover text of the last mark with tips that has so many boxes."""
    story = played(way).story
    shown = story.frame(share * pictures.before_the_end(story), pictures.STAGES["full"])
    boxes = [m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == box]
    x, y, width, height = boxes[-1].rect[-1].tolist()
    return tip_at(shown, x + width / 2, y + height / 2) or ""


def test_hover_tells_who_adds_what() -> None:
    assert (
        tip_of("interleaved", 4) == "lane 0 of warp 3 adds place 112 to place 96: a sum of 32 "
        "elements"
    )
    assert "nobody uses the sum" in tip_of("shuffled", 31)


def test_a_run_without_requests_or_path_is_refused() -> None:
    run = played("interleaved").runs["interleaved"]
    with pytest.raises(InputError, match="block 3"):
        rounds_of(run, architecture("sm_90"), 3)
