"""wgmma: four warps multiply matrices that lie in shared memory, A in registers if they like.

What is asynchronous on a GPU is done at once here, so that fences and waits have nothing to do.
Sums are those of mma on Hopper; of 8-bit floats 13 fractional bits stay and a sum keeps 13 bits of
fraction (MMA-Sim; see `gpuviz.ptx.tensor.sums`): 134 launches on an H200 left the same bits.
A sparse A holds half of its elements, and metadata as those of mma.sp, 16 rows a warp: 43 launches.
Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.ptx.decode.bulk import group_of_transfers
from gpuviz.ptx.decode.matrices import items, product
from gpuviz.ptx.decode.operands import Builder, Site
from gpuviz.ptx.decode.warpgroup import WARPS, InShared, Warpgroups, warpgroups
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.tensor.fragments import Fragment, left, wide_total
from gpuviz.ptx.tensor.mma import BITS, metadata_of, rule_of
from gpuviz.ptx.tensor.sums import Adder
from gpuviz.ptx.text.ir import Imm, Operand, Vec

_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
_ROWS = 64  # of A
_BITS = 256  # of k that a row of A holds, of every type
_MOST = 256  # columns
_Matrices = Callable[[Group, Warpgroups], Array]


@dataclass(frozen=True)
class _Form:
    """One form: its types, rows of B, and how many elements of k a row of A holds of `inner`."""

    kinds: tuple[str, str, str]
    columns: int
    inner: int
    held: int

    @classmethod
    def of(cls, site: Site) -> _Form:
        """As the modifiers say; UnsupportedError where nothing is meant."""
        mods, sparse = site.mods, "sp" in site.mods
        shape = next((found for mod in mods if (found := _SHAPE.match(mod))), None)
        kinds = [mod for mod in mods if mod in BITS]
        columns, inner = (int(shape[1]), int(shape[2])) if shape else (0, 0)
        if len(kinds) != 3 or BITS[kinds[1]] != BITS[kinds[2]] or columns % 8 or columns > _MOST:
            raise site.unsupported("this shape of matrices")
        result, first, second = kinds
        held = _BITS // BITS[first]
        if inner != held * (1 + sparse) or (sparse and first == "b1"):
            raise site.unsupported("this shape of matrices")
        return cls((first, second, result), columns, inner, held)

    @property
    def bits(self) -> int:
        """Of an element of A or B."""
        return BITS[self.kinds[0]]


def _multiply(site: Site) -> Step:
    form, at = _Form.of(site), site.instruction
    target, a, b, *scales = site.operands
    told = (scales.pop(0), scales.pop(0)) if form.inner > form.held else None
    bits, result = form.bits, form.kinds[2]
    flags = _immediates(site, scales[1:])
    floating = result in ("f32", "f16")
    negative = [floating and flags[n : n + 1] == [-1] for n in range(2)]
    turns = flags[2:] if bits == 16 else []
    turn_a, turn_b = (False, *map(bool, turns))[-2:] if turns else (False, False)
    made = wide_total(16, form.columns, BITS[result])
    total = _registers(site, target, made)
    sums = tuple(site.reader(o, f"b{made.container}") for o in total)
    puts = site.writers(target, (f"b{made.container}",) * len(total))
    on = site.reader(scales[0], "pred") if scales else None
    left_side = _left(site, a, form, turn_a)
    right_side = InShared(site.reader(b, "b64"), form.columns, form.inner, bits, turn_b, at)
    multiply = product(rule_of(site.mods, form.kinds, _adder(form.kinds[0])))
    spread = None if told is None else _spread(site, *told, form)

    def step(g: Group) -> None:
        groups = warpgroups(g, at)
        c = made.matrix(groups.gather(g, sums)).reshape(-1, _ROWS, form.columns)
        if on is not None:
            c = np.where(groups.first(g, on)[:, None, None], c, c.dtype.type(0))
        x, y = left_side(g, groups), right_side(g, groups).transpose(0, 2, 1)
        x, y = (_negated(m, bits) if n else m for m, n in zip((x, y), negative, strict=True))
        if spread is not None:  # each row of A with a B of its own
            x, c = (m.reshape(-1, 1, m.shape[2]) for m in (x, c))
            y = spread(g, groups, y)
        held = made.hold(multiply(x, y, c).reshape(-1, 16, form.columns))
        for number, put in enumerate(puts):
            put(g, groups.scatter(g, held[:, :, number]))

    return step


def _left(site: Site, a: Operand, form: _Form, turned: bool) -> _Matrices:
    """(G, 64, held) the elements of A, in registers or where a descriptor says."""
    if not isinstance(a, Vec):
        return InShared(
            site.reader(a, "b64"), _ROWS, form.held, form.bits, turned, site.instruction
        )
    fragment = left(16, form.held, form.bits)
    readers = tuple(site.reader(o, "b32") for o in _registers(site, a, fragment))

    def held(g: Group, groups: Warpgroups) -> Array:
        return fragment.matrix(groups.gather(g, readers)).reshape(-1, _ROWS, form.held)

    return held


def _spread(
    site: Site, told: Operand, selector: Operand, form: _Form
) -> Callable[[Group, Warpgroups, Array], Array]:
    """What each row of a sparse A meets of B: (G * 64, held, n) of (G, k, n)."""
    if not isinstance(selector, Imm):
        raise site.unsupported("a sparsity selector that is not a constant")
    try:
        metadata = metadata_of(form.inner, form.bits, selector.value)
    except ValueError as reason:
        raise site.unsupported(str(reason)) from None
    read = site.reader(told, "b32")

    def met(g: Group, groups: Warpgroups, b: Array) -> Array:
        registers = groups.gather(g, (read,))[:, :, 0]
        return metadata.met(b.repeat(WARPS, axis=0), registers).reshape(-1, form.held, b.shape[2])

    return met


def _adder(kind: str) -> Adder:
    return Adder(13, cut=10) if kind in ("e4m3", "e5m2") else Adder(25)


def _negated(matrix: Array, bits: int) -> Array:
    return np.asarray(matrix ^ matrix.dtype.type(1 << (bits - 1)))


def _immediates(site: Site, operands: list[Operand]) -> list[int]:
    if not all(isinstance(o, Imm) for o in operands):
        raise site.unsupported("a scale or a transposition that is not a constant")
    return [o.value for o in operands if isinstance(o, Imm)]


def _registers(site: Site, operand: Operand, fragment: Fragment) -> tuple[Operand, ...]:
    found = items(operand)
    if len(found) != fragment.registers:
        raise site.unsupported(f"a matrix in {len(found)} registers")
    return found


def _any(site: Site) -> Step | None:
    if site.mods[0] == "fence":
        return None
    if site.mods[0] in ("commit_group", "wait_group"):
        return group_of_transfers(site, "product")
    if site.mods[0] != "mma_async":
        raise site.unsupported("this form")
    return _multiply(site)


STEPS: dict[str, Builder] = {"wgmma": _any}
