from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.course.shared_memory.banks.lesson import LESSON, strides_of
from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Lines, Texts
from gpuviz.draw.palette import DARK
from gpuviz.memory.bank_request import BankRequest, bank_requests
from gpuviz.memory.strides import expected
from gpuviz.panels.bank_map import BankMap
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Timing
from gpuviz.run.run import Run
from gpuviz.story.lesson import Story, Values
from gpuviz.story.perform import Performance, perform
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "one word": {"pattern": "stride", "stride": 0},
    "far": {"pattern": "stride", "stride": 64},
    "bytes": {"pattern": "stride", "stride": 3, "bytes": 1},
    "halves": {"pattern": "stride", "stride": 6, "bytes": 2},
    "float2 column": {"pattern": "column", "padding": 1, "bytes": 8, "column": 5},
    "pairs": {"pattern": "broadcast", "share": 2, "stride": 16, "bytes": 16},
}
ARCHS = ("sm_10", "sm_20", "sm_30", "sm_52", "sm_90")
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def load_of(case: str, arch: str = "sm_90") -> BankRequest:
    run = played(case, arch).runs["warp"]
    return bank_requests(run.trace, architecture(arch), 0, 0)[-1]


def element(values: dict[str, object], order: np.ndarray) -> np.ndarray:
    """The element each lane reads, by the lesson's definition of its patterns."""
    lane = np.arange(32)
    of_pattern = {
        "stride": lambda v: lane * v["stride"],
        "broadcast": lambda v: lane // v["share"] * v["stride"],
        "column": lambda v: lane * (32 + v["padding"]) + v["column"],
        "permutation": lambda v: lane // 16 * 16 + order[lane % 16],
    }
    return of_pattern[values["pattern"]](values)


@cases
def test_each_lane_gets_its_element(case: str) -> None:
    values, run = {**LESSON.defaults(), **CASES[case]}, played(case).runs["warp"]
    width = int(values["bytes"])
    got, given = (run.outputs[n].view(f"V{width}") for n in ("out", "in"))
    wanted = element(values, run.outputs.get("order", np.arange(16)))
    assert (got.reshape(-1, 32) == given[wanted]).all()
    assert (load_of(case).address == wanted * width).all()


@cases
def test_counts_are_those_of_the_picture(case: str) -> None:
    run, load = played(case).runs["warp"], load_of(case)
    totals = run.counts.totals
    assert totals["shared_load_wavefronts"] == load.count * run.trace.launch.blocks
    assert totals["shared_load_wavefronts_ideal"] == load.ideal * run.trace.launch.blocks
    brought = load.brought
    assert sorted(set(brought.lane.tolist())) == list(range(32))
    assert len(brought.lane) == 32 * max(1, load.instruction.width // 4)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("width", [4, 8, 16])
def test_the_table_is_the_gcd_rule(arch: str, width: int) -> None:
    values = {"bytes": width, "stride": 2}
    run = performed(LESSON, values, arch=arch).runs["every stride"]
    table = strides_of(run.trace, architecture(arch), 1)
    assert table.stride.tolist() == list(range(1, 33 if width == 16 else 65))
    for stride, count in zip(table.stride.tolist(), table.count.tolist(), strict=True):
        assert count == (expected(architecture(arch), stride, width) or count)
    if width == 4 and arch in ("sm_10", "sm_90"):  # published for 16 banks; 32 agree below 32
        ways = table.count // table.ideal
        assert ways[1] == 2 and ways[7] == 8 and (ways[::2] == 1).all()


@cases
def test_every_lane_colour_is_in_the_words_at_the_end(case: str) -> None:
    load, stage = load_of(case), pictures.STAGES["large"]
    marks = BankMap(load, 1.0, float(load.count)).draw(stage, Rect(20, 80, 1200, 500))
    wanted = [
        m
        for m in marks
        if isinstance(m, Boxes)
        and len(m.rect) == len(load.brought.lane)
        and m.tip is None
        and not m.radius
    ]
    colors = {tuple(c) for m in wanted for c in m.fill.tolist()}
    assert {tuple(c) for c in DARK.lanes.tolist()} <= colors


def test_a_permutation_of_half_warps_is_free_as_on_the_slide() -> None:
    for arch in ARCHS:
        load = load_of("Permutation", arch)
        assert load.count == load.ideal


def test_what_is_timed_reads_so_often_that_its_wavefronts_can_be_told() -> None:
    """The launch beside the one drawn: the same load, by many warps, many times."""
    drawn, timed = played("Stride 8").plans[:2]
    assert timed.companion_of == drawn.role and timed.size == "16\u202f384 warps, 256 loads a lane"
    values = {**LESSON.defaults(), **CASES["Stride 8"]}
    few = replace(timed, grid=(1, 1, 1), record=(0,), companion_of="", role="few")
    run = perform(replace(LESSON, plan=lambda v: (few,), narrate=_untold), values).runs["few"]
    totals = run.counts.totals
    assert totals["shared_load_requests"] == 8 * 256  # warps of a block, loads of each
    assert totals["shared_load_wavefronts"] == 8 * totals["shared_load_requests"]


def _untold(values: Values, runs: Mapping[str, Run]) -> Story:
    return Story("", "", (), lambda t, stage: stage.frame())


def test_a_broadcast_is_one_arrow_a_word() -> None:
    story = played("Broadcast").story
    wave = next(s for s in story.steps if s.label == "wavefront 1")
    shown = story.frame((wave.start + wave.end) / 2, pictures.STAGES["large"])
    arrows = [m for m in shown.marks if isinstance(m, Lines) and m.arrow]
    assert [len(m.points) for m in arrows] == [4]  # 8 lanes a word


def test_wide_loads_show_their_groups() -> None:
    load = load_of("float4")
    assert [g.tolist() for g in load.groups] == np.arange(32).reshape(4, 8).tolist()
    assert [load.group_of(w) for w in range(load.count)] == [0, 1, 2, 3]
    assert load_of("pairs").ideal == 2  # neighbours ask for the same: groups merge


def test_a_measured_time_has_its_place() -> None:
    played_runs = played("Stride 8").runs
    run = SimpleNamespace(**vars(played_runs["warp"]))
    timing = Timing(np.array([3.14]))
    h200 = DeviceFacts(0, "NVIDIA H200", "9.0", "", "", 132, 0, 0)
    found = Measurement("recorded", "2026-01-01", h200, timing=timing)
    run.companion = SimpleNamespace(measurement=found, size="many warps")
    values = {**LESSON.defaults(), **CASES["Stride 8"]}
    story = LESSON.narrate(values, {**played_runs, "warp": run})
    words = [
        s
        for m in pictures.frame(story, 0.3, "large").marks
        if isinstance(m, Texts)
        for s in m.strings
    ]
    assert "recorded" in words and any(
        w.startswith("launch 3.14\u202fµs, many warps") for w in words
    )
    assert not any(
        "launch" in s
        for m in pictures.frame(played("Stride 8").story, 0.3).marks
        if isinstance(m, Texts)
        for s in m.strings
    )


def test_historic_architectures_have_sixteen_banks() -> None:
    load = load_of("Stride 8", "sm_10")
    assert load.brought.banks == 16 and load.count == 16
    assert [len(g) for g in load.groups] == [16, 16]
    assert max(load.brought.bank) == 8


def test_hover_names_word_bank_and_lane() -> None:
    story = played("Stride 8").story
    shown = story.frame(story.steps[2].end, pictures.STAGES["large"])
    words = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 8 * 32)
    x, y, width, height = words.rect[32 + 8].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2)
    assert tip == "word 40 · bytes 160 to 163 · bank 8\nfor lane 5"


@cases
def test_steps_name_their_line(case: str) -> None:
    story, source = played(case).story, played(case).runs["warp"].trace.source.splitlines()
    lines = {s.line for s in story.steps if s.kind == "load"}
    assert all(" words[" in source[line - 1] for line in lines)
    fill = story.steps[0]
    assert "words[i] = in[i]" in source[fill.line - 1]


@pytest.mark.parametrize("stage", ["window", "half"])
def test_words_are_legible_with_sixteen_banks(stage: str, qapp: object) -> None:
    pictures.check_text(played("Stride 8", "sm_10").story, stage)
