from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.arch import ARCHITECTURES, architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.compile import nvrtc
from gpuviz.course.together.ilp_tlp.lesson import LESSON, narrate, plan
from gpuviz.course.together.ilp_tlp.warps_over_time import simulated
from gpuviz.course.together.latency_hiding import (
    ELEMENTS,
    LOADS,
    WARPS,
    Latency,
    cycles_of,
    rates_of,
)
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Placement
from gpuviz.story.lesson import check_values
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "no block": {"registers": 255, "threads": 512},
    "few warps": {"registers": 100, "threads": 64, "independent": 8, "latency": 1000},
}
cases = pytest.mark.parametrize("case", CASES)
needs_compiler = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def test_the_slides_arithmetic() -> None:
    g80 = architecture("1.0")
    assert cycles_of(g80) == 4
    assert Latency(16, 8, 4, 200).needed == 7  # 200 / (8 * 4)
    three, two = (occupancy(g80, 256, n).blocks for n in (10, 11))
    assert (three, two, two * 256 // 32) == (3, 2, 16)


@pytest.mark.parametrize("arch", ARCHITECTURES, ids=lambda a: a.sm)
def test_lanes_are_those_of_the_guide(arch) -> None:
    lanes = {1: 8, 2: 32, 3: 192, 5: 128, 7: 64, 9: 128, 10: 128, 11: 128, 12: 128}
    listed = {
        (2, 1): 48,
        (6, 0): 64,
        (6, 1): 128,
        (6, 2): 128,
        (8, 0): 64,
        (8, 6): 128,
        (8, 7): 128,
        (8, 8): 128,
        (8, 9): 128,
    }
    assert 32 / cycles_of(arch) == listed.get(arch.cc, lanes.get(arch.cc[0]))


@pytest.mark.parametrize(
    ("warps", "independent", "wait"),
    [(24, 4, 200), (24, 1, 200), (1, 1, 9), (7, 8, 200), (6, 8, 200)],
)
def test_turns_are_those_of_a_queue(warps: int, independent: int, wait: int) -> None:
    """Warp after warp, each as soon as the lanes are free and its own load is back."""
    one, periods = Latency(warps, independent, 4, wait), 4
    free, ready, begun = 0.0, [0.0] * warps, []
    for turn in range(periods * warps):
        warp = turn % warps
        start = max(free, ready[warp])
        begun.append(start)
        free, ready[warp] = start + one.turn, start + wait
    assert one.starts(periods).ravel().tolist() == begun
    assert (one.busy == 1) == (warps >= one.needed)


@cases
@needs_compiler
def test_every_kernel_sums_the_same(case: str) -> None:
    runs = played(case).runs
    for role, run in runs.items():
        given = run.outputs["in"].astype(np.float64).reshape(ELEMENTS, -1)
        exact = given.sum(axis=0)
        if role == "sweep":
            kept = np.repeat(WARPS, len(LOADS))[:, None] * 32 > np.arange(1024)
            exact = np.where(kept.ravel(), exact, 0)
        assert np.abs(run.outputs["out"] - exact).max() < 1e-6 * ELEMENTS


@needs_compiler
def test_loads_at_once_cost_registers() -> None:
    runs = played("Today, eight at once").runs
    registers = [runs[str(n)].resources.registers for n in LOADS]
    assert registers == sorted(registers) and registers[-1] - registers[0] >= 8


@needs_compiler
def test_counts_do_not_depend_on_how_many_are_loaded_at_once() -> None:
    totals = [played("Today, eight at once").runs[str(n)].counts.totals for n in LOADS]
    assert {t["global_load_sectors"] for t in totals} == {256 // 32 * 4 * ELEMENTS}


@needs_compiler
def test_words_say_whether_latency_is_hidden() -> None:
    assert played("4 independent, 10 registers").story.title.startswith("24 warps hide 200")
    assert "7 would do" in played("8 independent, 11 registers").story.title
    assert "busy 48 % of the time: all of it takes 50" in played("Nothing independent").story.title
    elsewhere = played("Today, one load at a time", "sm_80").story  # no time is modelled of it
    assert "not hide" not in elsewhere.title and "fill every issue slot" in elsewhere.sentence
    assert "7 warps" in played("8 independent, 11 registers").story.expected


def test_blocks_that_were_timed() -> None:
    blocks = len(WARPS) * len(LOADS)
    lasted = 100 * (np.arange(blocks) + 1)
    order = np.random.default_rng(1).permutation(blocks)
    start = np.full(blocks, 7)
    placement = Placement(order, order, start, start + lasted[order])
    run = SimpleNamespace(measurement=SimpleNamespace(placement=placement))
    rates = rates_of(run)
    moved = np.repeat(WARPS, 4).reshape(6, 4) * 32 * 4 * ELEMENTS
    assert np.allclose(rates, moved / lasted.reshape(6, 4))
    assert rates_of(SimpleNamespace(measurement=None)) is None


def measured_story(case: str):
    """A story as it is told where a GPU timed the sweep (times made up)."""
    values = check_values(LESSON, CASES[case])
    runs = dict(played(case).runs)
    blocks = len(WARPS) * len(LOADS)
    warps, loads = np.repeat(WARPS, 4), np.tile(LOADS, 6)
    lasted = (20_000 * (1 / loads + warps / 64)).astype(np.int64)
    number = np.arange(blocks)
    device = DeviceFacts(0, "a GPU", "9.0", "", "", 132, 0, 0, clock_mhz=2000.0)
    found = Measurement(
        "recorded",
        "",
        device,
        placement=Placement(number, number, np.zeros(blocks, np.int64), lasted),
    )
    sweep = runs["sweep"]
    runs["sweep"] = SimpleNamespace(**{**vars(sweep), "measurement": found})
    return narrate(values, runs)


@needs_compiler
def test_measured_rates_have_their_act(qapp: object) -> None:
    story = measured_story("4 independent, 10 registers")
    assert story.steps[-1].label == "measured"
    shown = pictures.words(story.frame(story.duration, pictures.STAGES["large"]))
    assert {"recorded", "8 at once", "published"} <= set(shown)
    alone = 20_000 * (1 + 1 / 64) * 2.0 / ELEMENTS  # nanoseconds, cycles a nanosecond, loads
    assert f"a GPU: a load of one warp alone, one at a time, takes {alone:.0f} cycles" in shown
    assert any(text.startswith("400 to 600 cycles") for text in shown)
    pictures.check_purity(story)
    for stage in pictures.STAGES:
        pictures.check_text(story, stage)


@pytest.mark.machine_code
def test_warps_over_time_are_simulated_and_obey_littles_law() -> None:
    made = performed(LESSON, {})
    shown = simulated(architecture("sm_90"), made.runs["sweep"], (), 256)
    assert shown is not None
    one, wide, deep = shown.one, shown.of(32, 1), shown.of(1, 4)
    assert 0.8 < one.waits(one.timeline.cycles) < 1 and 64 < one.under_way < 128
    assert wide.rate == pytest.approx(32 * one.rate, rel=0.05)
    assert wide.latency == pytest.approx(one.latency, rel=0.05)
    assert 3 * one.rate < deep.rate < 4 * one.rate  # it waits for all four before the next four
    port = one.timeline.device.port * 32
    assert 0.75 * port < shown.of(32, 8).rate <= port and shown.of(32, 8).latency > one.latency
    assert all(one.timeline.whole for one in shown.every)


@pytest.mark.machine_code
@needs_compiler
def test_what_was_recorded_stands_beside_what_is_simulated(qapp: object) -> None:
    story = measured_story("Today, eight at once")
    end = next(step.end for step in story.steps if step.label == "recorded")
    words = pictures.words(story.frame(end - 0.01, pictures.STAGES["large"]))
    assert {"recorded", "model", "published"} <= set(words)
    alone = 20_000 * (1 + 1 / 64) * 2.0 / ELEMENTS  # nanoseconds, cycles a nanosecond, loads
    measured = f"discs: a GPU: a load of one warp alone, one at a time, takes {alone:.0f} cycles"
    assert measured in words
    assert any(word.startswith("Recorded") for word in words)
    for stage in pictures.STAGES:
        pictures.check_text(story, stage)


@cases
@needs_compiler
def test_steps_name_their_line(case: str) -> None:
    played_ = played(case)
    source = played_.runs["4"].trace.source.splitlines()
    for step in played_.story.steps:
        assert not step.line or any(part in source[step.line - 1] for part in ("value[k]", "sum"))


def test_launches_are_the_same_for_every_latency() -> None:
    values = check_values(LESSON, {})
    assert plan({**values, "latency": 777}) == plan(values)
    assert replace(plan(values)[0]) == plan({**values, "registers": 99})[0]
