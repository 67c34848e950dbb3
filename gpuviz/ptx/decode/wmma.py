"""wmma: matrices that are loaded, multiplied, stored as a whole (see `tensor.wmma`)."""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.ptx.decode.locate import Locator, Shape, generic, space_named
from gpuviz.ptx.decode.matrices import (
    compute_capability,
    held,
    keeper,
    product,
    understood,
    warp_rows,
)
from gpuviz.ptx.decode.memory import write
from gpuviz.ptx.decode.operands import Builder, Site, by_form
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.sums import NO_NUMBER
from gpuviz.ptx.tensor.wmma import moved_matrix, moves_of, whole_product
from gpuviz.ptx.text.ir import Imm, Operand
from gpuviz.traces.trace import LANES, Op


@dataclass(frozen=True)
class _Piece:
    """What is moved at once: where it is, of which elements."""

    locate: Locator
    unit: int
    count: int


class _Memory:
    """Where a matrix lies in memory: the pieces of a warp's loads or stores of it."""

    def __init__(self, site: Site, operands: tuple[Operand, ...], op: Op) -> None:
        self.space = space_named(site.mods)
        moved = understood(site, moved_matrix, site.mods, compute_capability(site))
        self._moves = moves = moves_of(moved, self.space)
        self.matrix = matrix = moves.matrix
        along = matrix.columns if matrix.by_rows else matrix.rows
        stride = operands[1] if len(operands) > 1 else Imm(along)
        self._stride = site.reader(stride, "u32")
        shape = Shape(self.space, f"b{8 * moves.unit}", moves.unit, moves.count)
        self.pieces = tuple(
            _Piece(self._locator(site, operands[0], shape, op, *place), moves.unit, shape.count)
            for place in moves.places
        )

    def _locator(
        self, site: Site, address: Operand, shape: Shape, op: Op, line: I64, place: I64
    ) -> Locator:
        locate = Locator(site, address, shape, op)
        base, bits = locate.address, self.matrix.bits

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
        kind = np.uint64 if self.matrix.bits == 64 else np.uint32
        return self._turned(self._put_together(np.stack(parts, axis=2)).astype(kind))

    def _put_together(self, words: Array) -> Array:
        """(N, 32, pieces, words of a piece) to lines and places."""
        fragment = self._moves.fragment
        if words.shape[3] == 1:
            return fragment.matrix(words[..., 0])
        if not self._moves.by_lines:
            made = np.zeros((len(words), *fragment.shape), words.dtype)
            made[:, fragment.row, fragment.column] = words
            return made
        halves = np.ascontiguousarray(words).view(np.uint16)  # (N, 32, pieces, 8)
        made = np.zeros((len(halves), *fragment.shape), np.uint32)
        for number, (line, place) in enumerate(self._moves.places):
            for n in range(halves.shape[3]):
                made[:, line, place + n] = halves[:, :, number, n]
        return made

    def store(self, g: Group, matrices: Array) -> None:
        """Matrices (N, rows, columns) into memory."""
        fragment = self._moves.fragment
        made = self._turned(matrices)[:, fragment.row, fragment.column]
        for number, piece in enumerate(self.pieces):
            words = _words(made[:, :, number], fragment.bits, piece)
            values = [g.layout.from_warp_rows(word) for word in words]
            write(g, piece.locate(g), values, piece.unit)

    def _turned(self, matrices: Array) -> Array:
        """Between lines and places, and rows and columns."""
        return matrices if self.matrix.by_rows else matrices.transpose(0, 2, 1)


def _words(elements: Array, bits: int, piece: _Piece) -> list[Array]:
    """(N, 32, elements) of a piece to its words."""
    if piece.count > 1:
        return [elements[:, :, n] for n in range(piece.count)]
    shift = (np.arange(elements.shape[2]) * bits).astype(np.uint64)
    whole: Array = np.bitwise_or.reduce(elements.astype(np.uint64) << shift, axis=2)
    return [whole.astype(f"u{piece.unit}")]


def _load(site: Site) -> Step:
    target, *operands = site.operands
    memory = _Memory(site, tuple(operands), "load")
    put = keeper(site, target, memory.matrix.held, spare=True)

    def load(g: Group) -> None:
        put(g, memory.load(g))

    return load if memory.space else generic(load, memory.pieces[0].locate)


def _store(site: Site) -> Step:
    address, value, *stride = site.operands
    memory = _Memory(site, (address, *stride), "store")
    read = held(site, value, memory.matrix.held)

    def store(g: Group) -> None:
        memory.store(g, read(g))

    return store if memory.space else generic(store, memory.pieces[0].locate)


def _multiply(site: Site) -> Step:
    form = understood(site, whole_product, site.mods, compute_capability(site))
    target, *sources = site.operands[:4]
    given = zip(sources, (form.a, form.b, form.start), strict=True)
    reads = [held(site, o, x.held, spare=True) for o, x in given]
    put = keeper(site, target, form.result.held)
    start, summed, result = form.start.kind, form.rule.kinds[2], form.result.kind
    multiply = product(form.rule)

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


STEPS: dict[str, Builder] = {"wmma": by_form({"load": _load, "store": _store, "mma": _multiply})}
