"""How far the scales of pictures reach, so that pictures side by side can share them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpuviz.draw.axis import Axis

Scales = Mapping[str, float | Axis]
"""By the name of a scale: the largest value on it, or its axis."""


def wider(one: Scales, other: Scales) -> Scales:
    """Scales on which there is room for what either reaches."""
    both = {key: _wider(value, other[key]) for key, value in one.items() if key in other}
    return {**one, **other, **both}


def _wider(one: float | Axis, other: float | Axis) -> float | Axis:
    if isinstance(one, Axis) and isinstance(other, Axis):
        return reaching(one, other)
    assert not isinstance(one, Axis) and not isinstance(other, Axis), "one name, two kinds of scale"
    return max(one, other)


def reaching(one: Axis, other: Axis) -> Axis:
    """The one of two axes that reaches farther, with room for both."""
    low, high = min(one.low, other.low), max(one.high, other.high)
    far = one if one.high / max(one.low, 1e-9) >= other.high / max(other.low, 1e-9) else other
    return replace(far, low=low, high=high)
