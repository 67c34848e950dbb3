from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.arch import ARCHITECTURES, Architecture, architecture
from gpuviz.arch.occupancy_fit import G80, GF100, TEXTBOOK, Demand, fit_of, sweeps_of
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.together.occupancy.lesson import LESSON, demand_of, narrate
from gpuviz.course.together.occupancy.resident_blocks import answer_of, most_at_once
from gpuviz.panels.slots import slots_of
from gpuviz.panels.time_bars import TimeBars
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement, Placement, Timing
from gpuviz.story.lesson import Plan, check_values
from gpuviz.story.perform import Performance, perform
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "no block fits": {"x": 1024, "y": 1, "registers": 128, "blocks": 32},
    "idle lanes": {"x": 33, "y": 1},
    "registers of ours": {"x": 16, "y": 16},
    "one block": {"x": 32, "y": 32, "registers": 40, "blocks": 32},
}
cases = pytest.mark.parametrize("case", CASES)
needs_compiler = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


@cases
@needs_compiler
def test_the_product_is_right(case: str) -> None:
    run = played(case).runs["kernel"]
    scalars = dict(run.trace.launch.scalars)
    inner, columns = int(scalars["inner"]), int(scalars["columns"])
    m, n, p = (run.outputs[b].astype(np.float64) for b in "MNP")
    exact = m.reshape(-1, inner) @ n.reshape(inner, columns)
    assert np.abs(p.reshape(exact.shape) - exact).max() <= 1e-6 * inner


@needs_compiler
def test_registers_and_shared_memory_are_those_of_the_compile() -> None:
    values = check_values(LESSON, CASES["16 × 16, tiled"])
    run = played("16 × 16, tiled").runs["kernel"]
    assert run.resources is not None and run.resources.registers > 0
    assert demand_of(values, run) == Demand(256, run.resources.registers, 2048)
    given = demand_of({**values, "registers": 77, "shared": 5000}, run)
    assert given == Demand(256, 77, 5000)


@pytest.mark.parametrize(
    ("arch", "demand", "blocks"),
    [
        (TEXTBOOK, Demand(512, 0, 0), 3),
        (TEXTBOOK, Demand(256, 0, 0), 6),
        (TEXTBOOK, Demand(128, 0, 0), 8),
        (TEXTBOOK, Demand(256, 10, 0), 6),
        (TEXTBOOK, Demand(256, 12, 0), 5),
        (TEXTBOOK, Demand(256, 0, 2048), 6),
        (G80, Demand(256, 10, 0), 3),
        (G80, Demand(256, 11, 0), 2),
    ],
    ids=str,
)
def test_examples_of_the_documents(arch: Architecture, demand: Demand, blocks: int) -> None:
    assert demand.on(arch).blocks == blocks


def test_registers_that_the_tutorials_count() -> None:
    fit = fit_of(TEXTBOOK, Demand(256, 10, 0))
    registers = next(s for s in fit.slots if s.id == "registers")
    assert (registers.need * fit.found.blocks, registers.capacity) == (15360, 16384)
    assert fit_of(TEXTBOOK, Demand(256, 12, 0)).found.threads == 1280
    # GF100: eight tiles of 2 KB need 16 of its 48 KB.
    shared = next(s for s in fit_of(GF100, Demand(128, 16, 2048)).slots if s.id == "shared")
    assert (8 * shared.need, shared.capacity) == (16 * 1024, 48 * 1024)


@pytest.mark.parametrize("arch", ARCHITECTURES, ids=lambda a: a.sm)
def test_stretches_of_a_sweep_are_what_each_value_gives(arch) -> None:
    demand = Demand(160, 24, 3000)
    for sweep in sweeps_of(arch, demand):
        for value in (*sweep.edges[:-1].tolist(), *(sweep.edges[1:] - 1).tolist()):
            alone = Demand(**{**vars(demand), sweep.id: value}).on(arch)
            assert (sweep.at(value).blocks, sweep.at(value).warps) == (alone.blocks, alone.warps)


def test_the_next_cliff() -> None:
    found = {s.id: s.cliff for s in sweeps_of(architecture("1.0"), Demand(256, 10, 0))}
    assert found["registers"] == 11  # published: 10 registers 3 blocks, 11 registers 2
    assert sweeps_of(architecture("9.0"), Demand(256, 32, 0))[1].cliff == 33


def test_blocks_at_once() -> None:
    times = [(0, 0, 10), (0, 2, 8), (0, 8, 12), (0, 10, 20), (1, 0, 5), (1, 1, 5), (1, 2, 5)]
    sm, start, end = np.array(times, np.int64).T
    assert most_at_once(Placement(np.arange(7), sm, start, end)) == 3
    assert most_at_once(Placement(*(np.zeros(0, np.int64),) * 4)) == 0


@needs_compiler
def test_where_nothing_fits_the_launch_is_refused_and_not_at_0_percent() -> None:
    story = played("one block").story
    cliffs = next(s for s in story.steps if s.label == "cliffs")
    shown = pictures.words(story.frame(cliffs.end - 0.1, pictures.STAGES["full"]))
    assert "25 registers more, and no block fits: the launch is refused" in shown


@needs_compiler
def test_what_is_timed_is_the_product_that_was_published() -> None:
    drawn, real = LESSON.plan(LESSON.defaults())
    assert (real.companion_of, real.grid, real.size_words) == (
        "kernel",
        (32, 205, 1),
        "1025 × 1024, blocks of 32 × 5, loop over k not unrolled",
    )
    assert drawn.grid == (12 * 132, 1, 1)  # all that an H200 holds at once


@needs_compiler
def test_shapes_stand_on_one_axis_and_those_alike_are_named() -> None:
    device = DeviceFacts(0, "NVIDIA X", "9.0", "", "", 1, 1, 1)

    def measured(plan: Plan) -> Measurement:
        timing = Timing(np.array([6400.0 / plan.block[0]]))
        return Measurement("recorded", "2026-01-01", device, timing=timing)

    made = perform(LESSON, {**LESSON.defaults(), "x": 2, "y": 32}, level="ptx", measured=measured)
    assert made.story.at is not None
    end = made.story.at(made.story.duration)
    assert isinstance(end.body, TimeBars) and end.body.now == 7
    assert [bar.us for bar in end.body.bars[::7]] == [200.0, 3200.0]
    assert end.body.bars[7].names == ("2 × 32",) and end.body.picks[7] == {"x": 2, "y": 32}
    assert "both fill 100 % of the warp slots, and 2 × 32 takes 16.0 times as long" in end.sentence


@needs_compiler
def test_words_name_the_limit() -> None:
    assert "5 blocks of 256 threads: 83 %" in played("12 registers").story.title
    assert "3\u202f072 registers, and 1\u202f024 are left" in played("12 registers").story.sentence
    assert "16 warp slots stay empty" in played("128 threads in 8 block slots").story.sentence
    assert "No block" in played("no block fits").story.title
    assert "lanes have no thread" in played("idle lanes").story.sentence
    story = played("G80, 11 registers").story
    shown = pictures.words(story.frame(story.steps[-3].start, pictures.STAGES["large"]))
    assert "▸ room for 2 blocks: the limit" in shown


@needs_compiler
def test_what_was_not_measured_says_so() -> None:
    story = played("32 × 5 threads").story
    shown = pictures.words(story.frame(5.0, pictures.STAGES["large"]))
    assert "unavailable" in shown


def measured_by(driver: int | None, achieved: float | None, capability: str = "9.0") -> Measurement:
    device = DeviceFacts(0, "a GPU", capability, "", "", 132, 0, 0)
    reading = CounterValue(achieved, "" if achieved is not None else "denied")
    return Measurement(
        "recorded", "", device, {"achieved_occupancy": reading}, resident_blocks=driver
    )


def launched(found: Measurement | None, blocks: int = 32) -> SimpleNamespace:
    trace = SimpleNamespace(launch=SimpleNamespace(blocks=blocks))
    return SimpleNamespace(measurement=found, arch="sm_90", trace=trace, companion=None)


@pytest.mark.parametrize(
    "found, agrees, badge, text",
    [
        (
            measured_by(12, 7.42),
            True,
            "recorded",
            "12 predicted, 12 by the driver; achieved occupancy "
            "7.4 %, the grid being too small to fill 132 multiprocessors · a GPU",
        ),
        (
            measured_by(11, None),
            False,
            "recorded",
            "12 predicted, 11 by the driver; achieved occupancy: unavailable · a GPU",
        ),
        (
            measured_by(None, 7.0),
            None,
            "recorded",
            "driver's answer: unavailable; achieved occupancy 7.0 % · a GPU",
        ),
        (measured_by(12, 118.1), True, "recorded", "achieved occupancy: unavailable · a GPU"),
        (
            measured_by(None, None),
            None,
            "unavailable",
            "driver's answer: unavailable; achieved occupancy: unavailable · a GPU",
        ),
        (measured_by(12, 7.0, "8.6"), None, "unavailable", "a GPU has another architecture"),
        (None, None, "unavailable", "no GPU and no recording"),
    ],
)
def test_the_drivers_answer_beside_the_prediction(found, agrees, badge, text) -> None:
    answer = answer_of(launched(found), 12)
    assert (answer.agrees, answer.badge) == (agrees, badge)
    assert answer.texts[0].endswith(text)
    assert [len(t) for t in answer.texts] == sorted(map(len, answer.texts), reverse=True)


def test_a_grid_that_fills_the_device_is_not_called_too_small() -> None:
    assert "too small" not in answer_of(launched(measured_by(12, 60.0), 12 * 132), 12).texts[0]


@needs_compiler
@pictures.stages
def test_the_drivers_answer_is_shown(stage: str, qapp: object) -> None:
    run = played("32 × 5 threads").runs["kernel"]
    measured = SimpleNamespace(**{**vars(run), "measurement": measured_by(12, 7.42)})
    story = narrate(check_values(LESSON, CASES["32 × 5 threads"]), {"kernel": measured})
    shown = " ".join(pictures.words(story.frame(5.0, pictures.STAGES[stage])))
    assert "12 predicted, 12 by the driver; achieved occupancy 7.4 %" in shown
    pictures.check_text(story, stage)


@pytest.mark.parametrize("values", [{"x": 64, "y": 32}, {"kernel": "tiled", "x": 32, "y": 5}])
def test_combinations_that_make_no_sense(values: dict[str, int]) -> None:
    with pytest.raises(InputError):
        check_values(LESSON, values)


@cases
@needs_compiler
def test_pictures_are_pure(case: str) -> None:
    pictures.check_purity(played(case).story)
    pictures.check_steps(played(case).story)


@cases
@pictures.stages
@needs_compiler
def test_words_are_legible(case: str, stage: str, qapp: object) -> None:
    for arch in ("sm_90", "sm_121"):
        pictures.check_text(played(case, arch).story, stage)


def test_slots_given_in_twos_are_told_from_warps() -> None:
    """At CC 1.0 five warps take six slots: 12 of 24 stood beside 10 warps without a word."""
    fit = fit_of(architecture("1.0"), Demand(160, 16, 0))
    warps = next(row for row in slots_of(fit, fit.found.blocks, 0.0).resources if row.empty)
    assert warps.used[0] == "12 of 24 taken · 6 a block for its 5 warps"
