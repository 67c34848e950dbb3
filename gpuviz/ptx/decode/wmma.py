"""wmma: matrices that are loaded, multiplied and stored as a whole.

PTX leaves open which lane holds what, and how it gets there; the assembler decides. Here it is as
ptxas of CUDA 13 makes it for sm_75 to sm_90 (read with nvdisasm): A and B lie in registers as for
mma; of 16-bit types the four bytes of a register are loaded at once, whichever way the matrix lies
in memory (where it lies the other way it is turned in registers), in shared memory by ldmatrix; C
and D move two neighbours at a time. Where neighbours are not side by side in memory, elements are
loaded one by one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64, Array
from gpuviz.ptx.decode.locate import Locator, Shape, generic, space_named
from gpuviz.ptx.decode.matrices import compute_capability, held, keeper, product, warp_rows
from gpuviz.ptx.decode.memory import write
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.forms import BITS, rule_of
from gpuviz.ptx.tensor.fragments import (
    Fragment,
    element_by_element,
    high_left,
    in_pairs,
    left,
    transposed,
    wide_right,
    wide_total,
)
from gpuviz.ptx.tensor.sums import NO_NUMBER, Adder, adder_of
from gpuviz.ptx.text.ir import Imm, Operand
from gpuviz.traces import LANES, Op

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
# PTX ISA, "wmma": the shapes, by the bits of an element of A.
_SHAPES = {
    64: {(8, 8, 4)},
    32: {(16, 16, 8)},
    16: {(16, 16, 16), (32, 8, 16), (8, 32, 16)},
    8: {(16, 16, 16), (32, 8, 16), (8, 32, 16)},
    4: {(8, 8, 32)},
    1: {(8, 8, 128)},
}
_LINES = 16  # bytes of a row that ldmatrix loads


@dataclass(frozen=True)
class _Matrix:
    """One of the four of a product: `role` a, b, c or d; how it lies in memory."""

    role: str
    rows: int
    columns: int
    kind: str
    by_rows: bool
    sm: int

    @property
    def bits(self) -> int:
        return BITS[self.kind]

    @property
    def held(self) -> Fragment:
        """How it lies in registers."""
        if self.role == "a":
            return high_left(self.rows, self.columns, self.bits)
        if self.role == "b":
            if self.columns == 32:
                return transposed(high_left(self.columns, self.rows, self.bits))
            return wide_right(self.rows, self.columns, self.bits)
        if self._across:
            return transposed(wide_total(self.columns, self.rows, self.bits))
        return wide_total(self.rows, self.columns, self.bits)

    @property
    def _across(self) -> bool:
        """Where columns are many a product is made as that of the transposed matrices."""
        return self.columns == 32 and not (self.kind == "s32" and self.sm < 80)

    @property
    def moved(self) -> Fragment:
        """The pieces that are loaded or stored at once: line in memory, and place there."""
        lines, along = (self.rows, self.columns) if self.by_rows else (self.columns, self.rows)
        if self.role in "ab":
            if self.bits == 16 or self.by_rows == (self.role == "a"):
                return left(lines, along, self.bits)
            fragment = self.held if self.by_rows else transposed(self.held)
            return element_by_element(fragment)
        if self.by_rows != self._across:
            return in_pairs(wide_total(lines, along, self.bits))
        if self.bits == 16:
            return left(lines, along, self.bits)
        return element_by_element(self.held if self.by_rows else transposed(self.held))


def _matrix(site: Site, role: str, kind: str, by_rows: bool) -> _Matrix:
    shape = next((found for mod in site.mods if (found := _SHAPE.match(mod))), None)
    if shape is None:
        raise site.unsupported("this shape of matrices")
    m, n, k = (int(x) for x in shape.groups())
    rows, columns = {"a": (m, k), "b": (k, n)}.get(role, (m, n))
    return _Matrix(role, rows, columns, kind, by_rows, compute_capability(site))


@dataclass(frozen=True)
class _Piece:
    """What is moved at once: where it is, of which elements."""

    locate: Locator
    unit: int
    count: int


class _Memory:
    """Where a matrix lies in memory: the pieces of a warp's loads or stores of it."""

    def __init__(self, site: Site, matrix: _Matrix, operands: tuple[Operand, ...], op: Op) -> None:
        self._matrix, self._fragment = matrix, matrix.moved
        along = matrix.columns if matrix.by_rows else matrix.rows
        stride = operands[1] if len(operands) > 1 else Imm(along)
        self._stride = site.reader(stride, "u32")
        self.space = space_named(site.mods)
        by_rows = self.space == "shared" and matrix.role in "ab" and matrix.bits == 16
        self._places = _named_rows(self._fragment) if by_rows else self._own()
        width = _LINES if by_rows else max(1, self._fragment.row.shape[2] * matrix.bits // 8)
        unit = min(width, 8)
        shape = Shape(self.space, f"b{8 * unit}", unit, width // unit)
        self.pieces = tuple(
            _Piece(self._locator(site, operands[0], shape, op, *place), unit, shape.count)
            for place in self._places
        )
        self._by_rows = by_rows

    def _own(self) -> list[tuple[I64, I64]]:
        """The line of each lane, and the place there of the first element, piece by piece."""
        row, column = self._fragment.row[:, :, 0], self._fragment.column[:, :, 0]
        return [(row[:, n], column[:, n]) for n in range(row.shape[1])]

    def _locator(
        self, site: Site, address: Operand, shape: Shape, op: Op, line: I64, place: I64
    ) -> Locator:
        locate = Locator(site, address, shape, op)
        base, bits = locate.address, self._matrix.bits

        def of_lanes(g: Group) -> Array:
            start, stride = base(g), g.layout.full(self._stride(g)).astype(np.int64)
            lane = g.layout.column % LANES
            offset = (line[lane] * stride + place[lane]) * bits // 8
            return np.asarray(start + offset.astype(start.dtype))

        locate.address = of_lanes
        return locate

    def load(self, g: Group) -> Array:
        """(N, rows, columns), the bits of the matrix's elements."""
        parts = []
        for piece in self.pieces:
            place = piece.locate(g)
            cells, index = g.machine.memory.cells(place.space, piece.unit), place.index
            words = [cells.take(index + n if n else index) for n in range(piece.count)]
            parts.append(np.stack([warp_rows(g, word) for word in words], axis=2))
        kind = np.uint64 if self._matrix.bits == 64 else np.uint32
        return self._turned(self._put_together(np.stack(parts, axis=2)).astype(kind))

    def _put_together(self, words: Array) -> Array:
        """(N, 32, pieces, words of a piece) to lines and places."""
        fragment = self._fragment
        if words.shape[3] == 1:
            return fragment.matrix(words[..., 0])
        if not self._by_rows:
            made = np.zeros((len(words), *fragment.shape), words.dtype)
            made[:, fragment.row, fragment.column] = words
            return made
        halves = np.ascontiguousarray(words).view(np.uint16)  # (N, 32, pieces, 8)
        made = np.zeros((len(halves), *fragment.shape), np.uint32)
        for number, (line, place) in enumerate(self._places):
            for n in range(halves.shape[3]):
                made[:, line, place + n] = halves[:, :, number, n]
        return made

    def store(self, g: Group, matrices: Array) -> None:
        """Matrices (N, rows, columns) into memory."""
        made = self._turned(matrices)[:, self._fragment.row, self._fragment.column]
        for number, piece in enumerate(self.pieces):
            words = _words(made[:, :, number], self._fragment.bits, piece)
            values = [g.layout.from_warp_rows(word) for word in words]
            write(g, piece.locate(g), values, piece.unit)

    def _turned(self, matrices: Array) -> Array:
        """Between lines and places, and rows and columns."""
        return matrices if self._matrix.by_rows else matrices.transpose(0, 2, 1)


def _named_rows(fragment: Fragment) -> list[tuple[I64, I64]]:
    """As lanes name rows of 8 elements for ldmatrix: 16 lines, then the same 8 elements further."""
    lines, along = fragment.shape
    high, lane = min(lines, LANES // 2), np.arange(LANES)
    count = lines * along // (8 * LANES) or 1
    part = lane % (lines * along // 8)
    return [(part % high + high * n, part // high * 8) for n in range(count)]


def _words(elements: Array, bits: int, piece: _Piece) -> list[Array]:
    """(N, 32, elements) of a piece to its words."""
    if piece.count > 1:
        return [elements[:, :, n] for n in range(piece.count)]
    shift = (np.arange(elements.shape[2]) * bits).astype(np.uint64)
    whole: Array = np.bitwise_or.reduce(elements.astype(np.uint64) << shift, axis=2)
    return [whole.astype(f"u{piece.unit}")]


def _load(site: Site) -> Step:
    role, by_rows = site.mods[1], "row" in site.mods
    target, *operands = site.operands
    matrix = _matrix(site, role, site.kind, by_rows)
    memory = _Memory(site, matrix, tuple(operands), "load")
    put = keeper(site, target, matrix.held, spare=True)

    def load(g: Group) -> None:
        put(g, memory.load(g))

    return load if memory.space else generic(load, memory.pieces[0].locate)


def _store(site: Site) -> Step:
    address, value, *stride = site.operands
    matrix = _matrix(site, "d", site.kind, "row" in site.mods)
    memory = _Memory(site, matrix, (address, *stride), "store")
    read = held(site, value, matrix.held)

    def store(g: Group) -> None:
        memory.store(g, read(g))

    return store if memory.space else generic(store, memory.pieces[0].locate)


def _multiply(site: Site) -> Step:
    kinds = [mod for mod in site.mods if mod in BITS]
    result, start = kinds[0], kinds[-1]
    first, second = (kinds[1], kinds[2]) if len(kinds) == 4 else ("f16", "f16")
    a, b = _matrix(site, "a", first, True), _matrix(site, "b", second, True)
    c = _matrix(site, "c", start, True)
    if (a.rows, b.columns, a.columns) not in _SHAPES[a.bits]:
        raise site.unsupported("this shape of matrices")
    target, *sources = site.operands[:4]
    reads = [held(site, o, x.held, spare=True) for o, x in zip(sources, (a, b, c), strict=True)]
    put = keeper(site, target, _matrix(site, "d", result, True).held)
    adder = _adder(site, first, a.columns)
    summed = "f32" if (start, result) == ("f32", "f16") else result
    multiply = product(rule_of(site.mods, (first, second, summed), adder))

    def step(g: Group) -> None:
        left_, right_, total = (read(g) for read in reads)
        made = multiply(left_, right_, total if start == summed else _widened(total))
        put(g, made if summed == result else _narrowed(made))

    return step


def _widened(halves: Array) -> Array:
    """f16 as f32."""
    with np.errstate(invalid="ignore"):
        return halves.astype(np.uint16).view(np.float16).astype(np.float32).view(np.uint32)


def _narrowed(singles: Array) -> Array:
    """f32 as f16, to nearest."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = singles.view(np.float32).astype(np.float16)
    return np.where(np.isnan(found), NO_NUMBER["f16"], found.view(np.uint16)).astype(np.uint32)


def _adder(site: Site, kind: str, inner: int) -> Adder:
    """k is walked in steps of what an instruction of the hardware takes: HMMA.1688, 16816, 1684."""
    sm = compute_capability(site)
    step = {"tf32": 4, "f16": 8 if sm < 80 else 16}.get(kind, inner)
    one = adder_of(sm, kind, step)
    return Adder(one.kept, one.parts * inner // step, one.cut)


def _any(site: Site) -> Step:
    what = {"load": _load, "store": _store, "mma": _multiply}
    build = what.get(site.mods[0])
    if build is None:
        raise site.unsupported("this form")
    return build(site)


STEPS: dict[str, Builder] = {"wmma": _any}
