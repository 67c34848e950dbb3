"""A map over block shapes: 32 x 32 cells, the zoom of 4 to 8, a legend, and remarks beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F64, Rgba
from gpuviz.draw.figures import lines, pill_width
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, centers, grid, wrap
from gpuviz.draw.marks import Boxes, Mark, Raster, Texts
from gpuviz.draw.matrix import Matrix, outlined, painted
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.sweep import MOST
from gpuviz.scenes.together.block_atlas import BANDS, Atlas

_ZOOM = (4, 8)
_ALIKE = 90  # percentile
_TICKS = (1, 8, *BANDS)


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a map shows: a value of each shape, and where the numbers come from.

    `own` says it of the shape that the lesson is set to, `brief` in a cell.
    `remarks` are sentences, the most important first; `empty` is said when there are no values.
    """

    values: F64 | None
    own: str
    brief: Callable[[float], str]
    badge: str
    measured: bool
    log: bool
    remarks: tuple[str, ...]
    empty: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """The values at which colours begin and end: the slowest tenth of a map looks alike, so
        that the others differ."""
        if self.values is None:
            return 0.0, 1.0
        high = np.percentile(self.values, _ALIKE) if self.log else self.values.max()
        return float(self.values.min()), float(high)

    def share(self) -> F64:
        """(32, 32) how far up the heat ramp each value is."""
        if self.values is None:
            return np.zeros((MOST, MOST))
        curve = np.log if self.log else np.asarray
        low, high = (float(curve(end)) for end in self.ends)
        return np.asarray((curve(self.values) - low) / max(high - low, 1e-9))


def draw(
    stage: Stage, area: Rect, atlas: Atlas, what: Quantity, shape: tuple[int, int], shown: float
) -> tuple[Mark, ...]:
    """The map with so many of its columns filled, and everything beside it.

    It is empty while the stage asks what it tells.
    """
    if stage.asks:
        cells = _lay_out(stage, area)[0]
        empty = painted(cells, _fill(stage, what, 0.0), None)
        return empty, *_picked(stage, cells, shape), *_axes(stage, cells)
    cells, rest = _lay_out(stage, area)
    fill = _fill(stage, what, shown)
    return (
        painted(cells, fill, lambda i: atlas.tip(*divmod(i, MOST))),
        *_picked(stage, cells, shape),
        *_axes(stage, cells),
        *_beside(stage, rest, atlas, what, shape, shown),
    )


def shape_at(
    stage: Stage,
    area: Rect,
    what: Quantity,
    shape: tuple[int, int],
    shown: float,
    x: float,
    y: float,
) -> tuple[int, int] | None:
    """BX and BY of the cell at a point of what `draw` draws there, of the map or of its zoom."""
    cells, rest = _lay_out(stage, area)
    side = MOST * cells.pitch
    if found := _cell(Rect(cells.x, cells.y, side, side), MOST, x, y):
        return found[0] + 1, found[1] + 1
    if what.values is None or shown < _ZOOM[1]:
        return None
    _, zoom, _ = _split(stage, rest, what, shape)
    if zoom and (found := _cell(_zoom_cells(stage, zoom), _ZOOM[1] - _ZOOM[0] + 1, x, y)):
        return found[0] + _ZOOM[0], found[1] + _ZOOM[0]
    return None


def _cell(area: Rect, count: int, x: float, y: float) -> tuple[int, int] | None:
    """Column and row at a point of an area of count x count cells; a gap is its left cell's."""
    column, row = (x - area.x) * count // area.width, (y - area.y) * count // area.height
    return (int(column), int(row)) if 0 <= column < count and 0 <= row < count else None


def _lay_out(stage: Stage, area: Rect) -> tuple[Matrix, Rect]:
    """The cells of the map, and the area beside them."""
    size = stage.text(14)
    left = text_width("32", size) + size * 0.6
    side = min(area.height - size * 1.6, area.width * 0.56 - left)
    cells = Matrix(area.x + left, area.y, MOST, MOST, side / MOST)
    rest = Rect(
        cells.x + side + size * 1.6, area.y, area.right - cells.x - side - size * 1.6, area.height
    )
    return cells, rest


def _fill(stage: Stage, what: Quantity, shown: float) -> Rgba:
    """(1024, 4) colours: the columns that are filled, and empty cells."""
    warm = stage.palette.heat_at(what.share())
    known = (np.arange(MOST) < shown)[None, :, None] & (what.values is not None)
    return np.where(known, warm, stage.palette.cell).astype(np.uint8).reshape(-1, 4)


def _picked(stage: Stage, cells: Matrix, shape: tuple[int, int]) -> tuple[Mark, ...]:
    """The shape that the lesson is set to."""
    x, y = shape
    one = cells.part(y - 1, x - 1, 1, 1)
    return (
        outlined(one, stage.palette.outline, 2.0, 0.5),
        outlined(one.inset(-3), stage.palette.ground, 1.5, 0.0),
    )


def _axes(stage: Stage, cells: Matrix) -> tuple[Mark, ...]:
    """BX below, BY at the left; the published bands in bold."""
    size, palette, area = stage.text(14), stage.palette, cells.area
    x = [cells.x + (t - 0.5) * cells.pitch for t in _TICKS]
    y = [cells.y + (t - 0.5) * cells.pitch for t in _TICKS]
    low, left = area.bottom + size * 0.85, cells.x - size * 0.4
    room = cells.pitch * 8 > text_width("BX 32", size)
    names = [f"BX {t}" if t == 1 and room else str(t) for t in _TICKS]
    marks: list[Mark] = []
    for at, tick, name in zip(x, _TICKS, names, strict=True):
        bold = tick in BANDS
        color = palette.ink if bold else palette.muted
        start = max(at, cells.x + text_width(name, size) / 2) if tick == 1 else at
        marks.append(label(start, low, name, color, size, bold, "center"))
    for at, tick in zip(y, _TICKS, strict=True):
        name = "BY" if tick == 1 else str(tick)
        marks.append(
            label(left, max(at, cells.y + size * 0.5), name, palette.muted, size, align="right")
        )
    return tuple(marks)


def _beside(
    stage: Stage, area: Rect, atlas: Atlas, what: Quantity, shape: tuple[int, int], shown: float
) -> tuple[Mark, ...]:
    """The shape's own value, the legend, the remarks, and the zoom where there is room."""
    size, palette = stage.text(14), stage.palette
    if what.values is None:
        pill = badge(stage, area.x, area.y + size, what.badge, palette.muted)
        said, _ = lines(stage, area.above(size * 2.2)[1], what.empty, palette.muted)
        return *pill, *said
    head, zoom, rest = _split(stage, area, what, shape)
    marks: list[Mark] = [*head]
    for remark in what.remarks:
        needed = size * 1.35 * len(wrap(remark, rest.width, size))
        if needed > rest.height:
            break
        said, rest = lines(stage, rest, remark, palette.muted)
        marks += said
    if zoom is not None and shown >= _ZOOM[1]:
        marks += _zoom(stage, zoom, atlas, what, shape)
    return tuple(marks)


def _split(
    stage: Stage, area: Rect, what: Quantity, shape: tuple[int, int]
) -> tuple[tuple[Mark, ...], Rect | None, Rect]:
    """The shape's own value and the legend, the area of the zoom, and that of the remarks."""
    x, y = shape
    words, rest = lines(stage, area, f"{x} × {y}: {what.own}", stage.palette.ink, bold=True)
    legend, rest = _legend(stage, rest, what)
    return (*words, *legend), *_zoom_area(stage, rest, what.remarks)


def _legend(stage: Stage, area: Rect, what: Quantity) -> tuple[tuple[Mark, ...], Rect]:
    """The ramp of colours between the least and the largest value, and the badge."""
    size, palette = stage.text(14), stage.palette
    assert what.values is not None
    low, high = map(what.brief, what.ends)
    high = f"≥ {high}" if what.log else high
    row, rest = area.above(size * 1.9, size * 0.4)
    color = palette.good if what.measured else palette.accent
    pill = pill_width(stage, what.badge)
    first = row.x + text_width(low, size) + size * 0.6
    last = row.right - pill - text_width(high, size) - size * 0.8
    y = row.center[1]
    ramp = palette.heat[None, ::4]
    return (
        label(row.x, y, low, palette.ink, size),
        Raster((first, y - size * 0.4, max(last - first, 1.0), size * 0.8), ramp),
        label(last + size * 0.5, y, high, palette.ink, size),
        *badge(stage, row.right - pill + stage.text(13) * 0.7, y, what.badge, color),
    ), rest


def _zoom_area(stage: Stage, area: Rect, remarks: tuple[str, ...]) -> tuple[Rect | None, Rect]:
    """Where the zoom goes: beside the remarks, below them, or nowhere; and what is left."""
    size = stage.text(14)
    side = size * 13
    text = sum(size * (1.35 * len(wrap(r, area.width, size)) + 0.3) for r in remarks)
    if area.height - text >= side:
        big = min(area.height - text - size * 0.5, area.width, size * 20)
        zoom = Rect(area.x, area.bottom - big, big, big)
        return zoom, Rect(area.x, area.y, area.width, area.height - big)
    if area.width >= side * 1.9 and area.height >= side * 0.6:
        tall = min(side, area.height)
        zoom = Rect(area.right - side, area.bottom - tall, side, tall)
        return zoom, Rect(area.x, area.y, area.width - side - size, area.height)
    return None, area


def _zoom_cells(stage: Stage, area: Rect) -> Rect:
    """The zoom without the numbers beside and below it."""
    size = stage.text(14)
    left, low = text_width("8", size) + size * 0.5, size * 1.5
    return Rect(area.x + left, area.y, area.width - left, area.height - low)


def _zoom(
    stage: Stage, area: Rect, atlas: Atlas, what: Quantity, shape: tuple[int, int]
) -> tuple[Mark, ...]:
    """Shapes of 4 to 8 by 4 to 8, with their values."""
    size, small, palette = stage.text(14), stage.text(13), stage.palette
    assert what.values is not None
    first, last = _ZOOM
    count = last - first + 1
    inner = _zoom_cells(stage, area)
    cells = grid(inner, count, count, 2.0)
    part = slice(first - 1, last)
    values = what.values[part, part].ravel()
    fill = palette.heat_at(what.share()[part, part].ravel())
    words = tuple(what.brief(v) for v in values.tolist())
    fits = max(text_width(w, small) for w in words) <= cells[0, 2] - 4 and cells[0, 3] >= small
    ticks = tuple(str(n) for n in range(first, last + 1))
    middle = centers(cells)
    below = np.stack([middle[:count, 0], np.full(count, inner.bottom + size * 0.8)], axis=1)
    beside = np.stack([np.full(count, inner.x - size * 0.4), middle[::count, 1]], axis=1)
    x, y = (n - first for n in shape)
    here = cells[y * count + x][None] if min(x, y) >= 0 and max(x, y) < count else cells[:0]
    return (
        Boxes(
            cells,
            fill,
            radius=3,
            tip=lambda i: atlas.tip(first - 1 + i // count, first - 1 + i % count),
        ),
        *((Texts(middle, words, palette.ink_on(fill), small, "center"),) if fits else ()),
        Boxes(here, stroke=palette.outline, stroke_width=2.5, radius=3),
        Texts(below.astype(np.float32), ticks, palette.muted, size, "center"),
        Texts(beside.astype(np.float32), ticks, palette.muted, size, "right"),
    )


def bands_remark(atlas: Atlas, what: Callable[[float], str], values: F64) -> str:
    """How the bands differ from the columns beside them, in numbers."""
    parts = []
    for width in BANDS:
        own, beside = atlas.around(values, width)
        parts.append(
            tr("at BX {n} {own}, beside it {other}", n=width, own=what(own), other=what(beside))
        )
    return tr("Median over BY: {parts}.", parts="; ".join(parts))
