"""ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16 bits between shared memory and registers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import Array, Bool
from gpuviz.ptx.decode.locate import Locator, Shape, generic, space_named
from gpuviz.ptx.decode.matrices import warp_rows
from gpuviz.ptx.decode.memory import write
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.fragments import left
from gpuviz.ptx.text.ir import Operand, items
from gpuviz.traces.trace import LANES, MATRICES

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
    "ldmatrix": _load_matrices,
    "stmatrix": _store_matrices,
    "movmatrix": _transpose,
}
