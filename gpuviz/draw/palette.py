"""Every colour in the program, by what it means. Themes: dark, light, projector, high contrast.

The look: a calm ground and one accent. Three states: done is the colour itself, `now` is outlined
in `outline`, to come is `todo(colour)`. Waste is `waste` hatching over `waste_ground`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from tomllib import loads
from types import MappingProxyType
from typing import Any

import numpy as np

from gpuviz.base import resources
from gpuviz.base.arrays import F64, Rgba
from gpuviz.draw.color import from_lch, luminance, mix, ramp, rgba
from gpuviz.words.language import later


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


def _lanes(hues: Sequence[tuple[float, float, float, float]]) -> Rgba:
    """(32, 4): eight lightnesses of each quarter's hue; chroma, and the ends, in OKLab."""
    quarters = [from_lch(np.linspace(low, high, 8), chroma, hue) for hue, chroma, low, high in hues]
    colors = np.concatenate(quarters)
    colors.setflags(write=False)
    return colors


def _palette(name: str, told: Mapping[str, Any]) -> Palette:
    """A theme from its table in resources/themes.toml."""
    steps = ramp(tuple(told["heat"]))
    steps.setflags(write=False)
    colors = {key: rgba(code) for key, code in told["colors"].items()}
    return Palette(name, lanes=_lanes(told["lanes"]), heat=steps, todo_share=told["todo"], **colors)


THEMES: Mapping[str, Palette] = MappingProxyType(
    {name: _palette(name, one) for name, one in loads(resources.text("themes.toml")).items()}
)
DARK, LIGHT, PROJECTOR = (THEMES[name] for name in ("dark", "light", "projector"))
THEME_NAMES = {
    "dark": later("dark"),
    "light": later("light"),
    "projector": later("projector"),
    "contrast": later("high contrast"),
}
