"""Paint a `Frame` with a QPainter, fast enough for sixty pictures a second without a GPU.

What the raster engine does fast: opaque colours, flat caps, whole rectangles of one colour in one
call, texts whose layout is kept. So arrays are handed over by address, never box by box where boxes
are plain, and edges are moved to whole device pixels (sharp, and no blending at the borders).
"""

from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetricsF,
    QImage,
    QPainter,
    QPainterPath,
    QPdfWriter,
    QPen,
    QPixmap,
    QPolygonF,
    QStaticText,
    QTextOption,
    QTransform,
)
from shiboken6.Shiboken import wrapInstance

from gpuviz.base.arrays import F32, F64, Rgba
from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Outlines, Raster, Strokes, Texts
from gpuviz.draw.metrics import CAP_HEIGHT
from gpuviz.qt.look.fonts import font, per_thread

_ROWS = 4096

Kind = TypeVar("Kind", QRectF, QLineF)


class Blocks(Generic[Kind]):
    """Blocks of what is four doubles. They may be used in several threads."""

    def __init__(self, kind: type[Kind]) -> None:
        self._kind: type[Kind] = kind
        self._free: SimpleQueue[tuple[F64, Kind]] = SimpleQueue()
        self._kept: list[F64] = []

    def pieces(self, rows: F64) -> Iterator[tuple[Kind, int]]:
        """(N, 4) numbers in pieces: the first of each and how many follow it, itself included.

        A piece lasts until the next one is asked for.
        """
        try:
            block = self._free.get_nowait()
        except Empty:
            block = self._made()
        numbers, first = block
        try:
            for start in range(0, len(rows), _ROWS):
                count = min(_ROWS, len(rows) - start)
                numbers[:count] = rows[start : start + count]
                yield first, count
        finally:
            self._free.put(block)

    def _made(self) -> tuple[F64, Kind]:
        while True:
            numbers = np.zeros((_ROWS, 4))
            self._kept.append(numbers)
            first = cast(Kind, wrapInstance(numbers.ctypes.data, self._kind))
            if type(first) is self._kind:  # else something else was there, and is not forgotten yet
                return numbers, first


RECTS, LINES = Blocks(QRectF), Blocks(QLineF)


_HATCH = 8  # pixels from one line of a hatch to the next
_MOST_ROUND, _LEAST_ROUND = 1500, 8.0  # more boxes, or smaller ones: nobody sees their corners
_SHIFT = {"left": 0.0, "center": 0.5, "right": 1.0}


def paint(painter: QPainter, frame: Frame) -> None:
    """Paint the whole picture; its top left corner is the painter's origin."""
    painter.save()
    painter.fillRect(QRectF(0, 0, frame.width, frame.height), _color(frame.ground))
    for mark in frame.marks:
        _PAINT[type(mark)](painter, mark)
    painter.restore()


def _color(rgba: Rgba) -> QColor:
    """A (4,) colour."""
    r, g, b, a = rgba.tolist()
    return QColor(r, g, b, a)


def _colors(rgba: Rgba, count: int) -> Iterator[tuple[QColor, int]]:
    """The colour of each of `count` items, one QColor object for a run of equal ones."""
    packed = np.broadcast_to(rgba, (count, 4)).copy().view(np.uint32)[:, 0].tolist()
    last, color = None, QColor()
    for index, code in enumerate(packed):
        if code != last:
            last, color = code, QColor(code & 255, code >> 8 & 255, code >> 16 & 255, code >> 24)
        yield color, index


def _by_color(rgba: Rgba, count: int) -> Iterator[tuple[QColor, slice | npt.NDArray[np.intp]]]:
    """The different colours, each with the items that have it."""
    if rgba.ndim == 1:
        yield _color(rgba), slice(None)
        return
    packed = np.ascontiguousarray(rgba).view(np.uint32)[:, 0]
    codes, which = np.unique(packed, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(codes))).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        items = order[start:end]
        yield _color(rgba[items[0]]), items


def _scale(painter: QPainter) -> tuple[float, float, float, float]:
    """How the painter maps to device pixels: scale and shift in x, and in y."""
    t = painter.deviceTransform()
    return t.m11() or 1.0, t.dx(), t.m22() or 1.0, t.dy()


def _snapped(painter: QPainter, rect: F32) -> F64:
    """(N, 4) rectangles with edges on whole device pixels, at least one pixel wide and high."""
    sx, dx, sy, dy = _scale(painter)
    scale, shift = np.array([sx, sy]), np.array([dx, dy])
    low = np.floor(rect[:, :2] * scale + shift + 0.5)
    high = np.floor((rect[:, :2] + rect[:, 2:]) * scale + shift + 0.5)
    high = np.maximum(high, low + (rect[:, 2:] > 0))
    return np.concatenate([(low - shift) / scale, (high - low) / scale], axis=1)


def _draw_rects(painter: QPainter, rects: F64) -> None:
    """Draw (N, 4) rectangles in few calls: a QRectF is four doubles, x, y, width, height."""
    for first, count in RECTS.pieces(rects):
        painter.drawRects(first, count)


def _draw_lines(painter: QPainter, points: F64) -> None:
    """Draw (N, 2, 2) segments in few calls: a QLineF is four doubles, x1, y1, x2, y2."""
    for first, count in LINES.pieces(points.reshape(-1, 4)):
        painter.drawLines(first, count)


def _smooth(painter: QPainter, on: bool) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on)


def _boxes(painter: QPainter, mark: Boxes) -> None:
    """Fill, then hatch, then outline."""
    if not len(mark.rect):
        return
    rects = _snapped(painter, mark.rect)
    painter.setPen(Qt.PenStyle.NoPen)
    if mark.fill is not None:
        _fill(painter, rects, mark.fill, mark.radius)
    if mark.hatch is not None:
        _hatch(painter, rects, mark.hatch, mark.radius)
    if mark.stroke is not None:
        _stroke(painter, rects, mark)


def _fill(painter: QPainter, rects: F64, fill: Rgba, radius: float) -> None:
    """Fill all boxes, colour by colour."""
    for color, items in _by_color(fill, len(rects)):
        painter.setBrush(color)
        _shapes(painter, rects[items], radius)


def _shapes(painter: QPainter, rects: F64, radius: float) -> None:
    """Draw boxes with the pen and brush that are set, square or with round corners."""
    if not len(rects):
        return
    few = radius > 0 and len(rects) <= _MOST_ROUND
    rounded = few and bool(rects[:, 2:].min() >= _LEAST_ROUND)
    _smooth(painter, rounded)
    if not rounded:
        _draw_rects(painter, rects)
        return
    for x, y, w, h in rects.tolist():
        r = min(radius, w / 2, h / 2)
        painter.drawRoundedRect(QRectF(x, y, w, h), r, r)


def _stroke(painter: QPainter, rects: F64, mark: Boxes) -> None:
    """Outline all boxes, the line inside the box."""
    assert mark.stroke is not None
    half = mark.stroke_width / 2
    inner = rects + np.array([half, half, -2 * half, -2 * half])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, items in _by_color(mark.stroke, len(rects)):
        pen = QPen(color, mark.stroke_width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        _smooth(painter, True)
        for x, y, w, h in inner[items].tolist():
            r = max(min(mark.radius - half, w / 2, h / 2), 0.0)
            painter.drawRoundedRect(QRectF(x, y, w, h), r, r)
    painter.setPen(Qt.PenStyle.NoPen)


def _hatch(painter: QPainter, rects: F64, hatch: Rgba, radius: float) -> None:
    """Diagonal lines that run on from box to box; their pixels are device pixels."""
    ratio = _scale(painter)[0]
    step = max(round(_HATCH * ratio), 4)
    sheet = _hatch_sheet(tuple(hatch.tolist()), ratio, step)
    small = (rects[:, 2:] * ratio <= sheet.width() - step).all(axis=1) & (radius <= 0)
    # Narrow boxes as cut-outs of a sheet: a brush is set up anew for every row of pixels.
    source = np.concatenate([rects[:, :2] * ratio % step, rects[:, 2:] * ratio], axis=1)
    for to, cut in zip(rects[small].tolist(), source[small].tolist(), strict=True):
        painter.drawPixmap(QRectF(*to), sheet, QRectF(*cut))
    brush = QBrush(sheet)
    brush.setTransform(QTransform.fromScale(1 / ratio, 1 / ratio))
    painter.setBrush(brush)
    _shapes(painter, rects[~small], radius)


@per_thread(32)
def _hatch_sheet(rgba: tuple[int, int, int, int], ratio: float, step: int) -> QPixmap:
    """A sheet that repeats to diagonal lines, smoothed by hand so that it repeats exactly."""
    y, x = np.mgrid[0 : 32 * step, 0 : 32 * step]
    # Distance to the nearest line x + y = k * step, in pixels across the line.
    away = np.abs((x + y + step / 2) % step - step / 2) / np.sqrt(2)
    cover = np.clip(0.95 * ratio - away + 0.5, 0.0, 1.0)
    pixels = np.zeros((*cover.shape, 4), np.uint8)
    pixels[..., :3] = rgba[:3]
    pixels[..., 3] = np.rint(cover * rgba[3])
    return QPixmap.fromImage(_image(pixels))


def _image(pixels: Rgba) -> QImage:
    """A QImage that owns a copy of (H, W, 4) RGBA pixels, in the format drawn fastest."""
    block = np.ascontiguousarray(pixels)
    height, width = block.shape[:2]
    image = QImage(block.data, width, height, 4 * width, QImage.Format.Format_RGBA8888)
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def _curves(painter: QPainter, mark: Curves) -> None:
    """Bezier curves with flat ends."""
    _smooth(painter, True)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    points = mark.points.reshape(-1, 8).tolist()
    last = None
    for color, index in _colors(mark.color, len(points)):
        if color is not last:
            painter.setPen(_pen(color, mark.width))
            last = color
        x, y, *rest = points[index]
        path = QPainterPath(QPointF(x, y))
        path.cubicTo(*rest)
        painter.drawPath(path)


def _pen(color: QColor, width: float, dash: bool = False) -> QPen:
    pen = QPen(color, width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setStyle(Qt.PenStyle.DashLine if dash else Qt.PenStyle.SolidLine)
    return pen


def _lines(painter: QPainter, mark: Lines) -> None:
    """Segments, colour by colour; upright and level ones on whole pixels."""
    if not len(mark.points):
        return
    level = bool((np.abs(np.diff(mark.points, axis=1)) < 1e-3).any(axis=2).all())
    _smooth(painter, not level)
    points = _level(painter, mark) if level else mark.points.astype(np.float64)
    for color, items in _by_color(mark.color, len(points)):
        painter.setPen(_pen(color, mark.width, mark.dash))
        _draw_lines(painter, points[items])
        if mark.arrow:
            _arrow_heads(painter, color, points[items], mark.width)


def _strokes(painter: QPainter, mark: Strokes) -> None:
    """Lines by hand; one of half transparent ink covers itself once."""
    _smooth(painter, True)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    pen = QPen(_color(mark.color), mark.width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    for points in mark.paths:
        path = QPainterPath()
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in points.tolist()]))
        painter.drawPath(path)


def _level(painter: QPainter, mark: Lines) -> F64:
    """Segments moved so that the line covers whole device pixels."""
    sx, dx, sy, dy = _scale(painter)
    scale, shift = np.array([sx, sy]), np.array([dx, dy])
    across = np.abs(np.diff(mark.points, axis=1)) < 1e-3
    odd = across * (round(mark.width * sx) % 2 / 2)  # a line of odd width lies on pixel centres
    return np.asarray((np.floor(mark.points * scale + shift + 0.5 - odd) + odd - shift) / scale)


def _arrow_heads(painter: QPainter, color: QColor, points: F64, width: float) -> None:
    """A filled triangle at the second end of each segment."""
    _smooth(painter, True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    length = 4.0 + 3.0 * width
    way = points[:, 1] - points[:, 0]
    way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    side = np.stack([-way[:, 1], way[:, 0]], axis=1) * length * 0.45
    tip, back = points[:, 1], points[:, 1] - way * length
    for corners in np.stack([tip, back + side, back - side], axis=1).tolist():
        painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))


def _texts(painter: QPainter, mark: Texts) -> None:
    """Labels whose layout is kept between frames; baselines on whole device pixels."""
    kind = mark.size, mark.bold, mark.mono, not isinstance(painter.device(), QPdfWriter)
    painter.setFont(font(*kind))
    _, _, sy, dy = _scale(painter)
    ascent = _ascent(*kind)
    baseline = mark.at[:, 1] + mark.size * CAP_HEIGHT / 2
    top = (np.floor(baseline * sy + dy + 0.5) - dy) / sy - ascent
    places = zip(mark.at[:, 0].tolist(), top.tolist(), mark.strings, strict=True)
    shift, last = _SHIFT[mark.align], None
    for (x, y, text), (color, _) in zip(places, _colors(mark.color, len(top)), strict=True):
        if color is not last:
            painter.setPen(color)
            last = color
        laid, width = _laid_out(text, *kind)
        painter.drawStaticText(QPointF(x - shift * width, y), laid)


@per_thread(256)
def _ascent(size: float, bold: bool, mono: bool, tabular: bool) -> float:
    return QFontMetricsF(font(size, bold, mono, tabular)).ascent()


@per_thread(8192)
def _laid_out(
    text: str, size: float, bold: bool, mono: bool, tabular: bool
) -> tuple[QStaticText, float]:
    """One line of text ready to be drawn, and its width."""
    laid = QStaticText(text)
    laid.setTextFormat(Qt.TextFormat.PlainText)
    laid.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
    face = font(size, bold, mono, tabular)
    laid.prepare(QTransform(), face)
    return laid, QFontMetricsF(face).horizontalAdvance(text)


def _raster(painter: QPainter, mark: Raster) -> None:
    """Cells as an image, each a sharp rectangle; or a photo."""
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, mark.photo)
    target = _snapped(painter, np.array([mark.rect], np.float32))[0].tolist()
    painter.drawImage(QRectF(*target), _image(mark.pixels))


def _outlines(painter: QPainter, mark: Outlines) -> None:
    """Filled contours, in one path."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    first = set(mark.begins.tolist())
    for index, (x, y, *rest) in enumerate(mark.points.reshape(-1, 8).tolist()):
        if index in first:
            path.closeSubpath()
            path.moveTo(x, y)
        path.cubicTo(*rest)
    _smooth(painter, True)
    painter.fillPath(path, _color(mark.color))


_PAINT: dict[type[Mark], Callable[[QPainter, Any], None]] = {
    Boxes: _boxes,
    Curves: _curves,
    Lines: _lines,
    Strokes: _strokes,
    Texts: _texts,
    Raster: _raster,
    Outlines: _outlines,
}


def to_image(frame: Frame, scale: float = 1.0) -> QImage:
    """The picture with `scale` image pixels to a logical pixel, clear where it has no ground."""
    width, height = round(frame.width * scale), round(frame.height * scale)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    try:  # a painter left open would bring the process down with its image
        painter.scale(scale, scale)
        paint(painter, frame)
    finally:
        painter.end()
    return image
