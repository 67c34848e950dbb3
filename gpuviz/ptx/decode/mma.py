"""Matrices in registers, whose layout PTX tells: multiplied by tensor cores (mma), moved between
shared memory and registers (ldmatrix, stmatrix), turned (movmatrix).
"""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import Array, Bool
from gpuviz.ptx.arithmetic.formats import FORMATS, numbers
from gpuviz.ptx.decode.locate import Locator, Shape, generic, space_named
from gpuviz.ptx.decode.matrices import (
    compute_capability,
    held,
    keeper,
    product,
    selector_of,
    understood,
    warp_rows,
)
from gpuviz.ptx.decode.memory import write
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.fragments import left, quad_left, quad_right, quad_total
from gpuviz.ptx.tensor.mma import BITS, product_of, sparse_product_of
from gpuviz.ptx.tensor.sums import adder_of, floating
from gpuviz.ptx.text.ir import Operand, items
from gpuviz.traces.trace import LANES, MATRICES


def _multiply(site: Site) -> Step:
    if site.mods[0].split("::")[0] == "sp":
        return _of_sparse(site)
    if "m8n8k4" in site.mods and "f64" not in site.mods:
        return _of_quad_pairs(site)
    form = understood(site, product_of, site.mods, compute_capability(site))
    target, *sources = site.operands[:4]
    fragments = form.left, form.right, form.total
    reads = [held(site, o, x) for o, x in zip(sources, fragments, strict=True)]
    multiply, put = product(form.rule), keeper(site, target, form.total)

    def step(g: Group) -> None:
        put(g, multiply(*(read(g) for read in reads)))

    return step


def _of_sparse(site: Site) -> Step:
    """A holds the half of its elements that metadata tell the places of."""
    *matrices, metadata, selector = site.operands[:6]
    number = selector_of(site, selector)
    form = understood(site, sparse_product_of, site.mods, compute_capability(site), number)
    target, *sources = matrices
    fragments = form.product.left, form.product.right, form.product.total
    a, b, c = (held(site, o, x) for o, x in zip(sources, fragments, strict=True))
    told, multiply = site.reader(metadata, "b32"), product(form.product.rule)
    put = keeper(site, target, form.product.total)

    def step(g: Group) -> None:
        met = form.metadata.met(b(g), warp_rows(g, told(g)))
        rows, start = a(g), c(g)  # each row of A with a B of its own
        made = multiply(
            rows.reshape(-1, 1, rows.shape[2]),
            met.reshape(-1, *met.shape[2:]),
            start.reshape(-1, 1, start.shape[2]),
        )
        put(g, made.reshape(start.shape))

    return step


def _of_quad_pairs(site: Site) -> Step:
    """Four products of halves at once."""
    layouts = [mod == "row" for mod in site.mods if mod in ("row", "col")]
    kinds = [mod for mod in site.mods if mod in ("f16", "f32")]
    allowed = (["f16"] * 4, ["f32", "f16", "f16", "f16"], ["f32", "f16", "f16", "f32"])
    if len(layouts) != 2 or kinds not in allowed:
        raise site.unsupported("this form")
    result, start = kinds[0], kinds[3]
    made, first = quad_total(BITS[result]), quad_total(BITS[start])
    shapes = quad_left(layouts[0]), quad_right(layouts[1]), first
    target, *operands = site.operands[:4]
    reads = [held(site, o, shape) for o, shape in zip(operands, shapes, strict=True)]
    put = keeper(site, target, made)
    adder = adder_of(compute_capability(site), "f16", 4)

    def step(g: Group) -> None:
        a, b, c = (read(g) for read in reads)
        if start != result:
            c = numbers(c, FORMATS[start]).value.astype(np.float32).view(np.uint32)
        put(g, floating(a, b, c, ("f16", "f16", result), adder))

    return step


_ROWS = 8  # of a matrix, of 16 bytes each
_MATRIX = left(_ROWS, 8, 16)  # a lane holds two neighbours of row lane / 4


@dataclass(frozen=True)
class _Rows:
    """Where the rows of 8 x 8 matrices lie in memory: lane i names row i % 8 of matrix i / 8.

    Lanes beyond the last matrix name nothing.
    """

    locate: Locator
    count: int

    def asking(self, g: Group) -> Group:
        """The lanes that name a row."""
        if self.count * _ROWS == LANES:
            return g
        asks: Bool = np.broadcast_to(g.layout.column % LANES < self.count * _ROWS, g.layout.shape)
        return g.fork(asks if g.mask is None else asks & g.layout.full(g.mask))


def _matrices_at(site: Site, address: Operand, op: str) -> _Rows:
    mods = site.mods
    count = next((int(m[1:]) for m in mods if m in ("x1", "x2", "x4")), 0)
    if not count or "m8n8" not in mods or mods[-1] != "b16":
        raise site.unsupported("this shape of matrices")
    shape = Shape(space_named(mods), "b64", 8, 2)
    if op == "load":
        return _Rows(Locator(site, address, shape, "load", MATRICES), count)
    return _Rows(Locator(site, address, shape, "store"), count)


def _load_matrices(site: Site) -> Step:
    target, address = site.operands[:2]
    rows = _matrices_at(site, address, "load")
    puts = site.writers(target, ("b32",) * rows.count)
    turn = _turned if "trans" in site.mods else _as_it_is

    def load(g: Group) -> None:
        place = rows.locate(rows.asking(g))
        cells, index = g.machine.memory.cells(place.space, 8), place.index
        halves = [warp_rows(g, cells.take(index if n == 0 else index + n)) for n in range(2)]
        lines = np.ascontiguousarray(np.stack(halves, axis=2)).view(np.uint16)  # (N, 32, 8)
        for number, put in enumerate(puts):
            matrix = turn(lines[:, number * _ROWS : (number + 1) * _ROWS])
            put(g, g.layout.from_warp_rows(_MATRIX.hold(matrix)[:, :, 0]))

    return load if space_named(site.mods) else generic(load, rows.locate)


def _store_matrices(site: Site) -> Step:
    address, value = site.operands[:2]
    rows = _matrices_at(site, address, "store")
    readers = [site.reader(o, "b32") for o in items(value)]
    turn = _turned if "trans" in site.mods else _as_it_is
    if len(readers) != rows.count:
        raise site.unsupported(f"{len(readers)} registers")

    def store(g: Group) -> None:
        matrices = [turn(_MATRIX.matrix(warp_rows(g, read(g))[:, :, None])) for read in readers]
        lines = np.concatenate(matrices, axis=1).astype(np.uint16)
        lines = np.pad(lines, ((0, 0), (0, LANES - lines.shape[1]), (0, 0)))
        words = np.ascontiguousarray(lines).view(np.uint64)  # (N, 32, 2)
        asking = rows.asking(g)
        values = [g.layout.from_warp_rows(words[:, :, n]) for n in range(2)]
        write(asking, rows.locate(asking), values, 8)

    return store if space_named(site.mods) else generic(store, rows.locate)


def _as_it_is(matrix: Array) -> Array:
    return matrix


def _turned(matrix: Array) -> Array:
    return matrix.transpose(0, 2, 1)


def _transpose(site: Site) -> Step:
    """movmatrix: the transpose of a matrix of 8 x 8 halves of words."""
    if site.mods[-1] != "b16":
        raise site.unsupported("this type")
    read = site.reader(site.operands[1], "b32")
    put = site.writer(site.operands[0], "b32")

    def step(g: Group) -> None:
        matrix = _MATRIX.matrix(warp_rows(g, read(g))[:, :, None])
        put(g, g.layout.from_warp_rows(_MATRIX.hold(_turned(matrix))[:, :, 0]))

    return step


STEPS: dict[str, Builder] = {
    "mma": _multiply,
    "ldmatrix": _load_matrices,
    "stmatrix": _store_matrices,
    "movmatrix": _transpose,
}
