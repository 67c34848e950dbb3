"""The roof, drawn from memory's slope to the flat of arithmetic, and kernels rising to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import Rgba
from gpuviz.draw import table
from gpuviz.draw.figures import line_height, sourced
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.plot import Axis, Plot, axes, lay_out, line, logarithmic, points
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.roofline import Roof, a_float
from gpuviz.scenes.measured import badge_of, device_of
from gpuviz.scenes.together.roofline_points import Point, rate, share, speed


@dataclass(frozen=True, eq=False)
class Picture:
    """What is drawn: the roof (None when it is not known), another one, and the kernels.

    `own` says that the roof is of the GPU that ran the kernels.
    """

    roof: Roof | None
    other: tuple[Roof, str] | None
    points: tuple[Point, ...]
    basis: str
    own: bool = False


def roofline(
    stage: Stage, area: Rect, shown: Picture, drawn: float, arrived: float
) -> tuple[Mark, ...]:
    """The roof as far as `drawn` (0 to 1), and `arrived` kernels, the fraction on its way."""
    size = stage.text(14)
    wide = max(text_width(f"8  {p.name}", size, True) for p in shown.points) + size * 1.6
    plot = lay_out(stage, area, _across(shown), _up(shown), right=wide)
    marks: list[Mark] = [*axes(stage, plot)]
    if shown.other is not None and drawn >= 1:
        marks += _roof(stage, plot, shown.other[0], 1.0, second=True)
    if shown.roof is not None:
        marks += _roof(stage, plot, shown.roof, drawn, second=False)
    if drawn >= 1:
        tops = _tops(plot, shown, arrived)
        marks += _stems(stage, plot, tops)
        marks += _roof_names(stage, plot, shown.roof) if shown.roof else []
        marks += _points(stage, plot, shown, tops, arrived)
    names = Rect(plot.area.right + size * 1.2, plot.area.y, wide - size * 1.2, plot.area.height)
    return *marks, *_names(stage, names, shown, arrived)


def _names(stage: Stage, area: Rect, shown: Picture, arrived: float) -> list[Mark]:
    """The kernels' numbers and names: to come, now, there; and the second roof's name."""
    palette, size, every = stage.palette, stage.text(14), shown.points
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


def _across(shown: Picture) -> Axis:
    """Operations a byte, as far as kernels and ridge reach."""
    values = [p.intensity for p in shown.points]
    ridges = [
        r
        for r in (shown.roof, shown.other[0] if shown.other else None)
        if r is not None and r.ridge is not None
    ]
    high = max(*values, *(r.ridge or 0.0 for r in ridges), 1.0) * 2.5
    low = 2.0 ** np.floor(np.log2(min(values)) - 0.4)
    titles = (tr("operations for each byte loaded"), tr("FLOP a byte"))
    if shown.basis == "moved":
        titles = (tr("operations for each byte moved in sectors"), tr("FLOP a byte"))
    return logarithmic(titles, float(low), float(2.0 ** np.ceil(np.log2(high))), 2.0)


def _up(shown: Picture) -> Axis:
    """Operations a second; the axis counts in GFLOP/s."""
    least = min(p.intensity for p in shown.points)
    most = max(p.intensity for p in shown.points) * 2
    roofs = [r for r in (shown.roof, shown.other[0] if shown.other else None) if r is not None]
    rates = [p.rate / 1e9 for p in shown.points if p.rate]
    if not roofs and not rates:
        return Axis((tr("GFLOP/s: not known"),), 1.0, 10.0, (), (), log=True)
    low = min([r.attainable(least) / 1e9 for r in roofs] + rates)
    high = max([(r.peak or r.attainable(most)) / 1e9 for r in roofs] + rates)
    return logarithmic((tr("GFLOP/s"),), low / 2, high * 2.2)


def _roof(stage: Stage, plot: Plot, roof: Roof, drawn: float, second: bool) -> list[Mark]:
    """Slope and flat, drawn from the left; a second roof is broken and quiet."""
    low, high = plot.x.low, plot.x.high
    end = low * (high / low) ** drawn
    corners = [low] if roof.ridge is None or not low < roof.ridge < end else [low, roof.ridge]
    x = np.array([*corners, max(end, low * 1.0001)])
    y = [roof.attainable(v) / 1e9 for v in x]
    palette = stage.palette
    if second:
        return [line(plot, x, y, palette.good, 2.0 * stage.scale, dash=True)]
    return [line(plot, x, y, palette.accent, 3.5 * stage.scale)]


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


Places = list[tuple[float, float]]


def _tops(plot: Plot, shown: Picture, arrived: float) -> Places:
    """Where the kernels' numbers are: rising to the roof, or at the bottom when there is none."""
    count = min(int(np.ceil(arrived - 1e-6)), len(shown.points))
    heights = [
        plot.y.low if shown.roof is None else shown.roof.attainable(p.intensity) / 1e9
        for p in shown.points[:count]
    ]
    across = [p.intensity for p in shown.points[:count]]
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


def _points(stage: Stage, plot: Plot, shown: Picture, tops: Places, arrived: float) -> list[Mark]:
    """Each kernel's number, and a disc at its measured rate."""
    marks = _measured(stage, plot, shown.points[: len(tops)])
    for members in _together(tops, 20.0 * stage.scale):
        now = arrived < len(shown.points) and len(tops) - 1 in members
        marks += _numbers(stage, [tops[i] for i in members], members, now)
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


def _numbers(stage: Stage, at: Places, members: list[int], now: bool) -> list[Mark]:
    """A disc with a number, or one longer one with several."""
    palette, size = stage.palette, stage.text(13)
    text = " ".join(str(i + 1) for i in members)
    x, y = (float(v) for v in np.mean(at, axis=0))
    high = size * 1.35
    wide = max(text_width(text, size, True) + size * 0.7, high)
    box = Rect(x - wide / 2, y - high / 2, wide, high)
    edge = palette.outline if now else palette.ground
    return [
        Boxes(box.array(), palette.compute, stroke=edge, stroke_width=2.0, radius=high / 2),
        Texts(
            np.array([[x, y]], np.float32),
            (text,),
            palette.ink_on(palette.compute),
            size,
            "center",
            bold=True,
        ),
    ]


def _measured(stage: Stage, plot: Plot, shown: tuple[Point, ...]) -> list[Mark]:
    """Discs at the measured rates."""
    found = [(p.intensity, p.rate / 1e9) for p in shown if p.rate]
    if not found:
        return []
    x, y = zip(*found, strict=True)
    return [
        points(
            plot, x, y, stage.palette.good, 5.0 * stage.scale, tip=lambda i: rate(found[i][1] * 1e9)
        )
    ]


def listed(
    stage: Stage, area: Rect, shown: Picture, rows: int, now: int | None
) -> tuple[Mark, ...]:
    """The kernels in numbers, and where measured ones come from."""
    low = line_height(stage)
    inner = area.inset(stage.text(14) * 0.5, 0).above(area.height - low)[0]
    laid = table.lay_out(stage, inner, _columns(stage, shown))
    times = [p.time for p in shown.points]
    foot = Rect(inner.x, min(laid.bottom + low * 0.2, area.bottom - low), inner.width, low)
    color = stage.palette.good if any(times) else stage.palette.muted
    texts = (tr("measured rates: {device}", device=device_of(times)), device_of(times))
    return (
        *table.draw(stage, laid, rows, now),
        *sourced(stage, foot, badge_of(times), color, texts),
    )


def _columns(stage: Stage, shown: Picture) -> list[table.Column]:
    """Operations, bytes, intensity, what the roof allows, what was measured."""
    every, roof, model = shown.points, shown.roof, tr("model")
    bound = tuple(rate(roof.attainable(p.intensity)) if roof else "–" for p in every)
    part = tuple(
        "–" if roof is None or (f := roof.of_peak(p.intensity)) is None else share(f) for p in every
    )
    times = [p.time for p in every]
    got = tuple(rate(p.rate) if p.rate else "–" for p in every)
    moved = tr("bytes moved") if shown.basis == "moved" else tr("bytes loaded")
    return [
        table.Column((tr("kernel"),), tuple(p.name for p in every), "left"),
        table.Column(
            (tr("operations"), tr("FLOP")),
            tuple(_many(p.flops) for p in every),
            badge=model,
            optional=3,
        ),
        table.Column(
            (moved, tr("bytes")), tuple(_many(p.bytes) for p in every), badge=model, optional=2
        ),
        table.Column(
            (tr("operations a float"), tr("a float")),
            tuple(f"{p.ratio:.3g}" for p in every),
            badge=model,
            bold=True,
        ),
        table.Column((tr("at most"),), bound, badge=model, bold=True),
        table.Column((tr("of the peak"), tr("of peak")), part),
        table.Column(
            (tr("reached"),),
            got,
            badge=badge_of(times),
            optional=1,
            color=stage.palette.good if any(times) else stage.palette.muted,
        ),
    ]


def _many(value: int) -> str:
    """Digits in groups, millions cut short."""
    return f"{value / 1e6:.3g} M" if value >= 1e6 else f"{value:,}".replace(",", "\u2009")
