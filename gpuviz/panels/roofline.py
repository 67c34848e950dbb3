"""The roof, drawn from memory's slope to the flat of arithmetic, and kernels rising to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.arrays import Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.plot import Axis, Plot, axes, lay_out, line, logarithmic, points
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.panel import Need, Panel
from gpuviz.roofline import Roof, a_float

_LEAST = 13.0  # letters high
Places = list[tuple[float, float]]


@dataclass(frozen=True)
class Kernel:
    """A kernel under the roof: operations a byte, and operations a second if measured."""

    name: str
    intensity: float
    rate: float | None


@dataclass(frozen=True, eq=False)
class Roofline(Panel):
    """Roofs and kernels.

    Attributes
    ----------
    roof : None when it is not known; `other` a second one with its name
    kernels : from the lowest intensity to the highest
    titles : wordings of what the axis of intensities is
    drawn : how far the roof is drawn, 0 to 1
    arrived : kernels that have risen to it, the fraction being the one on its way
    """

    share: ClassVar[float] = 1.0
    roof: Roof | None
    other: tuple[Roof, str] | None
    kernels: tuple[Kernel, ...]
    titles: tuple[str, ...]
    drawn: float = 1.0
    arrived: float = float("inf")

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell kernels apart."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterable[Mark]:
        """Axes, roofs, kernels, and their names beside."""
        size = stage.text(14)
        wide = max(text_width(f"8  {k.name}", size, True) for k in self.kernels) + size * 1.6
        plot = lay_out(stage, area, _across(self), _up(self), right=wide)
        yield from axes(stage, plot)
        if self.other is not None and self.drawn >= 1:
            yield _roof(stage, plot, self.other[0], 1.0, second=True)
        if self.roof is not None:
            yield _roof(stage, plot, self.roof, self.drawn, second=False)
        arrived = min(self.arrived, float(len(self.kernels)))
        if self.drawn >= 1:
            tops = _tops(plot, self, arrived)
            yield from _stems(stage, plot, tops)
            yield from _roof_names(stage, plot, self.roof) if self.roof else ()
            yield from _points(stage, plot, self, tops, arrived)
        beside = Rect(
            plot.area.right + size * 1.2, plot.area.y, wide - size * 1.2, plot.area.height
        )
        yield from _names(stage, beside, self, arrived)

    def tip(self, number: int) -> str:
        """What hovering a kernel says."""
        one = self.kernels[number]
        said = [tr("{name}: {n} operations a byte", name=one.name, n=f"{one.intensity:.3g}")]
        if self.roof is not None:
            said.append(tr("at most {rate}", rate=rate(self.roof.attainable(one.intensity))))
        if one.rate:
            said.append(tr("reached {rate}", rate=rate(one.rate)))
        return "\n".join(said)


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


def _names(stage: Stage, area: Rect, shown: Roofline, arrived: float) -> list[Mark]:
    """The kernels' numbers and names: to come, now, there; and the second roof's name."""
    palette, size, every = stage.palette, stage.text(14), shown.kernels
    step = min(size * 1.7, area.height / (len(every) + (shown.other is not None)))
    now = int(np.ceil(arrived - 1e-6)) - 1 if arrived < len(every) else -1
    marks: list[Mark] = []
    for number, one in enumerate(every):
        bold = number == now
        color = palette.ink if bold or number < arrived else palette.faint
        y = area.y + (number + 0.5) * step
        marks.append(label(area.x, y, f"{number + 1}", palette.compute, size, True))
        marks.append(label(area.x + size * 1.2, y, one.name, color, size, bold))
    if shown.other is not None:
        y = area.y + (len(every) + 0.5) * step
        short = np.array([[[area.x - size * 0.3, y], [area.x + size * 0.9, y]]], np.float32)
        marks.append(Lines(short, palette.good, 2.0 * stage.scale, dash=True))
        name = elide(shown.other[1], area.right - area.x - size * 1.2, size, True)
        marks.append(label(area.x + size * 1.2, y, name, palette.good, size, True))
    return marks


def _across(shown: Roofline) -> Axis:
    """Operations a byte, as far as kernels and ridge reach."""
    values = [p.intensity for p in shown.kernels]
    ridges = [
        r
        for r in (shown.roof, shown.other[0] if shown.other else None)
        if r is not None and r.ridge is not None
    ]
    high = max(*values, *(r.ridge or 0.0 for r in ridges), 1.0) * 2.5
    low = 2.0 ** np.floor(np.log2(min(values)) - 0.4)
    return logarithmic(shown.titles, float(low), float(2.0 ** np.ceil(np.log2(high))), 2.0)


def _up(shown: Roofline) -> Axis:
    """Operations a second; the axis counts in GFLOP/s."""
    least = min(p.intensity for p in shown.kernels)
    most = max(p.intensity for p in shown.kernels) * 2
    roofs = [r for r in (shown.roof, shown.other[0] if shown.other else None) if r is not None]
    rates = [p.rate / 1e9 for p in shown.kernels if p.rate]
    if not roofs and not rates:
        return Axis((tr("GFLOP/s: not known"),), 1.0, 10.0, (), (), log=True)
    low = min([r.attainable(least) / 1e9 for r in roofs] + rates)
    high = max([(r.peak or r.attainable(most)) / 1e9 for r in roofs] + rates)
    return logarithmic((tr("GFLOP/s"),), low / 2, high * 2.2)


def _roof(stage: Stage, plot: Plot, roof: Roof, drawn: float, second: bool) -> Mark:
    """Slope and flat, drawn from the left; a second roof is broken and quiet."""
    low, high = plot.x.low, plot.x.high
    end = low * (high / low) ** drawn
    corners = [low] if roof.ridge is None or not low < roof.ridge < end else [low, roof.ridge]
    x = np.array([*corners, max(end, low * 1.0001)])
    y = [roof.attainable(v) / 1e9 for v in x]
    palette = stage.palette
    if second:
        return line(plot, x, y, palette.good, 2.0 * stage.scale, dash=True)
    return line(plot, x, y, palette.accent, 3.5 * stage.scale)


def _roof_names(stage: Stage, plot: Plot, roof: Roof) -> list[Mark]:
    """The bandwidth above the slope, the peak above the flat, the ridge below it."""
    palette, size = stage.palette, stage.text(14)
    end = min(roof.ridge or plot.x.high, plot.x.high)
    middle = plot.x.low * (end / plot.x.low) ** 0.6
    x, y = plot.at(middle, roof.attainable(middle) / 1e9)[0].tolist()
    marks = _plated(stage, x, y - size * 1.1, speed(roof.bandwidth), palette.accent)
    if roof.ridge is None or roof.peak is None or roof.ridge >= plot.x.high:
        return marks
    x, y = plot.at(roof.ridge, roof.peak / 1e9)[0].tolist()
    ridge = tr("{n} a float", n=f"{a_float(roof.ridge):.3g}")
    end = min(x + size * 0.6 + text_width(ridge, size, True), plot.area.right)
    foot = np.array([[[x, y], [x, plot.area.bottom]]], np.float32)
    return [
        *marks,
        Lines(foot, palette.faint, 1.0, dash=True),
        *_plated(stage, end, plot.area.bottom - size * 0.8, ridge, palette.muted),
        *_plated(stage, plot.area.right, y - size * 0.95, rate(roof.peak), palette.accent),
    ]


def _plated(stage: Stage, right: float, y: float, text: str, color: Rgba) -> list[Mark]:
    """A name that ends at x = `right`, on a plate, so that no line crosses it."""
    size = stage.text(14)
    wide = text_width(text, size, True)
    plate = Rect(right - wide - 3, y - size * 0.55, wide + 6, size * 1.1)
    return [
        Boxes(plate.array(), stage.palette.ground),
        label(right, y, text, color, size, True, "right"),
    ]


def _tops(plot: Plot, shown: Roofline, arrived: float) -> Places:
    """Where the kernels' numbers are: rising to the roof, or at the bottom when there is none."""
    count = min(int(np.ceil(arrived - 1e-6)), len(shown.kernels))
    heights = [
        plot.y.low if shown.roof is None else shown.roof.attainable(p.intensity) / 1e9
        for p in shown.kernels[:count]
    ]
    across = [p.intensity for p in shown.kernels[:count]]
    rise = np.clip(arrived - np.arange(count), 0.0, 1.0)
    low = plot.area.bottom
    return [
        (float(x), low + (float(y) - low) * share)
        for (x, y), share in zip(plot.at(across, heights), rise.tolist(), strict=True)
    ]


def _stems(stage: Stage, plot: Plot, tops: Places) -> list[Mark]:
    """A line from below to each kernel."""
    if not tops:
        return []
    x, y = np.array(tops).T
    low = np.full_like(x, plot.area.bottom)
    ends = np.stack([x, low, x, y], axis=1).reshape(-1, 2, 2)
    return [Lines(ends.astype(np.float32), stage.palette.soft(stage.palette.compute, 0.4), 1.5)]


def _points(stage: Stage, plot: Plot, shown: Roofline, tops: Places, arrived: float) -> list[Mark]:
    """Each kernel's number, and a disc at its measured rate."""
    marks = _measured(stage, plot, shown, len(tops))
    for members in _together(tops, 20.0 * stage.scale):
        now = arrived < len(shown.kernels) and len(tops) - 1 in members
        marks += _numbers(stage, shown, [tops[i] for i in members], members, now)
    return marks


def _together(places: Places, apart: float) -> list[list[int]]:
    """The points, those that would overlap in one group; points come from left to right."""
    groups: list[list[int]] = []
    for number, (x, y) in enumerate(places):
        last = places[groups[-1][-1]] if groups else (-np.inf, 0.0)
        if abs(x - last[0]) < apart and abs(y - last[1]) < apart:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _numbers(
    stage: Stage, shown: Roofline, at: Places, members: list[int], now: bool
) -> list[Mark]:
    """A disc with a number, or one longer one with several."""
    palette, size = stage.palette, stage.text(13)
    text = " ".join(str(i + 1) for i in members)
    x, y = (float(v) for v in np.mean(at, axis=0))
    high = size * 1.35
    wide = max(text_width(text, size, True) + size * 0.7, high)
    box = Rect(x - wide / 2, y - high / 2, wide, high)
    edge, fill = palette.outline if now else palette.ground, palette.compute

    def tip(i: int) -> str:
        return "" if stage.asks else "\n".join(map(shown.tip, members))

    return [
        Boxes(
            box.array(), palette.compute, stroke=edge, stroke_width=2.0, radius=high / 2, tip=tip
        ),
        Texts(
            np.array([[x, y]], np.float32), (text,), palette.ink_on(fill), size, "center", bold=True
        ),
    ]


def _measured(stage: Stage, plot: Plot, shown: Roofline, count: int) -> list[Mark]:
    """Discs at the measured rates of so many kernels."""
    found = [(i, k.intensity, k.rate / 1e9) for i, k in enumerate(shown.kernels[:count]) if k.rate]
    if not found:
        return []
    numbers, x, y = zip(*found, strict=True)
    radius, tip = 5.0 * stage.scale, lambda i: shown.tip(numbers[i])
    return [points(plot, x, y, stage.palette.good, radius, tip=tip)]
