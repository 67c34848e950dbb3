"""Every colour in the program, by what it means. Themes: dark, light, projector, high contrast.

The look: a calm ground and one accent. Three states: done is the colour itself, `now` is outlined
in `outline`, to come is `todo(colour)`. Waste is `waste` hatching over `waste_ground`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gpuviz.base.arrays import F64, Rgba
from gpuviz.draw.color import from_lch, luminance, mix, ramp, rgba
from gpuviz.words.language import later

Hue = tuple[float, float, float, float]  # hue in degrees, chroma, darkest and lightest lane (OKLab)


@dataclass(frozen=True, eq=False)
class Palette:
    """The colours of one theme; single colours are (4,) RGBA, opaque.

    Attributes
    ----------
    ground, panel, cell : behind everything, of a box on it, of an empty cell
    border, ink, muted, faint : outlines; text, secondary text, and marks hardly there
    accent, accent_soft : the one accent, and its quiet form (wide areas)
    good, warn, bad : verdicts; never without words
    waste, waste_ground : hatching of what a request moved and did not use, and what lies beneath it
    outline : drawn around what is happening now
    load, store, barrier, compute, shared : kinds of step and of operand
    lanes : (32, 4), hue = quarter warp, lightness = lane within it; any two of different quarters
        stay apart for viewers who lack one kind of cone, and carry `ink_on` with 4.5 to 1
    heat : (256, 4), few to many, even steps; entry 0 is still told from `cell`
    todo_share : how far a colour still to come is moved towards the ground
    """

    name: str
    ground: Rgba
    panel: Rgba
    cell: Rgba
    border: Rgba
    ink: Rgba
    muted: Rgba
    faint: Rgba
    accent: Rgba
    accent_soft: Rgba
    good: Rgba
    warn: Rgba
    bad: Rgba
    waste: Rgba
    waste_ground: Rgba
    outline: Rgba
    load: Rgba
    store: Rgba
    barrier: Rgba
    compute: Rgba
    shared: Rgba
    lanes: Rgba
    heat: Rgba
    todo_share: float

    @property
    def dark(self) -> bool:
        """Whether light marks stand on a dark ground."""
        return bool(luminance(self.ground) < 0.18)

    def todo(self, color: Rgba) -> Rgba:
        """How a colour looks while its turn has not come: moved towards the ground."""
        return mix(color, self.ground, self.todo_share)

    def soft(self, color: Rgba, share: float = 0.75) -> Rgba:
        """A quiet form of a colour, for wide areas behind text."""
        return mix(color, self.ground, share)

    def state(self, color: Rgba, progress: F64) -> Rgba:
        """(N, 4) colours for items with (N,) progress: 0 to come, 1 done, between while it goes."""
        return mix(self.todo(color), color, np.clip(progress, 0.0, 1.0))

    def ink_on(self, fill: Rgba) -> Rgba:
        """The better readable of black and white text on each (..., 4) fill."""
        # Equal contrast with black and white lies at luminance 0.179 (WCAG formula).
        bright = (luminance(fill) > 0.179)[..., None]
        return np.asarray(np.where(bright, _BLACK, _WHITE), dtype=np.uint8)

    def heat_at(self, share: F64) -> Rgba:
        """(..., 4) colours of values from 0 (fewest) to 1 (most)."""
        index = np.rint(np.clip(share, 0.0, 1.0) * (len(self.heat) - 1)).astype(np.intp)
        return np.asarray(self.heat[index])


_BLACK, _WHITE = rgba("#000000"), rgba("#ffffff")


def _lanes(hues: tuple[Hue, Hue, Hue, Hue]) -> Rgba:
    """(32, 4): eight lightnesses of each quarter's hue."""
    quarters = [from_lch(np.linspace(low, high, 8), chroma, hue) for hue, chroma, low, high in hues]
    colors = np.concatenate(quarters)
    colors.setflags(write=False)
    return colors


def _palette(
    name: str,
    colors: Mapping[str, str],
    hues: tuple[Hue, Hue, Hue, Hue],
    heat: tuple[str, ...],
    todo_share: float,
) -> Palette:
    """A theme from its table of codes."""
    steps = ramp(heat)
    steps.setflags(write=False)
    return Palette(
        name=name,
        lanes=_lanes(hues),
        heat=steps,
        todo_share=todo_share,
        **{key: rgba(code) for key, code in colors.items()},
    )


DARK = _palette(
    "dark",
    {
        "ground": "#0d1117",
        "panel": "#151a21",
        "cell": "#1a212b",
        "border": "#333c48",
        "ink": "#f0f3f6",
        "muted": "#9aa5b1",
        "faint": "#5a6572",
        "accent": "#4dbbff",
        "accent_soft": "#1c3a52",
        "good": "#5fd38a",
        "warn": "#ffb454",
        "bad": "#ff7a70",
        "waste": "#b98146",
        "waste_ground": "#2a2019",
        "outline": "#ffffff",
        "load": "#3f93c7",
        "store": "#46a86b",
        "barrier": "#98a3af",
        "compute": "#e6a04a",
        "shared": "#b87fc9",
    },
    (
        (262.0, 0.128, 0.58, 0.73),
        (78.0, 0.140, 0.66, 0.84),
        (162.0, 0.155, 0.73, 0.86),
        (348.0, 0.160, 0.60, 0.73),
    ),
    ("#24344d", "#2b6ca3", "#3fb0c4", "#a8d77f", "#ffe66b"),
    0.66,
)

LIGHT = _palette(
    "light",
    {
        "ground": "#fcfcfe",
        "panel": "#f3f5f8",
        "cell": "#e6eaef",
        "border": "#b9c2cc",
        "ink": "#14181d",
        "muted": "#4b5866",
        "faint": "#8b97a4",
        "accent": "#0b5fa5",
        "accent_soft": "#cfe3f4",
        "good": "#1a6f3c",
        "warn": "#9a5200",
        "bad": "#b3261e",
        "waste": "#a4672a",
        "waste_ground": "#f7ead9",
        "outline": "#0b0e13",
        "load": "#1d7dc2",
        "store": "#2b8a55",
        "barrier": "#66727f",
        "compute": "#c77613",
        "shared": "#96539f",
    },
    (
        (266.0, 0.185, 0.35, 0.53),
        (55.0, 0.130, 0.41, 0.54),
        (167.0, 0.122, 0.41, 0.535),
        (333.0, 0.100, 0.39, 0.57),
    ),
    ("#d5e6f3", "#74b3d8", "#2f86b8", "#4b5a9e", "#3d1f5c"),
    0.70,
)

# For a wall in a lit room, where white light on all of the picture takes a third of each contrast.
PROJECTOR = _palette(
    "projector",
    {
        "ground": "#ffffff",
        "panel": "#f1f4f7",
        "cell": "#d5dce4",
        "border": "#6b7682",
        "ink": "#000000",
        "muted": "#2f3842",
        "faint": "#586370",
        "accent": "#0046a5",
        "accent_soft": "#b5d2f5",
        "good": "#0a5c2e",
        "warn": "#7d3c00",
        "bad": "#a8130c",
        "waste": "#7a3d00",
        "waste_ground": "#ffe2bd",
        "outline": "#000000",
        "load": "#0f62b5",
        "store": "#12713a",
        "barrier": "#4d5762",
        "compute": "#a85600",
        "shared": "#7d2f8c",
    },
    (
        (286.0, 0.220, 0.374, 0.507),
        (53.0, 0.165, 0.461, 0.572),
        (174.0, 0.115, 0.428, 0.529),
        (325.5, 0.166, 0.367, 0.499),
    ),
    ("#bfdcf5", "#5fa6dc", "#1b6fb3", "#3f3d93", "#2a0845"),
    0.56,
)

CONTRAST = _palette(
    "contrast",
    {
        "ground": "#000000",
        "panel": "#000000",
        "cell": "#1c1c1c",
        "border": "#8c8c8c",
        "ink": "#ffffff",
        "muted": "#e0e0e0",
        "faint": "#8c8c8c",
        "accent": "#5cc8ff",
        "accent_soft": "#003a5c",
        "good": "#6cf0a0",
        "warn": "#ffc24d",
        "bad": "#ff8f85",
        "waste": "#ffb454",
        "waste_ground": "#1f1400",
        "outline": "#ffffff",
        "load": "#5cb8f0",
        "store": "#5cd68c",
        "barrier": "#c8c8c8",
        "compute": "#ffb454",
        "shared": "#e09cf0",
    },
    (
        (262.0, 0.128, 0.60, 0.74),
        (80.0, 0.145, 0.70, 0.87),
        (162.0, 0.155, 0.75, 0.88),
        (348.0, 0.162, 0.62, 0.74),
    ),
    ("#2a3f66", "#2f78b8", "#3fc0d4", "#b4e884", "#fff080"),
    0.62,
)

THEMES: Mapping[str, Palette] = MappingProxyType(
    {"dark": DARK, "light": LIGHT, "projector": PROJECTOR, "contrast": CONTRAST}
)
THEME_NAMES = {
    "dark": later("dark"),
    "light": later("light"),
    "projector": later("projector"),
    "contrast": later("high contrast"),
}
