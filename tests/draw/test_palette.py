from itertools import combinations

import numpy as np
import pytest

from gpuviz.base.arrays import Rgba
from gpuviz.draw.palette import (
    DARK,
    LIGHT,
    PROJECTOR,
    THEMES,
    Palette,
    contrast,
    from_oklab,
    mix,
    oklab,
    rgba,
)
from tests.draw.vision import SIGHT, least_distance, seen

themes = pytest.mark.parametrize("palette", THEMES.values(), ids=THEMES)
# CIELAB 1976: about 2.3 is just noticeable side by side; apart and small, much more is needed.
TOLD_APART = 18.0


@themes
def test_text_can_be_read_on_what_it_stands_on(palette: Palette) -> None:
    for name in ("ink", "muted", "accent", "good", "warn", "bad"):
        for ground in ("ground", "panel"):
            ratio = contrast(getattr(palette, name), getattr(palette, ground))
            assert ratio >= 4.5, f"{name} on {ground}: {ratio:.2f}"
    assert contrast(palette.warn, palette.waste_ground) >= 4.5
    assert contrast(palette.ink, palette.ground) >= 15
    for color in (palette.accent, palette.store):
        assert contrast(palette.ink, palette.todo(color)) >= 4.5


@themes
def test_lane_numbers_can_be_read_on_lanes(palette: Palette) -> None:
    assert contrast(palette.ink_on(palette.lanes), palette.lanes).min() >= 4.5
    assert contrast(palette.lanes, palette.ground).min() >= 3


@themes
@pytest.mark.parametrize("sight", SIGHT)
def test_quarters_of_a_warp_are_told_apart(palette: Palette, sight: str) -> None:
    quarters = seen(palette.lanes, sight).reshape(4, 8, 3)
    for a, b in combinations(range(4), 2):
        apart = least_distance(quarters[a], quarters[b])
        assert apart >= TOLD_APART, f"quarters {a} and {b}: {apart:.1f}"


@themes
def test_lanes_of_a_quarter_rise_in_lightness(palette: Palette) -> None:
    lightness = oklab(palette.lanes)[:, 0].reshape(4, 8)
    assert (np.diff(lightness, axis=1) > 0.01).all()


@themes
@pytest.mark.parametrize("sight", SIGHT)
def test_heat_moves_evenly_from_the_empty_cell(palette: Palette, sight: str) -> None:
    steps = np.linalg.norm(np.diff(oklab(palette.heat[::16]), axis=0), axis=1)
    assert steps.std() < 0.1 * steps.mean()
    lightness = seen(palette.heat, sight)[::16, 0]
    change = np.diff(lightness)
    assert (change > 0).all() or (change < 0).all()
    assert least_distance(seen(palette.cell[None], sight), seen(palette.heat[:1], sight)) > 4


def test_which_themes_are_light() -> None:
    assert [name for name, palette in THEMES.items() if not palette.dark] == ["light", "projector"]


def washed(color: Rgba) -> Rgba:
    """A colour on a wall in a lit room, where white light lies over all of the picture."""
    return mix(color, rgba("#ffffff"), 0.3)


def test_projector_has_contrast_to_spare() -> None:
    ground = PROJECTOR.ground
    least = {
        "ink": 12,
        "muted": 7,
        "faint": 4.5,
        "border": 4.5,
        "accent": 7,
        "good": 7,
        "warn": 7,
        "bad": 7,
        "waste": 7,
        "outline": 12,
    }
    for name, ratio in least.items():
        assert contrast(getattr(PROJECTOR, name), ground) >= ratio, name
    kinds = (
        PROJECTOR.load,
        PROJECTOR.store,
        PROJECTOR.barrier,
        PROJECTOR.compute,
        PROJECTOR.shared,
        *PROJECTOR.lanes,
    )
    assert min(float(contrast(color, ground)) for color in kinds) >= 4.5
    assert all((PROJECTOR.ink_on(color)[:3] == 255).all() for color in PROJECTOR.lanes)


def test_projector_washed_out_can_still_be_read() -> None:
    ground = washed(PROJECTOR.ground)
    for name in ("ink", "muted", "accent", "good", "warn", "bad"):
        assert contrast(washed(getattr(PROJECTOR, name)), ground) >= 3.5, name
    for name in ("faint", "border"):
        assert contrast(washed(getattr(PROJECTOR, name)), ground) >= 2.5, name
    hatch, below = washed(PROJECTOR.waste), washed(PROJECTOR.waste_ground)
    assert contrast(hatch, below) >= 3
    # The light theme loses what this one keeps.
    assert contrast(washed(LIGHT.waste), washed(LIGHT.waste_ground)) < 3


def test_projector_washed_out_tells_states_apart() -> None:
    """To come from done, and both from the ground."""
    ground = washed(PROJECTOR.ground)
    for color in (
        PROJECTOR.accent,
        PROJECTOR.load,
        PROJECTOR.store,
        PROJECTOR.compute,
        PROJECTOR.barrier,
        *PROJECTOR.lanes,
    ):
        todo = washed(PROJECTOR.todo(color))
        assert contrast(todo, ground) >= 1.5
        assert contrast(washed(color), todo) >= 1.75
    dim = washed(PROJECTOR.todo(PROJECTOR.waste))
    assert contrast(dim, washed(PROJECTOR.todo(PROJECTOR.waste_ground))) >= 1.5
    assert contrast(washed(PROJECTOR.cell), ground) >= 1.2


@pytest.mark.parametrize("sight", SIGHT)
def test_projector_washed_out_tells_quarters_apart(sight: str) -> None:
    quarters = seen(washed(PROJECTOR.lanes), sight).reshape(4, 8, 3)
    for a, b in combinations(range(4), 2):
        assert least_distance(quarters[a], quarters[b]) >= TOLD_APART, f"quarters {a} and {b}"


def test_state_runs_from_to_come_to_done() -> None:
    color = np.stack([DARK.accent, DARK.good])
    assert (DARK.state(color, np.zeros(2)) == DARK.todo(color)).all()
    assert (DARK.state(color, np.ones(2)) == color).all()


def test_oklab_there_and_back() -> None:
    colors = np.array([[0, 0, 0, 255], [255, 255, 255, 255], [12, 200, 99, 255]], np.uint8)
    assert (from_oklab(oklab(colors)) == colors).all()


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast(rgba("#000000"), rgba("#ffffff")) == pytest.approx(21)


def test_mix_moves_all_the_way() -> None:
    assert mix(rgba("#00000000"), rgba("#ffffff"), 1.0).tolist() == [255] * 4
