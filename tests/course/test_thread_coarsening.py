import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import BufferSpec, materialise
from gpuviz.compile import nvrtc
from gpuviz.course.together.thread_coarsening import lesson as thread_coarsening
from gpuviz.course.together.thread_coarsening.inner_loops import inner_loop_of
from gpuviz.course.together.thread_coarsening.lesson import (
    LESSON,
    Cells,
    cells_of,
    cost_of,
    expected_sectors,
    number,
)
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.memory.request import Request, first_requests
from gpuviz.panels.time_bars import TimeBars
from gpuviz.story.measured import LaunchTime
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

SIZE = 256
CASES = {
    "adjacent unrolled": {"size": SIZE},
    "interleaved unrolled": {"mapping": "interleaved", "size": SIZE},
    "adjacent": {"order": "in turn", "multi": 8, "size": SIZE},
    "interleaved": {"mapping": "interleaved", "order": "in turn", "multi": 2, "size": SIZE},
}
ROLES = ("one cell", "adjacent", "interleaved", "adjacent unrolled", "interleaved unrolled")

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
SLOW = {"adjacent"}  # eight cells a thread, one after the other
cases = pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[pytest.mark.slow] * (c in SLOW)) for c in CASES]
)


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def multi_of(case: str) -> int:
    return int({**LESSON.defaults(), **CASES[case]}["multi"])


def requests(case: str) -> tuple[Request, ...]:
    return first_requests(played(case).runs[case].trace, architecture("sm_90"), 0, 0)


def cells(case: str) -> Cells:
    return cells_of(tuple(r for r in requests(case) if r.is_store), SIZE)


@pytest.mark.slow
@cases
def test_every_kernel_multiplies(case: str) -> None:
    m, n = (
        np.asarray(materialise(BufferSpec("f32", SIZE**2, "rand"), i), np.float64).reshape(SIZE, -1)
        for i in range(2)
    )
    runs = played(case).runs
    multiplied = {role: run for role, run in runs.items() if run.outputs}
    assert len(multiplied) == len(runs) - 1  # the product of another lesson, by classes of blocks
    for role, run in multiplied.items():
        product = np.asarray(run.outputs["P"], np.float64).reshape(SIZE, SIZE)
        assert np.abs(product - m @ n).max() < SIZE * 1e-6, role


@pytest.mark.slow
@cases
def test_a_lane_has_the_cells_of_its_mapping(case: str) -> None:
    made, multi = cells(case), multi_of(case)
    column = np.arange(32 * multi)
    assert np.array_equal(made.column, column)
    apart = case.startswith("interleaved")
    assert np.array_equal(made.lane, column % 32 if apart else column // multi)
    assert np.array_equal(made.store, column // 32 if apart else column % multi)


@cases
def test_sectors_of_32_products_are_the_closed_form(case: str) -> None:
    performance, multi = played(case), multi_of(case)
    for role in ROLES:
        cost = cost_of(performance.runs[role], SIZE**3)
        mapping, order = role.split()[0], "unrolled" if "unrolled" in role else "in turn"
        single = role == "one cell"
        wanted = 5 if single else expected_sectors(mapping, order, multi)
        assert cost.transactions == wanted
        assert cost.loads == (1 + 1 / multi if order == "unrolled" else 2)
    shown = f"{expected_sectors(*case_of(case), multi):g} sectors"
    assert shown in performance.story.expected


def case_of(case: str) -> tuple[str, str]:
    values = {**LESSON.defaults(), **CASES[case]}
    return str(values["mapping"]), str(values["order"])


def test_several_cells_gain_nothing_by_themselves_but_unrolled() -> None:
    """As published: the same loads in turn; fewer loads and instructions only when unrolled."""
    costs = {r: cost_of(run, SIZE**3) for r, run in played("adjacent unrolled").runs.items()}
    assert costs["interleaved"].loads == costs["one cell"].loads
    assert costs["interleaved"].transactions == costs["one cell"].transactions
    assert costs["interleaved unrolled"].instructions < costs["interleaved"].instructions
    assert costs["interleaved unrolled"].loads < costs["one cell"].loads


@cases
def test_the_story_tells_each_load_of_the_first_step_once(case: str) -> None:
    made, multi = requests(case), multi_of(case)
    names = [r.name for r in made]
    assert names.count("N") == names.count("P") == multi
    assert names.count("M") == (1 if "unrolled" in case else multi)
    columns = np.concatenate([r.address // 4 for r in made if r.name == "N"])
    assert np.array_equal(np.sort(columns), np.arange(32 * multi))  # row 0 of N: k is 0
    sectors = {r.count for r in made if r.name == "N"}
    assert sectors == ({4} if case.startswith("interleaved") else {4 * multi})


def test_unrolling_alone_is_a_step_that_leaves_loads_and_saves_the_rest() -> None:
    performance = played("adjacent unrolled")
    single, alone = (
        inner_loop_of(performance.runs[role]) for role in ("one cell", "one cell unrolled")
    )
    assert single.products == 1 and alone.products == 4
    for what in ("memory", "arithmetic"):
        assert alone.each(what) == single.each(what)  # type: ignore[arg-type]
    for what in ("address", "loop"):
        assert alone.each(what) < single.each(what)  # type: ignore[arg-type]
    costs = [cost_of(performance.runs[r], SIZE**3) for r in ("one cell", "one cell unrolled")]
    assert costs[0].transactions == costs[1].transactions and costs[0].loads == costs[1].loads
    assert costs[1].instructions < costs[0].instructions
    story = performance.story
    step = next(s for s in story.steps if s.label == "unrolling alone")
    assert step.role == "one cell unrolled"
    shown = pictures.words(story.frame(step.end - 0.01, pictures.STAGES["large"]))
    assert any("1.75 instead of 2 compute addresses" in text for text in shown)
    assert sum("fma" in text for text in shown) >= 3


def test_hover_tells_whose_cell_it_is_and_a_click_follows_it() -> None:
    story, stage = played("adjacent unrolled").story, pictures.STAGES["large"]
    step = next(step for step in story.steps if step.label == "unrolling alone")
    shown = story.frame(step.start - 0.01, pictures.STAGES["large"])
    strips = [m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == 128]
    said = []
    for strip in (strips[0], strips[1], strips[-1]):
        x, y, width, height = strip.rect[42].tolist()
        said.append(tip_at(shown, x + width / 2, y + height / 2))
        assert story.pick(step.start - 0.01, stage, x + width / 2, y + height / 2) == {"lane": 10}
    assert said == [
        "N[0][42] · lane 10, its cell 2",
        "P[1][42] · warp 1, lane 10, its cell 2",
        "P[0][42] · warp 0, lane 10, its cell 2",
    ]


@cases
def test_the_products_of_the_followed_thread_are_those_of_its_requests(case: str) -> None:
    lane, columns = int(LESSON.defaults()["lane"]), cells(case).column[cells(case).lane == 20]
    assert lane == 20
    forms = [f"m × N[0][{column}]" for column in columns]
    shown = " ".join(pictures.words(pictures.frame(played(case).story, 0.5, "large")))
    assert all(form in shown or form.replace("[0][", "0,")[:-1] in shown for form in forms)


def test_in_turn_the_register_is_loaded_for_each_cell() -> None:
    for case, wanted in (("interleaved", "M[0][0] · load 2 of 2"), ("adjacent unrolled", "0.637")):
        story = played(case).story
        step = next(step for step in story.steps if step.label == "unrolling alone")
        shown = pictures.words(story.frame(step.start - 0.01, pictures.STAGES["large"]))
        assert wanted in " ".join(shown)


def test_all_kernels_stand_on_one_axis_in_the_end() -> None:
    made = played("adjacent unrolled")
    assert made.story.at is not None
    shown = made.story.at(made.story.duration).body
    assert isinstance(shown, TimeBars) and shown.now == 4 and len(shown.bars) == 6
    assert shown.picks[2] == {"mapping": "adjacent", "order": "in turn"}
    counts = [bar.note[0].partition(" ")[0] for bar in shown.bars]
    assert counts == ["5", "5", "17", "5", "16.25", "4.25"]


@pictures.stages
def test_times_have_their_bars(stage: str, monkeypatch: pytest.MonkeyPatch, qapp: object) -> None:
    timed = LaunchTime(56.7, "live", "NVIDIA H200")
    monkeypatch.setattr(thread_coarsening, "time_of", lambda run: timed)
    values = LESSON.defaults() | CASES["adjacent unrolled"]
    story = LESSON.narrate(values, played("adjacent unrolled").runs)
    pictures.check_text(story, stage)
    assert "56.7\u202fµs" in pictures.words(pictures.frame(story, 1.0, stage))


def test_who_is_fastest_is_told_of_the_times(monkeypatch: pytest.MonkeyPatch) -> None:
    took = {"one cell": 100.0, "adjacent": 120.0, "one cell unrolled": 80.0}
    runs = played("adjacent unrolled").runs
    times = {id(runs[role]): LaunchTime(us, "live", "NVIDIA H200") for role, us in took.items()}
    monkeypatch.setattr(thread_coarsening, "time_of", lambda run: times.get(id(run)))
    story = LESSON.narrate(LESSON.defaults() | CASES["adjacent unrolled"], runs)
    shown = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
    assert "Unrolling alone wins: 1.25 times as fast" in shown
    times |= {id(runs["adjacent"]): LaunchTime(70.0, "live", "NVIDIA H200")}
    story = LESSON.narrate(LESSON.defaults() | CASES["adjacent unrolled"], runs)
    assert "wins" not in " ".join(pictures.words(pictures.frame(story, 1.0, "full")))


@pytest.mark.parametrize("stage", pictures.STAGES)
def test_the_picture_is_there_before_the_rest_of_its_table(stage: str) -> None:
    runs = played("adjacent unrolled").runs
    values = LESSON.defaults() | CASES["adjacent unrolled"]
    later = {plan.role for plan in LESSON.plan(values) if plan.later}
    assert later == {"adjacent", "interleaved", "interleaved unrolled"}
    few = {role: run for role, run in runs.items() if role not in later}
    whole, story = LESSON.narrate(values, runs), LESSON.narrate(values, few)
    assert story.steps == whole.steps and story.title == whole.title
    pictures.check_text(story, stage)
    said = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
    assert "being counted" in said and "4 side by side, unrolled" in said
    assert "being counted" not in " ".join(pictures.words(pictures.frame(whole, 1.0, "full")))


def test_one_cell_a_thread_is_the_same_launch_whatever_the_others_compute() -> None:
    first = {LESSON.plan(LESSON.defaults() | {"multi": multi})[0] for multi in (2, 4, 8)}
    assert len(first) == 1


def test_every_combination_has_a_plan() -> None:
    for parameter in LESSON.parameters:
        for choice in parameter.choices:
            plans = LESSON.plan(LESSON.defaults() | {parameter.id: choice.value})
            assert [p.role for p in plans] == [*ROLES, "one cell unrolled"]
            assert all(min(p.grid) >= 1 for p in plans)


def test_thousands_are_apart() -> None:
    assert [number(n) for n in (2112.0, 0.125, 1.5, 8192.25)] == [
        "2\u202f112",
        "0.125",
        "1.5",
        "8\u202f192.25",
    ]
