"""One step of a product: a float of M in a register is fanned out to all cells of its thread.

The row of N that the warp reads stands above, the cells of P that its block computes below; what
one thread multiplies is written large between them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import mix
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import bands, partly
from gpuviz.panels.panel import Need, Panel, Values

_LOW, _HIGH = 12.0, 24.0  # letters
_BOX = 2.0  # letters: the height of a product
_WIDE = 15.0  # letters: products are no wider
_OUT = np.array([-2, -2, 4, 4], np.float32)


@dataclass(frozen=True, eq=False)
class Strip:
    """A row of elements as it lies in memory, in the colours of the lanes that want them."""

    # Wordings of what it is, longest first; `count` what the request under way takes.
    names: tuple[str, ...]
    count: str
    come: F64  # (MULTI,) how far each cell's request has come, 0 to 1
    now: int  # the cell whose request is under way, -1 for none
    # (S, 2) first column and columns of each transaction of the request; `done` (S,) how far.
    boxes: F64
    done: F64
    tip: Callable[[int], str]  # hover text of a column


@dataclass(frozen=True, eq=False)
class _FanLayout:
    """Where everything is: (C, 4) elements of N, (R, C, 4) cells of P, (MULTI, 4) products."""

    captions: tuple[Rect, Rect]
    register: Rect
    n: F32
    products: F32
    p: F32


@dataclass(frozen=True, eq=False)
class RegisterFan(Panel):
    """A block's cells of P, one warp a row of them, and what one thread multiplies."""

    share: ClassVar[float] = 1.0
    # n, p: the elements of N that the warp reads, and those of P that it stores.
    n: Strip
    p: Strip
    # lane, cell: (C,) whose each column is, and which of its thread's cells that is.
    lane: I64
    cell: I64
    # rows, row: rows of P, and the one whose warp is watched.
    rows: int
    row: int
    followed: int  # the lane of the thread
    register: tuple[str, ...]  # wordings of what it keeps of M, longest first
    kept: F64  # (MULTI,) how much of it has come for each product; 0 where it is for another one
    had: F64  # (MULTI,) how much of it had come when the product was made
    # Wordings of each product, all of them of one length at a time.
    products: tuple[tuple[str, ...], ...]
    tip: Callable[[int, int], str]  # hover text of a cell of P by row and column
    choose: Callable[[int], Values]  # the parameter values that follow a lane

    def need(self, stage: Stage, width: float) -> Need:
        """Both strips, and the products between them."""
        size = stage.text(14)
        return Need(_HIGH * size, _LOW * size, 28 * size)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Strips and cells, ways from one to the other, the products."""
        laid = self._laid(stage, area)
        yield from self._strip(stage, laid.captions[0], laid.n, self.n)
        yield from self._cells(stage, laid)
        yield from self._strip(stage, laid.captions[1], laid.p[self.row], self.p)
        yield from self._ways(stage, laid)
        yield from self._register(stage, laid.register)
        yield from self._products(stage, laid.products)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The lane whose column is under a point."""
        columns = self._laid(stage, area).n
        found = np.flatnonzero((columns[:, 0] <= x) & (x < columns[:, 0] + columns[:, 2] + 1))
        return self.choose(int(self.lane[found[0]])) if len(found) else None

    @property
    def _mine(self) -> Bool:
        """(C,) columns of the followed thread."""
        return np.asarray(self.lane == self.followed)

    def _laid(self, stage: Stage, area: Rect) -> _FanLayout:
        """N at the top, P at the bottom; the products get what is between."""
        size, count, many = stage.text(14), len(self.lane), len(self.products)
        line, gap = size * 1.5, 2.0 if area.width > 8 * count else 1.0
        gap = gap if area.width > 4 * count else 0.0
        free = area.height - 2 * line
        strip = min(free * 0.13, size * 2.2)
        row = min(free * 0.28 / self.rows, area.width / count * 2.2)
        top, rest = area.above(line)
        n, rest = rest.above(strip)
        p = Rect(area.x, rest.bottom - line - row * self.rows, area.width, row * self.rows)
        foot = Rect(area.x, p.bottom, area.width, line)
        between = Rect(area.x, rest.y, area.width, p.y - rest.y)
        side = text_width(max(self.register, key=len), size, True) + size * 1.4
        side = min(side, area.width * 0.2)
        box = min(_BOX * size, between.height * 0.4)
        register = Rect(area.x, between.y + between.height * 0.12, side, box)
        low = between.y + between.height * 0.6
        slots = Rect(area.x + side * 0.7, low, area.width - side * 0.7, box).columns(many, size)
        wide = min(slots[0].width, _WIDE * size)
        products = [s._replace(x=s.x + (s.width - wide) / 2, width=wide) for s in slots]
        return _FanLayout(
            (top, foot),
            register,
            grid(n, 1, count, gap),
            np.array(products, np.float32),
            grid(p, self.rows, count, gap).reshape(self.rows, count, 4),
        )

    def _strip(self, stage: Stage, head: Rect, cells: F32, strip: Strip) -> Iterator[Mark]:
        """Elements, quiet until they have come; a frame for each transaction under way."""
        palette, size = stage.palette, stage.text(14)
        lanes = palette.lanes[self.lane]
        fill = mix(palette.soft(lanes, 0.72), lanes, strip.come[self.cell])
        yield Boxes(cells, fill, tip=strip.tip)
        count = "" if stage.asks else strip.count
        room = head.width - (text_width(count, size, True) + size if count else 0.0)
        said = first_fitting(strip.names, room, size)
        yield label(head.x, head.center[1], said, palette.muted, size)
        if count:
            yield label(head.right, head.center[1], count, palette.accent, size, True, "right")
        if strip.now >= 0 and len(strip.boxes):
            yield from self._frames(stage, cells, strip)
        mine = cells[self._mine]
        yield Boxes(mine + _OUT, stroke=palette.outline, stroke_width=2, radius=3)

    def _frames(self, stage: Stage, cells: F32, strip: Strip) -> Iterator[Mark]:
        """Around what each transaction brings; what the lanes ask for now is underlined."""
        palette = stage.palette
        pitch = float(cells[1, 0] - cells[0, 0]) if len(cells) > 1 else float(cells[0, 2])
        x = cells[0, 0] + strip.boxes[:, 0] * pitch
        wide = strip.boxes[:, 1] * pitch - max(pitch - cells[0, 2], 1.0)
        y, high = np.full_like(x, cells[0, 1] - 3), np.full_like(x, cells[0, 3] + 6)
        boxes = np.stack([x, y, wide, high], axis=1).astype(np.float32)
        edge = np.where((strip.done > 0)[:, None], palette.accent, palette.border)
        yield Boxes(boxes, stroke=edge.astype(np.uint8), stroke_width=1.5, radius=3)
        asked = cells[self.cell == strip.now].copy()
        asked[:, 1] += asked[:, 3] + 5
        asked[:, 3] = 3.0
        yield Boxes(asked, palette.outline)

    def _cells(self, stage: Stage, laid: _FanLayout) -> Iterator[Mark]:
        """The cells of the block's other warps."""
        fill = stage.palette.soft(stage.palette.lanes[self.lane], 0.84)
        for row in range(self.rows):
            if row != self.row:
                yield Boxes(laid.p[row], fill, tip=partial(self.tip, row))

    def _ways(self, stage: Stage, laid: _FanLayout) -> Iterator[Mark]:
        """From N and from the register to each product, from there to its cell."""
        palette, mine = stage.palette, np.flatnonzero(self._mine)
        mine = mine[np.argsort(self.cell[mine])]
        n, p, boxes = laid.n[mine], laid.p[self.row, mine], laid.products
        own, read = palette.lanes[self.followed], self.n.come
        from_register = _fanned(laid.register, _on_edge(boxes, 0.22, 0))
        from_n = bands(_on_edge(n, 0.5, 1, 4), _on_edge(boxes, 0.72, 0))
        to_p = bands(_on_edge(boxes, 0.5, 1), _on_edge(p, 0.5, 0, -4))
        ways = (
            (from_register, np.minimum(read, self.kept), palette.compute),
            (from_n, read, own),
            (to_p, self.p.come, own),
        )
        for curves, share, ink in ways:
            going = share > 0
            yield Curves(curves, palette.soft(ink, 0.75), 1.2 * stage.scale)
            yield Curves(partly(curves[going], smooth(share[going])), ink, 2.6 * stage.scale)

    def _register(self, stage: Stage, box: Rect) -> Iterator[Mark]:
        """What is kept of M."""
        palette, size = stage.palette, stage.text(14)
        fill = palette.state(palette.compute[None], self.kept.max(keepdims=True))
        yield Boxes(box.array(), fill, stroke=palette.outline, stroke_width=1.5, radius=6)
        text = first_fitting(self.register, box.width - size * 0.6, size, True)
        at, ink = np.array([box.center], np.float32), palette.ink_on(fill)
        yield Texts(at, (text,), ink, size, "center", bold=True)

    def _products(self, stage: Stage, boxes: F32) -> Iterator[Mark]:
        """Each product, full once both factors are there."""
        palette, size = stage.palette, stage.text(14)
        came = np.minimum(self.n.come, self.had)
        own = np.tile(palette.lanes[self.followed], (len(boxes), 1))
        fill = mix(np.tile(palette.panel, (len(boxes), 1)), own, came * 0.9)
        yield Boxes(boxes, fill, stroke=own, stroke_width=1.5, radius=6)
        room = float(boxes[0, 2]) - size * 0.5
        for texts in zip(*self.products, strict=True):
            if max(text_width(text, size, True) for text in texts) <= room:
                ink = palette.ink_on(fill)
                yield Texts(centers(boxes), texts, ink, size, "center", bold=True)
                return


def _on_edge(boxes: F32, along: float, down: float, off: float = 0.0) -> F32:
    """(N, 2) points on the upper (`down` 0) or lower edge (1) of boxes, moved down by `off`."""
    x = boxes[:, 0] + boxes[:, 2] * along
    y = boxes[:, 1] + boxes[:, 3] * down + off
    return np.stack([x, y], axis=1).astype(np.float32)


def _fanned(box: Rect, ends: F32) -> F32:
    """(N, 4, 2) curves from the right side of a box that come down to (N, 2) points."""
    start = np.tile(np.array([[box.right, box.center[1]]], np.float32), (len(ends), 1))
    way = ends - start
    across, down = way * np.array([0.7, 0], np.float32), way * np.array([0, 0.6], np.float32)
    return np.stack([start, start + across, ends - down, ends], axis=1)
