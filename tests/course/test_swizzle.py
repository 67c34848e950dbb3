"""Swizzles: the kernel stores where the layout and the swizzle say, and reads what is there."""

from __future__ import annotations

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.matrix_products.swizzle.lesson import LESSON
from gpuviz.course.matrix_products.swizzle.tile import Tile, placed, tile_of
from gpuviz.draw.hit import lit_at, tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.run.run import Run
from gpuviz.story.lesson import check_values
from tests.course.performed import performed

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
STAGE = Stage(1600, 1000, DARK)
CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "columns first": {"layout": "(8,16):(1,8)", "element": 4, "access": "column", "swizzle": "0"},
    "bytes": {"layout": "(16,64):(64,1)", "element": 1, "swizzle": "64", "first": 1},
    "many rows": {"layout": "((8,4),64):((64,512),1)", "first": 3},
}
cases = pytest.mark.parametrize("case", CASES)


def run_of(case: str) -> tuple[Tile, Run]:
    made = check_values(LESSON, CASES[case])
    return tile_of(made), performed(LESSON, CASES[case]).runs["warp"]


@cases
def test_every_piece_lies_where_the_layout_and_the_swizzle_say(case: str) -> None:
    tile, run = run_of(case)
    for block, swizzle in enumerate(tile.swizzles):
        assert (placed(run.trace, block, tile) == swizzle(tile.plain)).all()


@cases
def test_the_warp_reads_what_it_wanted_with_every_swizzle(case: str) -> None:
    tile, run = run_of(case)
    first = int(CASES[case].get("first", 0)) % tile.across
    given = run.inputs["in"].reshape(tile.rows, tile.columns)
    out = run.outputs["out"].view(np.uint32).reshape(len(tile.swizzles), 32, -1)
    lane = np.arange(32)
    if tile.by_pieces:
        down = min(tile.rows // 8, 4)
        pieces = given.reshape(tile.rows, tile.across, -1)
        matrix = np.arange(4)[:, None]
        row = lane[None] // 4 + matrix % down * 8
        wanted = pieces[row, (first + matrix // down) % tile.across]  # (4, 32, elements)
        words = np.ascontiguousarray(wanted).view(np.uint32)  # (4, 32, 4)
        wanted_words = words[matrix, lane, lane % 4].T
    else:
        wanted_words = given[lane % tile.rows, first % tile.columns][:, None]
    assert (out == wanted_words).all()


def test_the_published_modes_take_what_arithmetic_says() -> None:
    run = performed(LESSON, {}).runs["warp"]
    totals = run.counts.totals
    assert totals["shared_load_wavefronts"] == 4 * (8 + 4 + 2 + 1)
    assert totals["shared_load_wavefronts_ideal"] == 16
    assert totals["shared_store_wavefronts"] == totals["shared_store_wavefronts_ideal"] == 32


def test_a_swizzle_of_elements_is_that_of_bytes() -> None:
    given = {"swizzle": "own", "bits": 3, "base": 3, "shift": 3}
    assert tile_of(check_values(LESSON, given)).swizzle == tile_of(LESSON.defaults()).swizzle
    assert len(tile_of(check_values(LESSON, given)).swizzles) == 4
    in_bytes = tile_of(check_values(LESSON, given | {"base": 4, "unit": "bytes"}))
    assert in_bytes.swizzle == tile_of(LESSON.defaults()).swizzle


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layout": "(8,64"}, "no layout"),
        ({"layout": "64:1"}, "two parts"),
        ({"layout": "(8,64):(1,1)"}, "one place"),
        ({"layout": "(8,64):(1,8)"}, "do not lie together"),
        ({"layout": "(9,64):(64,1)"}, "8 rows of 16 bytes"),
        ({"layout": "(512,64):(64,1)"}, "at most 16384"),
        ({"swizzle": "own", "base": 2}, "tears 16 bytes apart"),
        ({"swizzle": "own", "bits": 4}, "no larger than S"),
        ({"swizzle": "own", "base": 7, "access": "column"}, "reaches beyond"),
        ({"layout": "(" * 300}, "at most 200"),
    ],
)
def test_what_makes_no_tile_is_said(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_values(LESSON, given)


def test_pointing_at_a_piece_lights_its_bank_and_the_other_way_round() -> None:
    story = performed(LESSON, {}).story
    t = story.steps[1].end - 0.01
    frame = story.frame(t, STAGE)
    drawn = [m for m in frame.marks if isinstance(m, Boxes) and m.link == "piece"]
    assert len(drawn) == 2
    piece = 5 * 8 + 2  # row 5, columns 16 to 23: 16-byte piece 2 lies at 2 ^ 5 = 7
    for mark in drawn:
        x, y, wide, high = mark.rect[piece].tolist()
        point = x + wide / 2, y + high / 2
        said = "row 5, columns 16 to 23\nelement 376, byte 752 · banks 28 to 31"
        assert tip_at(frame, *point) == said
        lit = {tuple(box) for box in lit_at(frame, *point).tolist()}
        assert lit == {tuple(one.rect[piece].tolist()) for one in drawn}
        assert story.pick(t, STAGE, *point) == {"piece": piece}
