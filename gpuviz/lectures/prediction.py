"""A number predicted by dragging it along a line; once the answer is out the line shows both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import expm1, floor, log1p

import numpy as np

from gpuviz.base.arrays import Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.lectures.answer import Answer, shown
from gpuviz.lectures.lecture import Guess
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_BEYOND = 2  # times the largest choice the line goes on: its end must not be the answer
_EXACT = 100  # from here on a prediction has two digits
_NEAR = 0.02  # of the answer: a prediction as close as that is right
_BINARY = 256  # lines to there have a tick at each power of two, longer ones at those of ten
_FULL = 3.0  # letters high: room for words above the line and ticks below it
_APART = 0.5  # letters between the words of ticks


@dataclass(frozen=True)
class Reach:
    """Numbers from 0 to `high` along a line, closer together the larger they are; `whole` ones."""

    high: float
    whole: bool

    def share(self, value: float) -> float:
        """How far along the line a number is, 0 to 1."""
        return min(log1p(max(value, 0.0)) / log1p(self.high), 1.0)

    def at(self, share: float) -> float:
        """The number at a share of the line: whole, or with one digit behind the point; large ones
        with two digits.
        """
        value = expm1(min(max(share, 0.0), 1.0) * log1p(self.high))
        if value >= _EXACT:
            return float(f"{value:.2g}")
        return float(floor(value + 0.5)) if self.whole else round(value, 1)

    @property
    def ticks(self) -> tuple[float, ...]:
        """0, and powers of two or of ten."""
        base = 2 if self.high <= _BINARY else 10
        powers = [0.0, 1.0]
        while powers[-1] * base <= self.high:
            powers.append(powers[-1] * base)
        return tuple(powers)


@dataclass(frozen=True)
class Prediction:
    """What somebody predicts, None until it has been dragged to."""

    reach: Reach
    value: float | None = None


def reach_of(guesses: Sequence[Guess]) -> Reach | None:
    """The line for a question whose choices are numbers; None where one of them is none."""
    numbers = [float(one) for one in guesses if isinstance(one, int | float)]
    if not numbers or len(numbers) < len(guesses):
        return None
    high = max(_BEYOND * max(numbers), float(LANES))
    return Reach(high, all(one == round(one) for one in numbers))


def is_right(predicted: float, value: float) -> bool:
    """Whether a prediction is as close as one can drag."""
    return abs(predicted - value) <= _NEAR * abs(value) + 1e-9


def said(predicted: float, answer: Answer) -> str:
    """Both in words, and how many times apart they are."""
    value = float(answer.value)
    told = {"value": shown(value), "unit": answer.unit}
    if is_right(predicted, value):
        return tr("✓ Right: {value} {unit}", **told)
    told["guess"] = shown(predicted)
    if min(predicted, value) <= 0:
        return tr("✗ You said {guess}; it is {value} {unit}", **told)
    told["n"] = f"{max(predicted, value) / min(predicted, value):.3g}"
    if predicted > value:
        return tr("✗ You said {guess}, {n} × too many; it is {value} {unit}", **told)
    return tr("✗ You said {guess}, {n} × too few; it is {value} {unit}", **told)


def line(stage: Stage, area: Rect, one: Prediction, value: float | None = None) -> Iterator[Mark]:
    """The line with its ticks, and a disc at what is predicted; once there is a `value`, that, too,
    with what lies between them hatched. In a low area numbers stand beside the discs.
    """
    size, palette, y = stage.text(14), stage.palette, area.center[1]
    track = Rect(area.x, y - size * 0.12, area.width, size * 0.24)
    yield Boxes(track.array(), palette.border, radius=size * 0.12)
    low = area.height < size * _FULL
    if not low:
        yield from _ticks(stage, track, one.reach)
    places = [] if value is None else [_Place(value, f"✓ {shown(value)}", palette.good)]
    if one.value is not None and (value is None or not is_right(one.value, value)):
        places.append(_Place(one.value, shown(one.value), palette.accent))
    places.sort(key=lambda place: place.value)
    middles = [track.x + track.width * one.reach.share(place.value) for place in places]
    if len(places) == 2:
        off = Rect(middles[0], y - size * 0.3, middles[1] - middles[0], size * 0.6)
        yield Boxes(off.array(), palette.waste_ground, hatch=palette.waste, radius=2)
    half = size * 0.5
    for x, place in zip(middles, places, strict=True):
        disc = Rect(x - half, y - half, 2 * half, 2 * half)
        yield Boxes(disc.array(), place.ink, stroke=palette.outline, stroke_width=2.0, radius=half)
    for left, place in zip(_lefts(area, places, middles, size, low), places, strict=True):
        if low:  # the line ends where words stand
            wide = text_width(place.text, size, True)
            plate = Rect(left - size * 0.2, y - size * 0.5, wide + size * 0.4, size)
            yield Boxes(plate.array(), palette.ground)
        yield label(left, y if low else y - size * 1.1, place.text, place.ink, size, True)


@dataclass(frozen=True, eq=False)
class _Place:
    """A number on the line."""

    value: float
    text: str
    ink: Rgba


def _lefts(
    area: Rect, places: Sequence[_Place], middles: Sequence[float], size: float, low: bool
) -> list[float]:
    """Where words begin: above their disc or, of two and in a low area, at its outer side."""
    wide = [text_width(place.text, size, True) for place in places]
    aside = size * 0.75 if low else 0.0
    if len(places) < 2:
        own = [x + aside if low else x - w / 2 for x, w in zip(middles, wide, strict=True)]
        return [min(max(x, area.x), area.right - w) for x, w in zip(own, wide, strict=True)]
    gap = size * _APART
    first = max(middles[0] - aside - wide[0], area.x)
    second = min(max(middles[1] + aside, first + wide[0] + gap), area.right - wide[1])
    return [min(first, second - gap - wide[0]), second]


def _ticks(stage: Stage, track: Rect, reach: Reach) -> Iterator[Mark]:
    """Numbers below the line, as many as stand apart."""
    size, palette, end = stage.text(13), stage.palette, -np.inf
    for tick in reach.ticks:
        x, text = track.x + track.width * reach.share(tick), shown(tick)
        wide = text_width(text, size)
        left = min(max(x - wide / 2, track.x), track.right - wide)
        if left < end:
            continue
        end = left + wide + size * _APART
        mark = Rect(x - 0.75, track.bottom, 1.5, size * 0.3)
        yield Boxes(mark.array(), palette.border)
        yield label(left, track.bottom + size * 0.95, text, palette.muted, size)
