from functools import cache

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.course.together.matmul_barrier.interleaving import Kernel, kernel
from gpuviz.course.together.matmul_barrier.lesson import LESSON, expected
from gpuviz.course.together.matmul_common.reads import barrier_lines
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.story.lesson import Value
from gpuviz.story.perform import Performance, perform
from tests.course import pictures

CASES: dict[str, dict[str, Value]] = {p.label: dict(p.values) for p in LESSON.presets} | {
    "random": {"barriers": "none", "phases": 3, "fill": "rand", "ahead": "last"},
    "large": {"barriers": "no second", "tile": 16, "phases": 2},
    "large, published": {"barriers": "inside", "tile": 16, "phases": 2},
    "one phase": {"barriers": "no second", "phases": 1},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
FIRST, SECOND, BOTH = "First barrier missing", "Second barrier missing", "Both missing"
LISTING = "Published listing: barrier in the inner loop"


@cache
def played(case: str) -> Performance:
    return perform(LESSON, CASES[case], level="ptx")


def values(case: str) -> dict[str, Value]:
    return {**LESSON.defaults(), **CASES[case]}


@cache
def replayed(case: str) -> Kernel:
    v = values(case)
    run = played(case).runs[str(v["barriers"])]
    return kernel(run, int(v["tile"]), (case,), v["ahead"] == "last")


def test_in_step_every_kernel_is_right() -> None:
    for case in CASES:
        for run in played(case).runs.values():
            side = round(len(run.outputs["P"]) ** 0.5)
            m, n, p = (np.asarray(run.outputs[x], np.float64).reshape(side, side) for x in "MNP")
            assert np.allclose(p, m @ n, rtol=side * 2.0**-23)


@cases
def test_barriers_and_stores_are_those_of_the_closed_form(case: str) -> None:
    v, made = values(case), replayed(case).replay
    wanted = expected(str(v["barriers"]), int(v["tile"]), int(v["phases"]))
    assert (made.barriers, made.stores) == wanted
    assert sum(turn.part == "barrier" for turn in made.turns) == wanted[0]
    barriers = "1 barrier" if wanted[0] == 1 else f"{wanted[0]} barriers"
    assert f"{barriers} and " in played(case).story.expected


@cases
def test_a_read_finds_what_was_stored_last_in_the_order_of_the_turns(case: str) -> None:
    made, tile = replayed(case).replay, int(values(case)["tile"])
    for one in (made.m, made.n):
        stores = sorted(zip(one.stores.position, one.stores.slot, one.stores.phase, strict=True))
        for position in (0, len(one.found) // 3, len(one.found) - 1):
            at = one.reads.position[position]
            before = [
                p for when, slot, p in stores if when < at and slot == one.reads.slot[position]
            ]
            assert one.found[position] == (before[-1] if before else -1)
            held = one.held(int(at), tile * tile)
            assert held[one.reads.slot[position]] == one.found[position]


def simulated(case: str) -> np.ndarray:
    """The block's part of P when warps run one after another between barriers, step by step."""
    v = values(case)
    tile, phases, variant = int(v["tile"]), int(v["phases"]), str(v["barriers"])
    run = played(case).runs[variant]
    side = tile * phases
    m, n = (np.asarray(run.outputs[x], np.float64).reshape(side, side) for x in "MN")
    first, second = variant in ("both", "no second", "inside"), variant in ("both", "no first")
    ms, ns, total = np.zeros((tile, tile)), np.zeros((tile, tile)), np.zeros(tile * tile)
    groups = np.array_split(np.arange(tile * tile), max(tile * tile // 32, 1))
    order = groups[::-1] if v["ahead"] == "last" else groups

    def warp_code(threads: np.ndarray):  # type: ignore[no-untyped-def]
        y, x = np.divmod(threads, tile)
        for p in range(phases):
            ms[y, x], ns[y, x] = m[y, p * tile + x], n[p * tile + y, x]
            if first:
                yield
            for k in range(tile):
                total[threads] += ms[y, k] * ns[k, x]
                if variant == "inside":
                    yield
            if second:
                yield

    running = [warp_code(threads) for threads in order]
    while running:
        running = [code for code in running if next(code, "done") is None]
    return total.reshape(tile, tile)


@cases
def test_the_replay_is_what_warps_one_after_another_compute(case: str) -> None:
    got = replayed(case).outcome.value
    wanted = simulated(case)
    assert np.allclose(got, wanted, rtol=1e-6)


def test_the_published_listing_waits_at_every_step_and_stores_in_every_phase() -> None:
    """Its inner loop ends after the second barrier, before the store (8 x 8 threads, 2 phases)."""
    story, made = played(LISTING).story, replayed(LISTING).replay
    assert (made.barriers, made.stores) == (2 * (1 + 8), 2 * 64)
    assert "18 barriers instead of 4" in story.title
    assert "18 barriers and 128 stores" in story.expected and "tutorial" in story.expected
    stores = [(turn.phase, turn.warp) for turn in made.turns if turn.part == "store"]
    assert stores == [(0, 0), (0, 1), (1, 0), (1, 1)]
    early = next(step for step in story.steps if step.kind == "store")
    said = pictures.words(story.frame((early.start + early.end) / 2, pictures.STAGES["large"]))
    assert "Warp 0 stores sums that are not complete: phase 1 of 2 is over." in said
    end = pictures.words(pictures.frame(story, 1.0, "large"))
    assert any("stored 128 times instead of 64" in text for text in end)


def test_missing_barriers_are_hazards_that_the_order_shows() -> None:
    kinds = {case: sorted({h.kind for h in replayed(case).hazards}) for case in CASES}
    assert kinds[FIRST] == ["read after write"]
    assert kinds[SECOND] == ["write after read"]
    assert kinds[BOTH] == ["read after write", "write after read"]
    for case in ("Both there", LISTING, "First missing, one warp", "one phase"):
        assert kinds[case] == [] and replayed(case).outcome.count == 0
    assert sum(h.count for h in replayed(FIRST).hazards) == 2 * 64  # Ns, in each phase
    assert sum(h.count for h in replayed(SECOND).hazards) == 64  # from the first to the second
    assert [replayed(case).outcome.count for case in (FIRST, SECOND, BOTH)] == [32, 32, 64]


def test_the_race_check_names_element_threads_and_lines() -> None:
    said = " ".join(pictures.words(pictures.frame(played(FIRST).story, 0.0, "full")))
    assert "Read after write: lines 20 and 25, 128 words" in said
    assert "Thread (0,0) writes Ns[0][0] and thread (0,4) of another warp reads it" in said


def test_barrier_lines_are_those_compiled() -> None:
    source = played(FIRST).runs["both"].trace.source.splitlines()
    lines = barrier_lines(played(FIRST).runs["both"].trace)
    assert len(lines) == 2 and all("__syncthreads" in source[line - 1] for line in lines)
    assert barrier_lines(played(BOTH).runs["none"].trace) == ()
    steps = [s for s in played(FIRST).story.steps if s.kind == "barrier"]
    assert {s.line for s in steps} == {lines[1]}


def test_wrong_reads_are_told_and_hatched() -> None:
    story = played(FIRST).story
    step = next(s for s in story.steps if s.label == "warp 0: multiply 1")
    assert step.detail == "128 of 512 reads wrong"
    shown = story.frame((step.start + 3 * step.end) / 4, pictures.STAGES["large"])
    said = "Warp 0 multiplies phase 1: 128 of its 512 reads come too early."
    assert said in pictures.words(shown)
    hatched = [len(m.rect) for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None]
    assert 8 in hatched and 32 in hatched  # a row of Ns, and the threads of warp 0


def test_hover_tells_what_a_slot_holds_and_what_is_wrong() -> None:
    story = played(FIRST).story
    shown = pictures.frame(story, 1.0, "large")
    tiles = [m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == 64]
    x, y, width, height = tiles[0].rect[9].tolist()
    assert tip_at(shown, x + 2, y + 2) == "Ms[1][1]: an element of phase 2"
    assert tiles[2].tip is not None and "is right" in tiles[2].tip(0)


def test_bad_combinations_are_explained() -> None:
    given: dict[str, Value] = {**LESSON.defaults(), "barriers": "inside", "phases": 4}
    assert LESSON.problem(given) == ""
    assert "512 turns" in LESSON.problem({**given, "tile": 16})
    assert LESSON.problem({**given, "tile": 16, "barriers": "none"}) == ""


@pytest.mark.parametrize("case", [*CASES][len(LESSON.presets) :])
@pictures.stages
def test_words_of_other_sizes_are_legible_and_apart(case: str, stage: str, qapp: object) -> None:
    pictures.check_text(played(case).story, stage)


def test_what_races_is_not_timed_and_what_is_right_is() -> None:
    for case, beside in ((FIRST, {"both"}), (LISTING, {"both", "inside"})):
        plans = played(case).plans
        assert {p.companion_of for p in plans} - {""} == beside
