import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.course.shared_memory.transpose.block import Block, block_of
from gpuviz.course.shared_memory.transpose.lesson import LESSON, VARIANTS
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

CASES = {v: {"variant": v} for v in VARIANTS} | {
    "one tile": {"variant": "padded", "size": 32, "warp": 7},
    "larger": {"variant": "naive", "size": 128, "warp": 3},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def block(case: str, arch: str = "sm_90") -> Block:
    values = {**LESSON.defaults(), **CASES[case]}
    run = played(case, arch).runs[str(values["variant"])]
    return block_of(run.trace, architecture(arch), int(values["size"]), int(values["warp"]))


@cases
def test_every_kernel_transposes(case: str) -> None:
    n = int({**LESSON.defaults(), **CASES[case]}["size"])
    for variant in VARIANTS:
        given, got = (played(case).runs[variant].outputs[b].reshape(n, n) for b in ("in", "out"))
        assert (got == given.T).all()


@cases
def test_counts_are_the_closed_form(case: str) -> None:
    n = int({**LESSON.defaults(), **CASES[case]}["size"])
    requests = n * n // 32
    for variant in VARIANTS:
        totals = played(case).runs[variant].counts.totals
        assert totals["global_load_sectors"] == 4 * requests
        assert totals["global_store_sectors"] == (32 if variant == "naive" else 4) * requests
        ways = {"naive": 0, "shared": 32}.get(variant, 1)
        assert totals["shared_load_wavefronts"] == ways * requests
        assert totals["shared_store_wavefronts"] == (variant != "naive") * requests


def test_counts_agree_with_a_published_report() -> None:
    # Nsight Compute's sample report: 8192 x 8192, tile[32][32]: 69 206 016 wavefronts of which
    # 4 194 304 are ideal, tile[32][33]: 4 194 304; per tile of 32 x 32 that is 1056, 64 and 64.
    tiles = (8192 // 32) ** 2
    runs, n = played("shared").runs, 64
    for variant, wavefronts in (("shared", 69_206_016), ("padded", 4_194_304)):
        totals = runs[variant].counts.totals
        ours = totals["shared_load_wavefronts"] + totals["shared_store_wavefronts"]
        assert ours * tiles == wavefronts * (n // 32) ** 2


@cases
def test_elements_end_up_transposed_in_the_picture(case: str) -> None:
    seen = block(case)
    columns = seen.moves["read"].color_of_cells.reshape(32, 32)
    rows = seen.moves["write"].color_of_cells.reshape(32, 32)
    assert (columns == np.arange(32)).all()
    assert (rows == columns.T).all()
    assert seen.tiles["in"].row == seen.tiles["out"].column
    assert seen.tiles["in"].column == seen.tiles["out"].row


def test_the_tile_has_no_wasted_word_but_the_padding() -> None:
    for case, wasted in (("shared", 0), ("padded", 31), ("swizzled", 0)):
        seen = block(case)
        held = seen.moves["put"].color_of_cells
        assert (held[: 32 * 32 + wasted] < 0).sum() == wasted


def test_the_watched_requests_are_what_the_model_counts() -> None:
    expected = {"naive": (4, 32), "shared": (4, 1, 32, 4), "swizzled": (4, 1, 1, 4)}
    for case, counts in expected.items():
        seen = block(case)
        assert tuple(m.first.count for m in seen.moves.values()) == counts


def test_waste_is_hatched() -> None:
    story = played("naive").story
    write = next(s for s in story.steps if s.label == "write")
    shown = story.frame(write.end - 1e-3, pictures.STAGES["large"])
    hatched = [m for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None]
    assert [len(m.rect) for m in hatched] == [32 * 7]


def test_hover_names_the_element() -> None:
    story = played("shared").story
    shown = story.frame(pictures.before_the_end(story), pictures.STAGES["large"])
    cells = [m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 1024]
    x, y, width, height = cells[0].rect[33].tolist()
    assert tip_at(shown, x + width / 2, y + height / 2) == "in[1][33]"
    assert (cells[0].fill[33] == DARK.lanes[1]).all()


def test_historic_banks() -> None:
    assert block("shared", "sm_10").tiles["tile"].columns == 16
    assert block("shared", "sm_10").moves["get"].first.count == 32


@cases
def test_steps_name_their_line(case: str) -> None:
    run = played(case).runs[str({**LESSON.defaults(), **CASES[case]}["variant"])]
    lines = run.trace.source.splitlines()
    for step in played(case).story.steps:
        if step.line:
            assert "in[(y + i) * n + x]" in lines[step.line - 1] or (
                "out[(y + i) * n + x]" in lines[step.line - 1]
            )


@pytest.mark.parametrize("stage", ["window", "half"])
def test_words_are_legible_with_sixteen_banks(stage: str, qapp: object) -> None:
    pictures.check_text(played("shared", "sm_10").story, stage)


def test_the_result_of_a_small_window_has_the_time() -> None:
    """It had been left out for pictures of tiles that had been seen before."""
    shown = pictures.words(pictures.frame(played("shared").story, 1.0, Stage(662, 386, DARK)))
    assert "not measured" in shown and "swizzled" in shown
