import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import BufferSpec, materialise
from gpuviz.compile import nvrtc
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.memory.request import Request, first_requests
from gpuviz.scenes import thread_coarsening
from gpuviz.scenes.measured import Timed
from gpuviz.scenes.perform import Performance
from gpuviz.scenes.thread_coarsening import LESSON, Cells, cells_of, cost_of, expected_sectors
from tests.scenes import pictures
from tests.scenes.performed import performed

CASES = {
    "adjacent unrolled": {},
    "interleaved unrolled": {"mapping": "interleaved"},
    "adjacent": {"order": "in turn", "multi": 8},
    "interleaved": {"mapping": "interleaved", "order": "in turn", "multi": 2},
}
ROLES = ("one cell", "adjacent", "interleaved", "adjacent unrolled", "interleaved unrolled")

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
cases = pytest.mark.parametrize("case", CASES)


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def multi_of(case: str) -> int:
    return int({**LESSON.defaults(), **CASES[case]}["multi"])


def requests(case: str) -> tuple[Request, ...]:
    return first_requests(played(case).runs[case].trace, architecture("sm_90"), 0, 0)


def cells(case: str) -> Cells:
    return cells_of(tuple(r for r in requests(case) if r.is_store), 256)


@cases
def test_every_kernel_multiplies(case: str) -> None:
    m, n = (
        np.asarray(materialise(BufferSpec("f32", rows * columns, "rand"), i), np.float64).reshape(
            rows, columns
        )
        for i, (rows, columns) in enumerate([(4, 8), (8, 256)])
    )
    for role, run in played(case).runs.items():
        product = np.asarray(run.outputs["P"], np.float64).reshape(4, 256)
        assert np.abs(product - m @ n).max() < 1e-5, role


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
        cost = cost_of(performance.runs[role], 4 * 8 * 256)
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
    costs = {r: cost_of(run, 4 * 8 * 256) for r, run in played("adjacent unrolled").runs.items()}
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


def test_hover_tells_whose_cell_it_is() -> None:
    shown = pictures.frame(played("adjacent unrolled").story, 1.0, "large")
    boxes = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 128)
    x, y, width, height = boxes.rect[42].tolist()
    assert tip_at(shown, x + width / 2, y + height / 2) == "P[0][42] · lane 10, its cell 2"


def test_published_and_predicted_stand_together() -> None:
    shown = pictures.words(pictures.frame(played("adjacent unrolled").story, 1.0, "large"))
    assert "published" in shown and "model" in shown
    assert any("5 to 10 %" in text for text in shown)
    for count in ("5", "17", "16.25", "4.25"):
        assert count in shown


@pictures.stages
def test_times_have_their_column(stage: str, monkeypatch: pytest.MonkeyPatch, qapp: object) -> None:
    timed = Timed(56.7, "live", "NVIDIA H200")
    monkeypatch.setattr(thread_coarsening, "time_of", lambda run: timed)
    story = LESSON.tell(LESSON.defaults(), played("adjacent unrolled").runs)
    pictures.check_text(story, stage)
    assert "56.7 µs" in pictures.words(pictures.frame(story, 1.0, stage))


@cases
def test_pictures_are_pure_and_steps_follow_each_other(case: str) -> None:
    pictures.check_purity(played(case).story)
    pictures.check_steps(played(case).story)


def test_every_combination_has_a_plan() -> None:
    for parameter in LESSON.parameters:
        for choice in parameter.choices:
            plans = LESSON.plan(LESSON.defaults() | {parameter.id: choice.value})
            assert [p.role for p in plans] == list(ROLES)
            assert all(min(p.grid) >= 1 for p in plans)
