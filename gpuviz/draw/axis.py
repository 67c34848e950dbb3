"""An axis: from where to where, with which ticks; how far the scales of pictures reach, so that
pictures side by side can share them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import F64
from gpuviz.words.language import grouped

Values = npt.ArrayLike


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`, with `ticks` and their `labels`; `titles` are wordings, longest first.

    A logarithmic axis keeps values at or below 0 at its low end.
    """

    titles: tuple[str, ...]
    low: float
    high: float
    ticks: tuple[float, ...]
    labels: tuple[str, ...]
    log: bool = False

    def share(self, values: Values) -> F64:
        """How far along the axis values lie: 0 at its low end, 1 at its high end."""
        x = np.asarray(values, dtype=np.float64)
        low, high = self.low, self.high
        if self.log:
            x, low, high = np.log(np.maximum(x, self.low)), float(np.log(low)), float(np.log(high))
        return np.asarray((x - low) / (high - low))


def linear(titles: tuple[str, ...], low: float, high: float, step: float, unit: str = "") -> Axis:
    """An axis with a tick at every multiple of the step."""
    count = int(np.floor((high - low) / step + 1e-9)) + 1
    ticks = tuple(low + step * i for i in range(count))
    return Axis(titles, low, high, ticks, tuple(f"{t:g}{unit}" for t in ticks))


def logarithmic(titles: tuple[str, ...], low: float, high: float, base: float = 10.0) -> Axis:
    """An axis with a tick at every power of the base."""
    first, last = (
        int(f(np.log(v) / np.log(base) + shift))
        for f, v, shift in ((np.ceil, low, -1e-9), (np.floor, high, 1e-9))
    )
    ticks = tuple(float(base) ** i for i in range(first, last + 1))
    return Axis(titles, low, high, ticks, tuple(map(short, ticks)), log=True)


def short(value: float) -> str:
    """A number in few letters: 0.25, 4, 250, 12 000, 3.4M."""
    for least, name in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= least:
            return f"{value / least:.3g}{name}"
    return f"{value:.3g}" if value < 1000 else grouped(value)


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
