"""Matrices spread over the registers of a warp: as matrices, and as the registers of its lanes.

Both draw the same elements: pointing at one in a matrix lights the register that holds it, and the
other way round. A click follows the lane.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, around, centers
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.matrix import Matrix, indices, product
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.panels.panel import Ink, Need, Panel, Values, color
from gpuviz.ptx.tensor.fragments import Fragment, left, right, total
from gpuviz.traces.trace import LANES

_LETTER, _LEAST = 12.0, 2.0  # least size of numbers in cells; pixels of the smallest cells
_LARGEST, _TALL, _LOW = 40.0, 30.0, 9.0  # pixels at scale 1: a cell, and a register's height
_LINED = 9.0  # pixels of cells that have room for a line around a few of them
_GROWN = np.array([-1.5, -1.5, 3, 3], np.float32)


@dataclass(frozen=True, eq=False)
class Spread:
    """One matrix in the registers of a warp; arrays are of its cells, row by row."""

    # name, registers: `A`, and what its registers are called, from the first to the last.
    name: str
    registers: tuple[str, ...]
    # rows, columns: cells; one may stand for several neighbours in one register.
    rows: int
    columns: int
    # lane, register, place: (N,) which lane, the how-manieth register, which part of it.
    lane: I64
    register: I64
    place: I64
    each: int  # cells that one register holds
    come: F64  # (N,) how far each is there, 0 to 1
    tip: Callable[[int], str]  # hover text of a cell
    stands: tuple[int, int] = (1, 1)  # elements that a cell stands for, down and along


@dataclass(frozen=True, eq=False)
class Outline:
    """A line around the smallest area that holds some cells of a matrix."""

    name: str
    cells: I64
    ink: Ink = "accent"


@dataclass(frozen=True, eq=False)
class FragmentMatrices(Panel):
    """A, B and D where a row of A and a column of B meet in D, each element its lane's colour.

    `followed` is the lane whose elements are outlined; `marked` are further lines.
    """

    share: ClassVar[float] = 1.0
    left: Spread
    top: Spread
    corner: Spread
    followed: int
    marked: tuple[Outline, ...] = ()

    @property
    def _all(self) -> tuple[Spread, ...]:
        return self.left, self.top, self.corner

    def _lines(self, pitch: float) -> tuple[Outline, ...]:
        """The further lines; one around all of a matrix where each would hide its own cells."""
        if pitch >= _LINED:
            return self.marked
        found = dict[tuple[str, Ink], list[I64]]()
        for one in self.marked:
            found.setdefault((one.name, one.ink), []).append(one.cells)
        return tuple(
            Outline(name, np.concatenate(all_), ink) for (name, ink), all_ in found.items()
        )

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to be seen."""
        least = stage.text(14) * 11
        return Need(least, least, least)

    def zoom(self, stage: Stage, area: Rect) -> float:
        """How large the cells are."""
        return self._placed(stage, area)[0].pitch

    def used(self, stage: Stage, area: Rect) -> Rect:
        """Up to the last column and row."""
        corner = self._placed(stage, area)[2].area
        return area._replace(
            width=corner.right - area.x + stage.text(14), height=corner.bottom - area.y
        )

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Names, numbers of rows and columns, cells, outlines."""
        size, ink = stage.text(14), stage.palette.ink
        placed = self._placed(stage, area)
        for one, at in zip(self._all, placed, strict=True):
            yield from _cells(stage, one, at.cells, self.followed)
        for line in self._lines(placed[0].pitch):
            at = next(m for s, m in zip(self._all, placed, strict=True) if s.name == line.name)
            box = around(at.cells[line.cells], 3.0).array()
            yield Boxes(box, stroke=color(stage, line.ink), stroke_width=3, radius=4)
        left, top, corner = placed
        yield label(left.x, left.y - size * 1.75, self.left.name, ink, size, bold=True)
        yield label(top.x, top.y - size * 1.75, self.top.name, ink, size, bold=True)
        below = corner.area.bottom + size * 0.8
        yield label(corner.x, below, self.corner.name, ink, size, bold=True)
        for one, at in ((self.left, left), (self.top, top)):
            yield from _numbers(stage, at, True, one.stands[1])
            yield from _numbers(stage, at, False, one.stands[0])

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The lane of the element under a point."""
        for one, at in zip(self._all, self._placed(stage, area), strict=True):
            if (found := _hit(at.cells, x, y)) is not None:
                return {"lane": int(one.lane[found])}
        return None

    def _placed(self, stage: Stage, area: Rect) -> tuple[Matrix, Matrix, Matrix]:
        size = stage.text(14)
        longest = self.left.rows, self.left.columns * self.left.stands[1]
        side = text_width(str(max(longest)), size) + size * 0.6
        inner = Rect(
            area.x + side, area.y + size * 2.4, area.width - side, area.height - size * 3.9
        )
        found = product(
            inner,
            self.left.rows,
            self.left.columns,
            self.top.columns,
            max(side + size * 0.6, size * 2.3),
            _LARGEST * stage.scale,
        )
        return found.left, found.top, found.corner


@dataclass(frozen=True, eq=False)
class WarpRegisters(Panel):
    """The lanes side by side, and below each its registers, with the elements these hold."""

    share: ClassVar[float] = 0.0
    spreads: tuple[Spread, ...]
    followed: int

    @property
    def _count(self) -> int:
        return sum(len(one.registers) for one in self.spreads)

    def need(self, stage: Stage, width: float) -> Need:
        """A row for each register, and the lanes above them."""
        head, rows = stage.text(14) * 2.2, self._count
        gaps = stage.text(14) * 0.5 * len(self.spreads)
        high, low = _TALL * stage.scale * rows, _LOW * stage.scale * rows
        wide = stage.text(14) * 3 + LANES * 8.0
        return Need(head + gaps + high, head + gaps + low, wide)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Lanes, registers, their names, the lane that is followed."""
        size, muted = stage.text(13), stage.palette.muted
        lanes, names, pieces = self._laid(stage, area)
        every, none = np.ones(LANES, bool), np.arange(LANES) == self.followed
        yield from lane_row(stage, lanes, every, none)
        for one, place in zip(self.spreads, pieces, strict=True):
            yield from _cells(stage, one, place, self.followed, thin=True)
        at, words, last = [], [], -np.inf
        for y, name in names:
            if y - last >= size:
                at.append((area.x + stage.text(14) * 2.4, y))
                words.append(name)
                last = y
        yield Texts(np.array(at, np.float32), tuple(words), muted, size, "right")

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The lane under a point."""
        lanes = self._laid(stage, area)[0]
        found = np.flatnonzero((lanes[:, 0] <= x) & (x < lanes[:, 0] + lanes[:, 2]))
        return {"lane": int(found[0])} if len(found) else None

    def _laid(self, stage: Stage, area: Rect) -> tuple[F32, list[tuple[float, str]], list[F32]]:
        """(32, 4) lanes; the registers' names at their heights; the cells of each matrix."""
        size = stage.text(14)
        inner = area.beside(size * 3)[1]
        row, rest = inner.above(size * 1.7, size * 0.5)
        lanes, gap = lane_boxes(row), size * 0.5
        free = rest.height - gap * (len(self.spreads) - 1)
        high = min(free / self._count, _TALL * stage.scale)
        top, names, pieces = rest.y, list[tuple[float, str]](), list[F32]()
        for one in self.spreads:
            box, wide = lanes[one.lane], lanes[one.lane, 2] / one.each
            x = box[:, 0] + wide * one.place
            y = top + high * one.register
            tall = np.full_like(x, high - (2.0 if high >= 8 else 1.0))
            pieces.append(np.stack([x, y, wide - 0.5, tall], axis=1).astype(np.float32))
            names += [(top + high * (n + 0.45), name) for n, name in enumerate(one.registers)]
            top += high * len(one.registers) + gap
        return lanes, names, pieces


def _cells(
    stage: Stage, one: Spread, rects: F32, followed: int, thin: bool = False
) -> Iterator[Mark]:
    """Elements in the colours of their lanes, dim until they are there; numbers where they fit."""
    palette = stage.palette
    fill = palette.state(palette.lanes[one.lane], one.come)
    yield Boxes(rects, fill, radius=2, tip=one.tip, link=one.name, lanes=one.lane)
    mine = one.lane == followed
    if mine.any():
        boxes = rects[mine] + (0 if thin else _GROWN)
        yield Boxes(boxes, stroke=palette.outline, stroke_width=1.0 if thin else 2.0, radius=2)
    size = float(int(min(stage.text(14), float(rects[0, 3]) * 0.7, float(rects[0, 2]) * 0.7)))
    if not thin and size >= _LETTER:
        words = tuple(map(str, one.lane.tolist()))
        ink = palette.ink_on(fill)
        yield Texts(centers(rects), words, ink, size, "center", bold=True, lanes=one.lane)


def _numbers(stage: Stage, matrix: Matrix, across: bool, stands: int) -> Iterator[Mark]:
    """Numbers of columns above a matrix, or of rows on its left; as many as there is room for."""
    size = stage.text(14)
    count = matrix.columns if across else matrix.rows
    widest = text_width(str(count * stands), size)
    room = widest + size * 0.5 if across else size * 1.2
    every = next(k for k in (1, 2, 4, 8, 16, 32) if k * matrix.pitch >= room or k == 32)
    along = (np.arange(0, count, every) + 0.5) * matrix.pitch
    beside = matrix.x - widest / 2 - size * 0.4
    other = np.full(len(along), matrix.y - size * 0.7 if across else beside)
    both = (matrix.x + along, other) if across else (other, matrix.y + along)
    made = indices(stage, np.stack(both, axis=1).astype(np.float32))
    words = tuple(str(n * stands) for n in range(0, count, every))
    yield Texts(made.at, words, stage.palette.muted, size, "center")


def _hit(rects: F32, x: float, y: float) -> int | None:
    left, top, width, height = rects.T
    found = np.flatnonzero((left <= x) & (x < left + width) & (top <= y) & (y < top + height))
    return int(found[-1]) if len(found) else None


FIRST = (7, 5)  # the first capability with ldmatrix and mma of these shapes


@dataclass(frozen=True)
class Form:
    """mma of one shape and type; `since` is the first capability that has it (PTX ISA, "mma").

    `kind` and `result` are the types of A and B, and of C and D; `halves` what 7.5 runs in its
    place, twice.
    """

    rows: int
    inner: int
    kind: str
    bits: int
    result: str
    since: tuple[int, int]
    halves: str = ""

    @property
    def shape(self) -> str:
        """As PTX writes it."""
        return f"m{self.rows}n8k{self.inner}"

    @property
    def name(self) -> str:
        """What it is chosen by."""
        return f"{self.shape} {self.kind}"

    @property
    def types(self) -> str:
        """What follows the shape in PTX."""
        logic = ".and.popc" if self.kind == "b1" else ""
        return f"row.col.{self.result}.{self.kind}.{self.kind}.{self.result}{logic}"

    @property
    def bytes(self) -> int:
        """Of a row of A."""
        return self.inner * self.bits // 8

    @property
    def defines(self) -> tuple[tuple[str, str], ...]:
        """The kernel's macros."""
        cc = self.since[0] * 100 + self.since[1] * 10
        made = {
            "FORM": f"{self.shape}.{self.types}",
            "NEEDS": str(cc),
            "ROWS": str(self.rows),
            "BYTES": str(self.bytes),
            "ELEMENT_BITS": str(self.bits),
        }
        made |= {"FLOAT": "1"} if self.bits == 8 and self.result == "f32" else {}
        made |= {"HALVES": f"{self.halves}.{self.types}"} if self.halves else {}
        return tuple(made.items())

    def given(self, rows: int) -> str:
        """The argument that fills so many rows of A, or columns of B."""
        if self.bits < 8 or self.kind == "s8":
            return f"u8[{rows * self.bytes}]=rand"
        kind = "f32" if self.kind == "tf32" else self.kind
        return f"{kind}[{rows * self.inner}]=rand"

    def taken(self, warps: int) -> str:
        """The argument that takes D of so many warps."""
        kind = {"s32": "i32"}.get(self.result, self.result)
        return f"{kind}[{warps * self.rows * 8}]=zeros"

    @cached_property
    def a(self) -> Fragment:
        """Who holds what of A."""
        return left(self.rows, self.inner, self.bits)

    @cached_property
    def b(self) -> Fragment:
        """Who holds what of B."""
        return right(self.inner, 8, self.bits)

    @cached_property
    def d(self) -> Fragment:
        """Who holds what of C and D."""
        return total(self.rows, 64 if self.result == "f64" else 32)

    @property
    def grouped(self) -> int:
        """Neighbours along k that one cell of a picture stands for: those below a byte."""
        return 32 // self.bits if self.bits < 8 else 1


def _forms() -> tuple[Form, ...]:
    new, hopper = (8, 0), (9, 0)
    half = "m16n8k8"
    return (
        Form(16, 16, "f16", 16, "f32", new, half),
        Form(16, 8, "f16", 16, "f32", FIRST),
        Form(16, 16, "bf16", 16, "f32", new),
        Form(16, 8, "bf16", 16, "f32", new),
        Form(16, 8, "tf32", 32, "f32", new),
        Form(16, 4, "tf32", 32, "f32", new),
        Form(8, 4, "f64", 64, "f64", new),
        Form(16, 4, "f64", 64, "f64", hopper),
        Form(16, 8, "f64", 64, "f64", hopper),
        Form(16, 16, "f64", 64, "f64", hopper),
        Form(16, 32, "e4m3", 8, "f32", (8, 9)),
        Form(16, 32, "e5m2", 8, "f32", (8, 9)),
        Form(16, 32, "s8", 8, "s32", new),
        Form(16, 16, "s8", 8, "s32", new),
        Form(8, 16, "s8", 8, "s32", FIRST),
        Form(16, 64, "s4", 4, "s32", new),
        Form(16, 32, "s4", 4, "s32", new),
        Form(8, 32, "s4", 4, "s32", FIRST),
        Form(16, 256, "b1", 1, "s32", new),
        Form(16, 128, "b1", 1, "s32", new),
        Form(8, 128, "b1", 1, "s32", new),
    )


FORMS = {form.name: form for form in _forms()}


def owners(fragment: Fragment, columns: int, grouped: int, along_rows: bool) -> I64:
    """(cells, 3) lane, register and place in it of each cell of a matrix, row by row.

    A cell is `grouped` neighbours, down a column where they lie `along_rows`.
    """
    lane, register, place = (
        np.broadcast_to(x, fragment.row.shape)[..., ::grouped].ravel()
        for x in np.ogrid[: len(fragment.row), : fragment.registers, : fragment.row.shape[2]]
    )
    row, column = fragment.row[..., ::grouped].ravel(), fragment.column[..., ::grouped].ravel()
    row, column = (row // grouped, column) if along_rows else (row, column // grouped)
    made = np.zeros((len(row), 3), np.int64)
    made[row * columns + column] = np.stack([lane, register, place // grouped], axis=1)
    return made
