"""Marks as SVG elements, one string an element; equal colours share an element.

Edges lie on whole pixels, as the painter of the window puts them: neighbouring cells then meet
without a seam in any renderer, and the picture is sharp at its own size.
"""

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import F32, F64, Rgba
from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Outlines, Raster, Strokes, Texts
from gpuviz.draw.metrics import CAP_HEIGHT
from gpuviz.draw.palette import code
from gpuviz.export.png import encode

HATCH_STEP, HATCH_WIDTH = 8, 1.9  # pixels from line to line along an axis; thickness
_MOST_ROUND, _LEAST_ROUND = 1500, 8.0  # more boxes, or smaller ones: nobody sees their corners
_PARABOLA = 3.0  # pixels of a radius up to which the shorter parabola looks like the circle
_ANCHOR = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}
_UNPRINTABLE = dict.fromkeys(range(32))  # not allowed in XML


def elements(frame: Frame) -> Iterator[str]:
    """The elements of a picture in painting order, without its ground."""
    for mark in frame.marks:
        yield from _WRITE[type(mark)](mark)


def number(value: float) -> str:
    """A coordinate, to a hundredth of a pixel."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def paint(attribute: str, rgba: Rgba) -> str:
    """An attribute that paints in a colour, with its opacity if it has one."""
    seen = f' {attribute}-opacity="{number(rgba[3] / 255)}"' if rgba[3] < 255 else ""
    return f' {attribute}="{code(rgba)}"{seen}'


def hatch_id(rgba: Rgba) -> str:
    """The name of the pattern of a hatch."""
    return "hatch-" + bytes(rgba.tolist()).hex()


def by_color(rgba: Rgba, count: int) -> Iterator[tuple[Rgba, npt.NDArray[np.intp]]]:
    """The different colours, each with the items that have it."""
    if rgba.ndim == 1:
        yield rgba, np.arange(count)
        return
    packed = np.ascontiguousarray(rgba).view(np.uint32)[:, 0]
    for value in np.unique(packed):
        items = np.flatnonzero(packed == value)
        yield rgba[items[0]], items


def _snapped(rect: npt.NDArray[Any]) -> F64:
    """Rectangles with edges on whole pixels, at least one pixel wide and high."""
    low = np.floor(rect[:, :2] + 0.5)
    high = np.maximum(np.floor(rect[:, :2] + rect[:, 2:] + 0.5), low + (rect[:, 2:] > 0))
    return np.asarray(np.concatenate([low, high - low], axis=1), dtype=np.float64)


def _boxes(mark: Boxes) -> Iterator[str]:
    """Fill, then hatch, then outline."""
    if not len(mark.rect):
        return
    rects = _snapped(mark.rect)
    round_ = len(rects) <= _MOST_ROUND and rects[:, 2:].min() >= _LEAST_ROUND
    radius = mark.radius if round_ else 0.0
    if mark.fill is not None:
        for color, items in by_color(mark.fill, len(rects)):
            if color[3]:
                yield f'<path{paint("fill", color)} d="{_shapes(rects[items], radius)}"/>'
    if mark.hatch is not None:
        yield f'<path fill="url(#{hatch_id(mark.hatch)})" d="{_shapes(rects, radius)}"/>'
    if mark.stroke is not None:
        yield from _outlines(mark, mark.stroke, rects)


def _outlines(mark: Boxes, stroke: Rgba, rects: F64) -> Iterator[str]:
    """Outlines inside their boxes."""
    half = mark.stroke_width / 2
    inner = rects + np.array([half, half, -2 * half, -2 * half])
    width = f' stroke-width="{number(mark.stroke_width)}"' if mark.stroke_width != 1 else ""
    for color, items in by_color(stroke, len(rects)):
        if color[3]:
            shapes = _shapes(inner[items], max(mark.radius - half, 0.0))
            yield f'<path fill="none"{paint("stroke", color)}{width} d="{shapes}"/>'


def _shapes(rects: F64, radius: float) -> str:
    """Rectangles as one path."""
    if radius > 0:
        return "".join(_rounded(x, y, w, h, radius) for x, y, w, h in rects.tolist())
    return "".join(
        f"M{number(x)} {number(y)}h{number(w)}v{number(h)}h{number(-w)}z"
        for x, y, w, h in rects.tolist()
    )


def _rounded(x: float, y: float, w: float, h: float, radius: float) -> str:
    r = max(min(radius, w / 2, h / 2), 0.0)
    across, down, turn, back = map(number, (w - 2 * r, h - 2 * r, r, -r))
    if r <= _PARABOLA:
        return (
            f"M{number(x + r)} {number(y)}h{across}q{turn} 0 {turn} {turn}v{down}q0 {turn} "
            f"{back} {turn}h-{across}q{back} 0 {back} {back}v-{down}q0 {back} {turn} {back}z"
        )
    arc = f"a{turn} {turn} 0 0 1 "
    return (
        f"M{number(x + r)} {number(y)}h{across}{arc}{turn} {turn}v{down}{arc}{back} {turn}"
        f"h-{across}{arc}{back} {back}v-{down}{arc}{turn} {back}z"
    )


def _curves(mark: Curves) -> Iterator[str]:
    """Bezier curves; they cross, so that only neighbours in order share an element."""
    points = mark.points.reshape(-1, 8).astype(np.float64)
    if not len(points):
        return
    colors = np.broadcast_to(mark.color, (len(points), 4))
    starts = np.flatnonzero(np.r_[True, (colors[1:] != colors[:-1]).any(axis=1)])
    width = f' fill="none" stroke-width="{number(mark.width)}"'
    for start, end in zip(starts, [*starts[1:], len(points)], strict=True):
        path = "".join(
            "M{} {}C{} {} {} {} {} {}".format(*map(number, p)) for p in points[start:end].tolist()
        )
        yield f'<path{width}{paint("stroke", colors[start])} d="{path}"/>'


def _lines(mark: Lines) -> Iterator[str]:
    """Segments; upright and level ones on whole pixels."""
    if not len(mark.points):
        return
    across = np.abs(np.diff(mark.points, axis=1)) < 1e-3
    points = mark.points.astype(np.float64)
    if across.any(axis=2).all():
        odd = across * (round(mark.width) % 2 / 2)  # a line of odd width lies on pixel centres
        points = np.floor(points + 0.5 - odd) + odd
    width = f' stroke-width="{number(mark.width)}"'
    dash = f' stroke-dasharray="{number(4 * mark.width)} {number(2 * mark.width)}"'
    for color, items in by_color(mark.color, len(points)):
        path = "".join(
            "M{} {}L{} {}".format(*map(number, p)) for p in points[items].reshape(-1, 4).tolist()
        )
        look = paint("stroke", color) + width + (dash if mark.dash else "")
        yield f'<path fill="none"{look} d="{path}"/>'
        if mark.arrow:
            yield f'<path{paint("fill", color)} d="{_heads(points[items], mark.width)}"/>'


def _strokes(mark: Strokes) -> Iterator[str]:
    """Lines by hand."""
    look = f' fill="none" stroke-width="{number(mark.width)}"{paint("stroke", mark.color)}'
    for path in mark.paths:
        points = " ".join(f"{number(x)},{number(y)}" for x, y in path.tolist())
        yield f'<polyline{look} stroke-linecap="round" stroke-linejoin="round" points="{points}"/>'


def _heads(points: F64, width: float) -> str:
    """A triangle at the second end of each segment."""
    length = 4.0 + 3.0 * width
    way = points[:, 1] - points[:, 0]
    way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    side = np.stack([-way[:, 1], way[:, 0]], axis=1) * length * 0.45
    tip, back = points[:, 1], points[:, 1] - way * length
    corners = np.concatenate([tip, back + side, back - side], axis=1)
    return "".join("M{} {}L{} {}L{} {}z".format(*map(number, c)) for c in corners.tolist())


def _texts(mark: Texts) -> Iterator[str]:
    """Labels, one element each; what they share stands in a group."""
    shown = [i for i, text in enumerate(mark.strings) if text]
    colors = np.broadcast_to(mark.color, (len(mark.strings), 4))
    baseline = np.floor(mark.at[:, 1] + mark.size * CAP_HEIGHT / 2 + 0.5)
    face = f' class="{"code" if mark.mono else "bold" if mark.bold else "text"}"'
    look = f'{face} font-size="{number(max(round(mark.size), 1))}"{_ANCHOR[mark.align]}'
    for i in shown:
        text = mark.strings[i].translate(_UNPRINTABLE)
        kept = ' xml:space="preserve"' if " ".join(text.split()) != text else ""
        yield (
            f'<text x="{number(mark.at[i, 0])}" y="{number(baseline[i])}"{look}'
            f"{paint('fill', colors[i])}{kept}>{escape(text, quote=False)}</text>"
        )


def raster(mark: Raster, enlarge: bool = True) -> Iterator[str]:
    """Cells as an embedded picture, each a sharp rectangle.

    Some programs smooth all pictures: they are given cells of about the size they are shown in.
    """
    if not mark.pixels.size:
        return
    rect = _snapped(np.array([mark.rect]))[0]
    x, y, w, h = map(number, rect.tolist())
    cells = enlarge and not mark.photo
    pixels = _enlarged(mark.pixels, rect[2], rect[3]) if cells else mark.pixels
    data = base64.b64encode(encode(pixels)).decode()
    sharp = ' style="image-rendering:optimizeSpeed;image-rendering:pixelated"'
    yield (
        f'<image x="{x}" y="{y}" width="{w}" height="{h}" preserveAspectRatio="none"'
        f'{"" if mark.photo else sharp} href="data:image/png;base64,{data}"/>'
    )


def _enlarged(pixels: Rgba, width: float, height: float) -> Rgba:
    """Cells repeated to about the size they are shown in."""
    rows, columns = pixels.shape[:2]
    down, across = max(round(height / rows), 1), max(round(width / columns), 1)
    return np.repeat(np.repeat(pixels, down, axis=0), across, axis=1)


def _filled(mark: Outlines) -> Iterator[str]:
    """Closed contours as one path."""
    contours = np.split(mark.points.astype(np.float64), mark.begins[1:])
    path = "".join(_contour(points.reshape(-1, 8).tolist()) for points in contours if len(points))
    said = f"<title>{escape(mark.said.translate(_UNPRINTABLE))}</title>" if mark.said else ""
    yield f'<path{paint("fill", mark.color)} d="{path}">{said}</path>'


def _contour(curves: list[list[float]]) -> str:
    start = "M{} {}".format(*map(number, curves[0][:2]))
    return start + "".join("C{} {} {} {} {} {}".format(*map(number, c[2:])) for c in curves) + "z"


_WRITE: dict[type[Mark], Callable[[Any], Iterator[str]]] = {
    Boxes: _boxes,
    Curves: _curves,
    Lines: _lines,
    Strokes: _strokes,
    Texts: _texts,
    Raster: raster,
    Outlines: _filled,
}


def hatched_by_lines(frame: Frame) -> Frame:
    """The same picture with lines for hatches."""
    return replace(frame, marks=tuple(_by_lines(frame.marks)))


def _by_lines(marks: tuple[Mark, ...]) -> list[Mark]:
    """The same marks with hatches as lines."""
    found: list[Mark] = []
    for mark in marks:
        if not isinstance(mark, Boxes) or mark.hatch is None:
            found.append(mark)
            continue
        lines = Lines(hatch_lines(mark.rect), mark.hatch, HATCH_WIDTH)
        found += [
            replace(mark, hatch=None, stroke=None),
            lines,
            replace(mark, fill=None, hatch=None),
        ]
    return found


def hatch_lines(rects: F32) -> F32:
    """(N, 2, 2) diagonals that hatch (N, 4) rectangles and end inside them."""
    found = [_diagonals(*rect) for rect in rects.tolist()]
    return np.concatenate([np.zeros((0, 2, 2), np.float32), *found])


def _diagonals(x: float, y: float, width: float, height: float) -> F32:
    """The lines x + y = k * step + 1 in a rectangle, less what their thickness adds at the ends."""
    edge = HATCH_WIDTH / 2 / np.sqrt(2)
    left, top, right, bottom = x + edge, y + edge, x + width - edge, y + height - edge
    if right <= left or bottom <= top:
        return np.zeros((0, 2, 2), np.float32)
    first = np.ceil((left + top - 1) / HATCH_STEP) * HATCH_STEP + 1
    sums = np.arange(first, right + bottom, HATCH_STEP)
    low, high = np.maximum(left, sums - bottom), np.minimum(right, sums - top)
    ends = np.stack([low, sums - low, high, sums - high], axis=1)
    return np.asarray(ends[high > low].reshape(-1, 2, 2), dtype=np.float32)
