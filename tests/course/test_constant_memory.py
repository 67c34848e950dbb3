from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.course.shared_memory.constant_memory.lesson import LESSON, SPACES, costs, expected
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes, Lines
from gpuviz.memory.other_spaces import constant_passes, constant_schedule
from gpuviz.run.run import Run
from gpuviz.story.lesson import Story, Values
from gpuviz.story.perform import Performance, perform
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "odd": {"distinct": 21, "step": 3},
    "twos": {"distinct": 17, "step": 2, "blocks": 1},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


@cases
def test_each_space_gives_the_same_values(case: str) -> None:
    values = {**LESSON.defaults(), **CASES[case]}
    wanted = np.arange(32) % values["distinct"] * values["step"]
    for space in SPACES:
        assert (played(case).runs[space].outputs["out"].reshape(-1, 32) == wanted).all()
        swept = played(case).runs[f"{space} sweep"].outputs["out"].reshape(-1, 32)
        for block, row in enumerate(swept):
            assert (row == np.arange(32) % (block + 1) * values["step"]).all()


@cases
def test_counts_are_the_closed_form(case: str) -> None:
    values = {**LESSON.defaults(), **CASES[case]}
    count = expected(int(values["distinct"]), int(values["step"]))
    keys = ("constant_load_wavefronts", "shared_load_wavefronts", "global_load_sectors")
    for space, key, one in zip(SPACES, keys, count, strict=True):
        assert played(case).runs[space].counts.totals[key] == one * int(values["blocks"])
    passes, ways, sectors = count
    said = f"constant passes {passes}, shared wavefronts {ways}, sectors {sectors}"
    assert said in played(case).story.expected


@pytest.mark.parametrize("step", [1, 3, 8])
def test_the_chart_is_the_closed_form(step: int) -> None:
    runs = performed(LESSON, {"step": step}).runs
    found = [costs(runs[f"{s} sweep"].trace, architecture("sm_90"), s).tolist() for s in SPACES]
    wanted = [expected(n, step) for n in range(1, 33)]
    assert [list(column) for column in zip(*wanted, strict=True)] == found


@pytest.mark.parametrize("arch", ["sm_10", "sm_20", "sm_90"])
def test_the_schedule_serves_every_lane_once_in_as_many_passes_as_counted(arch: str) -> None:
    rng = np.random.default_rng(1)
    for most in (1, 2, 9, 1000):
        address = (rng.integers(0, most, 32) * 4).astype(np.uint64)
        active = rng.random(32) < 0.8
        waves = constant_schedule(architecture(arch), address, active, 4)
        counted = constant_passes(architecture(arch), address[None], active[None], 4)
        assert len(waves) == counted[0]
        assert sorted(np.concatenate(waves).tolist()) == np.flatnonzero(active).tolist()
        assert all(len(np.unique(address[lanes])) == 1 for lanes in waves)


def test_half_warps_take_turns_on_the_first_architectures() -> None:
    runs = played("Two words", "sm_10").runs
    assert runs["constant"].counts.totals["constant_load_wavefronts"] == 4 * 64


def test_memories_have_one_scale_and_times_are_what_is_compared() -> None:
    story = played("8 words").story
    shown = story.frame(pictures.before_the_end(story), pictures.STAGES["large"])
    lines = [m for m in shown.marks if isinstance(m, Lines) and len(m.points) == 31]
    assert len(lines) == 3
    said = pictures.words(shown)
    assert {"passes", "wavefronts", "sectors"} <= set(said)
    last = pictures.words(story.frame(story.duration, pictures.STAGES["large"]))
    assert any("only times can be compared" in text for text in last)
    assert "not measured" in last and "8 passes" in last
    top, *_, few = (m.points[:, :, 1].min() for m in lines)
    low = max(m.points[:, :, 1].max() for m in lines)
    assert (low - few) * 8 == pytest.approx(low - top, rel=0.3)  # 4 sectors beside 32 passes


def test_what_is_timed_reads_the_same_words_many_times() -> None:
    plans = played("8 words").plans
    timed = [plan for plan in plans if plan.companion_of]
    assert [plan.companion_of for plan in timed] == list(SPACES)
    assert {plan.size for plan in timed} == {"16\u202f384 warps, 256 loads a lane"}
    table = np.arange(256.0)
    for plan in timed:
        few = replace(plan, grid=(1, 1, 1), record=(0,), companion_of="", role="few")
        lesson = replace(LESSON, plan=lambda v, few=few: (few,), narrate=_untold)
        run = perform(lesson, LESSON.defaults() | {"blocks": 1}).runs["few"]
        lane = np.arange(256) % 32
        wanted = sum(table[(lane + k) % 8] for k in range(256))
        assert (run.outputs["out"][:256] == wanted).all()
        key = {"constant": "constant_load_wavefronts", "shared": "shared_load_wavefronts"}
        if name := key.get(plan.companion_of):
            each = {"constant": 8, "shared": 1}[plan.companion_of]
            assert run.counts.totals[name] == 8 * 256 * each  # warps, loads


def _untold(values: Values, runs: Mapping[str, Run]) -> Story:
    return Story("", "", (), lambda t, stage: stage.frame())


def test_hover_names_word_and_turn() -> None:
    story = played("8 words").story
    shown = story.frame(story.steps[0].end, pictures.STAGES["large"])
    lanes = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 32 and m.tip)
    x, y, width, height = lanes.rect[13].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2)
    assert tip == "lane 13 reads word 5 · turn 6 of 8 passes"


@cases
def test_steps_name_their_line(case: str) -> None:
    lines = played(case).runs["constant"].trace.source.splitlines()
    for step in played(case).story.steps:
        if step.line:
            assert "table.value[" in lines[step.line - 1]


@pytest.mark.parametrize("stage", ["window", "half"])
def test_words_are_legible_where_half_warps_take_turns(stage: str, qapp: object) -> None:
    pictures.check_text(played("8 words", "sm_10").story, stage)
