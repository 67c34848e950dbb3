"""Colour arithmetic on RGBA bytes: mixing, contrast, and ramps that are even in OKLab.

Sources: OKLab, B. Ottosson, "A perceptual color space for image processing" (2020).
Relative luminance and contrast ratio, WCAG 2.2, section 1.4.3.
"""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import F64, Rgba

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
