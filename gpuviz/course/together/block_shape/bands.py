"""A closer look at block shapes: first warps as cells, small blocks, bands at some widths."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.course.together.block_shape.atlas import MOST, Atlas, Quantity
from gpuviz.draw.axis import linear
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, cell_size
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.matrix import Matrix
from gpuviz.draw.stage import Stage
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Node, columns, first, rows, share, spare
from gpuviz.panels.legend import Legend
from gpuviz.panels.panel import Need, Panel
from gpuviz.panels.plot import Curve, Plot, PointLabel, Points
from gpuviz.panels.value_map import MapAxis, ValueMap
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr, trn

_SMALL = slice(3, 8)  # BX and BY from 4 to 8, as the lecture zooms in
_BAND = 1.02  # times as fast as the faster neighbour
_WIDTHS = (8, 16, 24, 32)  # where rows of a block end as sectors do


def bands(atlas: Atlas, times: Quantity, shape: tuple[int, int]) -> Node:
    """Times of blocks of 4 to 8 threads each way; the middle time of each width."""
    source = Provenance(
        (
            tr("“CUDA 2da parte”, Tesla C2070: a zoom into 4 to 8, and bands at BX = 16, 24, 32"),
            tr("“CUDA 2da parte”: bands at BX = 16, 24, 32"),
        )
    )
    zoom, plot = _zoom(atlas, times, shape), _by_width(atlas)
    both = columns(share(1, zoom), share(1.5, plot), gap=1.6)
    return rows(share(1, first(both, plot)), spare(source), gap=0.4)


def _zoom(atlas: Atlas, times: Quantity, shape: tuple[int, int]) -> Node:
    near = tuple(range(1, MOST + 1))[_SMALL]
    few = times.values[_SMALL, _SMALL]
    picked = tuple(near.index(n) if n in near else -1 for n in shape)
    cells = ValueMap(
        MapAxis("x", "BX", near, near),
        MapAxis("y", "BY", near, near),
        few,
        np.zeros(few.shape, bool),
        (picked[0], picked[1]) if min(picked) >= 0 else (-1, -1),
        lambda column, row: atlas.tip(near[column], near[row]),
        square=True,
    )
    low, high = (times.words(float(end)) for end in (few.min(), few.max()))
    return rows(Legend(low, high, times.badge), share(1, cells))


def _by_width(atlas: Atlas) -> Plot:
    """The middle of the times of all BY, for each BX; the axis begins where widths are of use."""
    middle = np.median(atlas.milliseconds, axis=0)
    every = np.arange(1.0, MOST + 1)
    kept = every >= _WIDTHS[0] - 2
    most = float(middle[kept].max())
    step = 10.0 ** np.floor(np.log10(most))
    top = float(np.ceil(most / step) * step)
    low = [float(middle[n - 1]) for n in _WIDTHS]
    return Plot(
        linear(("BX",), float(_WIDTHS[0] - 2), float(MOST), 2.0),
        linear((tr("median over BY, ms"), tr("ms")), 0.0, top, top / 4),
        (
            Curve(every[kept], middle[kept], "muted", 2.0),
            Points(_WIDTHS, low, "good", 6, answers=True),
            *(
                PointLabel(float(n), ms, str(n), "good", bold=True, answers=True)
                for n, ms in zip(_WIDTHS, low, strict=True)
            ),
        ),
        right=2.0,
    )


def words(atlas: Atlas) -> tuple[str, str]:
    """Title and sentence: how much slower the neighbours of the bands are."""
    middle = np.median(atlas.milliseconds, axis=0)
    beside = [
        min(middle[n - 2], middle[n] if n < MOST else np.inf) / middle[n - 1] for n in _WIDTHS
    ]
    found = {n: times for n, times in zip(_WIDTHS, beside, strict=True) if times > _BAND}
    if not found:
        said = tr("Of all BY, for each BX.")
        return tr("No bands: no width is faster than its neighbours"), said
    title = tr("Bands at BX = {widths}", widths=", ".join(map(str, found)))
    said = tr(
        "There rows of a block end where sectors of 8 floats do; one thread more or less along x "
        "takes {least} to {most} % longer.",
        least=f"{100 * (min(found.values()) - 1):.0f}",
        most=f"{100 * (max(found.values()) - 1):.0f}",
    )
    return title, said


@dataclass(frozen=True, eq=False)
class FirstWarp(Panel):
    """`columns` x `rows` threads of a block, those of its first warp in their lanes' colours."""

    columns: int
    rows: int
    caption: str
    idle: str
    tip: Callable[[int], str]

    def need(self, stage: Stage, width: float) -> Need:
        """A narrow column."""
        size = stage.text(14)
        return Need(8 * size, 5 * size, 7 * size)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Caption, cells, and how many warps that are."""
        size, palette = stage.text(14), stage.palette
        head, body = area.above(size * 1.5)
        x, y = self.columns, self.rows
        room = body._replace(height=body.height - size * 1.5)
        pitch = max(cell_size(room, y, x, 0.0, 22 * stage.scale), 1.0)
        cells, lanes = Matrix(body.x, body.y, y, x, pitch), min(x * y, LANES)
        fill = np.broadcast_to(palette.cell, (x * y, 4)).copy()
        fill[:lanes] = palette.lanes[:lanes]
        yield label(head.x, head.y + size * 0.55, self.caption, palette.muted, size)
        yield Boxes(cells.cells, fill, tip=self.tip)
        if not stage.asks:
            warps = -(-x * y // LANES)
            said = self.idle or trn("{n} warp", "{n} warps", warps)
            yield label(head.x, cells.area.bottom + size * 0.95, said, palette.muted, size)
