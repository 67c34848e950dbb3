"""The roof, from memory's slope to the flat of arithmetic; kernels at it, one of them climbing."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.arch.roofline import Roof, a_float
from gpuviz.base.arrays import F32, F64, Rgba
from gpuviz.draw.axis import Axis, logarithmic
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.plot import Plot, axes, lay_out, line, points
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel, Values
from gpuviz.words.language import tr

_LEAST = 15.0  # letters high
_DISC, _SMALL = 9.0, 5.0  # pixels: radius of the kernel that climbs, and of the others


@dataclass(frozen=True)
class Kernel:
    """A kernel under the roof: operations a byte, and operations a second if measured."""

    name: str
    intensity: float
    rate: float | None


@dataclass(frozen=True, eq=False)
class Climb:
    """One kernel in variants, from the lowest intensity to the highest, and where it is now."""

    name: str  # of all variants
    stops: tuple[Kernel, ...]  # the variants, named in a word or two
    along: float  # the variant it is at, a fraction being on the way to the next; -1: not there yet
    axis: tuple[str, ...]  # wordings of what the variants differ in
    choose: Callable[[int], Values]  # the parameter values of a variant, by number

    @property
    def intensity(self) -> float:
        """Where it is, between its variants."""
        known = np.log([stop.intensity for stop in self.stops])
        return float(np.exp(np.interp(self.along, np.arange(len(known)), known)))

    @property
    def at(self) -> int:
        """The variant it is at, or was at last; -1 before the first."""
        return int(np.floor(self.along + 1e-6))


@dataclass(frozen=True, eq=False)
class Roofline(Panel):
    """Roofs and kernels."""

    share: ClassVar[float] = 1.0
    roof: Roof | None  # None when it is not known; `others` further ones with their names
    others: tuple[tuple[Roof, str], ...]
    kernels: tuple[Kernel, ...]  # from the lowest intensity to the highest
    climb: Climb  # the kernel that moves
    titles: tuple[str, ...]  # wordings of what the axis of intensities is
    badge: str = ""  # the word for where measured rates come from, "" where there are none
    drawn: float = 1.0  # how far the roof is drawn, 0 to 1
    # Kernels that have risen to it, the fraction being the one on its way.
    arrived: float = float("inf")

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell kernels apart."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Axes, roofs, kernels, the one that climbs; their names beside."""
        plot, beside = self._laid(stage, area)
        yield from axes(stage, plot)
        if self.drawn >= 1:
            for roof, _ in self.others:
                yield _slope(stage, plot, roof, 1.0, second=True)
        if self.roof is not None:
            yield _slope(stage, plot, self.roof, self.drawn, second=False)
        if self.drawn >= 1:
            yield from self._stems(stage, plot)
            if self.roof is not None:
                yield from _roof_names(stage, plot, self.roof, self._tops(plot))
            yield from self._rates(stage, plot)
            if self.arrived >= len(self.kernels):
                yield from _ridge_name(stage, plot, self.roof) if self.roof else ()
            yield from self._numbers(stage, plot)
            yield from self._choice(stage, plot)
            yield from self._climbing(stage, plot)
        yield from self._names(stage, beside)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The variant nearest to a point, across."""
        plot, _ = self._laid(stage, area)
        inside = plot.area.y <= y < plot.area.bottom and plot.area.x <= x < plot.area.right
        if not inside or self.climb.at < 0:
            return None
        return self.climb.choose(int(np.abs(self._stops(plot)[:, 0] - x).argmin()))

    def tip(self, one: Kernel) -> str:
        """What hovering a kernel says."""
        said = [tr("{name}: {n} operations a byte", name=one.name, n=f"{one.intensity:.3g}")]
        if self.roof is not None:
            said.append(tr("at most {rate}", rate=rate(self.roof.attainable(one.intensity))))
        if one.rate:
            said.append(tr("reached {rate}", rate=rate(one.rate)))
        return "\n".join(said)

    @cached_property
    def _every(self) -> tuple[Kernel, ...]:
        return *self.kernels, *self.climb.stops

    @property
    def _shown(self) -> tuple[Kernel, ...]:
        """The kernels that are there by now."""
        count = min(int(np.ceil(self.arrived - 1e-6)), len(self.kernels))
        return *self.kernels[:count], *self.climb.stops[: self.climb.at + 1]

    def scales(self) -> dict[str, Axis]:
        """Both axes."""
        return {"operations a byte": _across(self), "operations a second": _up(self)}

    def _laid(self, stage: Stage, area: Rect) -> tuple[Plot, Rect]:
        """The plot, and the room beside it."""
        size = stage.text(14)
        words = (*(k.name for k in self.kernels), *(name for _, name in self.others))
        longest = max(text_width(f"8  {word}", size, True) for word in (*words, self.climb.name))
        wide = min(longest + size * 1.6, area.width * 0.36)
        across, up = (stage.axis(name, own) for name, own in self.scales().items())
        plot = lay_out(stage, area, across, up, right=wide)
        left = plot.area.right + size * 1.2
        return plot, Rect(left, plot.area.y, area.right - left, plot.area.height)

    def _on_roof(self, plot: Plot, intensities: F64) -> F32:
        """(N, 2) where kernels of these intensities meet the roof; in a row where there is none."""
        if self.roof is None:
            return plot.at(intensities, plot.y.low * (plot.y.high / plot.y.low) ** 0.4)
        return plot.at(intensities, [self.roof.attainable(x) / 1e9 for x in intensities])

    def _stops(self, plot: Plot) -> F32:
        return self._on_roof(plot, np.array([stop.intensity for stop in self.climb.stops]))

    def _tops(self, plot: Plot) -> F32:
        """Where the other kernels' numbers are: rising to the roof, and above the kernel that
        climbs where they would meet it.
        """
        rise = np.clip(self.arrived - np.arange(len(self.kernels)), 0.0, 1.0)
        tops = self._on_roof(plot, np.array([k.intensity for k in self.kernels]))
        near = np.abs(tops[:, None, 0] - self._stops(plot)[None, :, 0]).min(axis=1) < 2 * _DISC
        tops[near, 1] -= 3.2 * _DISC
        tops[:, 1] = plot.area.bottom + (tops[:, 1] - plot.area.bottom) * rise
        return np.asarray(tops[rise > 0], np.float32)

    def _stems(self, stage: Stage, plot: Plot) -> Iterator[Mark]:
        """A line from below to each kernel, the way the climbing one has come."""
        tops = self._tops(plot)
        feet = tops * [[1, 0]] + [[0, plot.area.bottom]]
        ends = np.stack([feet, tops], axis=1).astype(np.float32)
        yield Lines(ends, stage.palette.soft(stage.palette.muted, 0.5), 1.5)
        if self.climb.along > 0 and self.roof is not None:
            start, end = self.climb.stops[0].intensity, self.climb.intensity
            way = np.geomspace(start, max(end, start * 1.001), 24)
            heights = [self.roof.attainable(x) / 1e9 for x in way]
            yield line(plot, way, heights, stage.palette.compute, 7.0 * stage.scale)

    def _rates(self, stage: Stage, plot: Plot) -> Iterator[Mark]:
        """Discs at the measured rates of the kernels that are there."""
        found = [k for k in self._shown if k.rate]
        if not found:
            return
        x, y = [k.intensity for k in found], [(k.rate or 0.0) / 1e9 for k in found]
        own = self.climb.stops[self.climb.at] if self.climb.at >= 0 else None
        if own is not None and own.rate:
            at = plot.at([own.intensity] * 2, [own.rate / 1e9, plot.y.low])
            yield Lines(at[None], stage.palette.good, 2.0 * stage.scale, dash=True)
        radius = _SMALL * stage.scale
        yield points(plot, x, y, stage.palette.good, radius, tip=lambda i: self.tip(found[i]))

    def _numbers(self, stage: Stage, plot: Plot) -> Iterator[Mark]:
        """A disc with a number for each of the other kernels, or one with several."""
        tops = self._tops(plot)
        for members in _together(tops, 20.0 * stage.scale):
            yield from self._numbered(stage, tops[members].mean(axis=0).tolist(), members)

    def _numbered(self, stage: Stage, at: list[float], members: list[int]) -> Iterator[Mark]:
        palette, size = stage.palette, stage.text(13)
        text = " ".join(str(i + 1) for i in members)
        high = size * 1.35
        wide = max(text_width(text, size, True) + size * 0.7, high)
        box = Rect(at[0] - wide / 2, at[1] - high / 2, wide, high)
        now = self.arrived < len(self.kernels) and int(np.ceil(self.arrived)) - 1 in members
        edge, fill = palette.outline if now else palette.ground, palette.soft(palette.muted, 0.2)

        def tip(i: int) -> str:
            return "" if stage.asks else "\n".join(self.tip(self.kernels[m]) for m in members)

        yield Boxes(box.array(), fill, stroke=edge, stroke_width=2.0, radius=high / 2, tip=tip)
        at_ = np.array([at], np.float32)
        yield Texts(at_, (text,), palette.ink_on(fill), size, "center", bold=True)

    def _choice(self, stage: Stage, plot: Plot) -> Iterator[Mark]:
        """The variants along the bottom: a rail with a handle to be dragged."""
        palette, size, stops = stage.palette, stage.text(14), self._stops(plot)
        if self.climb.at < 0:
            return
        y = plot.area.bottom - size * 1.1
        x = float(plot.at(self.climb.intensity, plot.y.low)[0, 0])
        rail = np.array([[[stops[0, 0], y], [stops[-1, 0], y]]], np.float32)
        yield Lines(rail, palette.border, 4.0 * stage.scale)
        marks = np.stack([stops[:, 0], np.full(len(stops), y)], axis=1).astype(np.float32)
        small, wide = 4.0 * stage.scale, 7.0 * stage.scale
        squares = np.concatenate([marks - small, np.full_like(marks, 2 * small)], axis=1)
        yield Boxes(squares, palette.muted, radius=small)
        names = tuple(stop.name for stop in self.climb.stops)
        above = marks - [[0, size * 1.05]]
        above[0, 0] += text_width(names[0], size, True) / 2 - small  # others may stand at its left
        told = self._label(plot, above, names, size)
        yield from _plates(stage, above[told], tuple(names[i] for i in told), palette.ink)
        yield _discs(stage, np.array([[x, y]]), wide, 2.0, lambda i: self.climb.axis[0])
        start = float(stops[-1, 0]) + size * 0.9
        said = first_fitting(self.climb.axis, plot.area.right - start, size)
        yield label(start, y, said, palette.muted, size)

    def _label(
        self, plot: Plot, middles: F64 | F32, names: tuple[str, ...], size: float
    ) -> list[int]:
        """The variants whose names keep clear of each other and of the kernel that climbs."""
        ((x, y),) = self._on_roof(plot, np.array([self.climb.intensity])).tolist()
        disc, found, end = Rect(x - _DISC, y - _DISC, 2 * _DISC, 2 * _DISC), list[int](), -np.inf
        for number, (middle, name) in enumerate(zip(middles.tolist(), names, strict=True)):
            wide = text_width(name, size, True)
            plate = Rect(middle[0] - wide / 2, middle[1] - size / 2, wide, size)
            if plate.x >= end + size * 0.3 and not plate.meets(disc):
                found.append(number)
                end = plate.right
        return found

    def _tip_of(self, stop: int) -> str:
        return self.tip(self.climb.stops[stop])

    def _climbing(self, stage: Stage, plot: Plot) -> Iterator[Mark]:
        """The kernel that moves along the roof, rings where it has been and can go."""
        if self.climb.at < 0:
            return
        palette, size, stops = stage.palette, stage.text(14), self._stops(plot)
        small, wide = 5.0 * stage.scale, _DISC * stage.scale
        rings, own = _discs(stage, stops, small, 2.0, self._tip_of), self.climb.stops[self.climb.at]
        yield replace(rings, fill=palette.ground, stroke=palette.compute)
        middle = self._on_roof(plot, np.array([self.climb.intensity]))
        yield _discs(stage, middle, wide, 2.5, lambda i: self.tip(own))
        ((x, y),) = middle.tolist()
        low = y + size * 1.15
        if self.roof is None or stage.asks or low > plot.area.bottom - size * 4.4:
            return
        text = rate(self.roof.attainable(self.climb.intensity))
        half = text_width(text, size, True) / 2
        right = x + size * 1.1 + 2 * half < plot.area.right
        at = np.array([[x + (size * 1.1 + half) * (1 if right else -1), low]], np.float32)
        yield from _plates(stage, at, (text,), palette.compute)

    def _names(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """The kernels' numbers and names, to come, now, there; what else there is to be told."""
        palette, size, climb = stage.palette, stage.text(14), self.climb
        rows = len(self.kernels) + 1 + bool(self.badge) + len(self.others)
        step = min(size * 1.7, area.height / rows)
        side = size * 1.2
        now = int(np.ceil(self.arrived - 1e-6)) - 1 if self.arrived < len(self.kernels) else -1
        y = area.y + step / 2

        def said(name: str, color: Rgba, bold: bool) -> Mark:
            brief = name.partition(",")[0]  # without its size
            room = area.width - side
            text = first_fitting((name, brief), room, size, bold) or elide(brief, room, size, bold)
            return label(area.x + side, y, text, color, size, bold)

        for number, one in enumerate(self.kernels):
            there = number < self.arrived
            yield label(area.x, y, f"{number + 1}", palette.muted, size, True)
            yield said(one.name, palette.ink if there else palette.faint, number == now)
            y += step
        yield _dot(area.x, y, size * 0.42, palette.compute)
        yield said(climb.name, palette.ink if climb.at >= 0 else palette.faint, climb.at >= 0)
        y += step
        if self.badge:
            yield _dot(area.x, y, size * 0.3, palette.good)
            yield said(tr("reached ({badge})", badge=self.badge), palette.good, True)
            y += step
        for _, name in self.others:
            short = np.array([[[area.x - size * 0.3, y], [area.x + size * 0.9, y]]], np.float32)
            yield Lines(short, palette.accent, 2.0 * stage.scale, dash=True)
            yield said(name, palette.accent, True)
            y += step


def rate(value: float) -> str:
    """Operations a second: `250 GFLOP/s`."""
    if value >= 1e12:
        return tr("{n} TFLOP/s", n=f"{value / 1e12:.3g}")
    if value >= 1e9:
        return tr("{n} GFLOP/s", n=f"{value / 1e9:.3g}")
    return tr("{n} MFLOP/s", n=f"{value / 1e6:.3g}")


def speed(value: float) -> str:
    """Bytes a second: `1 TB/s`."""
    if value >= 1e12:
        return tr("{n} TB/s", n=f"{value / 1e12:.3g}")
    return tr("{n} GB/s", n=f"{value / 1e9:.3g}")


def share(value: float) -> str:
    """`2.1 %`, with a decimal below 10."""
    return f"{100 * value:.1f} %" if value < 0.0995 else f"{100 * value:.0f} %"


def _roofs(shown: Roofline) -> list[Roof]:
    return [*((shown.roof,) if shown.roof else ()), *(roof for roof, _ in shown.others)]


def _across(shown: Roofline) -> Axis:
    """Operations a byte, as far as kernels and ridge reach."""
    values = [k.intensity for k in shown._every]
    ridges = [roof.ridge for roof in _roofs(shown) if roof.ridge is not None]
    high = max(*values, *ridges, 1.0) * 2.5
    low = 2.0 ** np.floor(np.log2(min(values)) - 0.4)
    return logarithmic(shown.titles, float(low), float(2.0 ** np.ceil(np.log2(high))), 2.0)


def _up(shown: Roofline) -> Axis:
    """Operations a second; the axis counts in GFLOP/s, and leaves room for the rail below."""
    values = [k.intensity for k in shown._every]
    roofs, rates = _roofs(shown), [k.rate / 1e9 for k in shown._every if k.rate]
    if not roofs and not rates:
        return Axis((tr("GFLOP/s: not known"),), 1.0, 10.0, (), (), log=True)
    low = min([roof.attainable(min(values)) / 1e9 for roof in roofs] + rates)
    most = [(roof.peak or roof.attainable(max(values) * 2)) / 1e9 for roof in roofs]
    high = max(most + rates)
    return logarithmic((tr("GFLOP/s"),), low / 6, high * 2.2)


def _slope(stage: Stage, plot: Plot, roof: Roof, drawn: float, second: bool) -> Mark:
    """Slope and flat, drawn from the left; a further roof is broken and quiet."""
    low, high = plot.x.low, plot.x.high
    end = low * (high / low) ** drawn
    corners = [low] if roof.ridge is None or not low < roof.ridge < end else [low, roof.ridge]
    x = np.array([*corners, max(end, low * 1.0001)])
    y = [roof.attainable(v) / 1e9 for v in x]
    accent = stage.palette.accent
    return line(plot, x, y, accent, (2.0 if second else 3.5) * stage.scale, dash=second)


def _roof_names(stage: Stage, plot: Plot, roof: Roof, numbers: F32) -> Iterable[Mark]:
    """The bandwidth above the slope, the peak above the flat and the (N, 2) `numbers` near it."""
    palette, size = stage.palette, stage.text(14)
    end = min(roof.ridge or plot.x.high, plot.x.high)
    middle = plot.x.low * (end / plot.x.low) ** 0.7
    x, y = plot.at(middle, roof.attainable(middle) / 1e9)[0].tolist()
    said = speed(roof.bandwidth)
    right = max(x, plot.area.x + text_width(said, size, True) + 6)
    yield from _plated(stage, right, y - size * 1.1, said, palette.accent)
    if roof.ridge is None or roof.peak is None or roof.ridge >= plot.x.high:
        return
    x, y = plot.at(roof.ridge, roof.peak / 1e9)[0].tolist()
    foot = np.array([[[x, y], [x, plot.area.bottom]]], np.float32)
    yield Lines(foot, palette.faint, 1.0, dash=True)
    said = rate(roof.peak)
    left, above = plot.area.right - text_width(said, size, True), y - size * 0.95
    near = (numbers[:, 0] > left - size) & (abs(numbers[:, 1] - above) < size * 0.75)
    yield from _plated(
        stage, plot.area.right, above - size * bool(near.any()), said, palette.accent
    )


def _ridge_name(stage: Stage, plot: Plot, roof: Roof) -> Iterable[Mark]:
    """Operations a float from which arithmetic is the limit, at the foot of the bend."""
    if roof.ridge is None or roof.ridge >= plot.x.high:
        return
    size = stage.text(14)
    x = float(plot.at(roof.ridge, plot.y.low)[0, 0])
    said = tr("{n} a float", n=f"{a_float(roof.ridge):.3g}")
    end = min(x + size * 0.6 + text_width(said, size, True), plot.area.right)
    yield from _plated(stage, end, plot.area.bottom - size * 3.1, said, stage.palette.muted)


def _plated(stage: Stage, right: float, y: float, text: str, color: Rgba) -> Iterable[Mark]:
    """A name that ends at x = `right`, on a plate, so that no line crosses it."""
    wide = text_width(text, stage.text(14), True)
    return _plates(stage, np.array([[right - wide / 2, y]], np.float32), (text,), color)


def _plates(stage: Stage, middles: F64 | F32, words: tuple[str, ...], color: Rgba) -> list[Mark]:
    """Words around their (N, 2) middles, on plates."""
    size, at = stage.text(14), np.asarray(middles, np.float32)
    wide = np.array([text_width(word, size, True) + 6 for word in words], np.float32)
    high = np.full_like(wide, size * 1.15)
    plates = np.stack([at[:, 0] - wide / 2, at[:, 1] - high / 2, wide, high], axis=1)
    return [Boxes(plates, stage.palette.ground), Texts(at, words, color, size, "center", bold=True)]


def _dot(x: float, y: float, radius: float, color: Rgba) -> Mark:
    box = Rect(x, y - radius, 2 * radius, 2 * radius)
    return Boxes(box.array(), color, radius=radius)


def _together(places: F32, apart: float) -> list[list[int]]:
    """The points, those that would overlap in one group; points come from left to right."""
    groups: list[list[int]] = []
    for number, place in enumerate(places):
        if groups and (np.abs(place - places[groups[-1][-1]]) < apart).all():
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _discs(stage: Stage, middles: F64 | F32, radius: float, line: float, tip: Tip) -> Boxes:
    """Discs of the kernel that climbs."""
    rects = np.concatenate([middles - radius, np.full_like(middles, 2 * radius)], axis=1)
    palette = stage.palette
    return Boxes(
        rects.astype(np.float32), palette.compute, palette.outline, line, radius=radius, tip=tip
    )
