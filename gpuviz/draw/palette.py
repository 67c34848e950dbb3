"""Every colour in the program, by what it means. Themes: dark, light, projector, high contrast.

The look: a calm ground and one accent. Three states: done is the colour itself, `now` is outlined
in `outline`, to come is `todo(colour)`. Waste is `waste` hatching over `waste_ground`.

Colours are mixed, held against each other and ramped evenly in OKLab (B. Ottosson, "A perceptual
color space for image processing", 2020); relative luminance and contrast ratio as in WCAG 2.2,
section 1.4.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from gpuviz.base import resources
from gpuviz.base.arrays import F64, Rgba
from gpuviz.words.language import later

_LMS_FROM_LINEAR = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB_FROM_LMS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def rgba(code: str) -> Rgba:
    """`#rrggbb` or `#rrggbbaa` as a read-only (4,) colour."""
    digits = code.removeprefix("#")
    return np.frombuffer(bytes.fromhex(digits + "ff"[: 8 - len(digits)]), np.uint8)


def linear(color: Rgba) -> F64:
    """(..., 4) sRGB bytes to (..., 3) linear light, 0 to 1."""
    v = np.asarray(color)[..., :3] / 255.0
    return np.asarray(np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4))


def encode(light: F64) -> Rgba:
    """(..., 3) linear light to opaque (..., 4) sRGB bytes, clipped to the gamut."""
    v = np.clip(light, 0.0, 1.0)
    v = np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)
    opaque = np.ones((*v.shape[:-1], 1))
    color: Rgba = np.rint(np.concatenate([v, opaque], axis=-1) * 255).astype(np.uint8)
    return color


def oklab(color: Rgba) -> F64:
    """(..., 4) sRGB bytes to (..., 3) OKLab: lightness 0 to 1, and two opponent axes."""
    return np.asarray(np.cbrt(linear(color) @ _LMS_FROM_LINEAR.T) @ _LAB_FROM_LMS.T)


def from_oklab(lab: F64) -> Rgba:
    """(..., 3) OKLab to opaque (..., 4) sRGB bytes."""
    lms = (lab @ np.linalg.inv(_LAB_FROM_LMS).T) ** 3
    return encode(lms @ np.linalg.inv(_LMS_FROM_LINEAR).T)


def from_lch(lightness: F64, chroma: float, hue: float) -> Rgba:
    """(N,) OKLab lightnesses of one chroma and hue (degrees) to (N, 4) colours."""
    turn = np.deg2rad(hue)
    a = np.full_like(lightness, chroma * np.cos(turn))
    b = np.full_like(lightness, chroma * np.sin(turn))
    return from_oklab(np.stack([lightness, a, b], axis=-1))


def ramp(stops: tuple[str, ...], count: int = 256) -> Rgba:
    """(count, 4) colours through the stops, spaced evenly in OKLab distance."""
    lab = oklab(np.stack([rgba(s) for s in stops]))
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(lab, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count)
    return from_oklab(np.stack([np.interp(at, along, lab[:, i]) for i in range(3)], axis=-1))


def mix(one: Rgba, other: Rgba, share: float | F64) -> Rgba:
    """`one` moved towards `other` by `share` (0 to 1, or an array that broadcasts), alpha too."""
    t = np.asarray(share, dtype=np.float64)[..., None]
    mixed: Rgba = np.rint(one * (1.0 - t) + other * t).astype(np.uint8)
    return mixed


def luminance(color: Rgba) -> F64:
    """WCAG relative luminance, (...,) from (..., 4)."""
    return np.asarray(linear(color) @ _LUMINANCE)


def contrast(one: Rgba, other: Rgba) -> F64:
    """WCAG contrast ratio, 1 to 21."""
    a, b = luminance(one), luminance(other)
    return np.asarray((np.maximum(a, b) + 0.05) / (np.minimum(a, b) + 0.05))


def code(rgba: Rgba) -> str:
    """`#rrggbb` of a (4,) colour."""
    return "#" + bytes(rgba[:3].tolist()).hex()


@dataclass(frozen=True, eq=False)
class Palette:
    """The colours of one theme; single colours are (4,) RGBA, opaque."""

    name: str
    # ground, panel, cell: behind everything, of a box on it, of an empty cell.
    ground: Rgba
    panel: Rgba
    cell: Rgba
    # border, ink, muted, faint: outlines; text, secondary text, and marks hardly there.
    border: Rgba
    ink: Rgba
    muted: Rgba
    faint: Rgba
    # accent, accent_soft: the one accent, and its quiet form (wide areas).
    accent: Rgba
    accent_soft: Rgba
    # good, warn, bad: verdicts; never without words.
    good: Rgba
    warn: Rgba
    bad: Rgba
    # waste, waste_ground: hatching of what a request moved and did not use, and what lies beneath
    # it.
    waste: Rgba
    waste_ground: Rgba
    outline: Rgba  # drawn around what is happening now
    # load, store, barrier, compute, shared: kinds of step and of operand.
    load: Rgba
    store: Rgba
    barrier: Rgba
    compute: Rgba
    shared: Rgba
    # (32, 4), hue = quarter warp, lightness = lane within it; any two of different quarters stay
    # apart for viewers who lack one kind of cone, and carry `ink_on` with 4.5 to 1.
    lanes: Rgba
    heat: Rgba  # (256, 4), few to many, even steps; entry 0 is still told from `cell`
    todo_share: float  # how far a colour still to come is moved towards the ground

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
    {name: _palette(name, one) for name, one in resources.table("themes.toml").items()}
)
DARK, LIGHT, PROJECTOR = (THEMES[name] for name in ("dark", "light", "projector"))
THEME_NAMES = {
    "dark": later("dark"),
    "light": later("light"),
    "projector": later("projector"),
    "contrast": later("high contrast"),
}
