"""Instructions in which a whole warp holds, loads and multiplies matrices."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from gpuviz.arrays import Array, Bool
from gpuviz.ptx.decode.locate import Locator, Shape, generic, space_named
from gpuviz.ptx.decode.memory import write
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor import sums
from gpuviz.ptx.tensor.formats import FORMATS
from gpuviz.ptx.tensor.fragments import Fragment, left, right, total
from gpuviz.ptx.text.ir import Operand, Vec
from gpuviz.trace import LANES

Multiply = Callable[[Array, Array, Array], Array]

_SHAPE = re.compile(r"m(\d+)n8k(\d+)$")
_BITS = {**{name: form.bits for name, form in FORMATS.items()}, "f64": 64, "s32": 32}
_BITS |= {"u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1}
# PTX ISA, "mma": which m and k there are, by the bits of an element of A.
_SHAPES = {
    64: {(8, 4), (16, 4), (16, 8), (16, 16)},
    32: {(16, 4), (16, 8)},
    16: {(16, 8), (16, 16)},
    8: {(8, 16), (16, 16), (16, 32)},
    4: {(8, 32), (16, 32), (16, 64)},
    1: {(8, 128), (16, 128), (16, 256)},
}
_ROWS = 8  # of a matrix that is loaded or stored, of 16 bytes each


@dataclass(frozen=True)
class _Held:
    """A matrix in registers: how to read them, and what they hold."""

    readers: tuple[Reader, ...]
    fragment: Fragment

    def __call__(self, g: Group) -> Array:
        """(N, rows, columns), the bits of its elements."""
        return self.fragment.matrix(np.stack([_rows(g, read(g)) for read in self.readers], axis=2))


def _rows(g: Group, value: Array) -> Array:
    return g.layout.warp_rows(g.layout.full(value))


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vec) else (operand,)


def _bits_of(fragment: Fragment) -> str:
    return f"b{fragment.container}"


def _held(site: Site, operand: Operand, fragment: Fragment) -> _Held:
    items = _items(operand)
    if len(items) != fragment.registers:
        raise site.unsupported(f"a matrix in {len(items)} registers")
    return _Held(tuple(site.reader(o, _bits_of(fragment)) for o in items), fragment)


def _multiply(site: Site) -> Step:
    mods = site.mods
    shape = next((found for mod in mods if (found := _SHAPE.match(mod))), None)
    kinds = [mod for mod in mods if mod in _BITS]
    rows, inner = (int(shape[1]), int(shape[2])) if shape else (0, 0)
    if len(kinds) != 4 or (rows, inner) not in _SHAPES[_BITS[kinds[1]]]:
        raise site.unsupported("this shape of matrices")
    if mods[0] != "sync" or tuple(m for m in mods if m in ("row", "col")) != ("row", "col"):
        raise site.unsupported("this form")
    bits, sum_bits = _BITS[kinds[1]], _BITS[kinds[0]]
    target, a, b, c = site.operands[:4]
    made = total(rows, sum_bits)
    sources = (
        _held(site, a, left(rows, inner, bits)),
        _held(site, b, right(inner, 8, bits)),
        _held(site, c, made),
    )
    multiply = _product(site, kinds, inner)
    puts = site.writers(target, (_bits_of(made),) * made.registers)

    def step(g: Group) -> None:
        registers = made.hold(multiply(*(read(g) for read in sources)))
        for number, put in enumerate(puts):
            put(g, g.layout.from_warp_rows(registers[:, :, number]))

    return step


def _product(site: Site, kinds: list[str], inner: int) -> Multiply:
    """What is made of the bits of A, B and C; `kinds` are the types of D, A, B and C."""
    result, a, b, _ = kinds
    if a == "f64":
        return sums.doubles
    if a == "b1":
        return partial(sums.single_bits, both="and" in site.mods)
    if result == "s32":
        signed = a.startswith("s"), b.startswith("s")
        clamp = "satfinite" in site.mods
        return partial(sums.integers, signed=signed, bits=_BITS[a], clamp=clamp)
    adder = sums.adder_of(_sm(site), a, inner)
    return partial(sums.floating, kinds=(a, b, result), adder=adder)


def _sm(site: Site) -> int:
    """The compute capability that the PTX is for, times ten."""
    return int(re.sub(r"\D", "", site.program.module.target) or 0)


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


def _stored_matrices(site: Site, address: Operand, op: str) -> _Rows:
    mods = site.mods
    count = next((int(m[1:]) for m in mods if m in ("x1", "x2", "x4")), 0)
    if not count or "m8n8" not in mods or mods[-1] != "b16":
        raise site.unsupported("this shape of matrices")
    shape = Shape(space_named(mods), "b64", 8, 2)
    return _Rows(Locator(site, address, shape, "load" if op == "load" else "store"), count)


def _load_matrices(site: Site) -> Step:
    target, address = site.operands[:2]
    rows = _stored_matrices(site, address, "load")
    puts = site.writers(target, ("b32",) * rows.count)
    turned = "trans" in site.mods

    def load(g: Group) -> None:
        place = rows.locate(rows.asking(g))
        cells, index = g.machine.memory.cells(place.space, 8), place.index
        halves = [_rows(g, cells.take(index if n == 0 else index + n)) for n in range(2)]
        lines = np.ascontiguousarray(np.stack(halves, axis=2)).view(np.uint16)  # (N, 32, 8)
        for number, put in enumerate(puts):
            matrix = lines[:, number * _ROWS : (number + 1) * _ROWS]
            put(g, g.layout.from_warp_rows(_spread(matrix, turned)))

    return load if space_named(site.mods) else generic(load, rows.locate)


def _spread(matrix: Array, turned: bool) -> Array:
    """(N, 8, 8) halves of words to a register a lane: two neighbours of row lane / 4."""
    if turned:
        matrix = matrix.transpose(0, 2, 1)
    pairs = np.ascontiguousarray(matrix).reshape(len(matrix), LANES, 2).astype(np.uint32)
    spread: Array = pairs[:, :, 0] | pairs[:, :, 1] << np.uint32(16)
    return spread


def _gathered(register: Array, turned: bool) -> Array:
    """The inverse of `_spread`."""
    pairs = np.stack([register & np.uint32(0xFFFF), register >> np.uint32(16)], axis=2)
    matrix = pairs.astype(np.uint16).reshape(len(register), _ROWS, _ROWS)
    return matrix.transpose(0, 2, 1) if turned else matrix


def _store_matrices(site: Site) -> Step:
    address, value = site.operands[:2]
    rows = _stored_matrices(site, address, "store")
    readers = [site.reader(o, "b32") for o in _items(value)]
    turned = "trans" in site.mods
    if len(readers) != rows.count:
        raise site.unsupported(f"{len(readers)} registers")

    def store(g: Group) -> None:
        matrices = [_gathered(_rows(g, read(g)), turned) for read in readers]
        lines = np.concatenate(matrices, axis=1)
        lines = np.pad(lines, ((0, 0), (0, LANES - lines.shape[1]), (0, 0)))
        words = np.ascontiguousarray(lines).view(np.uint64)  # (N, 32, 2)
        asking = rows.asking(g)
        values = [g.layout.from_warp_rows(words[:, :, n]) for n in range(2)]
        write(asking, rows.locate(asking), values, 8)

    return store if space_named(site.mods) else generic(store, rows.locate)


def _turn(site: Site) -> Step:
    """movmatrix: the transpose of a matrix of 8 x 8 halves of words."""
    if site.mods[-1] != "b16":
        raise site.unsupported("this type")
    read = site.reader(site.operands[1], "b32")
    put = site.writer(site.operands[0], "b32")

    def turn(g: Group) -> None:
        matrix = _gathered(_rows(g, read(g)), turned=False)
        put(g, g.layout.from_warp_rows(_spread(matrix, turned=True)))

    return turn


STEPS: dict[str, Builder] = {
    "mma": _multiply,
    "ldmatrix": _load_matrices,
    "stmatrix": _store_matrices,
    "movmatrix": _turn,
}
